#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace culprit::server {

// JsonScanner takes one JSON document in pieces of any size and tells a handler what is in it, so
// that an answer of tens of megabytes needs no memory of its own. Strings that are values are
// skipped; keys are told as they stand, escapes and all, and without what is beyond 64 bytes.
//
// What it takes for JSON is a little more than JSON: it looks neither into strings nor at the words
// and commas of an array that is skipped, and a number is what std::from_chars takes. Fails with
// kServer on anything else, and on brackets that nest deeper than 100.
class JsonScanner {
 public:
  class Handler {
   public:
    virtual ~Handler() = default;
    // '{' or '['. False tells that nobody asks for what stands in this array directly: it is
    // skipped then, and only nested brackets, keys and the end are told.
    virtual bool Open(char bracket) = 0;
    virtual void Close() = 0;
    virtual void Key(std::string_view key) = 0;
    virtual void Number(double value) = 0;
    virtual void Literal(std::string_view word) = 0;  // "true", "false", "null"
  };

  explicit JsonScanner(Handler& handler) : handler_(handler) {}
  base::Status Feed(std::string_view bytes);
  // done tells that the document is whole.
  [[nodiscard]] bool done() const { return expected_ == Expected::kNothing && !scalar_open_; }

 private:
  enum class Expected { kValue, kValueOrClose, kKey, kKeyOrClose, kColon, kCommaOrClose, kNothing };

  std::size_t FeedString(std::string_view bytes);
  void SkipScalars(std::string_view& bytes);
  void EndKey(std::string_view key);
  // These are called for nearly every byte; they tell whether the bytes are JSON so far.
  bool FeedScalar(std::string_view part, bool ends);
  bool FeedStructure(char c);
  bool OpenBracket(char c);
  bool CloseBracket(char c);
  bool BeginString();
  bool EndScalar(std::string_view word);
  void EndValue();

  Handler& handler_;
  Expected expected_ = Expected::kValue;
  std::string open_;         // the brackets that are open
  std::string word_;         // of the key, or of a scalar that began in an earlier piece
  std::size_t ignored_ = 0;  // how many brackets are open in the array that is skipped; 0: none is
  bool in_string_ = false, escaped_ = false, is_key_ = false, scalar_open_ = false;
  bool too_deep_ = false;
};

}  // namespace culprit::server
