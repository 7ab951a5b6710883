// SPDX-License-Identifier: Apache-2.0
// Tuning parameters (#kernel.plan) as fields of a struct, listed in a table by which they are read, written and
// checked.
#pragma once

#include "dialects/kernel/KernelDialect.h"

#include <string>

namespace talc {

template <typename Plan> struct TuningParameter {
  llvm::StringLiteral name;
  int64_t Plan::*field;
  int64_t min, max;
};

// Whether one of these structs has a parameter of this name.
template <typename... Plans> bool haveParameter(llvm::StringRef name) {
  return (llvm::any_of(Plans::parameters(), [&](const auto &parameter) { return parameter.name == name; }) || ...);
}

// Sets the parameters that `attribute` has, which may be null. Returns an error message if one is out of range, else
// "".
template <typename Plan>
std::string readPlan(kernel::PlanAttr attribute, llvm::ArrayRef<TuningParameter<Plan>> parameters, Plan &plan) {
  for (const TuningParameter<Plan> &parameter : parameters)
    if (auto value = attribute ? attribute.parameter(parameter.name) : std::nullopt) {
      if (*value < parameter.min || *value > parameter.max)
        return (parameter.name + " is " + std::to_string(*value) + ", expected " + std::to_string(parameter.min) +
                " to " + std::to_string(parameter.max))
            .str();
      plan.*parameter.field = *value;
    }
  return "";
}

// Adds the parameters to those of `others`, which may be null.
template <typename Plan>
kernel::PlanAttr writePlan(mlir::MLIRContext *context, llvm::ArrayRef<TuningParameter<Plan>> parameters,
                           const Plan &plan, kernel::PlanAttr others = {}) {
  mlir::Builder b(context);
  mlir::NamedAttrList all(others ? others.getParameters() : mlir::DictionaryAttr());
  for (const TuningParameter<Plan> &parameter : parameters)
    all.set(parameter.name, b.getI64IntegerAttr(plan.*parameter.field));
  return kernel::PlanAttr::get(context, all.getDictionary(context));
}

}  // namespace talc
