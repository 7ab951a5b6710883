// SPDX-License-Identifier: Apache-2.0
// C++ classes of the kernel dialect; the definitions with their documentation are in ComputeOps.td and KernelOps.td.
#pragma once

#include "dialects/kernel/ComputeOpInterface.h"
#include "dialects/kernel/KernelAttributeNames.h"
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

// Shapes of a KV cache that is laid out as #kernel.kv_panels: panels of sink tokens, then those of the ring, or all.
struct KvLayout {
  explicit KvLayout(KvCacheType cache);

  int64_t keyBytes() const;
  bool isRing() const { return ringPanels > 0; }
  // The types of kernel.keys and kernel.values.
  mlir::MemRefType keysType() const { return mlir::MemRefType::get({panels, heads, width, tokens}, keys); }
  mlir::MemRefType valuesType() const { return mlir::MemRefType::get({panels, heads, tokens, paddedWidth}, values); }

  mlir::Type keys, values;  // element types
  int64_t tokens;           // of a panel
  int64_t heads, width, panels, paddedWidth;
  int64_t sinkTokens, sinkPanels;
  int64_t ringPanels;  // 0: the cache is not a ring
};

// [heads, 2, width + 1, width]: the shape of a compressive memory that is laid out as #kernel.matrices.
llvm::SmallVector<int64_t> memoryShape(KvCacheType cache);

// [heads, blocks, rows, columns of a block]: the shape of a state that is laid out as #kernel.columns.
llvm::SmallVector<int64_t> columnsShape(KvCacheType state);

// The partial attention results of the key blocks of a single token. A block has a row [columns()] of a buffer: the
// weighted sum of values of every head [paddedWidth], then the maxima of all heads, then the sums of weights. Each
// begins at a multiple of `alignment`.
struct PartialAttentionLayout {
  explicit PartialAttentionLayout(int64_t heads, int64_t width)
      : heads(heads), paddedWidth((width + alignment - 1) / alignment * alignment), maxima(heads * paddedWidth),
        sums(maxima + (heads + alignment - 1) / alignment * alignment) {}

  int64_t columns() const { return 2 * sums - maxima; }

  static constexpr int64_t alignment = 16;  // f32 values
  int64_t heads, paddedWidth, maxima, sums;
};

// The type of a buffer of quant blocks as bytes: all bytes in one dimension, or if the number of rows is dynamic those
// of each row.
mlir::MemRefType bytesType(mlir::MemRefType stored);

// The buffer that a value is a view of, through any number of views.
mlir::Value getBaseBuffer(mlir::Value value);

// The index of the result whose wanted tokens are the rows of a buffer; none if its rows are all tokens of the step.
// Wanted tokens are few, and divided among the threads separately.
std::optional<int64_t> getOutputIndex(mlir::Value buffer);
// The same for the rows of a kernel, which all its operands share.
std::optional<int64_t> getOutputIndex(mlir::ValueRange operands);

// The tasks of a function that outline-kernels made, before their loops are expanded; null for other functions.
TasksOp getTasks(mlir::func::FuncOp function);

// Whether any worker may take any task (see kernel.tasks).
bool hasDynamicTasks(mlir::ModuleOp module);

// Lets one-shot-bufferize handle the dialect, and makes linalg.generic and memref.copy compute ops.
void registerInterfaces(mlir::DialectRegistry &registry);

}  // namespace talc::kernel
