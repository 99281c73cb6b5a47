// SPDX-License-Identifier: Apache-2.0
//
// Small fleets, sources, policies and observers for the tests of this room. Every request that a
// policy here sees can be held by every instance.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/serving.hpp"
#include "route/policy.hpp"
#include "sim/cluster.hpp"
#include "sim/observer.hpp"
#include "trace/request.hpp"

namespace negawatt::sim::testing {

inline InstanceSpec instance_of(const model::StepCoefficients& coefficients,
                                std::string name = "one") {
  return {.name = std::move(name),
          .device = "test",
          .model = model::ServingModel(coefficients),
          .limits = {.kv_blocks = 100'000}};
}

class List final : public trace::RequestSource {
 public:
  explicit List(std::vector<trace::Request> requests) : requests_(std::move(requests)) {}
  std::optional<trace::Request> next() override {
    if (at_ == requests_.size()) return std::nullopt;
    return requests_[at_++];
  }

 private:
  std::vector<trace::Request> requests_;
  std::size_t at_ = 0;
};

/// A policy that learns nothing and expects as much output as input.
class Simple : public route::Policy {
 public:
  [[nodiscard]] std::string_view name() const override { return "test"; }
  [[nodiscard]] double expected_output(const route::Arrival& arrival) const override {
    return arrival.input_tokens;
  }
  void completed(const route::Completion& completion) override {
    completed_ += completion.finished;
  }
  [[nodiscard]] std::size_t completions() const { return completed_; }

 private:
  std::size_t completed_ = 0;
};

/// Always the same place.
class Fixed final : public Simple {
 public:
  explicit Fixed(route::Placement placement) : placement_(placement) {}
  [[nodiscard]] std::optional<route::Placement> place(
      const route::Arrival& /*arrival*/, std::span<const route::InstanceView> /*views*/) override {
    return placement_;
  }

 private:
  route::Placement placement_;
};

/// Of the instances with the right role, the one with the fewest requests; the first of several.
class Least final : public Simple {
 public:
  [[nodiscard]] std::optional<route::Placement> place(
      const route::Arrival& /*arrival*/, std::span<const route::InstanceView> views) override {
    const auto prefill = least(views, route::Role::decode);
    if (views[prefill].role == route::Role::both) return route::Placement{prefill, prefill};
    return route::Placement{prefill, least(views, route::Role::prefill)};
  }

 private:
  static std::size_t least(std::span<const route::InstanceView> views, route::Role without) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < views.size(); ++i) {
      if (views[i].role == without) continue;
      if (!best ||
          views[i].running + views[i].waiting < views[*best].running + views[*best].waiting)
        best = i;
    }
    return *best;
  }
};

/// Keeps everything it is told.
class Watch final : public Observer {
 public:
  void drew(const Draw& draw) override { draws_of.push_back(draw); }
  void draws(std::uint32_t /*instance*/, Seconds /*now*/, Watts /*power*/) override {}
  void moved(Seconds /*now*/, Joules energy) override { moved_joules += energy.in_si(); }
  void completed(const RequestRecord& record) override { records.push_back(record); }

  std::vector<Draw> draws_of;
  std::vector<RequestRecord> records;
  double moved_joules = 0.0;
};

}  // namespace negawatt::sim::testing
