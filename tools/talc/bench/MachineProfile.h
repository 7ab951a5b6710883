// SPDX-License-Identifier: Apache-2.0
// What this machine can do at most, measured: with a number of threads, multiply-adds of every kind and reading from
// every cache level and from memory; or on a GPU (GpuMachine.h). Also the least time that a kernel takes there, its
// roof. Method: Williams, Waterman, Patterson 2009, "Roofline".
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

// Products that are added up; a multiply-add counts as two operations.
struct MatmulPeak {
  std::string roof;                  // FMA, int8 or bf16
  std::vector<std::string> rounded;  // the storage formats that rows may be rounded to; empty: f32, not rounded
  std::string instructions;          // AVX2, AVX-512, NEON, ...: with which the most operations were reached
  double operationsPerSecond = 0;
  std::string weights = "";  // the storage format whose contractions alone have this peak; empty: all
};

struct KernelEntry;

struct MachineProfile {
  int32_t threads = 0;
  std::string device;               // such as cuda:0; empty: the processors
  std::string processor;            // as the system calls it
  std::vector<MatmulPeak> peaks;    // the first: of f32
  std::vector<MemoryLevel> levels;  // ascending; the last is memory

  // The first level that holds so many bytes.
  const MemoryLevel &levelHolding(double bytes) const;
  const MemoryLevel &memory() const { return levels.back(); }
  const MatmulPeak &f32() const { return peaks.front(); }
  // Returns the peak of a kernel's matmuls, or the peak of f32 if the machine has no other for them.
  const MatmulPeak &peakFor(const KernelEntry &kernel) const;
  // "Xeon, 2 threads: 340.1 GFLOP/s (AVX-512), int8 1360.2 GOP/s (AVX512-VNNI), L1 600.2 GB/s, ..., memory 20.4 GB/s",
  // or with a device for the threads.
  std::string describe() const;
};

// What is measured beside tests. What other programs leave of it changes by the second, so figures can be taken
// again beside every repetition of a test.
class Machine {
public:
  // The processors with a number of threads. Measures the profile, which takes about a second. Fails on x86-64 without
  // AVX2 and FMA, and when threads or memory are refused.
  static Status create(int32_t threads, std::unique_ptr<Machine> &machine);
  virtual ~Machine() = default;

  // The best of several rounds, since a roof is what nothing exceeds.
  const MachineProfile &profile() const { return best; }
  // Now, in one round of some twenty milliseconds: multiply-adds of f32, and reading from the level that holds so many
  // bytes.
  virtual double operationsPerSecond() = 0;
  virtual double bytesPerSecond(double bytes) = 0;

protected:
  MachineProfile best;
};

struct Cache {
  int level;
  int64_t bytes;
  int64_t sharedBy;  // processors
};

// Data caches of the first processor by ascending level; empty where the system does not tell.
std::vector<Cache> detectCaches();

// "AMD EPYC 7763 64-Core Processor", or where the system does not tell LLVM's name: "neoverse-n1".
std::string processorName();

// All calls of a kernel in a step, in seconds and bytes.
struct KernelWork {
  double computing;      // the operations at the peak of such products
  double passing;        // the activations at the bandwidth of their level
  double storedBytes;    // of weights and KV caches
  std::string passedBy;  // the level of the activations

  // What it takes at least, where weights and KV caches are read at such a rate, and operations take so many times as
  // long.
  double minSeconds(double storedBytesPerSecond, double slowdown = 1) const;
};

KernelWork kernelWork(const KernelEntry &kernel, const StepShape &step, const MachineProfile &machine);

}  // namespace talc::bench
