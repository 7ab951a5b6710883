// SPDX-License-Identifier: Apache-2.0
// Upstream's own lowering of nvgpu converts buffers to LLVM's at once, and knows no matrices of bf16.
//
//   nvgpu.device_async_copy        cp.async.cg, of 16 bytes that pass by L1; cp.async.ca, of 4, 8 or 16
//   nvgpu.device_async_create_group, _wait      cp.async.commit_group, .wait_group n;  bar.warp.sync
//   nvgpu.ldmatrix, .mma.sync      ldmatrix.x4, mma.sync.m16n8k16
//   nvvm.bar.warp.sync             bar.warp.sync
//
// Behind a wait the lanes of a subgroup wait for each other, too: what one has copied, others read.
#include "compiler/passes/codegen/gpu/NvgpuPatterns.h"

#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace talc {

constexpr unsigned globalSpace = 1, sharedSpace = 3;  // of addresses

static Value call(OpBuilder &b, Location loc, StringRef name, Type type, ValueRange arguments) {
  return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), arguments).getResult(0);
}

static void callAlone(OpBuilder &b, Location loc, StringRef name, ValueRange arguments) {
  LLVM::CallIntrinsicOp::create(b, loc, b.getStringAttr(name), arguments);
}

static Value number(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

//===--- matrices -----------------------------------------------------------------------------------------------===//

// Registers of two values each; bf16 is passed as 32 bits. Upstream's own lowering knows no bf16.
static LogicalResult convertMatrices(nvgpu::MmaSyncOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Type element = cast<VectorType>(op.getMatrixA().getType()).getElementType(), f32 = rewriter.getF32Type();
  bool halves = isa<Float16Type>(element);
  if (!(halves || isa<BFloat16Type>(element)) || op.getMmaShapeAsArray() != std::array<int64_t, 3>{16, 8, 16})
    return rewriter.notifyMatchFailure(op, "not an m16n8k16 of 16-bit values");
  SmallVector<Value> operands;
  auto addPairs = [&](Value matrix) {
    for (int64_t i = 0, count = cast<VectorType>(matrix.getType()).getDimSize(0); i < count; ++i) {
      Value pair = vector::ExtractOp::create(rewriter, loc, matrix, i);
      if (!halves)
        pair = LLVM::BitcastOp::create(rewriter, loc, rewriter.getI32Type(), pair);
      operands.push_back(pair);
    }
  };
  addPairs(op.getMatrixA());
  addPairs(op.getMatrixB());
  auto eachSum = [](llvm::function_ref<void(int64_t, ArrayRef<int64_t>)> body) {
    for (int64_t i = 0; i < 4; ++i)
      body(i, {i / 2, i % 2});
  };
  eachSum([&](int64_t, ArrayRef<int64_t> at) {
    operands.push_back(vector::ExtractOp::create(rewriter, loc, op.getMatrixC(), at));
  });
  StringRef name = halves ? "llvm.nvvm.mma.m16n8k16.row.col.f32.f32" : "llvm.nvvm.mma.m16n8k16.row.col.bf16";
  auto type = LLVM::LLVMStructType::getLiteral(rewriter.getContext(), SmallVector<Type>(4, f32));
  Value found = call(rewriter, loc, name, type, operands), sums = op.getMatrixC();
  eachSum([&](int64_t i, ArrayRef<int64_t> at) {
    Value sum = LLVM::ExtractValueOp::create(rewriter, loc, found, ArrayRef<int64_t>{i});
    sums = vector::InsertOp::create(rewriter, loc, sum, sums, at);
  });
  rewriter.replaceOp(op, sums);
  return success();
}

//===--- memory -------------------------------------------------------------------------------------------------===//

// The address of an element; buffers of the workgroup have one of shared memory, others lie in global memory.
static Value addressOf(OpBuilder &b, Location loc, Value buffer, ValueRange at) {
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  Value place = arith::ConstantIndexOp::create(b, loc, offset);
  for (auto [index, stride] : llvm::zip(at, strides))
    place = arith::AddIOp::create(b, loc, place,
                                  arith::MulIOp::create(b, loc, index, arith::ConstantIndexOp::create(b, loc, stride)));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
  base = arith::IndexCastOp::create(b, loc, b.getI64Type(), base);
  place = arith::IndexCastOp::create(b, loc, b.getI64Type(), place);
  auto pointer = [&](unsigned space) { return LLVM::LLVMPointerType::get(b.getContext(), space); };
  bool shared = type.getMemorySpaceAsInt() == sharedSpace;
  Value address = LLVM::IntToPtrOp::create(b, loc, pointer(shared ? sharedSpace : 0), base);
  if (!shared)
    address = LLVM::AddrSpaceCastOp::create(b, loc, pointer(globalSpace), address);
  return LLVM::GEPOp::create(b, loc, address.getType(), type.getElementType(), address, place);
}

static bool hasKnownPlaces(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  return !ShapedType::isDynamic(offset) && llvm::none_of(strides, ShapedType::isDynamic);
}

// Of 4, 8 or 16 bytes, of which the last may pass by L1: the op's verifier sees to that.
static LogicalResult convertCopy(nvgpu::DeviceAsyncCopyOp op, PatternRewriter &rewriter) {
  MemRefType from = op.getSrc().getType(), to = op.getDst().getType();
  if (op.getSrcElements() || !hasKnownPlaces(from) || !hasKnownPlaces(to))
    return rewriter.notifyMatchFailure(op, "not a whole copy from known places");
  Location loc = op.getLoc();
  const int64_t bytes = getStorageFormat(to.getElementType())->byteSize(op.getDstElements().getSExtValue());
  callAlone(rewriter, loc,
            llvm::formatv("llvm.nvvm.cp.async.{0}.shared.global.{1}", op.getBypassL1() ? "cg" : "ca", bytes).str(),
            {addressOf(rewriter, loc, op.getDst(), op.getDstIndices()),
             addressOf(rewriter, loc, op.getSrc(), op.getSrcIndices())});
  rewriter.eraseOp(op);
  return success();
}

static void waitForSubgroup(OpBuilder &b, Location loc, Value mask) {
  callAlone(b, loc, "llvm.nvvm.bar.warp.sync", mask);
}

static LogicalResult convertWait(nvgpu::DeviceAsyncWaitOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  callAlone(rewriter, loc, "llvm.nvvm.cp.async.wait.group",
            number(rewriter, loc, op.getNumGroups() ? *op.getNumGroups() : 0));
  waitForSubgroup(rewriter, loc, number(rewriter, loc, -1));
  rewriter.eraseOp(op);
  return success();
}

static LogicalResult convertSubgroupBarrier(NVVM::SyncWarpOp op, PatternRewriter &rewriter) {
  waitForSubgroup(rewriter, op.getLoc(), op.getMask());
  rewriter.eraseOp(op);
  return success();
}

// When nobody waits for it by name any more: groups are told by their number.
static LogicalResult convertGroup(nvgpu::DeviceAsyncCreateGroupOp op, PatternRewriter &rewriter) {
  if (!op->use_empty() || !op.getInputTokens().empty())
    return rewriter.notifyMatchFailure(op, "is waited for");
  callAlone(rewriter, op.getLoc(), "llvm.nvvm.cp.async.commit.group", {});
  rewriter.eraseOp(op);
  return success();
}

static LogicalResult convertFragments(nvgpu::LdMatrixOp op, PatternRewriter &rewriter) {
  auto type = cast<VectorType>(op.getRes().getType());
  MemRefType from = op.getSrcMemref().getType();
  if (op.getNumTiles() != 4 || op.getTranspose() || getStorageFormat(from.getElementType())->byteSize(1) != 2 ||
      !hasKnownPlaces(from))
    return rewriter.notifyMatchFailure(op, "not four fragments of 16-bit values");
  Location loc = op.getLoc();
  auto registers = LLVM::LLVMStructType::getLiteral(rewriter.getContext(), SmallVector<Type>(4, rewriter.getI32Type()));
  Value found = call(rewriter, loc, "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16", registers,
                     addressOf(rewriter, loc, op.getSrcMemref(), op.getIndices()));
  Value all = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
  auto pair = VectorType::get({2}, type.getElementType());
  for (int64_t i = 0; i < 4; ++i) {
    Value both = LLVM::ExtractValueOp::create(rewriter, loc, found, ArrayRef<int64_t>{i});
    both = LLVM::BitcastOp::create(rewriter, loc, pair, both);
    all = vector::InsertOp::create(rewriter, loc, both, all, i);
  }
  rewriter.replaceOp(op, all);
  return success();
}

void addNvgpuPatterns(RewritePatternSet &patterns) {
  patterns.add(convertMatrices);
  patterns.add(convertCopy);
  patterns.add(convertWait);
  patterns.add(convertGroup);
  patterns.add(convertSubgroupBarrier);
  patterns.add(convertFragments);
}

}  // namespace talc
