// sample_files: what tests and fuzz targets of several layers make for themselves.
#pragma once

#include <sqlite3.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "base/check.h"

namespace culprit::sys {

// SampleFolder is an empty folder that goes with its owner, whatever is in it then.
class SampleFolder {
 public:
  SampleFolder() : path_(std::filesystem::temp_directory_path() / "culprit-test-XXXXXX") {
    CULPRIT_CHECK(::mkdtemp(path_.data()) != nullptr);
  }
  SampleFolder(const SampleFolder&) = delete;
  SampleFolder& operator=(const SampleFolder&) = delete;
  ~SampleFolder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// MakeDatabase returns the bytes of the database that SQL makes.
inline std::string MakeDatabase(const std::string& sql) {
  sqlite3* handle = nullptr;
  CULPRIT_CHECK(sqlite3_open(":memory:", &handle) == SQLITE_OK);
  const int made = sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr);
  if (made != SQLITE_OK) std::fprintf(stderr, "%s\n", sqlite3_errmsg(handle));
  CULPRIT_CHECK(made == SQLITE_OK);
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(handle, "main", &size, 0);
  std::string text(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(handle);
  return text;
}

}  // namespace culprit::sys
