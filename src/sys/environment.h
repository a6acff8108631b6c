#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace culprit::sys {

// Environment is a process's variables as execve takes them: KEY=VALUE. A key stands there once.
using Environment = std::vector<std::string>;

// OwnEnvironment is this process's.
Environment OwnEnvironment();

// ValueOf is absent where the variable is not set. WithVariable sets or replaces it; Without
// removes it.
std::optional<std::string> ValueOf(const Environment& environment, std::string_view key);
Environment WithVariable(Environment environment, std::string_view key, std::string_view value);
Environment Without(Environment environment, std::string_view key);

// FindProgram looks a name up in the environment's PATH, or where it usually leads when that is not
// set. An empty part of it is the current folder, as POSIX says. A name with a slash is a path.
// Only a regular file that may be executed is a program; absent when there is none.
std::optional<std::string> FindProgram(const std::string& name, const Environment& environment);

}  // namespace culprit::sys
