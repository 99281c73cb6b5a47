// SPDX-License-Identifier: Apache-2.0
#include "trace/request_readers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/shared_data.hpp"

namespace negawatt::trace {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kOwn = "arrival_s,input_tokens,output_tokens\n";

std::string message_for(const std::string& bytes,
                        std::optional<RequestFormat> format = std::nullopt) {
  const auto trace = parse_requests(bytes, "r.csv", format);
  return trace ? "accepted" : trace.error().message;
}

/// The two requests that every format says in its own way: at 0 and half a second later.
void expect_two(const std::string& bytes) {
  const auto trace = parse_requests(bytes, "r.csv");
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->requests.size(), 2U);
  EXPECT_EQ(trace->requests[0], (Request{Seconds(0.0), 4808, 10, 0, 0}));
  EXPECT_EQ(trace->requests[1], (Request{Seconds(0.5), 3180, 8, 0, 0}));
  EXPECT_EQ(trace->simultaneous, 0U);
  EXPECT_TRUE(trace->has_arrivals);
  EXPECT_EQ(trace->classes.size(), 1U);
  EXPECT_EQ(trace->name, "r.csv");
}

TEST(RequestReaders, ReadAzureWithWindowsLineEndsAndSevenDecimals) {
  expect_two(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
      "2023-11-16 23:59:59.7300000,4808,10\r\n2023-11-17 00:00:00.2300000,3180,8");
}

TEST(RequestReaders, ReadAzure2024WithItsZone) {
  expect_two(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "2024-05-10 00:00:00.009930+00:00,4808,10\n2024-05-10 00:00:00.509930+00:00,3180,8\n");
}

TEST(RequestReaders, ReadTheOtherPublicFormats) {
  expect_two(
      "arrived_at,num_prefill_tokens,num_decode_tokens\n"
      "1700158623.25,4808,10\n1700158623.75,3180,8\n");
  expect_two(
      "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,"
      "token_size\n0,2,0,0.0,1,4808,10\n1,2,0,0.5,1,3180,8\n");
  expect_two(
      "StartTimeOffset,ContextTokens,GeneratedTokens\n"
      "1700158623979960001,4808,10\n1700158624479960001,3180,8\n");
  expect_two("timestamp,input_length,output_length\n1000,4808,10\n1500,3180,8\n");
  expect_two(
      "{\"timestamp\": 1000, \"input_length\": 4808, \"output_length\": 10, \"hash_ids\": [1, 2]}\n"
      "\n{\"timestamp\":1500,\"output_length\":8,\"input_length\":3180,\"x\":{\"timestamp\":7}}\n");
  expect_two(
      "{\"ContextTokens\":4808,\"GeneratedTokens\":10,\"StartTimeOffset\":5,\"Body\":\"a b\"}\n"
      "{\"ContextTokens\":3180,\"GeneratedTokens\":8,\"StartTimeOffset\":500000005}");
  expect_two(std::string(kOwn) + "3,4808,10\n3.5,3180,8\n");
}

TEST(RequestReaders, ReadBurstGptWithItsLogAsClass) {
  const auto trace = parse_requests(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,Conversation log\n45,GPT-4,1087,230,1317,API log\n",
      "r.csv");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->requests[1], (Request{Seconds(40.0), 1087, 230, 1, 0}));
  EXPECT_EQ(trace->classes, (std::vector<std::string>{"Conversation log", "API log"}));
}

TEST(RequestReaders, ReadClassesAndPriorities) {
  const auto trace = parse_requests(
      "priority,class,arrival_s,input_tokens,output_tokens\n"
      "-3,chat,0,1,1\n7,batch,0,4294967295,2\n0,,1,1,1\n0,chat,1,1,1\n",
      "r.csv");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->classes, (std::vector<std::string>{"chat", "batch", "default"}));
  EXPECT_EQ(trace->requests[0].priority, -3);
  EXPECT_EQ(trace->requests[1], (Request{Seconds(0.0), 4294967295U, 2, 1, 7}));
  EXPECT_EQ(trace->requests[3].request_class, 0);
  EXPECT_EQ(trace->simultaneous, 2U);
}

