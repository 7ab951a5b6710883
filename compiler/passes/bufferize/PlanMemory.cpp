// SPDX-License-Identifier: Apache-2.0
// plan-memory: assigns offsets to temporaries in the arena, and to weights, KV caches and gradients.
//
//   %y = memref.alloc(%rows) : memref<?x384xf32>   ->   %y = kernel.arena %step rows %rows at 1536 plus 0 by_worker 0
//
// A buffer lives from its definition to the barrier after its last use, in program order. Buffers are placed largest
// first, each at the lowest offset that is free during its life. There are three kinds, planned separately: a buffer
// with a dynamic dimension (at most T rows for T tokens) takes bytes per token, a static one a fixed number, and one
// that every worker has for itself a fixed number per worker. Temporaries of a block follow those of its callers. MLIR
// 22 does not have a static arena planner.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/kernel/gradients/GradientOps.h"
#include "dialects/talc/ModuleKeys.h"

#include "mlir/Analysis/CallGraph.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <array>

namespace talc {
#define GEN_PASS_DEF_PLANMEMORY
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;
namespace keys = talc::planKeys;

namespace {

constexpr int64_t alignment = 64;

// The number that the bytes of a buffer are multiplied by.
enum Kind { PerToken, Fixed, PerWorker, kinds };

// A temporary: its allocation, its size, and the operations between which it lives.
struct Buffer {
  memref::AllocOp alloc;
  Kind kind;
  int64_t bytes, begin, end, offset = 0;
};

using FrameSize = std::array<int64_t, kinds>;

FrameSize larger(FrameSize a, const FrameSize &b) {
  for (int kind = 0; kind < kinds; ++kind)
    a[kind] = std::max(a[kind], b[kind]);
  return a;
}

// The temporaries of one function, and the offset where they begin.
struct Frame {
  SmallVector<Buffer> buffers;
  FrameSize size = {}, base = {};
  FrameSize end() const {
    FrameSize sum = base;
    for (int kind = 0; kind < kinds; ++kind)
      sum[kind] += size[kind];
    return sum;
  }
};

// The last operation of `block` that uses `value` or a view of it.
int64_t lastUse(Value value, const DenseMap<Operation *, int64_t> &order) {
  int64_t last = 0;
  for (Operation *user : value.getUsers()) {
    last = std::max(last, order.lookup(user));
    for (Value result : user->getResults())
      if (isa<MemRefType>(result.getType()))
        last = std::max(last, lastUse(result, order));
  }
  return last;
}

// Assigns offsets to the buffers of one kind; returns the bytes of all of them.
int64_t assignOffsets(MutableArrayRef<Buffer> buffers, int kind) {
  SmallVector<Buffer *> sorted;
  for (Buffer &buffer : buffers)
    if (buffer.kind == kind)
      sorted.push_back(&buffer);
  llvm::sort(sorted, [](Buffer *a, Buffer *b) {
    return std::make_pair(-a->bytes, a->begin) < std::make_pair(-b->bytes, b->begin);
  });
  SmallVector<Buffer *> placed;  // by ascending offset
  int64_t total = 0;
  for (Buffer *buffer : sorted) {
    int64_t offset = 0;
    for (Buffer *other : placed) {
      bool overlaps = buffer->begin <= other->end && other->begin <= buffer->end;
      if (!overlaps)
        continue;
      if (offset + buffer->bytes <= other->offset)
        break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    buffer->offset = offset;
    total = std::max(total, offset + buffer->bytes);
    auto position = llvm::upper_bound(placed, buffer, [](Buffer *a, Buffer *b) { return a->offset < b->offset; });
    placed.insert(position, buffer);
  }
  return total;
}

Kind getKind(memref::AllocOp alloc) {
  if (alloc->hasAttr(kernel::perWorkerAttr))
    return PerWorker;
  return alloc.getType().hasStaticShape() ? Fixed : PerToken;
}

// Between two barriers workers execute different operations, so that a buffer lives until the barrier after its last
// use. The call of a block begins with a barrier.
SmallVector<Buffer> collectBuffers(func::FuncOp function, const SymbolTable &symbols) {
  DenseMap<Operation *, int64_t> order;
  SmallVector<int64_t> barriers;
  for (Operation &op : function.front()) {
    int64_t place = order.size();
    order[&op] = place;
    auto barrier = dyn_cast<kernel::BarrierOp>(op);
    auto call = dyn_cast<func::CallOp>(op);
    if ((barrier && !barrier.getUnlessTokenParallel()) ||
        (call && !symbols.lookup(call.getCallee())->hasAttr(kernel::kernelOpAttr)))
      barriers.push_back(place);
  }
  barriers.push_back(order.size());
  SmallVector<Buffer> buffers;
  for (auto alloc : function.front().getOps<memref::AllocOp>()) {
    auto barrier = llvm::upper_bound(barriers, lastUse(alloc.getResult(), order));
    int64_t end = barrier == barriers.end() ? order.size() : *barrier;
    int64_t bytes = llvm::alignTo(talc::storedBytes(alloc.getType()), alignment);
    buffers.push_back({alloc, getKind(alloc), bytes, order[alloc], end});
  }
  return buffers;
}

// Whether a table of cosines and sines by position is much longer than what the runtime makes it of, the angles of
// about twice the root of its positions (RotaryTables.h). Positions with frequencies of their own are not composed.
bool isLongRotaryTable(talc::WeightOp weight) {
  constexpr int64_t minPositions = 2048, maxPositions = 1 << 20, maxElements = UINT32_MAX;
  auto recipe = dyn_cast<talc::RotaryTableRecipeAttr>(weight.getSource());
  auto type = cast<RankedTensorType>(weight.getType());
  if (!recipe || recipe.getDigits() > 0 || isa_and_nonnull<talc::DynamicScalingAttr>(recipe.getScaling()))
    return false;
  return type.getElementType().isF32() && type.getDimSize(0) >= minPositions && type.getDimSize(0) <= maxPositions &&
         type.getNumElements() <= maxElements;
}

struct PlanMemory : talc::impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    if (failed(checkFunctions()) || failed(checkElements()) || failed(checkKvLayouts()))
      return signalPassFailure();
    FrameSize arena = planArena();
    Builder builder(&getContext());
    SmallVector<NamedAttribute> plan;
    auto add = [&](StringRef name, int64_t value) { plan.emplace_back(name, builder.getI64IntegerAttr(value)); };
    add(keys::arenaBytesPerToken, arena[PerToken]);
    add(keys::arenaBytesFixed, arena[Fixed]);
    add(keys::arenaBytesPerThread, arena[PerWorker]);
    auto [weightBytes, tableBytes] = assignWeightOffsets(builder);
    add(keys::weightBytes, weightBytes);
    if (tableBytes > 0)
      add(keys::tableBytes, tableBytes);
    if (int64_t gradientBytes = assignGradientOffsets(); gradientBytes > 0)
      add(keys::gradientBytes, gradientBytes);
    assignKvOffsets(builder, add);
    getOperation()->setAttr(talc::planAttr, builder.getDictionaryAttr(plan));
    talc::PassRemarks("bufferize", "plan-memory").did(getOperation(), [&] {
      return llvm::formatv("temporaries take {0} bytes per token, {1} fixed, {2} per worker", arena[PerToken],
                           arena[Fixed], arena[PerWorker]);
    });
  }

