// SPDX-License-Identifier: Apache-2.0
//
// Published measurements of serving, from ../shared/data, as samples for fits; and the devices and
// architectures that ship, from data/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/csv.hpp"
#include "model/architecture.hpp"
#include "model/device.hpp"
#include "model/device_fit.hpp"

namespace negawatt::testing {

/// The columns of a file that is known to be right.
class Table {
 public:
  explicit Table(const std::string& bytes);
  bool next() { return csv_.next().value(); }
  [[nodiscard]] std::string text(std::string_view column) const {
    return std::string(csv_.field(csv_.find(column)));
  }
  [[nodiscard]] double number(std::string_view column) const {
    return csv_.number(csv_.find(column)).value();
  }

 private:
  CsvReader csv_;
};

/// data/devices/NAME.toml; a broken file fails the test.
[[nodiscard]] model::Device shipped_device(const std::string& name);
/// Every file of data/models; samples may point into it for the life of the program.
[[nodiscard]] const std::vector<model::Architecture>& shipped_architectures();
/// The architecture of that name.
[[nodiscard]] const model::Architecture& architecture_named(std::string_view name);

/// A row of ML.ENERGY v3, lm-arena-chat: mean steps of steady serving.
struct ArenaRow {
  std::string model;
  std::string gpu;  ///< "H100" or "B200"
  double batch_limit = 0;
  double batch = 0;  ///< mean
  double joules_per_token = 0;
  model::Sample sample;
};

/// The benchmark does not publish the lengths of its prompts: every prompt is taken to have
/// `input_tokens`.
[[nodiscard]] std::vector<ArenaRow> arena_rows(const std::string& csv, double input_tokens);
[[nodiscard]] std::vector<ArenaRow> of_gpu(const std::vector<ArenaRow>& rows, std::string_view gpu);
[[nodiscard]] std::vector<model::Sample> samples_of(const std::vector<ArenaRow>& rows);

/// Rows of the Splitwise table for `hardware`: prompts, and decode steps, by themselves. Power is a
/// share of `max_power` a device: the peak is taken for that of the prompt, the mean for that of
/// the decode steps, and is not always given. Configurations that ran out of memory are left out.
[[nodiscard]] std::vector<model::Sample> splitwise_samples(const std::string& csv,
                                                           std::string_view hardware,
                                                           double max_power);

}  // namespace negawatt::testing