TEST(RequestReaders, ReadLengthsWithoutArrivals) {
  for (const std::string header :
       {"num_prefill_tokens,num_decode_tokens\n", "input_tokens,output_tokens\n"}) {
    const auto trace = parse_requests(header + "5,6\n7,8\n", "r.csv");
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_FALSE(trace->has_arrivals);
    EXPECT_EQ(trace->simultaneous, 0U);
    EXPECT_EQ(trace->requests[1], (Request{Seconds(0.0), 7, 8, 0, 0}));
  }
}

TEST(RequestReaders, MarkALastLineWithoutLineEnd) {
  EXPECT_TRUE(parse_requests(std::string(kOwn) + "0,1,1", "r.csv")->last_line_open);
  EXPECT_FALSE(parse_requests(std::string(kOwn) + "0,1,1\n", "r.csv")->last_line_open);
}

TEST(RequestReaders, SayWhatIsWrongWithARecord) {
  const auto own = [](const std::string& rows) { return message_for(std::string(kOwn) + rows); };
  EXPECT_EQ(own("1,1,1\n0.5,1,1\n"),
            "r.csv:3: arrives before the request above it, expected requests in order of arrival");
  EXPECT_EQ(own("0,0,1\n"),
            "r.csv:2: input_tokens is '0', expected a whole number from 1 to 4294967295");
  for (const auto* tokens : {"-1", "0", "1.5", "nan", "", "4294967296", "99999999999999999999"})
    EXPECT_EQ(own(std::string("0,1,") + tokens + "\n"),
              std::string("r.csv:2: output_tokens is '") + tokens +
                  "', expected a whole number from 1 to 4294967295");
  for (const auto* time : {"-1", "nan", "inf", "", "1e400", "x", "0x1"})
    EXPECT_EQ(own(std::string(time) + ",1,1\n"), std::string("r.csv:2: arrival_s is '") + time +
                                                     "', expected a finite number of 0 or more");
  EXPECT_EQ(own("0,1,1\n3000000000000,1,1\n"),
            "r.csv:3: arrives 95064 years after the first request: are its times seconds?");
  EXPECT_EQ(own(""), "r.csv:1: no rows below the header");
  EXPECT_THAT(own("0,1"), HasSubstr("r.csv:2: the last line is cut off: 2 fields, expected 3"));
  EXPECT_EQ(message_for("TIMESTAMP,ContextTokens,GeneratedTokens\n17:03,1,1\n"),
            "r.csv:2: TIMESTAMP is '17:03', expected a time as 2023-11-16 18:17:03.97");
  EXPECT_EQ(message_for("arrival_timestamp,batch_size,prompt_size,token_size\n0,2,1,1\n"),
            "r.csv:2: batch_size is '2', expected 1: a record is one request");
  EXPECT_EQ(message_for("arrival_s,input_tokens,output_tokens,priority\n0,1,1,high\n"),
            "r.csv:2: priority is 'high', expected a whole number from -32768 to 32767");
}

TEST(RequestReaders, SayWhatIsWrongWithAHeader) {
  EXPECT_THAT(message_for("a,b\n1,2\n"),
              HasSubstr("r.csv:1: the columns are those of no request format, expected azure "
                        "(TIMESTAMP,ContextTokens,GeneratedTokens), lmsys ("));
  EXPECT_EQ(message_for(std::string(kOwn) + "0,1,1\n", RequestFormat::vidur),
            "r.csv:1: the columns are those of no request format, expected vidur "
            "(arrived_at,num_prefill_tokens,num_decode_tokens)");
  EXPECT_EQ(message_for(""), "r.csv:1: the file is empty: expected a header line");
}

