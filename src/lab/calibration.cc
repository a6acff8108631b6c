#include "lab/calibration.h"

#include <utility>
#include <vector>

#include "server/server.h"
#include "sys/ports.h"

namespace culprit::lab {

// The files of data/prose, name and content; made by cmake/EmbedFiles.cmake.
extern const std::vector<std::pair<std::string_view, std::string_view>> kProse;

namespace {

using base::Fail;
using base::Result;
using experiment::Spec;
using experiment::Variant;

Result<Calibration> Make(server::Server& server, const Spec& spec, const Variant& variant,
                         std::string_view source, Bench& bench) {
  if (auto healthy = server.WaitUntilHealthy(spec.limits.load, bench.stop); !healthy) {
    return Fail(std::move(healthy.error()));
  }
  const server::Client client(server.url(),
                              {.idle = spec.limits.request, .total = spec.limits.request});
  auto props = client.GetProps(bench.stop);
  if (!props) return Fail(server.Explain(std::move(props.error())));
  auto prompt = server::MakeExactPrompt(client, spec.workload.endpoint, source,
                                        spec.workload.prompt, bench.stop);
  if (!prompt) return Fail(server.Explain(std::move(prompt.error())));
  return Calibration{*std::move(prompt), Fingerprint(variant, *props, bench)};
}

}  // namespace

std::string Fingerprint(const Variant& variant, const server::Props& props, const Bench& bench) {
  std::string model = variant.model.value_or(props.model_path.value_or(""));
  if (auto hash = bench.hashes.Of(model, bench.stop)) model = *std::move(hash);
  return server::PromptFingerprint(model, props);
}

const std::string& Prose() {
  static const std::string prose = [] {
    std::string all;
    for (const auto& [name, text] : kProse) all += text;
    return all;
  }();
  return prose;
}

Result<Calibration> Calibrate(const Spec& spec, const Variant& variant, std::string_view source,
                              const std::string& folder, Bench& bench) {
  auto port = sys::FreePort(static_cast<std::uint16_t>(spec.port));
  if (!port) return Fail(std::move(port.error()));
  server::LaunchOptions launch = LaunchOf(spec, variant, *port, folder);
  launch.log_file = folder + "/calibration.log";
  launch.before_exec = bench.before_exec;
  auto server = server::Server::Start(launch);
  if (!server) return Fail(std::move(server.error()));
  auto made = Make(*server, spec, variant, source, bench);
  server->Stop(spec.limits.stop);
  if (bench.ended) bench.ended(server->identity());
  return made;
}

}  // namespace culprit::lab
