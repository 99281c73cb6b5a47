// SPDX-License-Identifier: Apache-2.0
//
// What the user asked for, as text and numbers straight from the command line.
#pragma once

#include <optional>
#include <string>

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

}  // namespace negawatt::cli
