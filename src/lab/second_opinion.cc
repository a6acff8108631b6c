#include "lab/second_opinion.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

#include "base/printable.h"
#include "lab/calibration.h"
#include "server/error_line.h"
#include "sys/atomic_file.h"
#include "sys/folder.h"

namespace culprit::lab {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;
using experiment::Variant;

constexpr const char* kProgram = "llama-perplexity";

// Those of `llama-perplexity --help`, 0.7.0, and of builds before it that say how a model is
// computed. Not among them: the context, which is culprit's choice, slots, and what only serves.
constexpr std::string_view kShared =
    " -t --threads -tb --threads-batch -b --batch-size -ub --ubatch-size -fa --flash-attn "
    "--swa-full -ctk --cache-type-k -ctv --cache-type-v -kvo --kv-offload -nkvo "
    "--no-kv-offload --repack -nr --no-repack --no-host -m --model -mu --model-url -hf "
    "-hfr --hf-repo -hff --hf-file --offline -ngl --gpu-layers --n-gpu-layers -sm "
    "--split-mode -ts --tensor-split -mg --main-gpu -dev --device -ot --override-tensor "
    "-cmoe --cpu-moe -ncmoe --n-cpu-moe -ncffn --n-cpu-ffn --moe-cache-mib -fit --fit "
    "-fitt --fit-target --op-offload --no-op-offload --numa -lm --load-mode --mmap "
    "--no-mmap --mlock --rpc --override-kv --lora --lora-scaled --control-vector "
    "--control-vector-scaled --control-vector-layer-range --check-tensors ";
constexpr std::string_view kSharedFamilies[] = {"--rope-", "--yarn-"};

// llama.cpp takes --cache_type_k for --cache-type-k.
std::string Dashed(std::string word) {
  if (word.starts_with("--")) std::replace(word.begin(), word.end(), '_', '-');
  return word;
}

bool IsShared(const std::string& flag) {
  return kShared.find(" " + flag + " ") != std::string_view::npos ||
         std::any_of(std::begin(kSharedFamilies), std::end(kSharedFamilies),
                     [&flag](std::string_view family) { return flag.starts_with(family); });
}

// A word that begins with "-" is a flag, unless it is a number: -1.
bool IsFlag(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word[1] != '.' && (word[1] < '0' || word[1] > '9');
}

// LaunchOf for another program of the same build.
server::LaunchOptions LaunchOfProgram(const Variant& variant, const std::string& program) {
  server::LaunchOptions launch;
  launch.binary = program;
  launch.environment = variant.environment;
  launch.working_directory = variant.working_directory.value_or("");
  return launch;
}

// OneRun is one llama-perplexity: its command line and how it ended.
struct OneRun {
  std::vector<std::string> argv;
  std::vector<std::string> left_out;
  sys::CommandResult result;

