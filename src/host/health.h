#pragma once

#include <string>

namespace culprit::host {

// IsOfThisMachine tells whether a URL is one that AnswersOk asks.
bool IsOfThisMachine(const std::string& url);

// AnswersOk asks a service of this machine, http://127.0.0.1:PORT/PATH (or localhost), and says
// whether it answered 200 within two seconds. Any other address: no.
bool AnswersOk(const std::string& url);

}  // namespace culprit::host
