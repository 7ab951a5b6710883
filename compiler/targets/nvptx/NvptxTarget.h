// SPDX-License-Identifier: Apache-2.0
// NVIDIA GPUs: kernels as PTX text, which the user's driver compiles, and a step as a table of launches.
#pragma once

#include "compiler/targets/Target.h"

namespace talc::nvptx {

inline constexpr llvm::StringLiteral texts[] = {"llvm", "ptx"};

class NvptxTarget final : public targets::Target {
public:
  // `chip`: LLVM's name of the oldest GPU that the code is for, such as sm_80.
  explicit NvptxTarget(std::string chip) : chip(std::move(chip)) {}

  std::string name() const override { return "nvptx:" + chip; }
  targets::MachineRequirements requirements() const override { return {"nvptx", {chip}}; }
  bool usesDriver() const override { return true; }
  mlir::DictionaryAttr manifestEntries(mlir::MLIRContext &context) const override;
  std::string identity() const override { return "nvptx " + chip; }

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
  // The text of all kernels.
  llvm::Expected<std::vector<uint8_t>> linkRelocatable(llvm::ArrayRef<targets::ObjectCode> objects) const override;
  llvm::ArrayRef<llvm::StringLiteral> listingKinds() const override { return nvptx::texts; }
  llvm::Expected<std::string> listing(llvm::StringRef word, mlir::ModuleOp module,
                                      targets::BeginPart begin) const override;
  llvm::Expected<std::vector<targets::CodeListing>> functionListings(mlir::ModuleOp module,
                                                                     targets::BeginPart begin) const override;

private:
  std::string chip;
};

// nvptx, or nvptx:sm_90.
llvm::Expected<targets::TargetPtr> parseNvptx(llvm::StringRef name);
std::vector<std::string> nvptxNames();

}  // namespace talc::nvptx
