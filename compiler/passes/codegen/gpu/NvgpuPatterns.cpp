// SPDX-License-Identifier: Apache-2.0
// Lowers nvgpu to typed NVVM ops, which translate to one intrinsic each:
//
//   nvgpu.device_async_copy           nvvm.cp.async.shared.global   .cg: 16 bytes that bypass L1; .ca: 4, 8 or 16 bytes
//   nvgpu.device_async_create_group   nvvm.cp.async.commit.group
//   nvgpu.device_async_wait           nvvm.cp.async.wait.group, nvvm.bar.warp.sync
//   nvgpu.ldmatrix                    nvvm.ldmatrix
//   nvgpu.mma.sync                    nvvm.mma.sync
//
// Upstream's lowering of nvgpu does not take bf16, and converts all memrefs to LLVM structs at once. A wait is followed
// by a warp barrier, since lanes read what other lanes have copied.
#include "compiler/passes/codegen/gpu/NvgpuPatterns.h"

#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace talc {

constexpr unsigned globalSpace = 1, sharedSpace = 3;  // of addresses

static Value constantI32(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

//===--- matrices -----------------------------------------------------------------------------------------------===//

// The pairs of 16-bit values that a thread holds of an operand. NVVM passes bf16 pairs as i32.
static SmallVector<Value> getRegisters(OpBuilder &b, Location loc, Value fragment) {
  auto type = cast<VectorType>(fragment.getType());
  SmallVector<Value> registers;
  for (int64_t i = 0; i < type.getDimSize(0); ++i) {
    Value pair = vector::ExtractOp::create(b, loc, fragment, i);
    if (!isa<Float16Type>(type.getElementType()))
      pair = LLVM::BitcastOp::create(b, loc, b.getI32Type(), pair);
    registers.push_back(pair);
  }
  return registers;
}

static LogicalResult convertMma(nvgpu::MmaSyncOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  Type element = cast<VectorType>(op.getMatrixA().getType()).getElementType();
  if (!isa<Float16Type, BFloat16Type>(element) || op.getMmaShapeAsArray() != std::array<int64_t, 3>{16, 8, 16})
    return rewriter.notifyMatchFailure(op, "not an m16n8k16 of 16-bit values");
  SmallVector<Value> a = getRegisters(rewriter, loc, op.getMatrixA()), b = getRegisters(rewriter, loc, op.getMatrixB()),
                     c;
  auto eachSum = [](llvm::function_ref<void(int64_t, ArrayRef<int64_t>)> body) {
    for (int64_t i = 0; i < 4; ++i)
      body(i, {i / 2, i % 2});
  };
  eachSum([&](int64_t, ArrayRef<int64_t> at) {
    c.push_back(vector::ExtractOp::create(rewriter, loc, op.getMatrixC(), at));
  });
  const NVVM::MMATypes type = isa<Float16Type>(element) ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
  auto sums = LLVM::LLVMStructType::getLiteral(rewriter.getContext(), SmallVector<Type>(4, rewriter.getF32Type()));
  Value product = NVVM::MmaOp::create(rewriter, loc, sums, a, b, c, {16, 8, 16}, std::nullopt, std::nullopt,
                                      std::array<NVVM::MMATypes, 2>{type, type},
                                      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
  Value result = op.getMatrixC();
  eachSum([&](int64_t i, ArrayRef<int64_t> at) {
    Value sum = LLVM::ExtractValueOp::create(rewriter, loc, product, ArrayRef<int64_t>{i});
    result = vector::InsertOp::create(rewriter, loc, sum, result, at);
  });
  rewriter.replaceOp(op, result);
  return success();
}

//===--- memory -------------------------------------------------------------------------------------------------===//

// The address of an element, in shared memory for buffers of the workgroup, else in global memory.
static Value elementAddress(OpBuilder &b, Location loc, Value buffer, ValueRange at) {
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  Value index = arith::ConstantIndexOp::create(b, loc, offset);
  for (auto [subscript, stride] : llvm::zip(at, strides)) {
    Value step = arith::ConstantIndexOp::create(b, loc, stride);
    index = arith::AddIOp::create(b, loc, index, arith::MulIOp::create(b, loc, subscript, step));
  }
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, loc, buffer);
  base = arith::IndexCastOp::create(b, loc, b.getI64Type(), base);
  index = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  auto pointer = [&](unsigned space) { return LLVM::LLVMPointerType::get(b.getContext(), space); };
  bool isShared = type.getMemorySpaceAsInt() == sharedSpace;
  Value address = LLVM::IntToPtrOp::create(b, loc, pointer(isShared ? sharedSpace : 0), base);
  if (!isShared)
    address = LLVM::AddrSpaceCastOp::create(b, loc, pointer(globalSpace), address);
  return LLVM::GEPOp::create(b, loc, address.getType(), type.getElementType(), address, index);
}

static bool hasStaticLayout(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  return !ShapedType::isDynamic(offset) && llvm::none_of(strides, ShapedType::isDynamic);
}

// The op's verifier makes sure that a copy has 4, 8 or 16 bytes, and that only the last bypasses L1.
static LogicalResult convertCopy(nvgpu::DeviceAsyncCopyOp op, PatternRewriter &rewriter) {
  MemRefType from = op.getSrc().getType(), to = op.getDst().getType();
  if (op.getSrcElements() || !hasStaticLayout(from) || !hasStaticLayout(to))
    return rewriter.notifyMatchFailure(op, "not a complete copy between buffers of a static layout");
  Location loc = op.getLoc();
  const int64_t bytes = getStorageFormat(to.getElementType())->byteSize(op.getDstElements().getSExtValue());
  Value target = elementAddress(rewriter, loc, op.getDst(), op.getDstIndices());
  Value source = elementAddress(rewriter, loc, op.getSrc(), op.getSrcIndices());
  auto cache = op.getBypassL1() ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(rewriter, loc, target, source, static_cast<uint32_t>(bytes), cache, Value());
  rewriter.eraseOp(op);
  return success();
}

static LogicalResult convertWait(nvgpu::DeviceAsyncWaitOp op, PatternRewriter &rewriter) {
  Location loc = op.getLoc();
  NVVM::CpAsyncWaitGroupOp::create(rewriter, loc, rewriter.getI32IntegerAttr(op.getNumGroups().value_or(0)));
  NVVM::SyncWarpOp::create(rewriter, loc, constantI32(rewriter, loc, -1));
  rewriter.eraseOp(op);
  return success();
}

// Runs after the waits have been converted: hardware counts groups and does not name them.
static LogicalResult convertGroup(nvgpu::DeviceAsyncCreateGroupOp op, PatternRewriter &rewriter) {
  if (!op->use_empty() || !op.getInputTokens().empty())
    return rewriter.notifyMatchFailure(op, "is waited for");
  NVVM::CpAsyncCommitGroupOp::create(rewriter, op.getLoc());
  rewriter.eraseOp(op);
  return success();
}

static LogicalResult convertFragments(nvgpu::LdMatrixOp op, PatternRewriter &rewriter) {
  auto type = cast<VectorType>(op.getRes().getType());
  MemRefType from = op.getSrcMemref().getType();
  if (op.getNumTiles() != 4 || op.getTranspose() || getStorageFormat(from.getElementType())->byteSize(1) != 2 ||
      !hasStaticLayout(from))
    return rewriter.notifyMatchFailure(op, "not four fragments of 16-bit values");
  Location loc = op.getLoc();
  MLIRContext *context = rewriter.getContext();
  auto registers = LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(4, rewriter.getI32Type()));
  Value loaded = NVVM::LdMatrixOp::create(
      rewriter, loc, registers, elementAddress(rewriter, loc, op.getSrcMemref(), op.getIndices()), /*num=*/4,
      NVVM::MMALayout::row, NVVM::LdStMatrixShapeAttr::get(context, 8, 8), NVVM::LdStMatrixEltType::B16);
  Value fragments = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type));
  auto pairType = VectorType::get({2}, type.getElementType());
  for (int64_t i = 0; i < 4; ++i) {
    Value pair = LLVM::ExtractValueOp::create(rewriter, loc, loaded, ArrayRef<int64_t>{i});
    pair = LLVM::BitcastOp::create(rewriter, loc, pairType, pair);
    fragments = vector::InsertOp::create(rewriter, loc, pair, fragments, i);
  }
  rewriter.replaceOp(op, fragments);
  return success();
}

void addNvgpuPatterns(RewritePatternSet &patterns) {
  patterns.add(convertMma);
  patterns.add(convertCopy);
  patterns.add(convertWait);
  patterns.add(convertGroup);
  patterns.add(convertFragments);
}

}  // namespace talc
