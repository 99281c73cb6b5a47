// SPDX-License-Identifier: Apache-2.0
#include "lease/file_descriptor.hpp"

#include <unistd.h>

namespace negawatt::lease {

FileDescriptor::~FileDescriptor() {
  if (is_open()) ::close(number_);
}

}  // namespace negawatt::lease
