#include "lab/recorded_positions.h"

#include <cstdint>
#include <filesystem>

namespace culprit::lab {
namespace {

using base::Result;
using base::Status;
using experiment::TokenId;
using experiment::TokenLogprob;

template <typename T>
void Write(std::fstream& file, const std::vector<T>& values) {
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(T)));
}

template <typename T>
void Read(std::fstream& file, std::vector<T>& values) {
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
}

}  // namespace

RecordedPositions::RecordedPositions(std::string path)
    : path_(std::move(path)),
      file_(path_, std::ios::binary | std::ios::in | std::ios::out | std::ios::trunc) {
  std::error_code error;
  std::filesystem::remove(path_, error);
}

Status RecordedPositions::Append(const std::vector<TokenLogprob>& listed) {
  std::vector<TokenId> tokens;
  std::vector<double> logprobs;
  tokens.reserve(listed.size());
  logprobs.reserve(listed.size());
  for (const TokenLogprob& each : listed) {
    tokens.push_back(each.token);
    logprobs.push_back(each.logprob);
  }
  file_.seekp(0, std::ios::end);
  Write(file_, std::vector<std::uint64_t>{listed.size()});
  Write(file_, tokens);
  Write(file_, logprobs);
  file_.flush();
  if (!file_) return base::Fail(Broken("cannot be written"));
  ++size_;
  return {};
}

void RecordedPositions::Rewind() { file_.seekg(0); }

Result<std::vector<TokenLogprob>> RecordedPositions::Next() {
  std::vector<std::uint64_t> count(1);
  Read(file_, count);
  if (!file_) return base::Fail(Broken("ends before its last position"));
  std::vector<TokenId> tokens(count[0]);
  std::vector<double> logprobs(count[0]);
  Read(file_, tokens);
  Read(file_, logprobs);
  if (!file_) return base::Fail(Broken("ends in the middle of a position"));
  std::vector<TokenLogprob> listed(count[0]);
  for (std::size_t i = 0; i < listed.size(); ++i) listed[i] = {tokens[i], logprobs[i]};
  return listed;
}

base::Error RecordedPositions::Broken(const char* what) const {
  return {base::ErrorCode::kUnreadable, what, path_};
}

}  // namespace culprit::lab
