// SPDX-License-Identifier: Apache-2.0
#include "inspect/gpu_findings.hpp"

#include <fmt/core.h>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "core/text.hpp"

namespace negawatt::inspect {
namespace {

constexpr std::string_view kNotMeasured = "run negawatt doctor without --quick";

std::string milliseconds(Seconds time) { return fmt::format("{:.1f} ms", time.in_si() * 1e3); }

/// "changes every 100.0 ms (+- 0.2), read in 3.4 ms".
std::string words(const gpu::Refresh& refresh) {
  return fmt::format("changes every {} (+- {:.1f}), read in {}", milliseconds(refresh.period),
                     refresh.period_error.in_si() * 1e3, milliseconds(refresh.read_cost));
}

/// A query that has no answer: the driver's words, and a state that fits the reason. `absent` is
/// the state when the GPU simply does not have it.
Finding unanswered(std::string subject, const gpu::DriverError& error, State absent,
                   std::string action_when_absent) {
  Finding finding{std::move(subject), absent, error.message, std::move(action_when_absent)};
  switch (error.obstacle) {
    case gpu::Obstacle::absent:
      break;
    case gpu::Obstacle::denied:
      finding.action = "ask as root, or give this container more rights (--cap-add SYS_ADMIN)";
      break;
    case gpu::Obstacle::lost:
      finding.action = "see dmesg for Xid errors; nvidia-smi --gpu-reset, or reboot";
      break;
    case gpu::Obstacle::not_ready:
      finding.state = State::unknown;
      finding.action = "the driver is busy: run negawatt doctor again";
      break;
    case gpu::Obstacle::refused:
    case gpu::Obstacle::failed:
      finding.state = absent == State::missing ? State::missing : State::unknown;
      break;
  }
  return finding;
}

/// A sensor that answers `value`, with how often it changes.
Finding sensor(std::string subject, const std::string& value, const Result<gpu::Refresh>* refresh,
               bool quick) {
  if (refresh == nullptr) {
    return {std::move(subject), State::good, value + "; its period was not measured",
            std::string(quick ? kNotMeasured : "")};
  }
  if (*refresh) {
    return {std::move(subject), State::good, fmt::format("{}; {}", value, words(**refresh)), ""};
  }
  // It answers, and changes too seldom or too irregularly; or it does not answer any more.
  const auto& error = refresh->error();
  return {std::move(subject), State::unknown,
          fmt::format("{}; {}", value,
                      error.code == Code::internal ? "no regular changes seen" : error.message),
          ""};
}

Finding energy_counter(const GpuAnswers& answers, const Measured* measured, bool quick) {
  const auto& energy = answers.energy;
  if (!energy) {
    return unanswered("energy counter", energy.error(), State::missing,
                      "sweep and run need the counter: use another GPU; top integrates power");
  }
  auto finding = sensor("energy counter", fmt::format("{:.1f} J", to_si(energy->counter).in_si()),
                        measured == nullptr ? nullptr : &measured->energy, quick);
  if (measured == nullptr || finding.state != State::unknown) return finding;
  if (measured->counter_moves) {
    finding.action = "on a busy machine the reads come too late: run negawatt doctor again";
  } else {  // power may be the same for a while; energy never is
    finding.state = State::missing;
    finding.found += ": it stands still";
    finding.action = "reload the driver, or reboot";
  }
  return finding;
}

Finding power_sensor(std::string subject, const gpu::Answer<gpu::Milliwatts>& power,
                     const Result<gpu::Refresh>* refresh, bool quick) {
  if (power) return sensor(std::move(subject), to_string(*power), refresh, quick);
  return unanswered(std::move(subject), power.error(), State::limited, "");
}

void add_power(const GpuAnswers& answers, const Measured* measured, bool quick,
               std::vector<Finding>& into) {
  if (answers.power_instant || answers.power_average) {
    into.push_back(power_sensor("instant power", answers.power_instant,
                                measured == nullptr ? nullptr : &measured->power_instant, quick));
    into.push_back(power_sensor("average power", answers.power_average,
                                measured == nullptr ? nullptr : &measured->power_average, quick));
  } else if (answers.power_unspecified) {
    into.push_back({"power", State::limited,
                    fmt::format("{}, over a window that the driver does not state (up to 1 s)",
                                to_string(*answers.power_unspecified)),
                    ""});
  } else {
    into.push_back(unanswered("power", answers.power_unspecified.error(), State::limited, ""));
  }
}

Finding cross_check(const Measured* measured, bool quick) {
  constexpr auto kSubject = "counter vs power";
  if (measured == nullptr) {
    return {kSubject, State::unknown, "not compared", std::string(quick ? kNotMeasured : "")};
  }
  const auto& check = measured->cross_check;
  if (!check) return {kSubject, State::unknown, check.error().message, ""};
  const std::string numbers =
      fmt::format("{:.1f} J counted, {:.1f} J from power, over {:.1f} s", check->counter.in_si(),
                  check->integrated.in_si(), check->time.in_si());
  switch (check->verdict) {
    case gpu::CrossCheck::Verdict::agrees:
      return {kSubject, State::good, numbers, ""};
    case gpu::CrossCheck::Verdict::disagrees:
      return {kSubject, State::limited, numbers + ": they disagree",
              "do not trust this GPU's energies, nor its power; update the driver"};
    case gpu::CrossCheck::Verdict::undecided:
      break;
  }
  return {
      kSubject, State::unknown,
      fmt::format("{}: power varied by {:.0f} %, too much to tell", numbers, check->spread * 100),
      "run negawatt doctor while the GPU is idle or steadily loaded"};
}

Finding clocks_now(const GpuAnswers& answers) {
  const auto& clocks = answers.clocks;
  if (!clocks) {
    return unanswered("clocks", clocks.error(), State::missing,
                      "without them no one can tell whether a lock holds: use another GPU");
  }
  return {"clocks", State::good,
          fmt::format("core {}, memory {} now", to_string(clocks->core), to_string(clocks->memory)),
          ""};
}

std::string range_of(const std::vector<gpu::Megahertz>& descending) {
  return descending.size() == 1 ? to_string(descending.front())
                                : fmt::format("{} from {} to {} MHz", descending.size(),
                                              descending.back().count, descending.front().count);
}

Finding supported_clocks(const GpuAnswers& answers) {
  constexpr auto kSubject = "supported clocks";
  constexpr auto kNone = "without a list of clocks nothing can be planned: use another GPU";
  for (const auto* const list : {&answers.core_clocks, &answers.memory_clocks}) {
    if (!*list) return unanswered(kSubject, list->error(), State::missing, kNone);
    if ((*list)->empty()) return {kSubject, State::missing, "the driver lists none", kNone};
  }
  return {kSubject, State::good,
          fmt::format("core: {}; memory: {}", range_of(*answers.core_clocks),
                      range_of(*answers.memory_clocks)),
          ""};
}

Finding event_reasons(const GpuAnswers& answers) {
  const auto& reasons = answers.reasons;
  if (!reasons) {
    return unanswered("throttle reasons", reasons.error(), State::limited,
                      "a clock below the asked one then stays unexplained");
  }
  return {"throttle reasons", State::good, "now: " + to_string(*reasons), ""};
}

Finding power_limit(const GpuAnswers& answers) {
  constexpr auto kSubject = "power limit";
  const auto& limits = answers.power_limits;
  if (!limits) {
    return unanswered(kSubject, limits.error(), State::limited,
                      "energies cannot be checked for plausibility, nor power be limited");
  }
  const auto& [requested, enforced, factory, least, most] = *limits;
  std::string found =
      enforced ? to_string(*enforced) + " in force" : "the limit in force is not told";
  if (least && most) {
    found += fmt::format(", settable {} to {}", to_string(*least), to_string(*most));
  } else {
    found += ", not settable";
  }
  if (enforced && factory && *enforced < *factory) {
    found += fmt::format("; somebody lowered it (default {})", to_string(*factory));
  }
  return {kSubject, State::good, found, ""};
}

Finding persistence(const GpuAnswers& answers) {
  constexpr auto kSubject = "persistence mode";
  if (!answers.persistence) {
    return unanswered(kSubject, answers.persistence.error(), State::limited, "");
  }
  if (*answers.persistence) return {kSubject, State::good, "on", ""};
  return {kSubject, State::limited,
          "off: when the last program leaves the GPU, the driver unloads and its settings are lost",
          "start nvidia-persistenced (systemctl enable --now nvidia-persistenced)"};
}

void add_mig(const GpuAnswers& answers, std::vector<Finding>& into) {
  if (!answers.mig || !answers.mig->enabled) return;
  into.push_back(
      {"MIG", State::limited,
       fmt::format("on, {} instances: watts, joules and clocks are those of the whole GPU",
                   answers.instances ? fmt::format("{}", answers.instances->size())
                                     : "an unknown number of"),
       "for measuring, turn MIG off: nvidia-smi -mig 0"});
}

Finding processes(const GpuAnswers& answers, const std::vector<std::string>& names) {
  constexpr auto kSubject = "processes";
  const auto& list = answers.processes;
  if (!list) {
    return unanswered(kSubject, list.error(), State::missing,
                      "negawattd gives no lease without it: run where the GPU's processes show");
  }
  if (list->empty()) return {kSubject, State::good, "none computes on it now", ""};
  std::string found = fmt::format("{} on it", list->size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    found += fmt::format("{}{}", i == 0 ? ": " : ", ", printable(names[i]));
  }
  return {kSubject, State::good, found, ""};
}

/// The GPU was there when it was listed and is lost now: every query says the same.
const gpu::DriverError* loss_in(const GpuAnswers& answers) {
  const auto lost = [](const auto& answer) {
    return !answer && answer.error().obstacle == gpu::Obstacle::lost;
  };
  if (lost(answers.clocks)) return &answers.clocks.error();
  if (lost(answers.energy)) return &answers.energy.error();
  return nullptr;
}

Finding lost(const gpu::DriverError& error) {
  return {"GPU", State::missing, error.message, "nvidia-smi --gpu-reset, or reboot"};
}

}  // namespace

GpuFindings findings_of(const GpuFacts& facts, bool quick) {
  GpuFindings result{.display_index = facts.display_index, .name = {}, .uuid = {}, .findings = {}};
  if (!facts.identity) {
    if (facts.lost) result.findings.push_back(lost(*facts.lost));
    return result;
  }
  result.name = printable(facts.identity->name);
  result.uuid = facts.identity->id.text();
  auto& into = result.findings;
  if (!facts.answers) {
    into.push_back({"GPU", State::missing, "a driver call on it does not return",
                    "see dmesg for Xid errors; reboot if it stays so"});
    return result;
  }
  const GpuAnswers& answers = *facts.answers;
  const Measured* const measured = facts.measured ? &*facts.measured : nullptr;
  if (const auto* const loss = loss_in(answers)) {
    into.push_back(lost(*loss));
    return result;
  }
  into.push_back(energy_counter(answers, measured, quick));
  add_power(answers, measured, quick, into);
  into.push_back(cross_check(measured, quick));
  into.push_back(clocks_now(answers));
  into.push_back(supported_clocks(answers));
  into.push_back(event_reasons(answers));
  into.push_back(power_limit(answers));
  into.push_back(persistence(answers));
  add_mig(answers, into);
  into.push_back(processes(answers, facts.process_names));
  return result;
}

}  // namespace negawatt::inspect
