// SPDX-License-Identifier: Apache-2.0
#include "inspect/machine_findings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/text.hpp"

namespace negawatt::inspect {
namespace {

/// What the driver room says of a library that does not open: "CAUSE (DETAIL): REMEDY".
std::pair<std::string, std::string> cause_and_remedy(const std::string& message) {
  const std::size_t end = message.find("): ");
  if (end == std::string::npos) return {message, ""};
  return {message.substr(0, end + 1), message.substr(end + 3)};
}

Finding library_that_fails(const Error& failure, const MachineFacts& machine) {
  auto [found, action] = cause_and_remedy(failure.message);
  // What one searches the web for; the text of the remedy has the rest.
  if (action.find("Unknown Error") != std::string::npos) {
    found = "Failed to initialize NVML: Unknown Error; " + found;
  }
  const auto& privilege = machine.privilege;
  if (privilege.container) {
    found += fmt::format("; this is a {} container", *privilege.container);
  }
  found += machine.kernel_driver
               ? fmt::format("; kernel driver {} is loaded", *machine.kernel_driver)
               : "; no NVIDIA kernel driver is loaded";
  return {"driver library", State::missing, std::move(found), std::move(action)};
}

Finding driver_library(const DoctorFacts& facts) {
  const DriverFacts& driver = facts.driver;
  if (driver.failure) return library_that_fails(*driver.failure, facts.machine);
  if (driver.hangs) {
    return {"driver library", State::missing,
            fmt::format("{} was asked to start and has not returned", driver.path),
            "a GPU may be falling off the bus: see dmesg for Xid errors"};
  }
  std::string found = driver.path;
  if (driver.library_version) found += ", NVML " + printable(*driver.library_version);
  if (driver.simulated) found += "; it simulates its GPUs: nothing here is real";
  return {"driver library", State::good, std::move(found), ""};
}

Finding driver_version(const DoctorFacts& facts) {
  const auto& version = facts.driver.driver_version;
  if (version) return {"driver version", State::good, printable(*version), ""};
  return {"driver version", State::unknown, version.error().message, ""};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

Finding driver_functions(const DriverFacts& driver) {
  const auto lost = without_substitute(driver.missing_functions);
  if (lost.empty()) return {"driver functions", State::good, "all that negawatt uses", ""};
  return {"driver functions", State::limited, "this library lacks " + joined(lost),
          "what is lost by that stands below; a newer driver may have it"};
}

/// "GPU 3 does not answer", "GPU 1: energy counter".
std::vector<std::string> gpus_with_missing(const std::vector<GpuFindings>& gpus) {
  std::vector<std::string> named;
  for (const auto& gpu : gpus) {
    const auto first = std::ranges::find(gpu.findings, State::missing, &Finding::state);
    if (first == gpu.findings.end()) continue;
    named.push_back(first->subject == "GPU"
                        ? fmt::format("GPU {} does not answer", gpu.display_index)
                        : fmt::format("GPU {}: {}", gpu.display_index, first->subject));
  }
  return named;
}

Finding gpus_in_sum(const DoctorFacts& facts, const std::vector<GpuFindings>& gpus) {
  if (facts.driver.listing) {
    return {"GPUs", State::missing, facts.driver.listing->message, "see dmesg for Xid errors"};
  }
  if (gpus.empty()) {
    return {"GPUs", State::missing, "the driver is here and has no GPU",
            facts.machine.privilege.container
                ? "start the container with GPU access (docker run --gpus all)"
                : "see lspci and dmesg: is the GPU there, and did the driver take it?"};
  }
  const auto bad = gpus_with_missing(gpus);
  std::string found =
      fmt::format("{} of {} can be measured and governed", gpus.size() - bad.size(), gpus.size());
  if (!bad.empty()) found += "; " + joined(bad);
  const bool none = bad.size() == gpus.size();
  return {"GPUs", none ? State::missing : (bad.empty() ? State::good : State::limited),
          std::move(found), ""};
}

Finding cuda_devices(const DoctorFacts& facts) {
  constexpr auto kSubject = "CUDA sees";
  const auto& variable = facts.cuda.visible_devices;
  std::string found = fmt::format("{} of {} GPUs", facts.visible.devices.size(), facts.gpus.size());
  found += variable ? fmt::format(" (CUDA_VISIBLE_DEVICES={})", printable(*variable))
                    : " (CUDA_VISIBLE_DEVICES is not set)";
  if (!facts.visible.note.empty()) found += "; " + facts.visible.note;
  if (facts.visible.devices.empty()) {
    return {kSubject, State::missing, std::move(found),
            variable ? "unset CUDA_VISIBLE_DEVICES, or name a GPU that is there"
                     : "no program started from here can compute"};
  }
  return {kSubject, facts.visible.note.empty() ? State::good : State::limited, std::move(found),
          ""};
}

/// What can be done about a daemon that is not there, by whoever runs this.
std::string how_to_start_daemon(const DoctorFacts& facts) {
  const Privilege& privilege = facts.machine.privilege;
  if (facts.driver.simulated) return "start it: negawattd";
  if (privilege.container) {
    return fmt::format(
        "{}run negawattd on the host and mount the folder of its socket into the container",
        privilege.sys_admin ? "start it here, or " : "");
  }
  if (privilege.sys_admin) return "start it: systemctl start negawattd";
  return "ask an administrator to start it: systemctl start negawattd";
}

std::string owner_words(const lease::GpuEntry& entry) {
  return fmt::format("{} by {} (pid {}, user {})", entry.gpu.substr(0, 12),
                     printable(entry.owner.command), entry.owner.pid, entry.owner.uid);
}

Finding daemon(const DoctorFacts& facts) {
  constexpr auto kSubject = "negawattd";
  const DaemonFacts& daemon = facts.daemon;
  if (daemon.failure) {
    return {kSubject, State::missing, daemon.failure->message, how_to_start_daemon(facts)};
  }
  if (daemon.observe_only) {
    return {kSubject, State::missing,
            fmt::format("answers at {}, and only observes: no clocks can be set", daemon.socket),
            "where settings may change, start it without --observe-only"};
  }
  std::vector<std::string> leases;
  for (const auto& gpu : daemon.gpus) {
    if (gpu.state == lease::GpuState::leased) leases.push_back(owner_words(gpu));
  }
  return {kSubject, State::good,
          fmt::format("answers at {}; {} GPUs; {}", daemon.socket, daemon.gpus.size(),
                      leases.empty() ? "no lease" : "leased: " + joined(leases)),
          ""};
}

Finding stuck_restores(const DaemonFacts& daemon) {
  std::vector<std::string> stuck;
  for (const auto& gpu : daemon.gpus) {
    if (gpu.state == lease::GpuState::restoring || gpu.state == lease::GpuState::unavailable) {
      stuck.push_back(fmt::format("{} {}", gpu.gpu.substr(0, 12),
                                  gpu.state == lease::GpuState::restoring
                                      ? "is not back in its previous state yet"
                                      : "does not answer"));
    }
  }
  return {"negawattd's GPUs", State::limited, joined(stuck),
          "see journalctl -u negawattd: it goes on trying"};
}

Finding setting_clocks(const DoctorFacts& facts) {
  constexpr auto kSubject = "setting clocks";
  const Privilege& privilege = facts.machine.privilege;
  if (!facts.daemon.failure && !facts.daemon.observe_only) {
    return {kSubject, State::good, "through negawattd, which gives back what it took", ""};
  }
  if (privilege.sys_admin) {
    return {kSubject, State::limited, "this user may; programs do it through negawattd only", ""};
  }
  std::string found = privilege.user_id == 0 ? "root without CAP_SYS_ADMIN may not"
                                             : fmt::format("user {} may not", privilege.user_id);
  if (privilege.container) found += fmt::format(" ({} container)", *privilege.container);
  return {kSubject, State::missing, std::move(found),
          privilege.container
              ? "through negawattd on the host; or start the container with --cap-add SYS_ADMIN"
              : "through negawattd, which an administrator starts"};
}

Finding other_tools(const MachineFacts& machine) {
  constexpr auto kSubject = "other tools";
  std::vector<std::string> named;
  named.reserve(machine.tools.size() + 1);
  for (const auto& tool : machine.tools) {
    named.push_back(fmt::format("{} (pid {})", printable(tool.name), tool.pid));
  }
  if (machine.injection) {
    named.push_back("CUDA_INJECTION64_PATH=" + printable(*machine.injection));
  }
  if (named.empty()) return {kSubject, State::good, "no profiler or DCGM seen", ""};
  return {kSubject, State::limited, joined(named),
          "they may hold the profiling counters and draw power: stop them while measuring"};
}

}  // namespace

std::vector<std::string> without_substitute(const std::vector<std::string>& missing) {
  // Either of two will do; of the process lists, versions 2 and 3.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kPairs = {
      {{"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"},
       {"nvmlDeviceGetSupportedClocksEventReasons", "nvmlDeviceGetSupportedClocksThrottleReasons"},
       {"nvmlDeviceGetTemperatureV", "nvmlDeviceGetTemperature"},
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}}};
  const auto lacks = [&missing](std::string_view name) {
    return std::ranges::find(missing, name) != missing.end();
  };
  std::vector<std::string> lost;
  for (const auto& name : missing) {
    const bool substituted = std::ranges::any_of(kPairs, [&](const auto& pair) {
      return (name == pair.first && !lacks(pair.second)) ||
             (name == pair.second && !lacks(pair.first));
    });
    if (!substituted) lost.push_back(name);
  }
  return lost;
}

std::vector<Finding> machine_findings(const DoctorFacts& facts,
                                      const std::vector<GpuFindings>& gpus) {
  std::vector<Finding> findings = {driver_library(facts)};
  if (!facts.driver.failure && !facts.driver.hangs) {
    findings.push_back(driver_version(facts));
    findings.push_back(driver_functions(facts.driver));
    findings.push_back(gpus_in_sum(facts, gpus));
    if (!gpus.empty()) findings.push_back(cuda_devices(facts));
  }
  findings.push_back(daemon(facts));
  if (std::ranges::any_of(facts.daemon.gpus, [](const lease::GpuEntry& gpu) {
        return gpu.state == lease::GpuState::restoring || gpu.state == lease::GpuState::unavailable;
      })) {
    findings.push_back(stuck_restores(facts.daemon));
  }
  findings.push_back(setting_clocks(facts));
  findings.push_back(other_tools(facts.machine));
  return findings;
}

}  // namespace negawatt::inspect
