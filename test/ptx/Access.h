// SPDX-License-Identifier: Apache-2.0
// From addresses to bytes of the host, with all checks: bounds, alignment, races in shared memory.
#pragma once

#include "test/ptx/Warp.h"

namespace talc::ptx {

enum class Purpose : uint8_t { Load, Store, Atomic };

// The memory that a warp's request touches: `bytes` from every active lane's address on.
struct Request {
  uint64_t addresses[warpLanes];
  unsigned char *host[warpLanes];
};

// Addresses: base register plus offset.
void findAddresses(Warp &warp, const Instruction &instruction, uint32_t base, uint64_t *addresses);

// Fills request.host of lanes of the mask, and counts the request. Fails where an address is wrong.
void resolve(Warp &warp, const Instruction &instruction, Space space, uint32_t bytes, Purpose purpose, uint32_t mask,
             Request &request);

// The same of one address of shared memory, without counting it.
unsigned char *resolveShared(Warp &warp, const Instruction &instruction, uint64_t address, uint32_t bytes,
                             Purpose purpose, int lane);

// The state space that an instruction names, as in ld.global or ld.shared.v4; Generic if it names none.
Space getStateSpace(const Statement &statement);

}  // namespace talc::ptx
