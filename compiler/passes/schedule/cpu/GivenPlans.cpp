// SPDX-License-Identifier: Apache-2.0
// Plans that people or records say, as text.
#include "compiler/passes/schedule/cpu/GivenPlans.h"

#include "compiler/passes/schedule/AttentionSchedule.h"
#include "compiler/passes/schedule/cpu/ContractPlan.h"
#include "compiler/passes/schedule/cpu/GeneratorPlan.h"
#include "compiler/passes/schedule/cpu/RowPlan.h"
#include "compiler/passes/schedule/cpu/SharePlan.h"

using namespace mlir;

namespace talc {

template <typename Plan> static bool has(StringRef name) {
  return llvm::any_of(Plan::numbers(), [&](const PlanNumber<Plan> &number) { return number.name == name; });
}

static bool isKnown(StringRef name) {
  return has<ContractPlan>(name) || has<AttentionSchedule>(name) || has<GeneratorPlan>(name) || has<RowPlan>(name) ||
         has<SharePlan>(name);
}

std::string GivenPlans::parseLine(StringRef text) {
  auto [kernel, rest] = text.split(':');
  Line line;
  if (kernel.trim().consume_front("@"))
    line.digest = kernel.trim().drop_front().str();
  else if (auto pattern = llvm::GlobPattern::create(kernel.trim()))
    line.name = std::move(*pattern);
  else
    return "'" + kernel.trim().str() + "': " + llvm::toString(pattern.takeError());
  SmallVector<StringRef> numbers;
  rest.split(numbers, ',');
  for (StringRef number : numbers) {
    auto [name, value] = number.split('=');
    int64_t parsed = 0;
    if (value.trim().getAsInteger(10, parsed))
      return "'" + text.str() + "' is not KERNEL: NAME = NUMBER, ...";
    if (!isKnown(name.trim()) && !line.digest.empty())
      return "";  // recorded by a talc whose plans were others
    if (!isKnown(name.trim()))
      return "no plan has a number '" + name.trim().str() + "'";
    line.numbers.emplace_back(name.trim().str(), parsed);
  }
  lines.push_back(std::move(line));
  return "";
}

std::string GivenPlans::parse(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ';');
  for (StringRef part : parts)
    if (!part.trim().empty())
      if (std::string problem = parseLine(part.trim()); !problem.empty())
        return problem;
  return "";
}

kernel::PlanAttr GivenPlans::collect(MLIRContext *context, llvm::function_ref<bool(const Line &)> means) const {
  Builder b(context);
  NamedAttrList numbers;
  for (const Line &line : lines)
    if (means(line))
      for (const auto &[name, value] : line.numbers)
        numbers.set(name, b.getI64IntegerAttr(value));
  return numbers.empty() ? kernel::PlanAttr() : kernel::PlanAttr::get(context, numbers.getDictionary(context));
}

kernel::PlanAttr GivenPlans::recorded(kernel::TasksOp tasks) const {
  if (llvm::all_of(lines, [](const Line &line) { return line.digest.empty(); }))
    return {};
  std::string digest = digestOf(tasks);
  return collect(tasks.getContext(), [&](const Line &line) { return line.digest == digest; });
}

std::set<std::string> GivenPlans::digests() const {
  std::set<std::string> all;
  for (const Line &line : lines)
    if (!line.digest.empty())
      all.insert(line.digest);
  return all;
}

kernel::PlanAttr GivenPlans::named(kernel::TasksOp tasks) const {
  auto function = tasks->getParentOfType<func::FuncOp>();
  return collect(tasks.getContext(), [&](const Line &line) {
    return line.digest.empty() && function && line.name.match(function.getName());
  });
}

}  // namespace talc
