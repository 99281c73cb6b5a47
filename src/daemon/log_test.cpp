// SPDX-License-Identifier: Apache-2.0
#include "daemon/log.hpp"

#include <gtest/gtest.h>

#include <string>

namespace negawatt::daemon {
namespace {

TEST(Log, ALineIsKeysAndValues) {
  EXPECT_EQ(line_of("lease granted", {{"gpu", "GPU-1"}, {"pid", 7}, {"why", ""}}),
            R"(event="lease granted" gpu=GPU-1 pid=7 why="")");
}

TEST(Log, WhatComesFromOutsideCannotForgeALine) {
  EXPECT_EQ(line_of("x", {{"command", "a\"b\\ c=d"}}), R"(event=x command="a\"b\\ c=d")");
  const auto line = line_of("x", {{"command", "a\nlevel=error event=forged"}});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line_of("x", {{"command", "\x1b[2J"}}), R"(event=x command="\\x1b[2J")");
  EXPECT_LT(line_of("x", {{"command", std::string(100'000, 'a')}}).size(), 1000U);
}

}  // namespace
}  // namespace negawatt::daemon
