// SPDX-License-Identifier: Apache-2.0
// Measures the load that other programs put on the machine during a measurement.
#pragma once

#include <cstdint>
#include <string>

namespace talc::bench {

struct MachineUse {
  double seconds = 0;         // that passed
  double processors = 0;      // CPUs of the system
  double others = 0;          // mean number of CPUs that other programs used
  double stolen = 0;          // mean number of CPUs that the host of a virtual machine gave to others
  double waited = 0;          // seconds that the measuring thread waited for a CPU
  int64_t displacements = 0;  // involuntary context switches of this process

  // Whether the load disturbs measurements.
  bool disturbs() const { return others + stolen > 0.1 || waited > 0.02 * seconds; }
  // One sentence, such as "Other programs used 1.1 of 2 processors meanwhile, ...".
  std::string describe() const;
};

// Measures from its construction on, in the thread that measures.
class MachineUseMeter {
public:
  MachineUseMeter() : begin(count()) {}
  MachineUse read() const;

private:
  // Seconds of all CPUs since the system started, and of this process since it started.
  struct Counts {
    double clock = 0, used = 0, stolen = 0, own = 0, waited = 0;
    int64_t displacements = 0;
  };
  static Counts count();

  Counts begin;
};

// Returns notes for below a table: whether the machine was busy, and why a share may exceed 100 %.
std::string usageNotes(const MachineUse &use, bool someShareExceeds);

// Whether a share is printed as more than 100 %.
inline bool exceeds(double share) {
  return share >= 1.005;
}

}  // namespace talc::bench
