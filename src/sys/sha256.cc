#include "sys/sha256.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "sys/atomic_file.h"
#include "sys/open_file.h"
#include "sys/text_file.h"

namespace culprit::sys {

using base::ErrorCode;
using base::Fail;
using base::Json;
using base::Result;

struct Sha256::Context {
  Context() : evp(EVP_MD_CTX_new()) {
    CULPRIT_CHECK(evp != nullptr && EVP_DigestInit_ex(evp, EVP_sha256(), nullptr) == 1);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_MD_CTX_free(evp); }
  EVP_MD_CTX* evp;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {}
Sha256::~Sha256() = default;

void Sha256::Update(std::string_view bytes) {
  CULPRIT_CHECK(EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) == 1);
}

std::string Sha256::Hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  CULPRIT_CHECK(EVP_DigestFinal_ex(context_->evp, digest.data(), &size) == 1);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

std::string Sha256Of(std::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Hex();
}

namespace {

constexpr std::size_t kRemembered = 1000;

// KeyOf is "device:inode:size:changed:inode changed".
std::optional<std::string> KeyOf(int fd) {
  struct stat s {};
  if (::fstat(fd, &s) != 0) return std::nullopt;
  return fmt::format("{}:{}:{}:{}.{:09}:{}.{:09}", s.st_dev, s.st_ino, s.st_size, s.st_mtim.tv_sec,
                     s.st_mtim.tv_nsec, s.st_ctim.tv_sec, s.st_ctim.tv_nsec);
}

// {"hashes": {"2049:1311:15000000:1796.000000001:1796.000000001": "9f86d0…"}}
Json ReadRemembered(const std::string& file) {
  const auto text = ReadText(file);
  auto json = base::ParseJson(text.value_or(""));
  const bool known =
      json && json->is_object() && json->contains("hashes") && (*json)["hashes"].is_object();
  return known ? std::move((*json)["hashes"]) : Json::object();
}

std::optional<std::string> Recall(const Json& hashes, const std::string& key) {
  const auto it = hashes.find(key);
  if (it == hashes.end() || !it->is_string()) return std::nullopt;
  auto hash = it->get<std::string>();
  if (hash.size() != 64) return std::nullopt;
  return hash;
}

Result<std::string> HashAll(int fd, const StopSignal& stop,
                            const std::function<void(std::uint64_t done)>& progress) {
  Sha256 hash;
  std::uint64_t done = 0;
  std::vector<char> buffer(std::size_t{1} << 20);
  while (true) {
    if (stop.requested()) return Fail(Interrupted());
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Fail(ErrorCode::kUnreadable, std::strerror(errno));
    if (got == 0) return hash.Hex();
    hash.Update({buffer.data(), static_cast<std::size_t>(got)});
    progress(done += static_cast<std::uint64_t>(got));
  }
}

}  // namespace

Result<std::string> FileHashes::Of(const std::string& path, const StopSignal& stop) const {
  const auto file = OpenFile(path, O_RDONLY);
  if (!file) return Fail(file.error());
  const auto key = KeyOf(file->get());
  if (!key) return Fail(ErrorCode::kUnreadable, std::strerror(errno), path);
  const std::string remembered = folder_ + "/hashes.json";
  if (!folder_.empty()) {
    if (auto hash = Recall(ReadRemembered(remembered), *key)) return *hash;
  }
  struct stat info {};
  const bool known = progress_ && ::fstat(file->get(), &info) == 0;
  auto hash = HashAll(file->get(), stop, [&](std::uint64_t done) {
    if (known) progress_(path, done, static_cast<std::uint64_t>(info.st_size));
  });
  if (!hash) return Fail(std::move(hash.error()).In(path));
  if (KeyOf(file->get()) != key) {
    return Fail(ErrorCode::kUnreadable, "changed while it was read", path);
  }
  if (!folder_.empty()) {
    Json hashes = ReadRemembered(remembered);  // again: another culprit may have added to it
    hashes[*key] = *hash;
    while (hashes.size() > kRemembered) hashes.erase(hashes.begin());
    std::error_code ignored;
    std::filesystem::create_directories(folder_, ignored);
    (void)WriteFileAtomically(remembered, Json{{"hashes", std::move(hashes)}}.dump(1) + "\n");
  }
  return *hash;
}

}  // namespace culprit::sys
