// SPDX-License-Identifier: Apache-2.0
//
// sim::parse_cluster on any bytes, with one device and one architecture beside them: what is
// accepted can be simulated, and SLOs are times.
#include "sim/cluster_file.hpp"

#include <optional>
#include <string>
#include <string_view>

#include "fuzz/reader.hpp"

namespace negawatt::fuzz {
namespace {

constexpr std::string_view kFile = "fuzz.toml";

Result<std::string> read(const std::string& name) {
  if (name == "gpu.toml")
    return "name = \"g\"\nsource = \"s\"\nchecked = \"c\"\n[sheet]\nmemory_gib = 80\n"
           "memory_bandwidth_gb_per_s = 3350\nlink_bandwidth_gb_per_s = 450\n"
           "fp32_tflops = 67\nfp16_tflops = 989\nbf16_tflops = 989\nidle_w = 75\nmax_w = 700\n"
           "least_mhz = 345\nmost_mhz = 1980\n";
  if (name == "model.toml")
    return "name = \"m\"\nsource = \"s\"\nlayers = 32\nhidden = 4096\nheads = 32\nkv_heads = 8\n"
           "head_size = 128\nvocabulary = 128256\nparameters_billion = 8.03\n";
  return failure(Code::invalid, std::string(kFile) + ": names a file that cannot be read");
}

bool is_time(const std::optional<Seconds>& time) {
  return !time || (time->is_finite() && *time > Seconds(0));
}

}  // namespace

bool accepts(std::string_view bytes) {
  const auto cluster = sim::parse_cluster(bytes, kFile, read);
  require_same_outcome(cluster, sim::parse_cluster(bytes, kFile, read));
  if (!cluster) return refused(cluster.error(), kFile);
  require(sim::validate(cluster->cluster).has_value(), "what is accepted can be simulated");
  require(!cluster->device_types.empty(), "instances have a type");
  for (const auto& spec : cluster->cluster.instances) {
    require(spec.device_type < cluster->device_types.size(), "a type is one of those there are");
    require(spec.model.step({.sequences = 1, .context_tokens = 1}).time > Seconds(0),
            "a step takes time");
  }
  for (const auto& [name, slo] : cluster->slos)
    require(is_time(slo.ttft) && is_time(slo.tbt) && is_time(slo.e2e), "an SLO is a time");
  return true;
}

}  // namespace negawatt::fuzz
