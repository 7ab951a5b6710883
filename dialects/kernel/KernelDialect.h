// SPDX-License-Identifier: Apache-2.0
// C++ classes of the kernel dialect; the definitions with their documentation are in ComputeOps.td and KernelOps.td.
#pragma once

#include "dialects/kernel/ComputeOpInterface.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#include "dialects/kernel/KernelDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/kernel/KernelTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttributes.h.inc"

#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.h.inc"

namespace talc::kernel {

// The panels of a state that #kernel.kv_panels lays out: first those of tokens that are kept, then the ring, or all.
struct KvLayout {
  explicit KvLayout(KvCacheType state);

  int64_t keyBytes() const;
  bool isRing() const { return ringPanels > 0; }
  // What kernel.keys and kernel.values yield.
  mlir::MemRefType keysType() const { return mlir::MemRefType::get({panels, heads, width, tokens}, keys); }
  mlir::MemRefType valuesType() const { return mlir::MemRefType::get({panels, heads, tokens, paddedWidth}, values); }

  mlir::Type keys, values;  // elements
  int64_t tokens;           // of a panel
  int64_t heads, width, panels, paddedWidth;
  int64_t sinkTokens, sinkPanels;  // tokens, and panels of them
  int64_t ringPanels;              // 0: no ring
};

// [heads, 2, width + 1, width], of a state that #kernel.matrices lays out.
llvm::SmallVector<int64_t> memoryShape(KvCacheType state);

// What the blocks of keys of a single row yield, each in a row [columns()] of a buffer: P of every head [paddedWidth],
// then the maxima of all heads, then the sums; each begins at a multiple of `alignment`.
struct PartialAttentionLayout {
  explicit PartialAttentionLayout(int64_t heads, int64_t width)
      : heads(heads), paddedWidth((width + alignment - 1) / alignment * alignment), maxima(heads * paddedWidth),
        sums(maxima + (heads + alignment - 1) / alignment * alignment) {}

  int64_t columns() const { return 2 * sums - maxima; }

  static constexpr int64_t alignment = 16;  // numbers
  int64_t heads, paddedWidth, maxima, sums;
};

// On the functions that outline-kernels makes: the name of the piece inside, for reports.
constexpr llvm::StringLiteral kernelOpAttr = "kernel.op";
// On an allocation: every thread has its own.
constexpr llvm::StringLiteral perThreadAttr = "kernel.per_thread";

// The bytes of a buffer of blocks: all of them, or of rows of an unknown number those of each.
mlir::MemRefType bytesType(mlir::MemRefType stored);

// The buffer behind views of it.
mlir::Value getBaseBuffer(mlir::Value value);

// The result that the rows of a buffer are wanted for, if they are not the rows of the step: such rows are few, and
// divided among the threads by themselves.
std::optional<int64_t> getOutputIndex(mlir::Value buffer);
// The same of the rows of a kernel, which all its operands share.
std::optional<int64_t> getOutputIndex(mlir::ValueRange operands);

// The tasks of a function that outline-kernels made, around their piece; null for other functions.
TasksOp getTasks(mlir::func::FuncOp function);

// Lets one-shot-bufferize handle the dialect, and makes pieces of linalg.generic and memref.copy.
void registerInterfaces(mlir::DialectRegistry &registry);

}  // namespace talc::kernel
