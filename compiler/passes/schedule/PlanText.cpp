// SPDX-License-Identifier: Apache-2.0
// Text that identifies a kernel and its plan, for remarks and tuning records.
#include "compiler/passes/schedule/PlanText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

using namespace mlir;

namespace talc {

std::string kernelDigest(kernel::TasksOp tasks) {
  kernel::PlanAttr plan = tasks.getPlanAttr();
  tasks.removePlanAttr();
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto function = tasks->getParentOfType<func::FuncOp>();
  if (function)
    stream << function.getFunctionType() << "\n";
  tasks->print(stream, OpPrintingFlags().useLocalScope().assumeVerified());
  if (plan)
    tasks.setPlanAttr(plan);
  llvm::BLAKE3 hash;
  hash.update(text);
  return llvm::toHex(hash.final<16>(), /*LowerCase=*/true);
}

std::string planText(kernel::PlanAttr plan) {
  std::string text;
  for (NamedAttribute number : plan.getParameters())
    text += (text.empty() ? "" : ", ") + number.getName().str() + " = " +
            std::to_string(cast<IntegerAttr>(number.getValue()).getInt());
  return text;
}

}  // namespace talc
