#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace culprit::cli {

// HelpFormatter lays out --help for a terminal of 80 columns: what an option takes and its default
// in words. Which options exclude each other is left to errors.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_footer(const CLI::App* app) const override;
};

}  // namespace culprit::cli
