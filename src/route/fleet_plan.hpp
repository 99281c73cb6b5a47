// SPDX-License-Identifier: Apache-2.0
//
// Which instances the demand of late should run on, and which of them may rest. What a request
// costs at the margin cannot tell: the first request on a device pays for its steps whole, so that
// a choice request by request stays where it is. The plan compares steady flows instead: device
// types in an order, each filled as far as promises allow before the next one takes what is left.
// A concave cost (shared steps, idle power) has its least value at such extremes.
//
// Nothing here fails; memory is taken at construction and when the fleet grows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/units.hpp"
#include "route/demand.hpp"
#include "route/flow.hpp"
#include "route/policy.hpp"

namespace negawatt::route {

/// What the plan minimises: cost a joule and cost a second of a request.
struct PlanWeights {
  double energy = 1;
  double time = 0;
};

/// How far forecasts of a device type are stretched before they are compared with promises.
struct PlanMargins {
  double first = 1;
  double between = 1;
  double completion = 1;
};

struct FleetSize {
  std::size_t device_types = 0;
  std::size_t instances = 0;
};

class FleetPlan {
 public:
  /// `miss`: share of requests for which the plan's instances may be too few.
  FleetPlan(const FleetSize& size, const PlanWeights& weights, const FlowPromise& promise,
            double miss);

  /// Time has passed. True: there is something to learn from; call make().
  bool advance(Seconds now) {
    now_ = now;
    return demand_.advance(now) || is_strained();
  }
  void arrived(const RequestSize& request) { demand_.arrived(request); }
  void ended(const RequestSize& request) { demand_.ended(request); }
  /// Whether an instance of the plan could keep the promises to a request that arrived. Bursts
  /// are met by planning for more than came.
  void served(bool kept);
  /// Plans for the demand of late. `margins` by device type. Instances of a role of their own
  /// cannot be planned for: there is no plan then.
  void make(std::span<const InstanceView> views, std::span<const PlanMargins> margins);

  /// Whether there is a plan; until something is known there is none.
  [[nodiscard]] bool exists() const { return choice_.size > 0; }
  [[nodiscard]] bool includes(std::size_t instance) const {
    return instance < is_member_.size() && is_member_[instance] != 0;
  }
  /// Until when it wants the instance on, if nobody comes any more: as long as it remembers.
  [[nodiscard]] Seconds wanted_until(std::size_t instance) const {
    return includes(instance) ? now_ + Seconds(Demand::kWindow * Demand::kWindows) : Seconds();
  }
  /// Cost a second that the plan expects: of serving, of being on, of resting.
  [[nodiscard]] double cost() const { return choice_.cost; }
  /// Requests a second, of the most that is expected, that it cannot serve within their promises.
  [[nodiscard]] double shortfall() const { return choice_.shortfall; }
  /// In which state the plan keeps the instances of a type.
  [[nodiscard]] const SteadyState& state(std::size_t device_type) const {
    return types_[device_type].state;
  }

 private:
  static constexpr std::size_t kPoints = 17;    ///< of the cost over the rate
  static constexpr std::size_t kMostTypes = 8;  ///< of one plan

  struct Type {
    const InstanceView* view = nullptr;  ///< one of them
    std::uint32_t instances = 0;
    std::uint32_t on = 0;                ///< of them, now
    double able = 1.0;                   ///< share of the requests that its memory holds
    double most_rate = 0.0;              ///< of an instance
    std::array<double, kPoints> cost{};  ///< a second, of an instance, idle power apart
    double resting = 0.0;                ///< cost a second of one that is not a member
    double ready = 0.0;                  ///< cost a second of a member without work
    double start = 0.0;                  ///< cost of becoming a member
    double share = 0.0;                  ///< requests a second of each member, mean
    SteadyState state;
  };
  struct Member {
    std::size_t type = 0;
    std::uint32_t count = 0;
  };
  struct Choice {
    std::array<Member, kMostTypes> members{};
    std::size_t size = 0;
    double cost = 0.0;       ///< a second
    double shortfall = 0.0;  ///< requests a second that no member can serve in time

    [[nodiscard]] std::span<const Member> all() const { return std::span(members).first(size); }
  };

  [[nodiscard]] std::size_t type_of(const InstanceView& view) const {
    return std::min<std::size_t>(view.device_type, types_.size() - 1);
  }
  [[nodiscard]] bool is_strained() const { return strain_ > 1.25 * planned_strain_; }
  void look_at(std::span<const InstanceView> views, std::span<const PlanMargins> margins);
  void sort_types();
  [[nodiscard]] double cost_of(const Type& type, double rate) const;
  [[nodiscard]] double taken(const Member& member, double left) const;
  void judge(Choice& choice, double peak) const;
  struct Search;
  void extend(Choice choice, double left, Search& search) const;
  [[nodiscard]] double start_of(const Choice& choice) const;
  void take(const Choice& choice, std::span<const InstanceView> views);
  void settle_states();

  PlanWeights weights_;
  FlowPromise promise_;
  double miss_;
  Demand demand_;
  Seconds now_;
  std::vector<Type> types_;
  std::vector<std::size_t> order_;  ///< of types_, the cheapest when full first
  Choice choice_;
  std::vector<std::uint8_t> is_member_;
  std::vector<std::uint8_t> was_member_;
  double log_strain_ = 0.0;
  double strain_ = 1.0;
  double planned_strain_ = 1.0;
};

}  // namespace negawatt::route
