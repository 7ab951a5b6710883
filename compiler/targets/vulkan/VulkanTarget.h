// SPDX-License-Identifier: Apache-2.0
// Any GPU with Vulkan: kernels as modules of SPIR-V 1.3, and a step as a table of launches.
#pragma once

#include "compiler/targets/Target.h"

namespace talc::vulkan {

inline constexpr llvm::StringLiteral texts[] = {"spirv"};

class VulkanTarget final : public targets::Target {
public:
  std::string name() const override { return "vulkan"; }
  // Which features of a device the code needs is the same for all models (runtime/device/vulkan/Gpu.cpp).
  targets::MachineRequirements requirements() const override { return {"vulkan", {}}; }
  bool usesDriver() const override { return true; }
  mlir::DictionaryAttr manifestEntries(mlir::MLIRContext &context) const override;
  std::string identity() const override { return "vulkan"; }

  std::string weightLayout() const override { return "panels"; }
  void addWeightPacking(mlir::OpPassManager &passes) const override;
  void addKvLayout(mlir::OpPassManager &passes) const override;
  void addOpSplitting(mlir::OpPassManager &passes) const override;
  void addPlans(mlir::OpPassManager &passes, const std::string &plans, const std::string &generator) const override;
  std::string checkPlans(llvm::StringRef plans) const override;
  void addSchedule(mlir::OpPassManager &passes) const override;
  void addCodegen(mlir::OpPassManager &passes) const override;

  llvm::Expected<std::vector<targets::ObjectCode>> compile(mlir::ModuleOp module,
                                                           targets::BeginPart begin) const override;
  llvm::Expected<targets::LinkedCode> link(llvm::ArrayRef<targets::ObjectCode> objects) const override;
  // All kernels as MLIR writes SPIR-V.
  llvm::Expected<std::vector<uint8_t>> linkRelocatable(llvm::ArrayRef<targets::ObjectCode> objects) const override;
  llvm::ArrayRef<llvm::StringLiteral> listingKinds() const override { return vulkan::texts; }
  llvm::Expected<std::string> listing(llvm::StringRef word, mlir::ModuleOp module,
                                      targets::BeginPart begin) const override;
  llvm::Expected<std::vector<targets::CodeListing>> functionListings(mlir::ModuleOp module,
                                                                     targets::BeginPart begin) const override;
};

// vulkan
llvm::Expected<targets::TargetPtr> parseVulkan(llvm::StringRef name);
std::vector<std::string> vulkanNames();

}  // namespace talc::vulkan