  // The line that tells why it failed, as the end of a sentence; "" when it complains of nothing.
  [[nodiscard]] std::string Complaint() const {
    const auto line = server::FirstErrorLine(result.err);
    return line ? ": " + *line : "";
  }
  [[nodiscard]] std::string Hint() const {
    std::string line = "its command line was";
    for (const std::string& word : argv) line += " " + base::Printable(word);
    return line;
  }
  [[nodiscard]] base::Error Error(ErrorCode code, const std::string& what) const {
    return {code, what + Complaint(), "", Hint()};
  }
};

Result<OneRun> Run(const Variant& variant, const OpinionWish& wish,
                   const std::vector<std::string>& task, Bench& bench) {
  const auto program = FindPerplexity(variant);
  if (!program) return Fail(program.error());
  auto shared = ShareArguments(variant.ServerArguments());
  OneRun run{.argv = {*program}, .left_out = std::move(shared.left_out), .result = {}};
  if (variant.model) run.argv.insert(run.argv.end(), {"-m", *variant.model});
  run.argv.insert(run.argv.end(), shared.words.begin(), shared.words.end());
  run.argv.insert(run.argv.end(), {"-c", fmt::format("{}", Count(wish.context))});
  run.argv.insert(run.argv.end(), task.begin(), task.end());

  const auto launch = LaunchOfProgram(variant, *program);
  std::optional<sys::ProcessIdentity> started;
  auto result =
      sys::RunCommand({.argv = run.argv,
                       .environment = server::ServerEnvironment(launch, sys::OwnEnvironment()),
                       .working_directory = launch.working_directory,
                       .before_exec =
                           [&](const sys::ProcessIdentity& process) {
                             started = process;
                             return bench.before_exec ? bench.before_exec(process) : Status();
                           }},
                      wish.limit, bench.stop);
  if (started && bench.ended) bench.ended(*started);
  if (!result) return Fail(std::move(result.error()));
  run.result = *std::move(result);
  if (run.result.ok()) return run;
  return Fail(run.Error(ErrorCode::kServer,
                        fmt::format("{} left with {}", kProgram, run.result.exit.Text())));
}

// Without an error it is only known that the tool began its file when it has a header: magic, and
// the numbers of context, vocabulary and chunks.
constexpr std::uint64_t kBaseHeader = 8 + 3 * 4;

Result<gate::SecondOpinion> OpinionOf(const OneRun& run, const OpinionBase& base) {
  // It says so, and goes on with what it reads at the wrong places.
  if (run.result.err.find("inconsistent vocabulary") != std::string::npos) {
    return Fail(run.Error(ErrorCode::kMismatch, "its vocabulary is another than the baseline's"));
  }
  auto opinion = gate::ParsePerplexity(run.result.out);
  if (!opinion) return Fail(run.Error(opinion.error().code, opinion.error().message));
  opinion->context = base.wish().context;
  opinion->left_out = base.left_out();
  for (const std::string& flag : run.left_out) {
    auto& all = opinion->left_out;
    if (std::find(all.begin(), all.end(), flag) == all.end()) all.push_back(flag);
  }
  return opinion;
}

void Remove(const std::string& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

}  // namespace

SharedArguments ShareArguments(std::span<const std::string> server_arguments) {
  SharedArguments shared;
  bool takes = false;
  for (const std::string& word : server_arguments) {
    if (IsFlag(word)) {
      takes = IsShared(Dashed(word));
      if (!takes) shared.left_out.push_back(word);
    }
    if (takes) shared.words.push_back(word);
  }
  return shared;
}

Result<std::string> FindPerplexity(const Variant& variant) {
  const auto launch = LaunchOfProgram(variant, variant.binary);
  const bool is_path = variant.binary.find('/') != std::string::npos;
  const auto environment = server::ServerEnvironment(launch, sys::OwnEnvironment());
  std::error_code error;
  std::string server = server::ProgramPath(launch);
  if (!is_path) server = sys::FindProgram(variant.binary, environment).value_or(server);
  const fs::path folder = fs::weakly_canonical(server, error).parent_path();
  if (auto beside = sys::FindProgram((folder / kProgram).string(), environment)) return *beside;
  const auto in_path = is_path ? std::nullopt : sys::FindProgram(kProgram, environment);
  if (in_path) return *in_path;
  return Fail(ErrorCode::kNotFound,
              fmt::format("{} is not there{}", kProgram, is_path ? "" : ", nor in PATH"),
              base::Printable(folder.string()),
              "it must be of the server's own build: build that target too, and put it beside "
              "llama-server");
}

OpinionBase::OpinionBase(OpinionBase&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      wish_(other.wish_),
      left_out_(std::move(other.left_out_)) {}

OpinionBase& OpinionBase::operator=(OpinionBase&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(wish_, other.wish_);
  std::swap(left_out_, other.left_out_);
  return *this;
}

OpinionBase::~OpinionBase() {
  if (!path_.empty()) Remove(path_);
}

Result<OpinionBase> OpinionBase::Make(const Variant& baseline, const OpinionWish& wish,
                                      const std::string& folder, Bench& bench) {
  // A variant may have a working directory of its own.
  std::error_code error;
  const std::string stem = (fs::absolute(folder, error) / "second-opinion").string();
  const std::string text = stem + ".txt";
  if (auto written = sys::WriteFileAtomically(text, Prose()); !written) {
    return Fail(std::move(written.error()));
  }
  OpinionBase made(stem + ".base", wish);
  auto run = Run(
      baseline, wish,
      {"-f", text, "--chunks", fmt::format("{}", wish.chunks), "--kl-divergence-base", made.path_},
      bench);
  Remove(text);
  if (!run) return Fail(std::move(run.error()).In(baseline.label));
  if (sys::SizeOf(made.path_) <= kBaseHeader) {
    return Fail(run->Error(ErrorCode::kServer, fmt::format("{} wrote no probabilities", kProgram))
                    .In(baseline.label));
  }
  made.left_out_ = std::move(run->left_out);
  return made;
}

Result<gate::SecondOpinion> AskForSecondOpinion(const OpinionBase& base, const Variant& candidate,
                                                Bench& bench) {
  // llama.cpp's logger is a thread, and what it has not written when main returns is lost, at times
  // the whole table, with exit code 0 (its issue 22142). A real failure leaves a complaint as well.
  // It is lost in bursts: small models, whose runs are short, are asked more often.
  constexpr int kTries = 3, kShortTries = 20;
  constexpr auto kShort = std::chrono::minutes(2);
  const auto begin = std::chrono::steady_clock::now();
  for (int tries = 1;; ++tries) {
    const auto run = Run(candidate, base.wish(),
                         {"--kl-divergence", "--kl-divergence-base", base.path()}, bench);
    if (!run) return Fail(base::Error(run.error()).In(candidate.label));
    auto opinion = OpinionOf(*run, base);
    if (opinion) return opinion;
    const bool is_short = std::chrono::steady_clock::now() - begin < kShort;
    if (tries >= (is_short ? kShortTries : kTries) || !run->Complaint().empty()) {
      return Fail(std::move(opinion.error()).In(candidate.label));
    }
  }
}

}  // namespace culprit::lab
