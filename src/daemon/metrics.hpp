// SPDX-License-Identifier: Apache-2.0
//
// Prometheus metrics over HTTP. Sensors are read when somebody scrapes, and only then; a GPU whose
// driver does not answer in time has negawatt_gpu_up 0 and no sensor values, never old ones. Units
// are SI and stand in the name. docs/daemon.md lists the metrics.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/units.hpp"
#include "daemon/worker.hpp"

namespace negawatt::daemon {

/// What concerns no single GPU.
struct ServerCounters {
  std::atomic<std::uint64_t> clients{0};  ///< connected now
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> connections_refused{0};
  std::atomic<std::uint64_t> malformed{0};  ///< connections closed for what they sent
  std::atomic<std::uint64_t> leases_refused{0};
};

struct MeteredGpu {
  std::string uuid;
  GpuWorker* worker = nullptr;
};

/// The HTTP server; it ends with this object.
class Metrics {
 public:
  /// Serves /metrics on `address` (ADDRESS:PORT). GPUs and counters must outlive it.
  [[nodiscard]] static Result<Metrics> serve(const std::string& address,
                                             std::vector<MeteredGpu> gpus,
                                             const ServerCounters& counters);
  Metrics(Metrics&&) noexcept;
  Metrics& operator=(Metrics&&) = delete;
  ~Metrics();

 private:
  struct Http;
  explicit Metrics(std::unique_ptr<Http> http);
  std::unique_ptr<Http> http_;
};

}  // namespace negawatt::daemon
