// SPDX-License-Identifier: Apache-2.0
// Adds to a kernel a function that does one of its tasks, for kernels that do the tasks of many.
#pragma once

#include <cstdint>
#include <optional>

namespace llvm {
class Function;
}

namespace talc::nvptx {

// void <kernel>_task(), whose text neighbouring threads run together, as many as a workgroup of the kernel has. Returns
// the bytes of shared memory that they need, a multiple of 16; nothing, and adds nothing, for a kernel that asks for
// more than this function can be given. `manyRows`: its text keeps as little as can be in registers while loops run,
// since products of many rows take all.
std::optional<uint64_t> addTaskFunction(llvm::Function &kernel, unsigned threads, bool manyRows);

}  // namespace talc::nvptx
