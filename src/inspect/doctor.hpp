// SPDX-License-Identifier: Apache-2.0
//
// negawatt doctor: asks the machine, its driver, every GPU and negawattd, judges the answers, and
// puts them into words. Nothing is written to a GPU: the driver is opened with Access::observe. A
// driver call that hangs is given up after a while and reported. Measuring periods takes some ten
// seconds of the device's clock, all GPUs at once. Nothing here fails: what cannot be asked is a
// finding.
#pragma once

#include <filesystem>
#include <string>

#include "inspect/doctor_facts.hpp"
#include "inspect/finding.hpp"

namespace negawatt::inspect {

struct DoctorOptions {
  bool quick = false;                ///< leaves out what takes seconds
  std::string library;               ///< the driver's, see gpu::default_library()
  std::string socket;                ///< negawattd's, see lease::default_socket()
  std::filesystem::path root = "/";  ///< of the kernel's files
};

[[nodiscard]] DoctorFacts gather(const DoctorOptions& options);
/// Pure.
[[nodiscard]] Diagnosis diagnose(const DoctorFacts& facts);

/// At most 80 columns. GPUs whose findings are those of the first but for their numbers are named
/// and not repeated.
[[nodiscard]] std::string doctor_text(const Diagnosis& diagnosis, bool colour);
[[nodiscard]] std::string doctor_json(const Diagnosis& diagnosis);

}  // namespace negawatt::inspect
