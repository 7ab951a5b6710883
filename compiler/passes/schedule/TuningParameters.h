// SPDX-License-Identifier: Apache-2.0
// The numbers of a plan (#kernel.plan) as fields of a struct, listed in a table of which reading, writing and checking
// follow.
#pragma once

#include "dialects/kernel/KernelDialect.h"

#include <string>

namespace talc {

template <typename Plan> struct TuningParameter {
  llvm::StringLiteral name;
  int64_t Plan::*field;
  int64_t least, most;
};

// Takes over the numbers that `attribute` has, which may be null. Returns what is wrong with one, or nothing.
template <typename Plan>
std::string readPlan(kernel::PlanAttr attribute, llvm::ArrayRef<TuningParameter<Plan>> numbers, Plan &plan) {
  for (const TuningParameter<Plan> &number : numbers)
    if (auto given = attribute ? attribute.parameter(number.name) : std::nullopt) {
      if (*given < number.least || *given > number.most)
        return (number.name + " is " + std::to_string(*given) + ", expected " + std::to_string(number.least) + " to " +
                std::to_string(number.most))
            .str();
      plan.*number.field = *given;
    }
  return "";
}

// With those that `others` has, which may be null.
template <typename Plan>
kernel::PlanAttr writePlan(mlir::MLIRContext *context, llvm::ArrayRef<TuningParameter<Plan>> numbers, const Plan &plan,
                           kernel::PlanAttr others = {}) {
  mlir::Builder b(context);
  mlir::NamedAttrList all(others ? others.getParameters() : mlir::DictionaryAttr());
  for (const TuningParameter<Plan> &number : numbers)
    all.set(number.name, b.getI64IntegerAttr(plan.*number.field));
  return kernel::PlanAttr::get(context, all.getDictionary(context));
}

}  // namespace talc
