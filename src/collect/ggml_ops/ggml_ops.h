#pragma once

#include <chrono>
#include <string>

#include "collect/collector.h"
#include "collect/registry.h"

namespace culprit::collect::ggml_ops {

// GgmlOps takes a trace at the level of ggml ops, on any backend, by preloading a library into a
// llama-server that binds to libggml when it starts.
//
// The library writes while the server works and ends its file when the server ends, so Finish asks
// the server to stop, waits for that end and no longer, and kills what is left.
// Source: doc/formats/ggml-ops.md.
class GgmlOps final : public Collector {
 public:
  // program_folder is where the running culprit lies: its library is there in a build tree, and in
  // ../lib/culprit when installed.
  // A server that has not ended its file within patience is stuck.
  explicit GgmlOps(std::string program_folder, base::Nanos patience = std::chrono::seconds(30))
      : program_folder_(std::move(program_folder)), patience_(patience) {}

  [[nodiscard]] std::string_view name() const override { return kGgmlOps; }
  [[nodiscard]] base::Status Check(const Subject& subject,
                                   const sys::StopSignal& stop) const override;
  base::Result<Launch> Prepare(const Subject& subject, const Place& place,
                               const sys::StopSignal& stop) override;
  base::Result<Collected> Finish(sys::Process& server, const RequestTimes& request,
                                 const sys::StopSignal& stop) override;

 private:
  std::string program_folder_;
  base::Nanos patience_;
  std::string folder_;  // of the trial
};

}  // namespace culprit::collect::ggml_ops
