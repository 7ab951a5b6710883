// SPDX-License-Identifier: Apache-2.0
// Every lane's address is checked; those of global memory at once where all lie in one allocation.
#include "test/ptx/Access.h"

#include "test/ptx/Launch.h"

#include <algorithm>
#include <cstdio>

namespace talc::ptx {

Space getStateSpace(const Statement &statement) {
  for (const std::string &modifier : statement.modifiers) {
    if (modifier == "global" || modifier == "const")
      return Space::Global;
    if (modifier.compare(0, 6, "shared") == 0)
      return Space::Shared;
    if (modifier == "local")
      return Space::Local;
    if (modifier.compare(0, 5, "param") == 0)
      return Space::Parameter;
  }
  return Space::Generic;
}

// In the width of the register: sums wrap around.
template <typename T> static void addOffset(const T *base, int64_t offset, uint64_t *addresses) {
  for (int lane = 0; lane < warpLanes; ++lane)
    addresses[lane] = static_cast<T>(base[lane] + static_cast<T>(offset));
}

void findAddresses(Warp &warp, const Instruction &instruction, uint32_t base, uint64_t *addresses) {
  if (instruction.wide)
    addOffset(warp.lanes<uint64_t>(base), instruction.offset, addresses);
  else
    addOffset(warp.lanes<uint32_t>(base), instruction.offset, addresses);
}

static std::string hexadecimal(uint64_t address) {
  char text[24];
  snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

static void checkAlignment(Warp &warp, const Instruction &instruction, uint32_t bytes, uint32_t mask,
                           const uint64_t *addresses) {
  uint64_t addressBits = 0;
  for (int lane = 0; lane < warpLanes; ++lane)
    addressBits |= mask >> lane & 1 ? addresses[lane] : 0;
  if (addressBits % bytes == 0)
    return;
  for (int lane = 0; lane < warpLanes; ++lane)
    if (mask >> lane & 1 && addresses[lane] % bytes)
      warp.fail(instruction, lane,
                "the address " + hexadecimal(addresses[lane]) + " is not a multiple of " + std::to_string(bytes));
}

static void count(Warp &warp, uint32_t bytes, Purpose purpose, uint32_t mask, const uint64_t *addresses) {
  KernelCounts *counts = warp.workgroup.launch.counts;
  if (!counts)
    return;
  uint64_t asked = static_cast<uint64_t>(__builtin_popcount(mask)) * bytes;
  bool load = purpose == Purpose::Load;
  (load ? counts->loadRequests : counts->storeRequests) += 1;
  (load ? counts->loadSectors : counts->storeSectors) += countSectors(addresses, mask, bytes);
  (load ? counts->loadBytes : counts->storeBytes) += asked;
}

static void resolveGlobal(Warp &warp, const Instruction &instruction, uint32_t bytes, Purpose purpose, uint32_t mask,
                          Request &request) {
  Memory &memory = warp.workgroup.launch.memory;
  const Allocation *last = memory.holder(request.addresses[__builtin_ctz(mask)]);
  for (int lane = 0; lane < warpLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    const uint64_t address = request.addresses[lane];
    if (!last || !last->holds(address, bytes))
      last = memory.holder(address);
    if (!last || !last->holds(address, bytes))
      warp.fail(instruction, lane, std::to_string(bytes) + " bytes of global memory at " + memory.describe(address));
    request.host[lane] = last->content.get() + (address - last->begin);
  }
  count(warp, bytes, purpose, mask, request.addresses);
}

unsigned char *resolveShared(Warp &warp, const Instruction &instruction, uint64_t address, uint32_t bytes,
                             Purpose purpose, int lane) {
  SharedMemory &shared = warp.workgroup.shared;
  if (address > shared.size() || bytes > shared.size() - address)
    warp.fail(instruction, lane,
              std::to_string(bytes) + " bytes at " + std::to_string(address) + " of " + std::to_string(shared.size()) +
                  " bytes of shared memory");
  if (purpose == Purpose::Load && shared.isAwaited(address, bytes))
    warp.fail(instruction, lane,
              "byte " + std::to_string(address) + " of shared memory: an asynchronous copy there was not waited for");
  bool fair = purpose == Purpose::Load    ? shared.read(address, bytes, warp.number)
              : purpose == Purpose::Store ? shared.write(address, bytes, warp.number)
                                          : true;
  if (!fair)
    warp.fail(instruction, lane,
              "races with another warp at byte " + std::to_string(address) + " of shared memory: a barrier is missing");
  return shared.data() + address;
}

static void resolveLocal(Warp &warp, const Instruction &instruction, uint32_t bytes, uint32_t mask, Request &request) {
  const uint64_t size = warp.kernel.localBytes;
  for (int lane = 0; lane < warpLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    if (request.addresses[lane] > size || bytes > size - request.addresses[lane])
      warp.fail(instruction, lane,
                "byte " + std::to_string(request.addresses[lane]) + " of " + std::to_string(size) +
                    " bytes of local memory");
    request.host[lane] = warp.local.data() + size * static_cast<uint64_t>(lane) + request.addresses[lane];
  }
}

static Space spaceAt(uint64_t &address) {
  for (auto [window, space] : {std::pair(sharedWindow, Space::Shared), std::pair(localWindow, Space::Local)})
    if (address - window < windowBytes) {
      address -= window;
      return space;
    }
  return Space::Global;
}

// Lanes may look into different spaces.
static void resolveGeneric(Warp &warp, const Instruction &instruction, uint32_t bytes, Purpose purpose, uint32_t mask,
                           Request &request) {
  uint32_t masks[3] = {};
  for (int lane = 0; lane < warpLanes; ++lane)
    if (mask >> lane & 1)
      masks[static_cast<size_t>(spaceAt(request.addresses[lane]))] |= 1u << lane;
  for (Space space : {Space::Global, Space::Shared, Space::Local})
    if (uint32_t there = masks[static_cast<size_t>(space)])
      resolve(warp, instruction, space, bytes, purpose, there, request);
}

void resolve(Warp &warp, const Instruction &instruction, Space space, uint32_t bytes, Purpose purpose, uint32_t mask,
             Request &request) {
  Launch &launch = warp.workgroup.launch;
  if (space == Space::Generic)
    return resolveGeneric(warp, instruction, bytes, purpose, mask, request);
  checkAlignment(warp, instruction, bytes, mask, request.addresses);
  launch.progress += purpose != Purpose::Load;
  if (space == Space::Global)
    return resolveGlobal(warp, instruction, bytes, purpose, mask, request);
  if (space == Space::Local)
    return resolveLocal(warp, instruction, bytes, mask, request);
  for (int lane = 0; lane < warpLanes; ++lane)
    if (mask >> lane & 1)
      request.host[lane] = resolveShared(warp, instruction, request.addresses[lane], bytes, purpose, lane);
  if (launch.counts) {
    ++launch.counts->sharedRequests;
    launch.counts->sharedLoads += purpose == Purpose::Load;
    launch.counts->bankConflicts += countBankConflicts(request.addresses, mask, bytes);
  }
}

}  // namespace talc::ptx
