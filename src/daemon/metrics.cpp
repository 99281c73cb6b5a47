// SPDX-License-Identifier: Apache-2.0
#include "daemon/metrics.hpp"

#include <fmt/core.h>
#include <prometheus/client_metric.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace negawatt::daemon {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr Seconds kReadTimeout{
    1};  // sensors take milliseconds; a scrape times out after ten seconds
constexpr std::size_t kHttpThreads = 2;

using Labels = std::vector<ClientMetric::Label>;

class Family {
 public:
  Family(std::string name, std::string help, MetricType type) : family_{} {
    family_.name = std::move(name);
    family_.help = std::move(help);
    family_.type = type;
  }
  void add(Labels labels, double value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.gauge.value = value;
    metric.counter.value = value;
    family_.metric.push_back(std::move(metric));
  }
  /// A family without a value says nothing and is left out.
  void move_to(std::vector<MetricFamily>& families) && {
    if (!family_.metric.empty()) families.push_back(std::move(family_));
  }

 private:
  MetricFamily family_;
};

struct GpuCounterMetric {
  const char* name;
  const char* help;
  GpuCounters::Count GpuCounters::* count;
};
constexpr std::array kGpuCounters = {
    GpuCounterMetric{"leases_granted_total", "Leases granted", &GpuCounters::leases_granted},
    GpuCounterMetric{"requests_total", "Clock requests taken from clients", &GpuCounters::requests},
    GpuCounterMetric{"clock_changes_total", "Requests that changed a clock", &GpuCounters::changes},
    GpuCounterMetric{"outside_limits_total", "Requests beyond a lease's limits",
                     &GpuCounters::outside_limits},
    GpuCounterMetric{"driver_errors_total", "Driver calls that failed",
                     &GpuCounters::driver_errors},
    GpuCounterMetric{"driver_hangs_total", "Driver calls that took too long",
                     &GpuCounters::driver_hangs},
    GpuCounterMetric{"restores_total", "Knobs put back into their previous state",
                     &GpuCounters::restores},
    GpuCounterMetric{"limits_left_total",
                     "Power limits not put back as somebody else had lowered them",
                     &GpuCounters::left},
    GpuCounterMetric{"restore_failures_total", "Attempts to put a knob back that failed",
                     &GpuCounters::restore_failures},
    GpuCounterMetric{"locks_not_honoured_total", "Locks that were accepted and not followed",
                     &GpuCounters::not_honoured},
};

struct SensorMetric {
  const char* name;
  const char* help;
  MetricType type;
  std::optional<double> (*value)(const Sensors&);
};
template <class Quantity>
std::optional<double> si(const std::optional<Quantity>& quantity) {
  return quantity ? std::optional(quantity->in_si()) : std::nullopt;
}
constexpr double kHertzPerMegahertz = 1e6;
const std::array kSensors = {
    SensorMetric{"power_watts", "Board power, over about a second", MetricType::Gauge,
                 [](const Sensors& s) { return si(s.power); }},
    SensorMetric{"energy_joules_total", "Energy since the daemon's first reading",
                 MetricType::Counter, [](const Sensors& s) { return si(s.energy); }},
    SensorMetric{"energy_epochs_total", "Times the energy counter went back", MetricType::Counter,
                 [](const Sensors& s) -> std::optional<double> { return s.energy_epochs; }},
    SensorMetric{"energy_implausible_total", "Energy steps left out as impossible",
                 MetricType::Counter,
                 [](const Sensors& s) -> std::optional<double> { return s.energy_implausible; }},
    SensorMetric{"core_clock_hertz", "Core clock now", MetricType::Gauge,
                 [](const Sensors& s) -> std::optional<double> {
                   if (!s.clocks) return std::nullopt;
                   return s.clocks->core.count * kHertzPerMegahertz;
                 }},
    SensorMetric{"memory_clock_hertz", "Memory clock now", MetricType::Gauge,
                 [](const Sensors& s) -> std::optional<double> {
                   if (!s.clocks) return std::nullopt;
                   return s.clocks->memory.count * kHertzPerMegahertz;
                 }},
    SensorMetric{"temperature_celsius", "Core temperature", MetricType::Gauge,
                 [](const Sensors& s) -> std::optional<double> { return s.temperature_c; }},
    SensorMetric{"power_limit_watts", "Power limit in force", MetricType::Gauge,
                 [](const Sensors& s) { return si(s.power_limit); }},
};

/// One GPU at one scrape: its labels are the same in all families of the page.
struct ScrapedGpu {
  const GpuCounters* counters = nullptr;
  std::optional<Sensors> sensors;
  Labels labels;
};

class Collector : public prometheus::Collectable {
 public:
  Collector(std::vector<MeteredGpu> gpus, const ServerCounters& counters)
      : gpus_(std::move(gpus)), counters_(&counters) {}

  std::vector<MetricFamily> Collect() const override {
    const auto gpus = scrape();
    std::vector<MetricFamily> families;
    add_counters(gpus, families);
    add_sensors(gpus, families);
    add_asked(gpus, families);
    add_server(families);
    return families;
  }

