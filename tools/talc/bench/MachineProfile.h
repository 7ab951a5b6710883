// SPDX-License-Identifier: Apache-2.0
// Measures the peaks of this machine: with a number of threads, the rates of multiply-adds of every kind and of reading
// from every cache level and memory; or those of a GPU. The roof of a kernel is its minimum time there.
// Method: Williams, Waterman, Patterson 2009, "Roofline".
#pragma once

#include "runtime/Status.h"
#include "tools/talc/bench/KernelList.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace talc::bench {

struct MemoryLevel {
  std::string name;           // L1, L2, L3, memory
  double capacity;            // bytes that all threads together hold there; infinite for memory
  double bytesPerSecond = 0;  // all threads reading
};

// The peak of one kind of matmul; a multiply-add counts as two operations.
struct MatmulPeak {
  std::string roof;                  // FMA, int8 or bf16
  std::vector<std::string> rounded;  // formats of quantized activations; empty: f32, not quantized
  std::string instructions;          // the fastest ones: AVX2, AVX-512, NEON, ...
  double operationsPerSecond = 0;
  std::string weights = "";  // the only storage format with this peak; empty: all
};

struct BenchOptions;
struct KernelEntry;

struct MachineProfile {
  int32_t threads = 0;
  std::string device;               // such as cuda:0; empty: the CPU
  std::string processor;            // as the system calls it
  std::vector<MatmulPeak> peaks;    // the first: of f32
  std::vector<MemoryLevel> levels;  // ascending; the last is memory

  // Returns the first level whose capacity is at least `bytes`.
  const MemoryLevel &levelHolding(double bytes) const;
  const MemoryLevel &memory() const { return levels.back(); }
  const MatmulPeak &f32() const { return peaks.front(); }
  // Returns the peak of a kernel's matmuls, or the peak of f32 if the machine has no other for them.
  const MatmulPeak &peakFor(const KernelEntry &kernel) const;
  // "Xeon, 2 threads: 340.1 GFLOP/s (AVX-512), int8 1360.2 GOP/s (AVX512-VNNI), L1 600.2 GB/s, ..., memory 20.4 GB/s",
  // or with a device for the threads.
  std::string describe() const;
};

// A machine whose peaks are measured beside tests. The load of other programs changes by the second, so rates can be
// measured again with every repetition of a test.
class Machine {
public:
  // Measures the profile of the CPU with this number of threads in about a second. Fails on x86-64 without AVX2 and
  // FMA, and if the system refuses threads or memory.
  static Status create(int32_t threads, std::unique_ptr<Machine> &machine);
  virtual ~Machine() = default;

  // The best rates of several rounds, since nothing may exceed a roof.
  const MachineProfile &profile() const { return best; }
  // The current rates in one round of some twenty milliseconds: multiply-adds of f32, and reading from the level that
  // holds so many bytes.
  virtual double operationsPerSecond() = 0;
  virtual double bytesPerSecond(double bytes) = 0;
  // Measures the cache that holds so many bytes again, with just these: a cache that several virtual machines share, or
  // that is larger than what one core reaches, has no rate that holds for every size.
  virtual void measureAt(double /*bytes*/) {}

protected:
  MachineProfile best;
};

// Measures the peaks of a GPU with kernels that talc compiles for it: a long chain of multiplications and additions of
// each number, and one that only reads and writes. GPUs issue a multiply-add as fast as either. If a large matmul of
// 16-bit weights is faster than the chain, the GPU has MMA instructions, and its rate is the roof of such matmuls.
// `target` is the target of the device's code.
Status measureGpu(const BenchOptions &options, const std::string &target, std::unique_ptr<Machine> &machine);

// Returns the description of a device (DeviceInfo), which is empty if no device has this name.
struct DeviceDescription {
  std::string description, emulation;
};
DeviceDescription describeDevice(const std::string &device);

struct Cache {
  int level;
  int64_t bytes;
  int64_t sharedBy;  // CPUs
};

// Returns the data caches of the first CPU by ascending level; empty if the system does not list them.
std::vector<Cache> detectCaches();

// Returns the name that the system gives, such as "AMD EPYC 7763 64-Core Processor", or LLVM's, such as "neoverse-n1".
std::string processorName();

// All calls of a kernel in a step, in seconds and bytes.
struct KernelWork {
  double computing;      // seconds of the operations at the peak of such matmuls
  double passing;        // seconds of the activations at the bandwidth of their level
  double storedBytes;    // of weights and KV caches
  std::string passedBy;  // the level of the activations

  // Returns the minimum time if weights and KV caches are read at this rate and operations take `slowdown` times as
  // long.
  double minSeconds(double storedBytesPerSecond, double slowdown = 1) const;
};

KernelWork kernelWork(const KernelEntry &kernel, const StepShape &step, const MachineProfile &machine);

}  // namespace talc::bench
