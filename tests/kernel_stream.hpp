// SPDX-License-Identifier: Apache-2.0
//
// Kernel streams as programs launch them, made up: a training step of the GPT-3 XL class (24
// layers, about 900 kernels) and a decoding step (24 layers, 267 kernels). Times are in nanoseconds
// with seeded jitter; no claim is made about any device.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/random.hpp"
#include "trace/recording.hpp"

namespace negawatt::testing {

/// Functions of a program, and the order in which one iteration launches them.
struct KernelProgram {
  std::vector<std::string> names;
  std::vector<std::uint32_t> iteration;   ///< indices into `names`
  std::vector<std::int64_t> duration_ns;  ///< by function
};

class ProgramBuilder {
 public:
  void launch(const std::string& name, std::int64_t ns) {
    std::uint32_t function = 0;
    while (function < program_.names.size() && program_.names[function] != name) ++function;
    if (function == program_.names.size()) {
      program_.names.push_back(name);
      program_.duration_ns.push_back(ns);
    }
    program_.iteration.push_back(function);
  }
  [[nodiscard]] KernelProgram program() && { return std::move(program_); }

 private:
  KernelProgram program_;
};

inline std::string elementwise(const std::string& functor) {
  return "void at::native::vectorized_elementwise_kernel<4, at::native::" + functor +
         ", std::array<char*, 3ul> >(int, at::native::" + functor + ", std::array<char*, 3ul>)";
}

/// 14 kernels a layer forward, 22 backward, 9 around them and 24 of the optimizer: 897.
inline KernelProgram training_program() {
  ProgramBuilder step;
  const auto gemm = [&](const char* tile, std::int64_t ns) {
    step.launch(std::string("nvjet_sm90_tst_") + tile + "_coopA_bz_TNN", ns);
  };
  step.launch("void at::native::indexSelectLargeIndex<c10::BFloat16, long>", 60'000);
  step.launch(elementwise("CUDAFunctor_add<c10::BFloat16>"), 26'000);
  for (int layer = 0; layer < 24; ++layer) {
    for (int half = 0; half < 2; ++half) {
      step.launch("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel", 34'000);
      gemm(half == 0 ? "192x192" : "256x128", 310'000);
      step.launch(elementwise("bias"), 30'000);
      if (half == 0) step.launch("flash_fwd_kernel<Flash_fwd_kernel_traits<128>>", 260'000);
      if (half == 1) step.launch(elementwise("GeluCUDAKernelImpl"), 70'000);
      gemm("128x256", 100'000);
      step.launch(elementwise("CUDAFunctor_add<c10::BFloat16>"), 26'000);
      step.launch(elementwise("dropout"), 30'000);
    }
  }
  gemm("320x128", 900'000);
  step.launch("void cunn_SoftMaxForward<8, c10::BFloat16, float>", 400'000);
  step.launch("void nll_loss_forward_reduce_cuda_kernel_2d", 12'000);
  step.launch("void nll_loss_backward_reduce_cuda_kernel_2d", 12'000);
  step.launch("void cunn_SoftMaxBackward<8, c10::BFloat16>", 420'000);
  gemm("320x192", 1'800'000);
  for (int layer = 0; layer < 24; ++layer) {
    for (int half = 0; half < 2; ++half) {
      step.launch(elementwise("dropout_backward"), 30'000);
      gemm("256x192_NT", 200'000);
      gemm("128x128_NT", 210'000);
      step.launch("void at::native::reduce_kernel<128, 4, sum>", 40'000);
      if (half == 0) step.launch(elementwise("GeluBackwardCUDAKernelImpl"), 80'000);
      if (half == 1) step.launch("flash_bwd_dot_do_o_kernel", 20'000);
      if (half == 1) step.launch("flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", 700'000);
      gemm("192x128_NT", 300'000);
      step.launch("void at::native::reduce_kernel<512, 1, sum>", 40'000);
      step.launch("layer_norm_grad_input_kernel_vectorized", 50'000);
      step.launch("GammaBetaBackwardCUDAKernelTemplate", 60'000);
      step.launch(elementwise("CUDAFunctor_add<c10::BFloat16>"), 26'000);
      if (half == 0) step.launch(elementwise("FillFunctor"), 5'000);
    }
  }
  step.launch("void at::native::embedding_backward_feature_kernel", 300'000);
  for (int chunk = 0; chunk < 24; ++chunk) {
    step.launch("void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4>>",
                250'000);
  }
  return std::move(step).program();
}

/// 11 kernels a layer and 3 around them: a layer is by far most of what repeats.
inline KernelProgram decoding_program() {
  ProgramBuilder step;
  step.launch("embedding_gather", 3'000);
  for (int layer = 0; layer < 24; ++layer) {
    for (const char* name : {"rms_norm", "qkv_gemv", "rotary", "append_kv", "paged_attention",
                             "out_gemv", "add", "rms_norm", "up_gemv", "silu_mul", "down_gemv"}) {
      step.launch(name, 6'000);
    }
  }
  step.launch("head_gemv", 40'000);
  step.launch("argmax", 4'000);
  return std::move(step).program();
}

/// Durations 2 % and gaps 1 to 3 us around the program's.
class KernelClock {
 public:
  explicit KernelClock(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] trace::KernelRun run(std::int64_t duration_ns) {
    trace::KernelRun one;
    now_ += 1'000 + static_cast<std::int64_t>(random_.below(2'000));
    one.start = {now_};
    now_ += duration_ns * (98'000 + static_cast<std::int64_t>(random_.below(4'000))) / 100'000;
    one.end = {now_};
    correlation_ += 1 + static_cast<std::uint32_t>(random_.below(3));
    one.correlation = correlation_;
    return one;
  }

 private:
  trace::Random random_;
  std::int64_t now_ = 1'000'000'000'000;
  std::uint32_t correlation_ = 0;
};

}  // namespace negawatt::testing
