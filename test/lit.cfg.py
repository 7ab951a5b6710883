# SPDX-License-Identifier: Apache-2.0
# How lit runs talc's tests; lit.site.cfg.py in the build tree says where things are and loads this file.
import ctypes.util
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys

import lit.formats

config.name = "talc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "models"]
config.test_source_root = os.path.join(config.talc_source, "test")
config.test_exec_root = os.path.join(config.talc_build, "test")
# lit runs the longest tests first, by the times of the last run; .lit_test_times.txt in this folder serves the first run.

programs = os.path.join(config.talc_build, "test", "bin")  # of the tests, and links to those of talc

# FileCheck, not, count and every program of the project are found by their names.
config.environment["PATH"] = os.pathsep.join([programs, config.llvm_programs, os.environ["PATH"]])
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
# Tests of one run share object code; none is left of an earlier run.
config.environment["TALC_CACHE"] = os.path.join(config.test_exec_root, "cache")
shutil.rmtree(config.environment["TALC_CACHE"], ignore_errors=True)
# libLLVM is not instrumented: containers that it fills and talc reads look poisoned.
config.environment["ASAN_OPTIONS"] = os.pathsep.join(
    filter(None, ["allow_user_poisoning=0", os.environ.get("ASAN_OPTIONS", "")]))
config.environment["TALC_MAX_THREADS"] = "16"  # tests divide work among more threads than there are processors

# ./dev test --slow: tests that go on where faster ones have covered every feature once.
if lit_config.params.get("slow"):
    config.available_features.add("slow")

# Preset asan: addresses without end, and programs that are compiled without it cannot use libraries that are with it.
if "-fsanitize=address" in config.flags:
    config.available_features.add("asan")

# Programs for 64-bit ARM: made with the runtime that ./dev build --with-aarch64 builds, run under an emulator.
if os.path.exists(os.path.join(config.talc_build, "bin", "aarch64", "talc-launcher")) and shutil.which("qemu-aarch64"):
    config.available_features.add("aarch64")

# Programs for x86-64 as on a processor that is older than this one.
if shutil.which("qemu-x86_64"):
    config.available_features.add("qemu-x86_64")

# Programs with AMX, whose instructions a tracer does: where it may trace, and the processor has all else that they need.
tracer = os.path.join(programs, "amx-run")
if os.path.exists(tracer) and "avx512_bf16" in open("/proc/cpuinfo").read():
    if subprocess.run([tracer, "true"], capture_output=True).returncode == 0:
        config.available_features.add("amx-run")

# Kernels that Halide makes.
if os.path.exists(os.path.join(config.talc_build, "bin", "hgen")):
    config.available_features.add("halide")

# NVIDIA's assembler, from the path or where its toolkit usually lies.
ptxas = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
if ptxas:
    config.available_features.add("ptxas")

# The folder of the driver for NVIDIA GPUs: of the emulator of test/ptx, or with -D gpu=FOLDER of one that has a GPU.
cuda_driver = lit_config.params.get("gpu")
if not cuda_driver:
    cuda_driver = os.path.join(config.talc_build, "test", "ptx", "lib")
    config.available_features.add("ptx-emulator")

# Code for Vulkan is checked, and run by a driver that needs no GPU: ./dev test installs both.
if shutil.which("spirv-val") and shutil.which("spirv-dis"):
    config.available_features.add("spirv-tools")
lavapipe = glob.glob("/usr/share/vulkan/icd.d/lvp_icd.*.json")
validation = "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"
if lavapipe and os.path.exists(validation) and ctypes.util.find_library("vulkan"):
    config.available_features.add("vulkan")
    config.environment["VK_ICD_FILENAMES"] = lavapipe[0]

# Packages that ./dev bench --peers installs.
if importlib.util.find_spec("onnx"):
    config.available_features.add("onnx")
if ctypes.util.find_library("openblas"):
    config.available_features.add("openblas")

# Opens the page of --inspect.
if shutil.which("chromium"):
    config.available_features.add("chromium")

# %NAME is build/test/bin/NAME. Names end where no letter, digit or dash follows: %talc-opt is not read as %talc.
variables = {name: os.path.join(programs, name) for name in os.listdir(programs)}
variables["models"] = os.path.join(config.test_exec_root, "models")  # all test models, one folder each
variables["programs"] = programs
variables["validated"] = "VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation"  # for env: mistakes are printed
variables["root"] = config.talc_source
variables["build"] = config.talc_build
variables["cuda-driver"] = cuda_driver
variables["python"] = sys.executable
variables["cc"] = config.c_compiler
variables["one-processor"] = f"taskset -c {min(os.sched_getaffinity(0))}"  # one that this process may use
variables["cxx"] = config.cxx_compiler
variables["cmake"] = config.cmake
variables["ptxas"] = ptxas or "ptxas"
config.substitutions += [("%" + re.escape(name) + r"(?![\w-])", path) for name, path in variables.items()]
