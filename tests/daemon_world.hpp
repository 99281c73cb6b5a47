// SPDX-License-Identifier: Apache-2.0
//
// A machine of simulated GPUs with the real negawattd on it, and clients as processes of their own.
// What the GPUs were made to do is read from the simulated machine itself, not from any answer.
// Times are the machine's: a simulated GPU runs in real time here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/units.hpp"
#include "gpusim/gpu_state.hpp"
#include "gpusim/world.hpp"
#include "process/child.hpp"
#include "tests/temporary_folder.hpp"

namespace negawatt::testing {

/// UUIDs of the simulated GPUs, in order.
inline const std::string kGpu0 = "GPU-51000000-4e57-4a10-8200-000000000000";
inline const std::string kGpu1 = "GPU-51000000-4e57-4a10-8200-000000000001";

struct DaemonWorldOptions {
  int gpus = 1;
  std::string faults;                  ///< TOML below [gpu.faults] of the first GPU
  std::string config;                  ///< TOML, added to the daemon's configuration
  std::string limits;                  ///< TOML below [limits]
  std::vector<std::string> arguments;  ///< of negawattd
};

/// A lease_user process.
class User {
 public:
  explicit User(process::Child child) : child_(std::move(child)) {}
  /// Gives a command and returns the answer.
  std::string operator()(const std::string& command);
  void signal(int number) { child_.signal(number); }
  process::Ending wait() { return child_.wait(); }
  [[nodiscard]] int pid() const { return child_.pid(); }

 private:
  process::Child child_;
};

class DaemonWorld {
 public:
  explicit DaemonWorld(DaemonWorldOptions options = {});
  DaemonWorld(const DaemonWorld&) = delete;
  DaemonWorld& operator=(const DaemonWorld&) = delete;
  ~DaemonWorld();

  /// Starts the daemon and waits until it serves; `prefix` is shell text in front of the command.
  void start(const std::string& prefix = "exec");
  /// Starts another one and returns how it ended.
  process::Ending start_and_wait(const std::string& prefix = "exec");
  void signal_daemon(int number);
  process::Ending wait_for_daemon();
  [[nodiscard]] bool daemon_lives();
  [[nodiscard]] int daemon_pid() const { return daemon_->pid(); }

  /// A client; `prefix` as for the daemon.
  [[nodiscard]] User user(const std::string& prefix = "exec");
  /// One that uses the first GPU and has an active lease of it.
  [[nodiscard]] User active_user(const std::string& terms = "");

  [[nodiscard]] gpusim::GpuState gpu(std::size_t index = 0);
  /// "lock core 900 900", "reset memory", "limit 600", with "refused " before what was refused.
  [[nodiscard]] std::vector<std::string> writes(std::size_t index = 0);
  /// What is set on the GPU: "core 900, memory auto, limit 700 W".
  [[nodiscard]] std::string settings(std::size_t index = 0);
  /// As an administrator would by other means: the locks are gone, the power limit is this.
  void set_without_daemon(unsigned watts);
  /// Waits until the settings are these; false after `patience`.
  [[nodiscard]] bool becomes(const std::string& settings, Seconds patience = Seconds(10));

  /// The daemon's log so far, and whether a line comes to hold `text` within `patience`.
  [[nodiscard]] std::string log() const;
  [[nodiscard]] bool logs(const std::string& text, Seconds patience = Seconds(10)) const;

  [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }
  [[nodiscard]] std::string socket() const { return folder_.path("socket"); }
  [[nodiscard]] std::string journal() const { return folder_.path("journal"); }
  /// Rewrites the configuration; a running daemon reads it at SIGHUP.
  void configure(const std::string& config, const std::string& limits) const;

 private:
  [[nodiscard]] process::Child launch(const std::string& prefix);

  TemporaryFolder folder_;
  DaemonWorldOptions options_;
  std::unique_ptr<gpusim::World> world_;
  std::optional<process::Child> daemon_;
};

/// Waits until `holds`, looking every few milliseconds.
[[nodiscard]] bool eventually(const std::function<bool()>& holds, Seconds patience = Seconds(10));

/// Waits until the user's lease is in this state.
[[nodiscard]] bool becomes(User& user, const std::string& state);

/// The state that nobody has changed.
inline const std::string kUntouched = "core auto, memory auto, limit 700 W";

}  // namespace negawatt::testing
