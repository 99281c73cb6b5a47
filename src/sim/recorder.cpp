// SPDX-License-Identifier: Apache-2.0
#include "sim/recorder.hpp"

#include <optional>

namespace negawatt::sim {
namespace {

bool met(const std::optional<Seconds>& objective, double seconds) {
  return !objective || seconds <= objective->in_si();
}

/// Step `index` of a run of decode steps: every sequence attends to as many tokens more.
double step_time(const model::ServingModel& model, model::StepLoad load, std::uint64_t index) {
  load.context_tokens += static_cast<double>(index) * load.sequences;
  return model.step(load).time.in_si();
}

}  // namespace

Recorder::Recorder(const Cluster& cluster, std::span<Observer* const> observers)
    : slos_(cluster.slos), observers_(observers) {
  outcome.instances.resize(cluster.instances.size());
}

ClassOutcome& Recorder::class_of(const trace::Request& request) {
  if (request.request_class >= outcome.classes.size())
    outcome.classes.resize(std::size_t{request.request_class} + 1);
  return outcome.classes[request.request_class];
}

void Recorder::arrived(const trace::Request& request) {
  ++outcome.requests;
  outcome.last_arrival = request.arrival;
  auto& of_class = class_of(request);
  ++of_class.requests;
  of_class.has_slo = request.request_class < slos_.size() && !slos_[request.request_class].empty();
}

void Recorder::completed(const Job& job) {
  const auto& request = job.request;
  const double arrival = request.arrival.in_si();
  const double ttft = job.first_token - arrival;
  const double e2e = job.last_token - arrival;
  const double per_token = request.output_tokens < 2
                               ? 0.0
                               : (job.last_token - job.first_token) / (request.output_tokens - 1.0);
  auto& of_class = class_of(request);
  for (auto* latencies : {&outcome.latencies, &of_class.latencies}) {
    latencies->ttft.add(ttft);
    latencies->e2e.add(e2e);
    if (request.output_tokens > 1) latencies->per_token.add(per_token);
  }
  const Slo slo = request.request_class < slos_.size() ? slos_[request.request_class] : Slo{};
  const bool in_ttft = met(slo.ttft, ttft);
  const bool in_tbt = met(slo.tbt, per_token);
  const bool in_e2e = met(slo.e2e, e2e);
  of_class.met_ttft += in_ttft ? 1U : 0U;
  of_class.met_tbt += in_tbt ? 1U : 0U;
  of_class.met_e2e += in_e2e ? 1U : 0U;
  of_class.met_all += in_ttft && in_tbt && in_e2e ? 1U : 0U;
  ++of_class.completed;
  ++outcome.completed;
  outcome.input_tokens += request.input_tokens;
  outcome.output_tokens += request.output_tokens;
  ++instance(job.decode_at).completed;
  const RequestRecord record{.request = request,
                             .id = job.id,
                             .prefill_at = job.prefill_at,
                             .decode_at = job.decode_at,
                             .first_token = Seconds(job.first_token),
                             .last_token = Seconds(job.last_token)};
  for (auto* observer : observers_) observer->completed(record);
  finished.push_back(job);
}

void Recorder::gaps(const model::ServingModel& model, const model::StepLoad& first,
                    std::uint64_t steps) {
  const auto each = static_cast<std::uint64_t>(first.sequences);
  if (each == 0 || steps == 0) return;
  // Step times only grow, so a stretch whose ends share a bucket lies in it altogether.
  for (std::uint64_t from = 0; from < steps;) {
    const double at_from = step_time(model, first, from);
    std::uint64_t last = steps - 1;
    double at_last = step_time(model, first, last);
    while (QuantileSketch::bucket_of(at_last) != QuantileSketch::bucket_of(at_from)) {
      last = from + (last - from) / 2;
      at_last = step_time(model, first, last);
    }
    outcome.between_tokens.add(0.5 * (at_from + at_last), (last - from + 1) * each);
    from = last + 1;
  }
}

}  // namespace negawatt::sim