  // Frames are computed from the bodies of all functions, and callers must not be recursive.
  LogicalResult checkFunctions() {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function.isExternal())
        return function.emitOpError("has no body");
    const CallGraph calls(getOperation());
    for (auto part = llvm::scc_begin(&calls); !part.isAtEnd(); ++part)
      if (part.hasCycle())
        return getOperation()->emitOpError("has functions that call each other in a cycle");
    return success();
  }

  LogicalResult checkKvLayouts() {
    for (auto cache : getOperation().getOps<talc::KvCacheOp>())
      if (!cast<talc::KvCacheType>(cache.getType()).getLayout())
        return cache.emitOpError("has no layout; layout-kv-cache gives it one");
    return success();
  }

  LogicalResult checkElements() {
    WalkResult result = getOperation().walk([](memref::AllocOp alloc) -> WalkResult {
      if (talc::getStorageFormat(alloc.getType().getElementType()))
        return WalkResult::advance();
      return alloc.emitOpError() << "holds " << alloc.getType().getElementType() << ", expected "
                                 << talc::formatAlternatives();
    });
    return failure(result.wasInterrupted());
  }

  // The frame of a function begins where the largest frame of its callers ends. The arena has the per-token buffers of
  // all functions, then the fixed ones, then those of each worker.
  FrameSize planArena() {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    llvm::MapVector<StringRef, Frame> frames;
    for (func::FuncOp function : functions) {
      Frame &frame = frames[function.getName()];
      frame.buffers = collectBuffers(function, symbols);
      for (int kind = 0; kind < kinds; ++kind)
        frame.size[kind] = assignOffsets(frame.buffers, kind);
    }
    while (moveAfterCallers(functions, frames)) {
    }
    FrameSize total = {};
    for (auto &[name, frame] : frames)
      total = larger(total, frame.end());
    for (auto &[name, frame] : frames)
      for (Buffer &buffer : frame.buffers)
        replace(buffer, frame.base[buffer.kind] + buffer.offset, total);
    return total;
  }

