#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An NVML client in Python that knows nothing of negawatt. Its argument is the library to load."""
import ctypes
import sys
import time

nvml = ctypes.CDLL(sys.argv[1])
nvml.nvmlErrorString.restype = ctypes.c_char_p


def ask(function, *arguments):
    result = getattr(nvml, function)(*arguments)
    if result != 0:
        sys.exit(f"{function}: {nvml.nvmlErrorString(result).decode()}")


def energy_mj(gpu):
    value = ctypes.c_ulonglong()
    ask("nvmlDeviceGetTotalEnergyConsumption", gpu, ctypes.byref(value))
    return value.value


def sm_mhz(gpu):
    value = ctypes.c_uint()
    ask("nvmlDeviceGetClockInfo", gpu, 1, ctypes.byref(value))
    return value.value


ask("nvmlInit_v2")
count = ctypes.c_uint()
ask("nvmlDeviceGetCount_v2", ctypes.byref(count))
for index in range(count.value):
    gpu = ctypes.c_void_p()
    ask("nvmlDeviceGetHandleByIndex_v2", index, ctypes.byref(gpu))
    name = ctypes.create_string_buffer(96)
    ask("nvmlDeviceGetName", gpu, name, len(name))
    before = energy_mj(gpu)
    time.sleep(0.25)
    after = energy_mj(gpu)
    ask("nvmlDeviceSetGpuLockedClocks", gpu, 1005, 1005)
    time.sleep(0.1)
    locked = sm_mhz(gpu)
    ask("nvmlDeviceResetGpuLockedClocks", gpu)
    print(f"{name.value.decode()}: {after - before} mJ, {locked} MHz")
    if after <= before:
        sys.exit("the energy counter does not move")
ask("nvmlShutdown")
