// SPDX-License-Identifier: Apache-2.0
// convert-workgroups-to-spirv: converts a kernel to a SPIR-V 1.3 module with one entry point, as Vulkan takes it.
//
//   func @norm(%step: i64, %address: i64) {   ->   spirv.module @norm PhysicalStorageBuffer64 GLSL450 {
//     %t = gpu.thread_id x                           spirv.func @norm() { ... }
//     scf.for ...                                    spirv.EntryPoint "GLCompute" @norm,
//                                                      @__builtin__LocalInvocationId__
//   }                                              }
//
// The only push constant is the address of the arguments, so that a kernel may have any number of them. Arithmetic,
// loops and math functions go through upstream's patterns. Sums and products are marked NoContraction: drivers must not
// fuse or reorder them, so that results are the same on every GPU.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/Conversion/ArithToSPIRV/ArithToSPIRV.h"
#include "mlir/Conversion/FuncToSPIRV/FuncToSPIRV.h"
#include "mlir/Conversion/GPUToSPIRV/GPUToSPIRV.h"
#include "mlir/Conversion/MathToSPIRV/MathToSPIRV.h"
#include "mlir/Conversion/SCFToSPIRV/SCFToSPIRV.h"
#include "mlir/Conversion/VectorToSPIRV/VectorToSPIRV.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_CONVERTWORKGROUPSTOSPIRV
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using talc::kernel::LaunchAttr;

namespace {

// All that a module may use; spirv-update-vce reduces it to what it does use.
spirv::TargetEnvAttr environment(MLIRContext *context) {
  using C = spirv::Capability;
  using E = spirv::Extension;
  auto used =
      spirv::VerCapExtAttr::get(spirv::Version::V_1_3,
                                {C::Shader, C::Int64, C::Int16, C::Int8, C::Float16, C::PhysicalStorageBufferAddresses,
                                 C::StorageBuffer16BitAccess, C::StorageBuffer8BitAccess},
                                {E::SPV_KHR_physical_storage_buffer, E::SPV_KHR_16bit_storage, E::SPV_KHR_8bit_storage,
                                 E::SPV_KHR_storage_buffer_storage_class},
                                context);
  return spirv::TargetEnvAttr::get(used, spirv::getDefaultResourceLimits(context), spirv::ClientAPI::Vulkan,
                                   spirv::Vendor::Unknown, spirv::DeviceType::Unknown,
                                   spirv::TargetEnvAttr::kUnknownDeviceID);
}

// Threads of a workgroup see what the others wrote to shared memory and to buffers.
struct ConvertBarrier : OpConversionPattern<gpu::BarrierOp> {
  ConvertBarrier(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(gpu::BarrierOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    using S = spirv::MemorySemantics;
    rewriter.replaceOpWithNewOp<spirv::ControlBarrierOp>(op, spirv::Scope::Workgroup, spirv::Scope::Workgroup,
                                                         S::AcquireRelease | S::UniformMemory | S::WorkgroupMemory);
    return success();
  }
};

// Converts one kernel.
class Conversion {
public:
  Conversion(func::FuncOp function, LaunchAttr launch)
      : function(function), launch(launch), context(function.getContext()) {}

  LogicalResult run() {
    makeModule();
    loadArguments();
    for (auto op : llvm::make_early_inc_range(body().getOps<memref::AllocaOp>()))
      shareMemory(op);
    guardLoops();
    if (failed(convertBody()))
      return failure();
    markArithmetic();
    addEntryPoint();
    return success();
  }

private:
  Block &body() { return kernel.front(); }

  void makeModule() {
    OpBuilder b(function);
    module = spirv::ModuleOp::create(b, function.getLoc(), spirv::AddressingModel::PhysicalStorageBuffer64,
                                     spirv::MemoryModel::GLSL450, /*vceTriple=*/std::nullopt, function.getName());
    module->setAttr(LaunchAttr::attrName, launch.withArgumentCount(function.getNumArguments()));
    module->setAttr(spirv::getTargetEnvAttrName(), environment(context));
    b.setInsertionPointToStart(module.getBody());
    kernel = spirv::FuncOp::create(b, function.getLoc(), function.getName(), b.getFunctionType({}, {}));
    kernel.getBody().takeBody(function.getBody());
    function.erase();
  }

