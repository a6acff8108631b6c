#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "experiment/variant.h"
#include "gate/second_opinion.h"
#include "lab/trial.h"

namespace culprit::lab {

// OpinionWish is how much of the prose llama-perplexity reads: at most chunks of context tokens, of
// which it compares the second half. limit is for each of its runs.
struct OpinionWish {
  base::Tokens context{512};
  int chunks = 8;
  std::chrono::seconds limit{3600};
};

// SharedArguments are those of a server's arguments that llama-perplexity takes too and that may
// change its answer, and the flags of the others.
struct SharedArguments {
  std::vector<std::string> words, left_out;
};
SharedArguments ShareArguments(std::span<const std::string> server_arguments);

// FindPerplexity is the llama-perplexity of a variant's own build: beside the server, wherever a
// link to it leads. Fails with kNotFound, saying where it was looked for.
base::Result<std::string> FindPerplexity(const experiment::Variant& variant);

// OpinionBase is a file with what the baseline's llama-perplexity says at each position of the
// prose, which any number of candidates are compared with. It holds 2 bytes for each token of the
// vocabulary and position: 78 MB a chunk of 512 tokens for a vocabulary of 152,000.
//
// Owner: whoever made it; the destructor removes the file.
class OpinionBase {
 public:
  // Make runs the baseline's llama-perplexity; the file lies in folder. Fails like
  // AskForSecondOpinion, and leaves no file then.
  static base::Result<OpinionBase> Make(const experiment::Variant& baseline,
                                        const OpinionWish& wish, const std::string& folder,
                                        Bench& bench);
  OpinionBase(OpinionBase&& other) noexcept;
  OpinionBase& operator=(OpinionBase&& other) noexcept;
  ~OpinionBase();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const OpinionWish& wish() const { return wish_; }
  [[nodiscard]] const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  OpinionBase(std::string path, const OpinionWish& wish) : path_(std::move(path)), wish_(wish) {}

  std::string path_;
  OpinionWish wish_;
  std::vector<std::string> left_out_;
};

// AskForSecondOpinion runs the candidate's llama-perplexity against the base, in the environment
// and folder of the candidate's server, with what ShareArguments leaves of its arguments. The bench
// is told of the process as it is of servers. Fails with
//
//   kNotFound     no llama-perplexity beside the server
//   kServer       it left with an error, or its answer lacks a number
//   kMismatch     the vocabulary is another than the baseline's
//   kTimeout, kInterrupted, kEnvironment, kUnreadable
//
// the variant's label in the place.
base::Result<gate::SecondOpinion> AskForSecondOpinion(const OpinionBase& base,
                                                      const experiment::Variant& candidate,
                                                      Bench& bench);

}  // namespace culprit::lab
