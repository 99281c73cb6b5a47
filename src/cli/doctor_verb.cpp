// SPDX-License-Identifier: Apache-2.0
//
// negawatt doctor: what works on this machine, and what to do about the rest.
#include <string>

#include "cli/files.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "core/result.hpp"
#include "gpu/driver.hpp"
#include "inspect/doctor.hpp"
#include "lease/client.hpp"

namespace negawatt::cli {

Status run_doctor(const DoctorArguments& arguments) {
  const auto facts = [&] {
    const Progress progress("asking the driver, and measuring its periods");
    return inspect::gather({.quick = arguments.quick,
                            .library = gpu::default_library(),
                            .socket = lease::default_socket()});
  }();
  const auto diagnosis = inspect::diagnose(facts);
  NW_CHECK(write_output("-", arguments.json ? inspect::doctor_json(diagnosis)
                                            : inspect::doctor_text(diagnosis, wants_colour())));
  if (inspect::works(diagnosis)) return {};
  return failure(Code::unavailable, "something that measuring and running need is missing here");
}

}  // namespace negawatt::cli