  void loadArguments() {
    OpBuilder b = OpBuilder::atBlockBegin(&body());
    Location loc = kernel.getLoc();
    Type i64 = b.getI64Type();
    auto constant = [&](Type type, int64_t value) -> Value {
      return spirv::ConstantOp::create(b, loc, type, b.getIntegerAttr(type, value));
    };
    auto structure = spirv::StructType::get({i64}, {0});
    spirv::GlobalVariableOp variable = declare("arguments", structure, spirv::StorageClass::PushConstant);
    Value place = spirv::AddressOfOp::create(b, loc, variable), first = constant(b.getI32Type(), 0);
    place = spirv::AccessChainOp::create(b, loc, place, ValueRange{first});
    Value begin = spirv::LoadOp::create(b, loc, place);
    for (BlockArgument argument : body().getArguments()) {
      if (argument.use_empty())
        continue;
      Value address = spirv::IAddOp::create(b, loc, begin, constant(i64, 8 * argument.getArgNumber()));
      auto type = spirv::PointerType::get(i64, spirv::StorageClass::PhysicalStorageBuffer);
      Value pointer = spirv::ConvertUToPtrOp::create(b, loc, type, address);
      auto aligned = spirv::MemoryAccessAttr::get(context, spirv::MemoryAccess::Aligned);
      argument.replaceAllUsesWith(spirv::LoadOp::create(b, loc, pointer, aligned, b.getI32IntegerAttr(8)));
    }
    body().eraseArguments(0, body().getNumArguments());
  }

  spirv::GlobalVariableOp declare(const Twine &name, Type type, spirv::StorageClass storage) {
    OpBuilder b(kernel);
    auto pointer = TypeAttr::get(spirv::PointerType::get(type, storage));
    return spirv::GlobalVariableOp::create(b, kernel.getLoc(), pointer, b.getStringAttr(name));
  }

