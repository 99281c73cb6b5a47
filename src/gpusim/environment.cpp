// SPDX-License-Identifier: Apache-2.0
#include "gpusim/environment.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/text.hpp"

namespace negawatt::gpusim {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

struct Place {
  std::string path;
  unsigned access;
};

Place place_of(const std::string& description) {
  if (const auto state = variable("NEGAWATT_GPUSIM_STATE"); !state.empty())
    return {.path = std::string(state), .access = 0666};
  std::error_code unresolved;
  const auto real_path = std::filesystem::canonical(description, unresolved);
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const char byte :
       fmt::format("{}\n{}\n{}", real_path.string(), variable("NEGAWATT_GPUSIM_LATENCY"),
                   variable("NEGAWATT_GPUSIM_TIME")))
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3;
  return {.path = fmt::format("/dev/shm/negawatt-gpusim-{}-{:016x}", ::geteuid(), hash),
          .access = 0600};
}

}  // namespace

Result<TimeFlow> parse_time_flow(std::string_view text) {
  if (text == "real") return TimeFlow{};
  if (text == "virtual") return TimeFlow{.mode = TimeMode::virtual_time};
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(factor) ||
      factor <= 0)
    return failure(Code::invalid, fmt::format("the simulated time is '{}', expected real, virtual, "
                                              "or a factor above 0",
                                              printable(text)));
  return TimeFlow{.mode = TimeMode::scaled, .factor = factor};
}

Result<std::unique_ptr<World>> world_of_environment() {
  const std::string description(variable("NEGAWATT_GPUSIM"));
  if (description.empty())
    return failure(Code::unavailable,
                   "no simulated machine: NEGAWATT_GPUSIM must name its description");
  NW_TRY(auto machine, read_machine(description));
  if (const auto text = variable("NEGAWATT_GPUSIM_LATENCY"); !text.empty()) {
    NW_TRY(const auto latency, parse_latency(text));
    override_latency(machine, latency);
  }
  if (const auto text = variable("NEGAWATT_GPUSIM_TIME"); !text.empty()) {
    NW_TRY(const auto flow, parse_time_flow(text));
    machine.time_mode = flow.mode;
    machine.time_scale = flow.factor;
  }
  const auto place = place_of(description);
  NW_TRY(auto world, World::open(std::move(machine), place.path, place.access));
  return std::make_unique<World>(std::move(world));
}

}  // namespace negawatt::gpusim
