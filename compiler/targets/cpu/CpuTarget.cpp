// SPDX-License-Identifier: Apache-2.0
// Facts of a processor, and its code by LLVM and lld.
#include "compiler/targets/cpu/CpuTarget.h"

#include "compiler/targets/cpu/CompileAndLink.h"
#include "compiler/targets/cpu/ObjectEmitter.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace talc::cpu {

DictionaryAttr CpuTarget::manifestEntries(MLIRContext &context) const {
  Builder builder(&context);
  return builder.getDictionaryAttr({builder.getNamedAttr("cpu", builder.getStringAttr(cpu.name)),
                                    builder.getNamedAttr("tune", builder.getStringAttr(cpu.tune)),
                                    builder.getNamedAttr("vector_lanes", builder.getI64IntegerAttr(cpu.traits.lanes))});
}

std::string CpuTarget::identity() const {
  return fmt::format("{} {} {} {} {} {}", cpu.triple, cpu.cpu, cpu.features, cpu.tune, cpu.traits.lanes,
                     cpu.cacheBytes);
}

llvm::Expected<std::vector<targets::ObjectCode>> CpuTarget::compile(ModuleOp module, targets::BeginPart begin) const {
  return compileFunctions(module, cpu, begin);
}

llvm::Expected<targets::LinkedCode> CpuTarget::link(llvm::ArrayRef<targets::ObjectCode> objects) const {
  return linkSharedObject(objects);
}

llvm::Expected<std::vector<uint8_t>> CpuTarget::linkRelocatable(llvm::ArrayRef<targets::ObjectCode> objects) const {
  return cpu::linkRelocatable(objects);
}

llvm::Expected<std::vector<targets::CodeListing>> CpuTarget::functionListings(ModuleOp module,
                                                                              targets::BeginPart begin) const {
  return listFunctions(module, cpu, begin);
}

llvm::Expected<std::string> CpuTarget::listing(llvm::StringRef, ModuleOp module, targets::BeginPart begin) const {
  auto emitter = ObjectEmitter::create(cpu);
  if (!emitter)
    return emitter.takeError();
  begin("translate-to-llvm-ir");
  if (llvm::Error error = (*emitter)->translate(*allCode(module)))
    return std::move(error);
  begin("optimize-llvm-ir");
  (*emitter)->optimize();
  std::string text;
  llvm::raw_string_ostream(text) << (*emitter)->llvmIr();
  return text;
}

}  // namespace talc::cpu
