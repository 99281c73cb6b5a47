// SPDX-License-Identifier: Apache-2.0
//
// negawatt fit --device: measurements of serving in, the device's description with what was learned
// and how wrong it is out.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/files.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "core/nearest_name.hpp"
#include "core/result.hpp"
#include "core/text.hpp"
#include "model/architecture.hpp"
#include "model/device.hpp"
#include "model/device_keys.hpp"
#include "model/learned_device.hpp"
#include "model/measurement.hpp"

namespace negawatt::cli {
namespace {

Result<std::vector<model::Architecture>> read_architectures(const std::vector<std::string>& files) {
  std::vector<model::Architecture> architectures;
  for (const auto& file : files) {
    NW_TRY(const auto bytes, read_input(file));
    NW_TRY(auto architecture, model::parse_architecture(bytes, file));
    if (std::ranges::find(architectures, architecture.name, &model::Architecture::name) !=
        architectures.end())
      return failure(Code::invalid,
                     fmt::format("{}: the model '{}' is there twice", file, architecture.name));
    architectures.push_back(std::move(architecture));
  }
  return architectures;
}

Status check_held(const std::vector<std::string>& held) {
  std::vector<std::string_view> known;
  known.reserve(model::kTimeKeys.size() + model::kEnergyKeys.size());
  for (const auto& key : model::kTimeKeys) known.push_back(key.key);
  for (const auto& key : model::kEnergyKeys) known.push_back(key.key);
  for (const auto& key : held) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const auto nearest = nearest_name(key, known);
    return failure(Code::invalid,
                   fmt::format("--hold: '{}' is no factor of a device{}", key,
                               nearest.empty() ? "" : fmt::format(", is '{}' meant?", nearest)));
  }
  return {};
}

model::LearnedDevice learned_from(const model::Device& device,
                                  std::span<const model::Sample> samples,
                                  const FitArguments& arguments) {
  const Progress progress(fmt::format("fitting {} measurements", samples.size()));
  return model::learn_device(device, samples, {arguments.held}, arguments.calibrate);
}

/// It goes into the device's file.
Status check_source(const std::string& source) {
  if (is_printable(source)) return {};
  return failure(Code::invalid, fmt::format("--source: '{}', expected one line of printable text",
                                            printable(source)));
}

/// The sheet's source, and that of the factors in place of that of an earlier fit.
std::string source_with(const std::string& before, const std::string& source) {
  constexpr std::string_view kFitted = "; factors fitted to ";
  return fmt::format("{}{}{}", before.substr(0, before.find(kFitted)), kFitted, source);
}

/// The device as a file, if it is one that can be read: measurements that no engine on such a
/// device can have had may make it one that cannot.
Result<std::string> written(const model::Device& device) {
  auto toml = model::to_toml(device);
  const auto read = model::parse_device(toml, "DEVICE");
  if (read) return toml;
  return failure(Code::invalid,
                 fmt::format("what was learned is no device ({}); are the measurements of this "
                             "device and these models?",
                             read.error().message));
}

}  // namespace

Status run_fit(const FitArguments& arguments) {
  NW_CHECK(check_held(arguments.held));
  NW_CHECK(check_source(arguments.source));
  NW_TRY(const auto architectures, read_architectures(arguments.models));
  NW_TRY(const auto sheet, read_input(arguments.device));
  NW_TRY(const auto device, model::parse_device(sheet, arguments.device));
  NW_TRY(const auto bytes, read_input(arguments.samples));
  NW_TRY(const auto samples,
         model::parse_measurements(bytes, arguments.samples, architectures, device));
  auto learned = learned_from(device, samples, arguments);
  if (!arguments.source.empty())
    learned.device.source = source_with(device.source, arguments.source);
  learned.device.checked = model::errors_line(learned);
  NW_TRY(const auto toml, written(learned.device));
  fmt::print(stderr, "{}", model::errors_text(learned));
  return write_output(arguments.out, toml);
}

}  // namespace negawatt::cli
