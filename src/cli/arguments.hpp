// SPDX-License-Identifier: Apache-2.0
//
// What the user asked for, as text and numbers straight from the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace negawatt::cli {

enum class Format : unsigned char { text, json, csv, trace, html };

/// Options of `negawatt plan` and `negawatt report`.
struct PlanArguments {
  std::string table;
  std::string objective = "waste";
  double slowdown_pct = 0.0;
  std::string granularity = "kernel";
  std::string scope = "global";
  std::optional<double> lambda;
  std::string baseline;
  std::string switch_latency;
  std::string sequence;
  std::optional<double> confidence;
  bool frontier = false;
  Format format = Format::text;
  std::string out;
};

/// Options of `negawatt pipeline`.
struct PipelineArguments {
  std::string profile;
  unsigned microbatches = 0;
  std::string schedule = "1f1b";
  double blocking_watts = 0.0;
  std::optional<double> slowdown_pct;
  std::optional<double> deadline_s;
  bool frontier = false;
  Format format = Format::text;
  std::string out;
};

/// Options of `negawatt assign`.
struct AssignArguments {
  std::string requests;
  std::string request_format;
  std::string systems;
  std::string model;
  double lambda = 1.0;
  bool normalise = false;
  std::string policy = "optimal";
  std::string threshold;
  std::string capacity;
  std::string outside = "extrapolate";
  std::uint64_t seed = 1;
  bool json = false;
  std::string out;
};

/// Options of `negawatt fit`.
struct FitArguments {
  std::string samples;
  std::string device;
  std::vector<std::string> models;
  std::vector<std::string> held;
  std::string source;
  bool calibrate = true;
  std::string out = "-";
};

/// Options of `negawatt sweep`.
struct SweepArguments {
  std::string gpu;
  std::string core;
  std::string memory;
  double window_s = 2.0;
  double settle_s = 0.3;
  double half_width_pct = 1.0;
  std::size_t least_visits = 3;
  std::size_t most_visits = 10;
  std::optional<double> minutes;
  std::uint64_t seed = 1;
  std::string out = "kernels.csv";
  std::vector<std::string> command;
};

/// Options of `negawatt run`.
struct RunArguments {
  std::string plan;
  std::string gpu;
  bool watch = false;
  std::uint64_t warm_up = 2;
  bool json = false;
  std::string out;
  std::vector<std::string> command;
};

/// Options of `negawatt doctor`.
struct DoctorArguments {
  bool json = false;
  bool quick = false;
};

/// Options of `negawatt top`.
struct TopArguments {
  bool once = false;
  bool json = false;
  double interval_s = 1.0;
};

/// Options of `negawatt simulate`.
struct SimulateArguments {
  std::vector<std::string> clusters;
  std::string requests;
  std::string request_format;
  std::vector<std::string> policies;
  std::vector<double> speeds;
  std::vector<double> lambdas;
  std::vector<std::uint64_t> seeds;
  std::string sweep;   ///< file for the results of a sweep; empty: no sweep
  unsigned jobs = 0;   ///< 0: as many as there are cores
  std::string report;  ///< file for the page; empty: none
  double attainment_pct = 99.0;
  bool json = false;
  std::string out;
};

/// Options of `negawatt compare`.
struct CompareArguments {
  std::vector<std::string> runs;
  Format format = Format::text;
  std::string out;
};

}  // namespace negawatt::cli
