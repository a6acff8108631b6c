#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace culprit::sys {

// WriteFileAtomically replaces path with text: whoever looks sees the old file or the whole new
// one, also after a crash. Writes beside it, flushes to disk, renames. Something that is no regular
// file (/dev/stdout, a pipe) is written straight into. Fails with kUnreadable; no half-written
// file stays behind.
base::Status WriteFileAtomically(const std::string& path, std::string_view text);

// AppendToFile adds text to the end of a file, which is made when missing. Fails with kUnreadable,
// and with kNotFound where its folder is not there.
base::Status AppendToFile(const std::string& path, std::string_view text);

// WriteAll writes all of text to an open file; errno says why when it could not.
bool WriteAll(int fd, std::string_view text);

// FlushFolder puts a folder's names on the disk: one that is new, renamed or removed is there only
// after it. File systems that have no such thing are taken at their word. Fails with kUnreadable.
base::Status FlushFolder(const std::string& folder);

}  // namespace culprit::sys