 private:
  /// The sensors first: asking them is what finds a GPU that had not answered, and its model.
  [[nodiscard]] std::vector<ScrapedGpu> scrape() const {
    std::vector<ScrapedGpu> scraped;
    for (const auto& gpu : gpus_) {
      const auto sensors = gpu.worker->read_sensors(kReadTimeout);
      Labels labels{{"gpu", gpu.uuid}};
      if (auto model = gpu.worker->model(); !model.empty())
        labels.push_back({"model", std::move(model)});
      scraped.push_back({&gpu.worker->counters, sensors, std::move(labels)});
    }
    return scraped;
  }

  static void add_counters(const std::vector<ScrapedGpu>& gpus,
                           std::vector<MetricFamily>& families) {
    for (const auto& metric : kGpuCounters) {
      Family family(fmt::format("negawatt_gpu_{}", metric.name), metric.help, MetricType::Counter);
      for (const auto& gpu : gpus)
        family.add(gpu.labels, static_cast<double>((gpu.counters->*metric.count).load()));
      std::move(family).move_to(families);
    }
  }

  static void add_sensors(const std::vector<ScrapedGpu>& gpus,
                          std::vector<MetricFamily>& families) {
    Family up("negawatt_gpu_up", "Whether the driver answers for this GPU", MetricType::Gauge);
    for (const auto& gpu : gpus) {
      const bool answers = gpu.sensors && (gpu.sensors->clocks || gpu.sensors->power);
      up.add(gpu.labels, answers ? 1 : 0);
    }
    std::move(up).move_to(families);
    for (const auto& metric : kSensors) {
      Family family(fmt::format("negawatt_gpu_{}", metric.name), metric.help, metric.type);
      for (const auto& gpu : gpus) {
        const auto value = gpu.sensors ? metric.value(*gpu.sensors) : std::nullopt;
        if (value) family.add(gpu.labels, *value);
      }
      std::move(family).move_to(families);
    }
  }

  static void add_asked(const std::vector<ScrapedGpu>& gpus, std::vector<MetricFamily>& families) {
    Family leased("negawatt_gpu_leased", "Whether a lease is active", MetricType::Gauge);
    Family core("negawatt_gpu_core_clock_asked_hertz", "Locked core clock; absent: automatic",
                MetricType::Gauge);
    Family memory("negawatt_gpu_memory_clock_asked_hertz", "Locked memory clock; absent: automatic",
                  MetricType::Gauge);
    for (const auto& gpu : gpus) {
      leased.add(gpu.labels, static_cast<double>(gpu.counters->leases_active.load()));
      if (const auto mhz = gpu.counters->asked_core_mhz.load(); mhz != 0)
        core.add(gpu.labels, mhz * kHertzPerMegahertz);
      if (const auto mhz = gpu.counters->asked_memory_mhz.load(); mhz != 0)
        memory.add(gpu.labels, mhz * kHertzPerMegahertz);
    }
    std::move(leased).move_to(families);
    std::move(core).move_to(families);
    std::move(memory).move_to(families);
  }

  void add_server(std::vector<MetricFamily>& families) const {
    const auto add = [&](const char* name, const char* help, MetricType type, double value) {
      Family family(name, help, type);
      family.add({}, value);
      std::move(family).move_to(families);
    };
    const auto of = [](const auto& count) { return static_cast<double>(count.load()); };
    add("negawatt_daemon_clients", "Connections now", MetricType::Gauge, of(counters_->clients));
    add("negawatt_daemon_connections_total", "Connections accepted", MetricType::Counter,
        of(counters_->connections));
    add("negawatt_daemon_connections_refused_total", "Connections refused", MetricType::Counter,
        of(counters_->connections_refused));
    add("negawatt_daemon_malformed_total", "Connections closed for what they sent",
        MetricType::Counter, of(counters_->malformed));
    add("negawatt_daemon_leases_refused_total", "Leases refused", MetricType::Counter,
        of(counters_->leases_refused));
  }

  std::vector<MeteredGpu> gpus_;
  const ServerCounters* counters_;
};

}  // namespace

struct Metrics::Http {
  std::shared_ptr<Collector> collector;  // the exposer has a weak pointer to it
  std::unique_ptr<prometheus::Exposer> exposer;
};

Metrics::Metrics(std::unique_ptr<Http> http) : http_(std::move(http)) {}
Metrics::Metrics(Metrics&&) noexcept = default;
Metrics::~Metrics() = default;

Result<Metrics> Metrics::serve(const std::string& address, std::vector<MeteredGpu> gpus,
                               const ServerCounters& counters) {
  try {
    auto http = std::make_unique<Http>();
    http->collector = std::make_shared<Collector>(std::move(gpus), counters);
    http->exposer = std::make_unique<prometheus::Exposer>(address, kHttpThreads);
    http->exposer->RegisterCollectable(http->collector);
    return Metrics(std::move(http));
  } catch (const std::exception& error) {
    return failure(Code::unavailable,
                   fmt::format("cannot serve metrics on {}: {}", address, error.what()));
  }
}

}  // namespace negawatt::daemon
