// SPDX-License-Identifier: Apache-2.0
#include "lease/pass_descriptors.hpp"

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace negawatt::lease {

std::ptrdiff_t send_with_descriptors(int socket, std::string_view bytes,
                                     const std::array<int, 2>& descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptors)> control{};
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};  // sendmsg only reads them
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  auto* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(rights), descriptors.data(), sizeof descriptors);
  return ::sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace negawatt::lease
