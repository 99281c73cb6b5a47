// SPDX-License-Identifier: Apache-2.0
#include "lease/protocol.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/core.h>

#include "core/text.hpp"

namespace negawatt::lease {
namespace {

constexpr std::uint32_t kNone = 0;  // an absent power or duration on the wire

// The fields of each message once, for both directions: `a` writes or reads what it is given.
void fields(auto& a, auto& t, const Terms* /*tag*/) {
  a(t.core_min_mhz), a(t.core_max_mhz), a(t.memory), a(t.power_limit), a(t.duration);
}
void fields(auto& a, auto& m, const Owner* /*tag*/) { a(m.pid), a(m.uid), a(m.command); }
void fields(auto& a, auto& m, const Hello* /*tag*/) { a(m.id), a(m.version), a(m.program); }
void fields(auto& a, auto& m, const ListGpus* /*tag*/) { a(m.id); }
void fields(auto& a, auto& m, const Acquire* /*tag*/) { a(m.id), a(m.gpu), a(m.terms); }
void fields(auto& /*a*/, auto& /*m*/, const Heartbeat* /*tag*/) {}
void fields(auto& a, auto& m, const Release* /*tag*/) { a(m.id), a(m.lease); }
void fields(auto& a, auto& m, const Welcome* /*tag*/) {
  a(m.id), a(m.version), a(m.observe_only), a(m.server);
}
void fields(auto& a, auto& m, const GpuEntry* /*tag*/) {
  a(m.gpu), a(m.name), a(m.state), a(m.owner), a(m.limits), a(m.asked);
}
void fields(auto& a, auto& m, const Gpus* /*tag*/) { a(m.id), a(m.gpus); }
void fields(auto& a, auto& m, const Granted* /*tag*/) {
  a(m.id), a(m.lease), a(m.terms), a(m.heartbeat);
}
void fields(auto& a, auto& m, const Refused* /*tag*/) {
  a(m.id), a(m.reason), a(m.message), a(m.owner);
}
void fields(auto& a, auto& m, const Released* /*tag*/) { a(m.id), a(m.restored), a(m.message); }

template <class T>
concept Structure = std::is_class_v<T> && requires(T* t) { fields(*t, *t, t); };

constexpr std::pair<std::uint8_t, std::uint8_t> range_of(Refusal /*tag*/) { return {1, 8}; }
constexpr std::pair<std::uint8_t, std::uint8_t> range_of(GpuState /*tag*/) { return {1, 4}; }

std::uint32_t in_thousandths(double si) {
  // Rounded to the nearest, at least 1: 0 says that there is none.
  const double rounded = std::round(si * 1000.0);
  if (!(rounded >= 1.0)) return 1;
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::min(rounded, kMost));
}

/// `text` without what must not be on the wire, cut to the bound at a whole character.
std::string fit(std::string_view text) {
  std::string kept(text.substr(0, kMaxText));
  while (!kept.empty() && kept.size() + 4 > kMaxText && !is_printable(kept)) kept.pop_back();
  return is_printable(kept) ? kept : printable(kept);
}

class Writer {
 public:
  template <std::unsigned_integral T>
  void operator()(T value) {
    if constexpr (std::same_as<T, bool>) {
      bytes_.push_back(value ? '\1' : '\0');
    } else {
      for (std::size_t i = 0; i < sizeof(T); ++i)
        bytes_.push_back(static_cast<char>((value >> (8 * i)) & 0xFFU));
    }
  }
  template <class T>
    requires std::is_enum_v<T>
  void operator()(T value) {
    (*this)(static_cast<std::underlying_type_t<T>>(value));
  }
  void operator()(const std::string& text) {
    const auto kept = fit(text);
    (*this)(static_cast<std::uint16_t>(kept.size()));
    bytes_ += kept;
  }
  void operator()(Seconds time) { (*this)(in_thousandths(time.in_si())); }
  template <class Q>
  void operator()(const std::optional<Q>& value) {
    (*this)(value ? in_thousandths(value->in_si()) : kNone);
  }
  void operator()(Clock clock) { (*this)(clock.mhz()); }
  void operator()(const std::optional<ClockPair>& clocks) {
    (*this)(clocks.has_value());
    if (clocks) (*this)(clocks->core), (*this)(clocks->memory);
  }
  void operator()(const std::vector<GpuEntry>& gpus) {
    const auto count = std::min(gpus.size(), kMaxGpus);
    (*this)(static_cast<std::uint16_t>(count));
    for (std::size_t i = 0; i < count; ++i) (*this)(gpus[i]);
  }
  void operator()(const Structure auto& structure) { fields(*this, structure, &structure); }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads fields until one does not fit; then ok() is false and the rest keep their defaults.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <std::unsigned_integral T>
  void operator()(T& value) {
    if constexpr (std::same_as<T, bool>) {
      std::uint8_t byte = 0;
      (*this)(byte);
      if (byte > 1) ok_ = false;
      value = byte == 1;
    } else {
      const auto taken = take(sizeof(T));
      std::uint64_t sum = 0;
      for (std::size_t i = 0; i < taken.size(); ++i)
        sum |= std::uint64_t{static_cast<unsigned char>(taken[i])} << (8 * i);
      value = static_cast<T>(sum);
    }
  }
  template <class T>
    requires std::is_enum_v<T>
  void operator()(T& value) {
    std::uint8_t number = 0;
    (*this)(number);
    const auto [first, last] = range_of(value);
    if (number < first || number > last) ok_ = false;
    if (ok_) value = static_cast<T>(number);
  }
  void operator()(std::string& text) {
    std::uint16_t length = 0;
    (*this)(length);
    if (length > kMaxText) ok_ = false;
    const auto taken = take(length);
    if (!is_printable(taken)) ok_ = false;
    if (ok_) text = taken;
  }
  void operator()(Seconds& time) {
    std::uint32_t milliseconds = 0;
    (*this)(milliseconds);
    if (milliseconds == kNone) ok_ = false;
    time = Seconds(milliseconds / 1000.0);
  }
  template <class Q>
  void operator()(std::optional<Q>& value) {
    std::uint32_t thousandths = 0;
    (*this)(thousandths);
    value = thousandths == kNone ? std::nullopt : std::optional(Q(thousandths / 1000.0));
  }
  void operator()(Clock& clock) {
    std::uint16_t mhz = 0;
    (*this)(mhz);
    clock = mhz == 0 ? Clock() : Clock::locked_mhz(mhz);
  }
  void operator()(std::optional<ClockPair>& clocks) {
    bool present = false;
    (*this)(present);
    if (present) (*this)(clocks.emplace().core), (*this)(clocks->memory);
  }
  void operator()(std::vector<GpuEntry>& gpus) {
    std::uint16_t count = 0;
    (*this)(count);
    if (count > kMaxGpus) ok_ = false;
    for (std::uint16_t i = 0; ok_ && i < count; ++i) (*this)(gpus.emplace_back());
  }
  void operator()(Structure auto& structure) { fields(*this, structure, &structure); }