  // Returns whether a frame moved. Functions are not recursive, so that this ends.
  static bool moveAfterCallers(ArrayRef<func::FuncOp> functions, llvm::MapVector<StringRef, Frame> &frames) {
    bool moved = false;
    for (func::FuncOp function : functions)
      function.walk([&](func::CallOp call) {
        FrameSize &base = frames[call.getCallee()].base;
        FrameSize next = larger(base, frames[function.getName()].end());
        moved |= next != base;
        base = next;
      });
    return moved;
  }

  static void replace(Buffer &buffer, int64_t offset, const FrameSize &total) {
    OpBuilder builder(buffer.alloc);
    Value rows = buffer.kind == PerToken && !buffer.alloc.getDynamicSizes().empty() ? buffer.alloc.getDynamicSizes()[0]
                                                                                    : Value();
    int64_t perToken = buffer.kind == PerToken ? offset : total[PerToken];
    int64_t fixed = buffer.kind == PerToken ? 0 : buffer.kind == Fixed ? offset : total[Fixed] + offset;
    int64_t perWorker = buffer.kind == PerWorker ? total[PerWorker] : 0;
    Value step = buffer.alloc->getParentOfType<func::FuncOp>().getArgument(0);
    auto arena = kernel::ArenaOp::create(builder, buffer.alloc.getLoc(), buffer.alloc.getType(), step, rows, perToken,
                                         fixed, perWorker);
    buffer.alloc.replaceAllUsesWith(arena.getResult());
    buffer.alloc.erase();
  }

  // The weights of the artifact come first, then rotary tables, which are made when it is opened. Returns the bytes of
  // all, and of the tables.
  std::pair<int64_t, int64_t> assignWeightOffsets(Builder &builder) {
    llvm::StringSet<llvm::MallocAllocator> used;
    getOperation().walk([&](kernel::WeightOp op) { used.insert(op.getName()); });
    int64_t offset = 0, storedEnd = 0;
    for (bool isTable : {false, true}) {
      storedEnd = offset;
      for (auto weight : getOperation().getOps<talc::WeightOp>()) {
        if (!used.contains(weight.getSymName()) || isLongRotaryTable(weight) != isTable)
          continue;
        weight->setAttr(talc::offsetAttr, builder.getI64IntegerAttr(offset));
        offset += llvm::alignTo(talc::storedBytes(cast<RankedTensorType>(weight.getType())), alignment);
      }
    }
    return {offset, offset - storedEnd};
  }

  // Buffers of gradients follow each other in the order of weights; returns the bytes of all.
  int64_t assignGradientOffsets() {
    llvm::MapVector<StringAttr, SmallVector<kernel::GradientOp>> gradients;
    getOperation().walk([&](kernel::GradientOp op) { gradients[op.getNameAttr().getAttr()].push_back(op); });
    int64_t offset = 0;
    for (auto weight : getOperation().getOps<talc::WeightOp>()) {
      auto ops = gradients.find(weight.getSymNameAttr());
      if (ops == gradients.end())
        continue;
      for (kernel::GradientOp op : ops->second)
        op.setOffset(offset);
      weight->setAttr(talc::gradientOffsetAttr, Builder(&getContext()).getI64IntegerAttr(offset));
      offset += llvm::alignTo(talc::storedBytes(ops->second.front().getResult().getType()), alignment);
    }
    return offset;
  }

  template <typename Add> void assignKvOffsets(Builder &builder, Add add) {
    // In a model with an encoder, caches of a step are those of the encoder, and hold tokens of the source.
    bool hasSource = llvm::any_of(getOperation().getOps<talc::KvCacheOp>(), [](talc::KvCacheOp cache) {
      return cast<talc::KvCacheType>(cache.getType()).getRole() == talc::KvCacheRole::source;
    });
    int64_t offset = 0, perToken = 0, perSourceToken = 0, tokenGroup = 1, ring = 0;
    for (auto cache : getOperation().getOps<talc::KvCacheOp>()) {
      cache->setAttr(talc::offsetAttr, builder.getI64IntegerAttr(offset));
      auto type = cast<talc::KvCacheType>(cache.getType());
      offset += type.getSlotBytes();
      tokenGroup = std::max(tokenGroup, type.getLayout().getTokenGroup());
      if (type.isRing()) {  // its size is bounded
        ring = ring == 0 ? type.getCapacity() : std::min(ring, type.getCapacity());
        continue;
      }
      bool isOfSource = hasSource && type.getRole() != talc::KvCacheRole::sequence;
      (isOfSource ? perSourceToken : perToken) += type.getTokenBytes();
    }
    add(talc::slotBytesKey, llvm::alignTo(offset, 4096));
    add(keys::kvBytesPerToken, perToken);
    add(keys::sourceBytesPerToken, perSourceToken);
    add(keys::kvTokenGroup, tokenGroup);
    if (ring > 0)
      add(keys::ringTokens, ring);
  }
};

}  // namespace
