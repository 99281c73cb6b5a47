// SPDX-License-Identifier: Apache-2.0
#include "gpusim/kernel_server.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <istream>
#include <ostream>

#include "core/text.hpp"

namespace negawatt::gpusim {
namespace {

// A kernel runs until it is stopped, or for three years of simulated time.
constexpr double kLongRunS = 1e8;

std::string escaped(std::string_view word) {
  std::string text;
  for (const char c : word) {
    if (c == ' ' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

std::string unescaped(std::string_view word) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\\' && i + 1 < word.size()) ++i;
    text += word[i];
  }
  return text;
}

/// So many calls that they outlast any sweep at any clock, and whose end is still a time.
std::uint64_t endless_calls(const KernelSurface& surface) {
  double slowest_s = 0;
  for (std::size_t i = 0; i < surface.count; ++i)
    for (std::size_t n = 0; n < surface.settings[i].count; ++n)
      slowest_s = std::max(slowest_s, surface.settings[i].nodes[n].time_s);
  return static_cast<std::uint64_t>(std::max(1.0, kLongRunS / slowest_s));
}

std::string stopped(std::uint64_t calls, std::int64_t device_ns) {
  return fmt::format("stopped {} {:.9f}\n", calls, static_cast<double>(device_ns) * 1e-9);
}

}  // namespace

Result<KernelServer> KernelServer::open(World& world, Target target, const Workload& workload) {
  NW_TRY(auto process, SimulatedProcess::open(world, target));
  NW_CHECK(process.load(workload.kernels));
  return KernelServer(std::move(process), workload);
}

void KernelServer::serve(std::istream& in, std::ostream& out) {
  std::string line;
  while (std::getline(in, line)) {
    const auto reply = answer(line);
    if (reply.empty()) return;
    out << reply << std::flush;
  }
}

std::string KernelServer::answer(std::string_view line) {
  if (line == "quit") return {};
  const auto reply = obey(line);
  return reply ? *reply : fmt::format("error {}\n", reply.error().message);
}

Result<std::string> KernelServer::obey(std::string_view line) {
  const auto verb = line.substr(0, line.find(' '));
  const auto argument = line.substr(std::min(verb.size() + 1, line.size()));
  if (verb == "start") return start(unescaped(argument));
  if (!argument.empty())
    return failure(Code::invalid, fmt::format("'{}' takes no argument", printable(verb)));
  if (verb == "kernels") return list();
  if (verb == "count") return count();
  if (verb == "stop") return stop();
  return failure(Code::invalid,
                 fmt::format("'{}' is none of kernels, start, count, stop, quit", printable(verb)));
}

std::string KernelServer::list() const {
  std::string text;
  for (const auto& kernel : workload_->kernels)
    text +=
        fmt::format("kernel {} {} {}\n", escaped(kernel.name), escaped(kernel.group), kernel.calls);
  return text + "end\n";
}

Result<std::string> KernelServer::start(std::string_view name) {
  if (running_) return failure(Code::invalid, "a kernel is running: stop it first");
  const auto kernel = workload_->find(name);
  if (kernel == workload_->kernels.size())
    return failure(Code::invalid, fmt::format("there is no kernel '{}'", printable(name)));
  NW_CHECK(process_.look());  // what is left of the last run is no answer to the next question
  NW_TRY(const auto ticket,
         process_.submit({.kernel = static_cast<std::uint32_t>(kernel),
                          .calls = endless_calls(workload_->kernels[kernel].surface)}));
  if (!ticket) return failure(Code::unavailable, "the GPU's queue is full with others' work");
  running_ = ticket;
  return "started\n";
}

Result<std::string> KernelServer::count() {
  if (!running_) return failure(Code::invalid, "no kernel is running");
  NW_TRY(const auto look, process_.look());
  if (!look.completed.empty()) {
    running_.reset();
    return failure(Code::internal, "the kernel has ended by itself");
  }
  if (!look.running || look.running->ticket != *running_) return "count 0 0\n";  // others' turn
  return fmt::format("count {} {}\n", look.running->calls,
                     std::max(look.running->begin_ns, look.running->last_end_ns));
}

Result<std::string> KernelServer::stop() {
  if (!running_) return failure(Code::invalid, "no kernel is running");
  running_.reset();
  NW_CHECK(process_.cancel());
  NW_TRY(const auto look, process_.look());
  if (look.completed.empty()) return stopped(0, 0);
  const auto& run = look.completed.back();
  return stopped(run.calls, run.end_ns - run.begin_ns);
}

}  // namespace negawatt::gpusim
