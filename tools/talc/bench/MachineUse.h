// SPDX-License-Identifier: Apache-2.0
// Measures the load that other programs put on the machine during a measurement.
#pragma once

#include <cstdint>
#include <string>

namespace talc::bench {

struct MachineUse {
  double seconds = 0;         // that passed
  double processors = 0;      // that this system has
  double others = 0;          // of them, that other programs used: a mean
  double stolen = 0;          // of them, that the host of a virtual machine gave to somebody else: a mean
  double waited = 0;          // seconds that the measuring thread stood in a queue for a processor
  int64_t displacements = 0;  // how often a thread of this process had to make room for another program

  // Whether figures suffer from it.
  bool disturbs() const { return others + stolen > 0.1 || waited > 0.02 * seconds; }
  // One sentence, such as "Other programs used 1.1 of 2 processors meanwhile, ...".
  std::string describe() const;
};

// From its making on, by the thread that measures.
class MachineUseMeter {
public:
  MachineUseMeter() : begin(count()) {}
  MachineUse read() const;

private:
  // Seconds of all processors since the system started; of this process since it did.
  struct Counts {
    double clock = 0, used = 0, stolen = 0, own = 0, waited = 0;
    int64_t displacements = 0;
  };
  static Counts count();

  Counts begin;
};

// Lines to be printed below a table of results: that the machine was busy, and why a share may be above 100 %.
std::string usageNotes(const MachineUse &use, bool someShareExceeds);

// Whether a share is printed as more than 100 %.
inline bool exceeds(double share) {
  return share >= 1.005;
}

}  // namespace talc::bench
