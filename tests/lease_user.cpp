// SPDX-License-Identifier: Apache-2.0
//
// A client of negawattd that tests script, one line a command, one line an answer, and that can be
// killed and stopped. It can be a process on the simulated GPU too.
//
//   connect [manual]              -> ok                    ; manual: no heartbeats of its own
//   use GPU                       -> ok                    ; opens a context on it
//   leave                         -> ok                    ; and gives the context back
//   acquire GPU [MIN MAX MEMORY WATTS SECONDS]  -> granted MIN MAX MEMORY WATTS
//   active SECONDS                -> active                ; waits for it
//   request CORE MEMORY           -> OUTCOME CORE MEMORY   ; 0: automatic; waits for the answer
//   post CORE MEMORY              -> ok                    ; does not wait
//   state                         -> pending | active | ended: REASON
//   list                          -> GPU STATE PID, ...
//   renew | release | disconnect  -> ok
//   drop                          -> ok                    ; without a release
//   anything that fails           -> error: TEXT
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "core/result.hpp"
#include "gpusim/environment.hpp"
#include "gpusim/simulated_process.hpp"
#include "gpusim/target.hpp"
#include "gpusim/world.hpp"
#include "lease/client.hpp"

namespace {

using namespace negawatt;  // NOLINT(google-build-using-namespace)

constexpr Seconds kPatience{10};

class LeaseUser {
 public:
  Result<std::string> obey(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "connect") return connect(words);
    if (verb == "use") return use(words);
    if (verb == "leave") return process_.reset(), "ok";
    if (verb == "disconnect") return lease_.reset(), client_.reset(), "ok";
    if (verb == "list") return list();
    if (verb == "acquire") return acquire(words);
    if (!lease_) return failure(Code::invalid, "no lease");
    if (verb == "active") return wait_active(words);
    if (verb == "request" || verb == "post") return request(words, verb == "request");
    if (verb == "state") return state();
    if (verb == "drop") return lease_.reset(), "ok";
    if (verb == "renew") return done(lease_->renew());
    if (verb == "release") return done(lease_->release());
    return failure(Code::invalid, "unknown command " + verb);
  }

 private:
  static Result<std::string> done(Status status) {
    if (!status) return tl::unexpected(std::move(status).error());
    return "ok";
  }

  Result<std::string> connect(std::istringstream& words) {
    std::string heartbeats;
    words >> heartbeats;
    NW_TRY(client_, lease::Client::connect({.program = "lease_user",
                                            .heartbeats = heartbeats == "manual"
                                                              ? lease::Heartbeats::manual
                                                              : lease::Heartbeats::automatic}));
    return "ok";
  }

  Result<std::string> use(std::istringstream& words) {
    std::string gpu;
    words >> gpu;
    if (!world_) {
      NW_TRY(world_, gpusim::world_of_environment());
    }
    const auto target = gpusim::target_named(world_->machine(), gpu);
    if (!target) return failure(Code::invalid, "no such GPU");
    NW_TRY(auto process, gpusim::SimulatedProcess::open(*world_, *target));
    process_.emplace(std::move(process));
    return "ok";
  }

  Result<std::string> acquire(std::istringstream& words) {
    if (!client_) return failure(Code::invalid, "not connected");
    std::string gpu;
    lease::Terms terms;
    double watts = 0;
    double seconds = 0;
    words >> gpu >> terms.core_min_mhz >> terms.core_max_mhz >> terms.memory >> watts >> seconds;
    if (!words) terms = {.memory = true};
    if (watts > 0) terms.power_limit = Watts(watts);
    if (seconds > 0) terms.duration = Seconds(seconds);
    NW_TRY(lease_, client_->acquire(gpu, terms));
    const auto& got = lease_->terms();
    return fmt::format("granted {} {} {} {:g}", got.core_min_mhz, got.core_max_mhz,
                       got.memory ? 1 : 0, got.power_limit.value_or(Watts(0)).in_si());
  }

  Result<std::string> wait_active(std::istringstream& words) {
    double seconds = 0;
    words >> seconds;
    NW_CHECK(lease_->wait_active(Seconds(seconds)));
    return "active";
  }

  Result<std::string> request(std::istringstream& words, bool waits) {
    std::uint32_t core = 0;
    std::uint32_t memory = 0;
    words >> core >> memory;
    const auto clock = [](std::uint32_t mhz) {
      return mhz == 0 ? lease::Clock() : lease::Clock::locked_mhz(mhz);
    };
    NW_CHECK(lease_->request({clock(core), clock(memory)}));
    if (!waits) return "ok";
    NW_TRY(const auto applied, lease_->wait_applied(kPatience));
    return fmt::format("{} {} {}", lease::name_of(applied.outcome), applied.clocks.core.mhz(),
                       applied.clocks.memory.mhz());
  }

  Result<std::string> state() {
    switch (lease_->state()) {
      case lease::LeaseState::pending:
        return "pending";
      case lease::LeaseState::active:
        return "active";
      case lease::LeaseState::ended:
        break;
    }
    return fmt::format("ended: {}", lease::name_of(lease_->end_reason()));
  }

  Result<std::string> list() {
    if (!client_) return failure(Code::invalid, "not connected");
    NW_TRY(const auto gpus, client_->gpus());
    std::string text;
    for (const auto& gpu : gpus) {
      text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", gpu.gpu,
                          static_cast<int>(gpu.state), gpu.owner.pid);
      if (gpu.asked) text += fmt::format(" {}/{}", gpu.asked->core.mhz(), gpu.asked->memory.mhz());
    }
    return text;
  }

  std::unique_ptr<gpusim::World> world_;
  std::optional<gpusim::SimulatedProcess> process_;
  std::optional<lease::Client> client_;
  std::optional<lease::Lease> lease_;
};

}  // namespace

int main() {
  LeaseUser user;
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto answer = user.obey(line);
    std::puts((answer ? *answer : "error: " + answer.error().message).c_str());
    std::fflush(stdout);
  }
  // As most programs end: without a word to the daemon.
  std::_Exit(0);
}