TEST(RequestReaders, SayWhatIsWrongWithALineOfJson) {
  const std::string good = "{\"timestamp\":1,\"input_length\":2,\"output_length\":3}\n";
  EXPECT_EQ(message_for(good + "[1]\n"), "r.csv:2: '[1]' is no JSON object");
  EXPECT_EQ(message_for(good + "{\"timestamp\":1"),
            "r.csv:2: '{\"timestamp\":1' is no JSON object");
  EXPECT_EQ(message_for(good + "{\"timestamp\":1,\"input_length\":2}"),
            "r.csv:2: key 'output_length' is missing");
  EXPECT_EQ(message_for(good + "{\"timestamp\":1,\"input_length\":2.5,\"output_length\":3}"),
            "r.csv:2: input_length is 2.5, expected a whole number from 1 to 4294967295");
  EXPECT_EQ(message_for(good + "{\"timestamp\":1,\"input_length\":\"2\",\"output_length\":3}"),
            "r.csv:2: input_length is no number, expected a whole number from 1 to 4294967295");
  EXPECT_EQ(message_for(good + "{\"timestamp\":-1,\"input_length\":2,\"output_length\":3}"),
            "r.csv:2: timestamp is not a finite number of 0 or more");
  EXPECT_EQ(message_for(good + "{\"timestamp\":1,\"timestamp\":1,\"input_length\":2}"),
            "r.csv:2: key 'timestamp' is there twice");
  EXPECT_EQ(message_for(good + "{\"timestamp\":0,\"input_length\":2,\"output_length\":3}"),
            "r.csv:2: arrives before the request above it, expected requests in order of arrival");
  EXPECT_THAT(message_for("{\"a\":1}\n"), HasSubstr("r.csv:1: no format has these keys"));
  EXPECT_EQ(message_for(good, RequestFormat::azure),
            "r.csv:1: JSON lines, but format azure is CSV, expected mooncake or lmsys");
}

TEST(RequestReaders, ReadWhatTheFormatOptionSays) {
  const std::string both =
      "StartTimeOffset,TIMESTAMP,ContextTokens,GeneratedTokens\n"
      "0,2023-11-16 18:17:03,1,1\n1000000000,2023-11-16 18:17:05,1,1\n";
  EXPECT_EQ(parse_requests(both, "r.csv")->requests[1].arrival, Seconds(2.0));
  EXPECT_EQ(parse_requests(both, "r.csv", RequestFormat::lmsys)->requests[1].arrival, Seconds(1.0));
  EXPECT_EQ(request_format_named("burstgpt"), RequestFormat::burstgpt);
  EXPECT_EQ(request_format_named("gpt"), std::nullopt);
}

TEST(RequestReaders, ReadTheAzureConversationTrace) {
  NW_SHARED_FILE_OR_SKIP(bytes, "requests/AzureLLMInferenceTrace_conv.csv");
  const auto trace = parse_requests(bytes, "conv.csv");
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->requests.size(), 19'366U);
  double input = 0;
  double output = 0;
  for (const auto& request : trace->requests) {
    input += request.input_tokens;
    output += request.output_tokens;
  }
  EXPECT_NEAR(input / 19'366, 1155, 0.5);  // shared/data/requests/README.md
  EXPECT_NEAR(output / 19'366, 211, 0.5);
  EXPECT_NEAR(trace->requests.back().arrival.in_si() / 60, 58.4, 0.05);
  EXPECT_TRUE(trace->last_line_open);
}

TEST(RequestReaders, ReadTheOtherSharedTraces) {
  struct Case {
    const char* path;
    std::size_t requests;
    double span_s;
    bool has_arrivals;
  };
  for (const Case& expected :
       {Case{"requests/AzureLLMInferenceTrace_code.csv", 8'819, 3'435.948056, true},
        Case{"requests/lmsys_025.csv", 1'024, 4'197.069907703, true},
        Case{"requests/mooncake_conversation.csv", 12'031, 3'536.999, true},
        Case{"requests/arxiv_summarization_llama2.csv", 10'000, 0.0, false}}) {
    const auto bytes = negawatt::testing::shared_file(expected.path);
    if (!bytes) GTEST_SKIP() << "SKIPPED: needs ../shared/data/" << expected.path;
    const auto trace = parse_requests(*bytes, expected.path);
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(trace->requests.size(), expected.requests) << expected.path;
    EXPECT_NEAR(trace->requests.back().arrival.in_si(), expected.span_s, 1e-9) << expected.path;
    EXPECT_EQ(trace->has_arrivals, expected.has_arrivals) << expected.path;
  }
}

}  // namespace
}  // namespace negawatt::trace
