#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A kernel runner for `negawatt sweep` on a real GPU: a few kernels of a language model in PyTorch.

  negawatt sweep --core auto --memory auto --out kernels.csv -- python3 examples/torch_runner.py

measures them at the clocks the driver chooses, which needs no rights. Replace KERNELS by your own.
The lines it speaks are described in docs/formats.md, "Kernel runner".
"""
import collections
import sys
import threading

import torch

TOKENS, WIDTH = 8192, 2048


def matrix(rows, columns):
    return torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)


def gemm():
    a, b = matrix(TOKENS, WIDTH), matrix(WIDTH, 4 * WIDTH)
    out = torch.empty(TOKENS, 4 * WIDTH, device="cuda", dtype=torch.bfloat16)
    return lambda: torch.mm(a, b, out=out)


def layernorm():
    x = matrix(TOKENS, WIDTH)
    return lambda: torch.nn.functional.layer_norm(x, (WIDTH,))


def residual():
    a, b = matrix(TOKENS, WIDTH), matrix(TOKENS, WIDTH)
    return lambda: torch.add(a, b, out=a)


def decode_gemm():
    a, b = matrix(1, 8192), matrix(8192, 28672)
    return lambda: torch.mm(a, b)


# name: (pass, calls in one iteration, a function that makes the call)
KERNELS = {
    "gemm": ("forward", 24, gemm),
    "layernorm": ("forward", 48, layernorm),
    "residual": ("forward", 48, residual),
    "decode_gemm": ("decode", 24, decode_gemm),
}

BATCH = 8  # calls of one CUDA graph
AHEAD = 16  # graphs in flight


class Loop:
    """Runs one kernel over and over in a thread, until stopped."""

    def __init__(self, call):
        self.calls = 0
        self.end_ns = 0
        self.pending = collections.deque()
        self.mutex = threading.Lock()
        self.stopping = False
        self.graph = torch.cuda.CUDAGraph()
        call()
        torch.cuda.synchronize()
        with torch.cuda.graph(self.graph):
            for _ in range(BATCH):
                call()
        # Of this loop: elapsed_time() is a 32-bit float of milliseconds, too coarse hours later.
        self.base = torch.cuda.Event(enable_timing=True)
        self.base.record()
        self.base.synchronize()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.stopping:
            event = torch.cuda.Event(enable_timing=True)
            self.graph.replay()
            event.record()
            with self.mutex:
                self.pending.append(event)
                oldest = self.pending[0] if len(self.pending) >= AHEAD else None
            if oldest is not None:
                oldest.synchronize()
                self.collect()

    def collect(self):
        """Counts what has completed."""
        with self.mutex:
            while self.pending and self.pending[0].query():
                event = self.pending.popleft()
                self.calls += BATCH
                self.end_ns = int(self.base.elapsed_time(event) * 1e6)
            return self.calls, self.end_ns

    def stop(self):
        self.stopping = True
        self.thread.join()
        torch.cuda.synchronize()
        return self.collect()


def say(*words):
    print(*words, flush=True)


def main():
    loop = None
    for line in sys.stdin:
        verb, _, name = line.strip().partition(" ")
        if verb == "kernels":
            for key, (group, calls, _) in KERNELS.items():
                say("kernel", key, group, calls)
            say("end")
        elif verb == "start" and name in KERNELS and loop is None:
            loop = Loop(KERNELS[name][2]())
            say("started")
        elif verb == "count" and loop is not None:
            say("count", *loop.collect())
        elif verb == "stop" and loop is not None:
            calls, end_ns = loop.stop()
            loop = None
            say("stopped", calls, end_ns / 1e9)
        elif verb == "quit":
            break
        else:
            say("error cannot", line.strip())
    if loop is not None:
        loop.stop()


if __name__ == "__main__":
    main()
