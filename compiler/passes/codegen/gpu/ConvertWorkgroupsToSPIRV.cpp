// SPDX-License-Identifier: Apache-2.0
// convert-workgroups-to-spirv: a kernel becomes a module of SPIR-V 1.3 with one entry point, which Vulkan takes.
//
//   func @norm(%step: i64, %address: i64) {   ->   spirv.module @norm PhysicalStorageBuffer64 GLSL450 {
//     %t = gpu.thread_id x                           spirv.func @norm() { ... }
//     scf.for ...                                    spirv.EntryPoint "GLCompute" @norm,
//     @__builtin__LocalInvocationId__
//   }                                              }
//
// The one push constant is the address of the arguments, so that a kernel may have any number of them. Arithmetic,
// loops and functions of math go through upstream's patterns. Sums and products are marked NoContraction: a driver may
// fuse or rearrange none, so that they are the same on every GPU.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/codegen/gpu/Launches.h"
#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

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

namespace {

// All that a module may use; spirv-update-vce leaves what it does use.
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

// Threads of a workgroup see what the others wrote to its own memory and to that of all.
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

// One kernel.
class Conversion {
public:
  explicit Conversion(func::FuncOp function) : function(function), context(function.getContext()) {}

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
    for (StringRef name : {talc::threadsAttr, talc::gridAttr, talc::tileAttr})
      if (Attribute value = function->getAttr(name))
        module->setAttr(name, value);
    module->setAttr(talc::argumentsAttr, b.getI64IntegerAttr(function.getNumArguments()));
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

  // Memory of the workgroup is a variable of the module.
  void shareMemory(memref::AllocaOp op) {
    auto array = spirv::ArrayType::get(op.getType().getElementType(), op.getType().getNumElements());
    spirv::GlobalVariableOp variable = declare("shared_" + Twine(shared++), array, spirv::StorageClass::Workgroup);
    for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
      OpBuilder b(user);
      Location loc = user->getLoc();
      auto placeOf = [&](ValueRange at) -> Value {
        Value place = at[0];
        for (unsigned i = 1; i < at.size(); ++i) {
          Value size = arith::ConstantIndexOp::create(b, loc, op.getType().getDimSize(i));
          place = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, place, size), at[i]);
        }
        place = arith::IndexCastUIOp::create(b, loc, b.getI32Type(), place);
        Value all = spirv::AddressOfOp::create(b, loc, variable);
        return spirv::AccessChainOp::create(b, loc, all, ValueRange{place});
      };
      if (auto load = dyn_cast<memref::LoadOp>(user)) {
        Value place = placeOf(load.getIndices());
        load.replaceAllUsesWith(spirv::LoadOp::create(b, loc, place).getResult());
      } else if (auto load = dyn_cast<vector::LoadOp>(user)) {
        // The variable is an array of numbers, of which no vectors can be loaded.
        SmallVector<Value> at(load.getIndices()), numbers;
        for (int64_t i = 0; i < load.getVectorType().getNumElements(); ++i) {
          numbers.push_back(spirv::LoadOp::create(b, loc, placeOf(at)));
          at.back() = arith::AddIOp::create(b, loc, at.back(), arith::ConstantIndexOp::create(b, loc, 1));
        }
        load.replaceAllUsesWith(spirv::CompositeConstructOp::create(b, loc, load.getVectorType(), numbers).getResult());
      } else {
        auto store = cast<memref::StoreOp>(user);
        spirv::StoreOp::create(b, loc, placeOf(store.getIndices()), store.getValueToStore());
      }
      user->erase();
    }
    op->erase();
  }

  // Upstream's loops yield what their last round stored: nothing if there was none.
  void guardLoops() {
    kernel.walk([](scf::ForOp loop) {
      std::optional<int64_t> from = getConstantIntValue(loop.getLowerBound()),
                             to = getConstantIntValue(loop.getUpperBound());
      if (loop.getNumResults() == 0 || (from && to && *from < *to))
        return;
      OpBuilder b(loop->getContext());
      b.setInsertionPointAfter(loop);
      Value some = arith::CmpIOp::create(b, loop.getLoc(), arith::CmpIPredicate::slt, loop.getLowerBound(),
                                         loop.getUpperBound());
      for (auto [result, init] : llvm::zip(loop.getResults(), loop.getInitArgs())) {
        auto found = arith::SelectOp::create(b, loop.getLoc(), some, result, init);
        result.replaceAllUsesExcept(found, found);
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
    auto threads = static_cast<int32_t>(module->getAttrOfType<IntegerAttr>(talc::threadsAttr).getInt());
    spirv::EntryPointOp::create(b, kernel.getLoc(), spirv::ExecutionModel::GLCompute, kernel, inputs);
    spirv::ExecutionModeOp::create(b, kernel.getLoc(), kernel, spirv::ExecutionMode::LocalSize, {threads, 1, 1});
  }

  func::FuncOp function;
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
      if (!kernel->hasAttr(talc::threadsAttr)) {
        kernel.emitOpError("has no workgroups");
        return signalPassFailure();
      }
      if (failed(Conversion(kernel).run()))
        return signalPassFailure();
    }
    talc::PassRemarks("codegen", "convert-workgroups-to-spirv").did(getOperation(), [&] {
      return llvm::formatv("{0} kernels are modules of SPIR-V", kernels.size());
    });
  }
};

}  // namespace
