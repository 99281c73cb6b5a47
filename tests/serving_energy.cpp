// SPDX-License-Identifier: Apache-2.0
#include "tests/serving_energy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <tuple>

#include "model/measurement.hpp"
#include "tests/shared_data.hpp"

namespace negawatt::testing {
namespace {

using model::Architecture;
using model::Measurement;
using model::Phase;

/// Of what is not 0, which stands for absent.
class Mean {
 public:
  void add(double value) {
    sum_ += value;
    count_ += value > 0.0 ? 1 : 0;
  }
  [[nodiscard]] double value() const { return count_ == 0 ? 0.0 : sum_ / count_; }

 private:
  double sum_ = 0.0;
  int count_ = 0;
};

/// Model, devices, sequences, input and output tokens: five or fifteen rows each.
using SplitwiseKey = std::tuple<std::string, double, double, double, double>;

struct SplitwiseMeans {
  Mean prompt_time, token_time, peak_power, average_power;

  void add(const Table& table) {
    prompt_time.add(table.number("prompt_time"));
    token_time.add(table.number("token_time"));
    peak_power.add(table.number("peak_power"));
    average_power.add(table.number("average_power"));
  }
};

/// The same number for the same curve.
class Curves {
 public:
  std::uint32_t of(const std::string& model, double devices) {
    return numbers_.try_emplace({model, devices}, numbers_.size()).first->second;
  }

 private:
  std::map<std::pair<std::string, double>, std::uint32_t> numbers_;
};

}  // namespace

Table::Table(const std::string& bytes) : csv_(bytes, "shared") { EXPECT_TRUE(csv_.read_header()); }

model::Device shipped_device(const std::string& name) {
  const std::string path = "data/devices/" + name + ".toml";
  auto device = model::parse_device(repository_file(path), path);
  if (!device) {
    ADD_FAILURE() << device.error().message;
    return {};
  }
  return *device;
}

const std::vector<Architecture>& shipped_architectures() {
  static const std::vector<Architecture> kAll = [] {
    std::vector<Architecture> read;
    const std::string folder = std::string(NEGAWATT_SOURCE_DIR) + "/data/models";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".toml") continue;
      auto architecture =
          model::parse_architecture(*read_file(entry.path()), entry.path().filename().string());
      if (!architecture)
        ADD_FAILURE() << architecture.error().message;
      else
        read.push_back(*architecture);
    }
    std::ranges::sort(read, {}, &Architecture::name);
    return read;
  }();
  return kAll;
}

const Architecture& architecture_named(std::string_view name) {
  static const Architecture kNone;
  const auto& all = shipped_architectures();
  const auto found = std::ranges::find(all, name, &Architecture::name);
  if (found != all.end()) return *found;
  ADD_FAILURE() << "no architecture " << name;
  return kNone;
}

std::vector<ArenaRow> arena_rows(const std::string& csv, double input_tokens) {
  Table table(csv);
  Curves curves;
  std::vector<ArenaRow> rows;
  while (table.next()) {
    if (table.text("task") != "lm-arena-chat") continue;
    ArenaRow row;
    row.model = table.text("model");
    row.gpu = table.text("gpu_model");
    row.batch_limit = table.number("max_num_seqs");
    row.batch = table.number("avg_batch_size");
    row.joules_per_token = table.number("energy_per_token_J");
    const double devices = table.number("num_gpus");
    row.sample = model::sample_of(
        {&architecture_named(row.model), Phase::serving, static_cast<std::uint32_t>(devices),
         row.batch, input_tokens, table.number("avg_output_len"),
         row.batch / table.number("output_tok_per_s"), row.batch * row.joules_per_token,
         curves.of(row.gpu + row.model, devices)});
    rows.push_back(row);
  }
  return rows;
}

std::vector<ArenaRow> of_gpu(const std::vector<ArenaRow>& rows, std::string_view gpu) {
  std::vector<ArenaRow> some;
  std::ranges::copy_if(rows, std::back_inserter(some),
                       [&](const ArenaRow& row) { return row.gpu == gpu; });
  return some;
}

std::vector<model::Sample> samples_of(const std::vector<ArenaRow>& rows) {
  std::vector<model::Sample> samples;
  for (const auto& row : rows) samples.push_back(row.sample);
  return samples;
}

std::vector<model::Sample> splitwise_samples(const std::string& csv, std::string_view hardware,
                                             double max_power) {
  std::map<SplitwiseKey, SplitwiseMeans> configurations;
  Table table(csv);
  while (table.next()) {
    if (table.text("hardware") != hardware) continue;
    configurations[{table.text("model"), table.number("tensor_parallel"),
                    table.number("batch_size"), table.number("prompt_size"),
                    table.number("token_size")}]
        .add(table);
  }
  Curves curves;
  std::vector<model::Sample> samples;
  for (const auto& [key, means] : configurations) {
    const auto& [name, devices, sequences, input, output] = key;
    const bool bloom = name == "bloom-176b";
    if (!bloom && devices == 2 && sequences == 64) continue;  // it ran out of memory
    const auto& model =
        architecture_named(bloom ? "bigscience/bloom" : "meta-llama/Llama-2-70b-chat-hf");
    const auto add = [&](Phase phase, double seconds, double power) {
      samples.push_back(model::sample_of(
          {&model, phase, static_cast<std::uint32_t>(devices), sequences, input, output, seconds,
           power * max_power * devices * seconds, curves.of(name, devices)}));
    };
    add(Phase::prefill, means.prompt_time.value() / 1e3, means.peak_power.value());
    add(Phase::decode, means.token_time.value() / 1e3, means.average_power.value());
  }
  return samples;
}

}  // namespace negawatt::testing