  /// Whether every field was there and nothing is left.
  [[nodiscard]] bool complete() const { return ok_ && bytes_.empty(); }

 private:
  std::string_view take(std::size_t size) {
    if (!ok_ || bytes_.size() < size) {
      ok_ = false;
      return {};
    }
    const auto taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

template <std::size_t I = 0>
Result<Message> decode_as(std::size_t index, std::string_view payload) {
  if constexpr (I == std::variant_size_v<Message>) {
    return failure(Code::invalid, fmt::format("message type {} is unknown", index + 1));
  } else {
    if (index != I) return decode_as<I + 1>(index, payload);
    std::variant_alternative_t<I, Message> message;
    Reader reader(payload);
    reader(message);
    if (!reader.complete())
      return failure(Code::invalid,
                     fmt::format("a message of type {} does not have the fields that "
                                 "version {} gives it",
                                 index + 1, kProtocolVersion));
    return message;
  }
}

template <std::unsigned_integral T>
T number_at(std::string_view bytes) {
  T value{};
  Reader reader(bytes.substr(0, sizeof(T)));
  reader(value);
  return value;
}

}  // namespace

std::string encode(const Message& message) {
  Writer payload;
  std::visit([&](const auto& m) { payload(m); }, message);
  NW_ASSERT(payload.bytes().size() <= kMaxPayload);
  Writer frame;
  frame(static_cast<std::uint32_t>(payload.bytes().size()));
  frame(static_cast<std::uint16_t>(message.index() + 1));
  return frame.bytes() + payload.bytes();
}

Result<Message> decode(std::uint16_t type, std::string_view payload) {
  if (type == 0) return failure(Code::invalid, "message type 0 is unknown");
  return decode_as(std::size_t{type} - 1, payload);
}

Result<std::optional<Message>> FrameReader::next() {
  const auto rest = std::string_view(buffer_).substr(consumed_);
  const auto wait_for_more = [&]() -> std::optional<Message> {
    buffer_.erase(0, consumed_);
    consumed_ = 0;
    return std::nullopt;
  };
  if (rest.size() < kFrameHeader) return wait_for_more();
  const auto length = number_at<std::uint32_t>(rest);
  if (length > kMaxPayload)
    return failure(Code::invalid,
                   fmt::format("a frame of {} bytes is longer than {}", length, kMaxPayload));
  if (rest.size() - kFrameHeader < length) return wait_for_more();
  const auto type = number_at<std::uint16_t>(rest.substr(sizeof length));
  NW_TRY(auto message, decode(type, rest.substr(kFrameHeader, length)));
  consumed_ += kFrameHeader + length;
  return message;
}

}  // namespace negawatt::lease
