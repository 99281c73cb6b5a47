// SPDX-License-Identifier: Apache-2.0
//
// The socket that clients connect to: made with the configured mode and group before anybody can
// open it, removed at its end. Fails when another daemon answers there.
#pragma once

#include <string>

#include "core/result.hpp"
#include "daemon/config.hpp"
#include "lease/file_descriptor.hpp"

namespace negawatt::daemon {

class Listener {
 public:
  [[nodiscard]] static Result<Listener> open(const Config& config);
  Listener(Listener&&) noexcept = default;
  Listener& operator=(Listener&&) noexcept = delete;
  ~Listener();

  [[nodiscard]] int descriptor() const { return socket_.number(); }
  /// A new connection, non-blocking; not open when there is none.
  [[nodiscard]] Result<lease::FileDescriptor> accept() const;

 private:
  Listener(lease::FileDescriptor socket, std::string path);
  lease::FileDescriptor socket_;
  std::string path_;
};

}  // namespace negawatt::daemon
