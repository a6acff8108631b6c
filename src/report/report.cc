#include "report/report.h"

namespace culprit::report {

std::string_view Name(Note::Level level) {
  switch (level) {
    case Note::Level::kInfo:
      return "info";
    case Note::Level::kNotice:
      return "notice";
    case Note::Level::kWarning:
      return "warning";
    case Note::Level::kError:
      return "error";
  }
  return "";
}

}  // namespace culprit::report
