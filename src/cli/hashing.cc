#include "cli/hashing.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/number_format.h"
#include "cli/output.h"

namespace culprit::cli {
namespace {

using std::chrono::steady_clock;

// One file at a time; it begins anew when the path is another or there is less done than before.
class Hashing {
 public:
  void Tell(const std::string& path, std::uint64_t done, std::uint64_t size) {
    if (path != path_ || done < done_) {
      path_ = path;
      begin_ = steady_clock::now();
      progress_.reset();
      told_ = false;
    }
    done_ = done;
    if (!told_ && steady_clock::now() - begin_ > std::chrono::seconds(1)) {
      told_ = true;
      const std::string name = std::filesystem::path(path).filename().string();
      Say(fmt::format("hashing {}, {}", name, base::Bytes(size)));
      progress_.emplace("hashing " + name);
    }
    if (progress_) progress_->Show(static_cast<double>(done) / static_cast<double>(size));
    if (done >= size) progress_.reset();
  }

 private:
  std::string path_;
  std::uint64_t done_ = 0;
  steady_clock::time_point begin_;
  bool told_ = false;
  std::optional<Progress> progress_;
};

}  // namespace

sys::HashProgress TellOfHashing() {
  return [hashing = std::make_shared<Hashing>()](const std::string& path, std::uint64_t done,
                                                 std::uint64_t size) {
    hashing->Tell(path, done, size);
  };
}

}  // namespace culprit::cli
