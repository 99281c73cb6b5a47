// SPDX-License-Identifier: Apache-2.0
//
// sim::parse_workload on any bytes: what is accepted makes requests in order, with tokens, of
// classes that there are.
#include "sim/workload_file.hpp"

#include <string>
#include <string_view>

#include "fuzz/reader.hpp"

namespace negawatt::fuzz {
namespace {

constexpr std::string_view kFile = "fuzz.toml";
constexpr int kTried = 20;  // requests made of a description

Result<std::string> read(const std::string& name) {
  if (name == "trace.csv") return "arrival_s,input_tokens,output_tokens\n0,10,20\n1,1,1\n";
  return failure(Code::invalid, std::string(kFile) + ": names a file that cannot be read");
}

}  // namespace

bool accepts(std::string_view bytes) {
  const auto described = sim::parse_workload(bytes, kFile, read);
  require_same_outcome(described, sim::parse_workload(bytes, kFile, read));
  if (!described) return refused(described.error(), kFile);
  const auto source = trace::generate(described->workload, 1);
  Seconds previous;
  for (int i = 0; i < kTried; ++i) {
    const auto request = source->next();
    if (!request) break;
    require(request->arrival.is_finite() && request->arrival >= previous, "arrivals are in order");
    require(request->input_tokens > 0 && request->output_tokens > 0, "requests have tokens");
    require(request->request_class < described->classes.size(), "a class has a name");
    previous = request->arrival;
  }
  return true;
}

}  // namespace negawatt::fuzz
