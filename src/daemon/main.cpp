// SPDX-License-Identifier: Apache-2.0
//
// negawattd: the privileged part of negawatt, and the only one that changes a GPU. Exit codes: 0
// all GPUs are in their previous state, 1 some are not (the journal keeps what is missing), 2 wrong
// configuration or usage, 3 something this machine lacks.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>

#include "core/result.hpp"
#include "daemon/config.hpp"
#include "daemon/log.hpp"
#include "daemon/server.hpp"

namespace {

using negawatt::daemon::Config;
using negawatt::daemon::Server;

constexpr const char* kDefaultConfig = "/etc/negawatt/negawattd.toml";

struct Arguments {
  std::string config;
  bool observe_only = false;
  bool check = false;
  bool verbose = false;
};

int complain(const negawatt::Error& error) {
  std::fprintf(stderr, "negawattd: %s\n", error.message.c_str());
  switch (error.code) {
    case negawatt::Code::invalid:
    case negawatt::Code::infeasible:
      return 2;
    case negawatt::Code::unavailable:
      return 3;
    case negawatt::Code::internal:
      break;
  }
  return 1;
}

int serve(Config config, const Arguments& arguments) {
  // Before the first thread, so that only the loop takes them.
  const auto signals = negawatt::daemon::handled_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // A full disk and a reader that is gone are errors of the call, not the end of this process.
  ::signal(SIGXFSZ, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  auto outcome = Server::Outcome::done;
  {
    const negawatt::daemon::Log log(arguments.verbose ? negawatt::daemon::Level::debug
                                                      : negawatt::daemon::Level::info);
    auto server = Server::start(std::move(config), arguments.config);
    if (!server) return complain(server.error());
    outcome = (*server)->run();
    // Its worker waits for a driver call that does not return, and cannot be waited for.
    if (outcome == Server::Outcome::hung) [[maybe_unused]]
      auto* const left = server->release();
  }
  if (outcome == Server::Outcome::hung) std::_Exit(1);
  return outcome == Server::Outcome::done ? 0 : 1;
}

int run(int argc, char** argv) {
  CLI::App app("negawattd leases the clocks of this machine's GPUs and restores them.",
               "negawattd");
  Arguments arguments;
  app.set_version_flag("--version", "negawattd " NEGAWATT_VERSION);
  app.add_option("--config", arguments.config,
                 "configuration (TOML); default " + std::string(kDefaultConfig) + " if it exists");
  app.add_flag("--observe-only", arguments.observe_only,
               "serve metrics and lists, refuse leases, never write to a GPU");
  app.add_flag("--check-config", arguments.check, "read the configuration, say what is wrong, end");
  app.add_flag("--verbose", arguments.verbose, "log connections too");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "negawattd: %s (see negawattd --help)\n", error.what());
    return 2;
  }
  if (arguments.config.empty() && std::filesystem::exists(kDefaultConfig))
    arguments.config = kDefaultConfig;
  auto config = arguments.config.empty() ? negawatt::Result<Config>(Config{})
                                         : negawatt::daemon::read_config(arguments.config);
  if (!config) return complain(config.error());
  if (arguments.check) return 0;
  config->observe_only = config->observe_only || arguments.observe_only;
  return serve(*std::move(config), arguments);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {  // out of memory; ours do not leave a room
    std::fprintf(stderr, "negawattd: %s\n", error.what());
    return 1;
  }
}