  // A buffer in shared memory becomes a variable of the module.
  void shareMemory(memref::AllocaOp op) {
    auto array = spirv::ArrayType::get(op.getType().getElementType(), op.getType().getNumElements());
    spirv::GlobalVariableOp variable = declare("shared_" + Twine(shared++), array, spirv::StorageClass::Workgroup);
    for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
      OpBuilder b(user);
      Location loc = user->getLoc();
      auto elementPointer = [&](ValueRange at) -> Value {
        Value index = at[0];
        for (unsigned i = 1; i < at.size(); ++i) {
          Value size = arith::ConstantIndexOp::create(b, loc, op.getType().getDimSize(i));
          index = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, index, size), at[i]);
        }
        index = arith::IndexCastUIOp::create(b, loc, b.getI32Type(), index);
        Value array = spirv::AddressOfOp::create(b, loc, variable);
        return spirv::AccessChainOp::create(b, loc, array, ValueRange{index});
      };
      if (auto load = dyn_cast<memref::LoadOp>(user)) {
        Value pointer = elementPointer(load.getIndices());
        load.replaceAllUsesWith(spirv::LoadOp::create(b, loc, pointer).getResult());
      } else if (auto load = dyn_cast<vector::LoadOp>(user)) {
        // Vectors cannot be loaded from a variable that is an array of scalars.
        SmallVector<Value> at(load.getIndices()), values;
        for (int64_t i = 0; i < load.getVectorType().getNumElements(); ++i) {
          values.push_back(spirv::LoadOp::create(b, loc, elementPointer(at)));
          at.back() = arith::AddIOp::create(b, loc, at.back(), arith::ConstantIndexOp::create(b, loc, 1));
        }
        load.replaceAllUsesWith(spirv::CompositeConstructOp::create(b, loc, load.getVectorType(), values).getResult());
      } else {
        auto store = cast<memref::StoreOp>(user);
        spirv::StoreOp::create(b, loc, elementPointer(store.getIndices()), store.getValueToStore());
      }
      user->erase();
    }
    op->erase();
  }

  // Upstream's loops return what the last iteration stored, which is undefined if there was none.
  void guardLoops() {
    kernel.walk([](scf::ForOp loop) {
      std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound()),
                             to = getConstantIntValue(loop.getUpperBound());
      if (loop.getNumResults() == 0 || (from && to && *from < *to))
        return;
      OpBuilder b(loop->getContext());
      b.setInsertionPointAfter(loop);
      Value hasIterations = arith::CmpIOp::create(b, loop.getLoc(), arith::CmpIPredicate::slt, loop.getLowerBound(),
                                                  loop.getUpperBound());
      for (auto [result, init] : llvm::zip(loop.getResults(), loop.getInitArgs())) {
        auto select = arith::SelectOp::create(b, loop.getLoc(), hasIterations, result, init);
        result.replaceAllUsesExcept(select, select);
      }
    });
  }

  LogicalResult convertBody() {
    SPIRVTypeConverter converter(environment(context));
    ScfToSPIRVContext loops;
    RewritePatternSet patterns(context);
    patterns.add<ConvertBarrier>(converter, context);
    arith::populateArithToSPIRVPatterns(converter, patterns);
    populateMathToSPIRVPatterns(converter, patterns);
    populateVectorToSPIRVPatterns(converter, patterns);
    populateSCFToSPIRVPatterns(converter, loops, patterns);
    populateFuncToSPIRVPatterns(converter, patterns);
    populateGPUToSPIRVPatterns(converter, patterns);
    std::unique_ptr<ConversionTarget> target = SPIRVConversionTarget::get(environment(context));
    return applyFullConversion(kernel, *target, std::move(patterns));
  }

  void markArithmetic() {
    Builder b(context);
    kernel.walk([&](Operation *op) {
      if (isa<spirv::FAddOp, spirv::FSubOp, spirv::FMulOp, spirv::FDivOp>(op))
        op->setAttr("no_contraction", b.getUnitAttr());
    });
  }

  // SPIR-V 1.3 lists variables of storage class Input and Output alone.
  void addEntryPoint() {
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    SmallVector<Attribute> inputs;
    for (auto variable : module.getOps<spirv::GlobalVariableOp>())
      if (variable.storageClass() == spirv::StorageClass::Input)
        inputs.push_back(SymbolRefAttr::get(variable));
    auto threads = static_cast<int32_t>(launch.getThreads());
    spirv::EntryPointOp::create(b, kernel.getLoc(), spirv::ExecutionModel::GLCompute, kernel, inputs);
    spirv::ExecutionModeOp::create(b, kernel.getLoc(), kernel, spirv::ExecutionMode::LocalSize, {threads, 1, 1});
  }

  func::FuncOp function;
  LaunchAttr launch;
  MLIRContext *context;
  spirv::ModuleOp module;
  spirv::FuncOp kernel;
  int64_t shared = 0;
};

struct ConvertWorkgroupsToSPIRV : talc::impl::ConvertWorkgroupsToSPIRVBase<ConvertWorkgroupsToSPIRV> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> kernels;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        kernels.push_back(function);
    for (func::FuncOp kernel : kernels) {
      LaunchAttr launch = LaunchAttr::lookup(kernel);
      if (!launch) {
        kernel.emitOpError("has no workgroups");
        return signalPassFailure();
      }
      if (failed(Conversion(kernel, launch).run()))
        return signalPassFailure();
    }
    talc::PassRemarks("codegen", "convert-workgroups-to-spirv").did(getOperation(), [&] {
      return llvm::formatv("{0} kernels are SPIR-V modules", kernels.size());
    });
  }
};

}  // namespace
