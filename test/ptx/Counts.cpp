// SPDX-License-Identifier: Apache-2.0
// Sectors and bank conflicts follow the published rules: 32-byte sectors, 32 banks of 4 bytes, and requests of 8 or 16
// bytes a lane in halves or quarters of a warp.
#include "test/ptx/Counts.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace talc::ptx {

constexpr int lanes = 32, banks = 32;
constexpr uint64_t sectorBytes = 32, bankBytes = 4;

const char *className(InstructionClass kind) {
  static const char *const names[instructionClasses] = {
      "integer", "float", "special", "convert", "move",     "branch",   "param",  "global",
      "shared",  "local", "cpasync", "mma",     "ldmatrix", "exchange", "atomic", "barrier"};
  return names[static_cast<size_t>(kind)];
}

uint32_t countSectors(const uint64_t *addresses, uint32_t mask, uint32_t bytes) {
  uint64_t sectors[2 * lanes];
  uint32_t count = 0;
  for (int lane = 0; lane < lanes; ++lane)
    if (mask >> lane & 1)
      for (uint64_t s = addresses[lane] / sectorBytes; s <= (addresses[lane] + bytes - 1) / sectorBytes; ++s)
        if (count == 0 || sectors[count - 1] != s)
          sectors[count++] = s;
  if (!std::is_sorted(sectors, sectors + count))
    std::sort(sectors, sectors + count);
  return static_cast<uint32_t>(std::unique(sectors, sectors + count) - sectors);
}

// Passes for the lanes from `first` on: the most different words that one bank is asked for.
static uint32_t passes(const uint64_t *addresses, uint32_t mask, uint32_t bytes, int first, int count) {
  uint64_t words[banks][lanes];
  uint32_t used[banks] = {}, maxWords = 0;
  for (int lane = first; lane < first + count; ++lane)
    for (uint64_t w = addresses[lane] / bankBytes; (mask >> lane & 1) && w * bankBytes < addresses[lane] + bytes; ++w) {
      uint64_t *bank = words[w % banks];
      uint32_t &filled = used[w % banks];
      if (std::find(bank, bank + filled, w) == bank + filled)
        bank[filled++] = w;
      maxWords = std::max(maxWords, filled);
    }
  return maxWords;
}

uint32_t countBankConflicts(const uint64_t *addresses, uint32_t mask, uint32_t bytes) {
  int lanesPerPass = bytes > 8 ? lanes / 4 : bytes > 4 ? lanes / 2 : lanes;
  uint32_t conflicts = 0;
  for (int first = 0; first < lanes; first += lanesPerPass)
    conflicts += std::max<uint32_t>(passes(addresses, mask, bytes, first, lanesPerPass), 1) - 1;
  return conflicts;
}

static void append(std::string &text, const char *format, uint64_t value) {
  char buffer[32];
  snprintf(buffer, sizeof(buffer), format, value);
  text += buffer;
}

static std::string countsLine(const std::string &name, const KernelCounts &counts) {
  std::string text = name + std::string(name.size() < 40 ? 40 - name.size() : 1, ' ');
  for (uint64_t value : {counts.launches, counts.workgroups, counts.threadInstructions})
    append(text, "%14" PRIu64, value);
  for (uint64_t value : counts.instructions)
    append(text, "%11" PRIu64, value);
  for (uint64_t value :
       {counts.loadRequests, counts.loadSectors, counts.loadBytes, counts.storeRequests, counts.storeSectors,
        counts.storeBytes, counts.sharedRequests, counts.sharedLoads, counts.bankConflicts, counts.barriers})
    append(text, "%14" PRIu64, value);
  return text + "\n";
}

std::string countsTable(const Counts &counts) {
  std::string text = "kernel" + std::string(34, ' ') + "      launches    workgroups  thread instr.";
  for (size_t i = 0; i < instructionClasses; ++i) {
    std::string name = className(static_cast<InstructionClass>(i));
    text += std::string(11 - name.size(), ' ') + name;
  }
  for (const char *title : {"loads", "load sectors", "load bytes", "stores", "store sectors", "store bytes", "shared",
                            "shared loads", "conflicts", "barriers"})
    text += std::string(14 - std::string(title).size(), ' ') + title;
  text += "\n";
  for (const auto &[name, kernel] : counts)
    text += countsLine(name, kernel);
  return text;
}

}  // namespace talc::ptx
