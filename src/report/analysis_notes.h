#pragma once

#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "report/report.h"

namespace culprit::report {

// AddAnalysisNotes tells what a reader of one trace's numbers must know: how its window was found,
// what the reader counted, what share is bound by launching, how each device spent the window.
// subject is put in front of each sentence; "" for none.
void AddAnalysisNotes(const analysis::Analysis& analysis, const std::string& subject,
                      std::vector<Note>& notes);

// AddFileNotes tells the same of a whole file, in seconds, without what is about one request.
void AddFileNotes(const analysis::Analysis& whole, std::vector<Note>& notes);

// AddProof appends the completeness proof of one trace.
void AddProof(const analysis::Proof& proof, const std::string& subject, std::vector<Check>& checks);

// FindingNote is the sentence about one finding: what, how often, the first example, what to do.
Note FindingNote(const base::Diagnostics::Entry& entry);

// SortNotes puts severe notes first and keeps the order otherwise.
void SortNotes(std::vector<Note>& notes);

}  // namespace culprit::report
