// SPDX-License-Identifier: Apache-2.0
// Parses plan overrides, and finds those of a kernel.
#include "compiler/passes/schedule/PlanOverrides.h"

using namespace mlir;

namespace talc {

std::string PlanOverrides::parseEntry(StringRef text) {
  auto [kernel, rest] = text.split(':');
  Entry entry;
  if (kernel.trim().consume_front("@"))
    entry.digest = kernel.trim().drop_front().str();
  else if (auto pattern = llvm::GlobPattern::create(kernel.trim()))
    entry.name = std::move(*pattern);
  else
    return "'" + kernel.trim().str() + "': " + llvm::toString(pattern.takeError());
  SmallVector<StringRef> assignments;
  rest.split(assignments, ',');
  for (StringRef assignment : assignments) {
    auto [name, value] = assignment.split('=');
    int64_t parsed = 0;
    if (value.trim().getAsInteger(10, parsed))
      return "'" + text.str() + "' is not KERNEL: NAME = NUMBER, ...";
    if (!isParameter(name.trim()) && !entry.digest.empty())
      return "";  // recorded by a talc with other parameters
    if (!isParameter(name.trim()))
      return "unknown tuning parameter '" + name.trim().str() + "'";
    entry.parameters.emplace_back(name.trim().str(), parsed);
  }
  entries.push_back(std::move(entry));
  return "";
}

std::string PlanOverrides::parse(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ';');
  for (StringRef part : parts)
    if (!part.trim().empty())
      if (std::string problem = parseEntry(part.trim()); !problem.empty())
        return problem;
  return "";
}

kernel::PlanAttr PlanOverrides::collect(MLIRContext *context, llvm::function_ref<bool(const Entry &)> matches) const {
  Builder b(context);
  NamedAttrList parameters;
  for (const Entry &entry : entries)
    if (matches(entry))
      for (const auto &[name, value] : entry.parameters)
        parameters.set(name, b.getI64IntegerAttr(value));
  return parameters.empty() ? kernel::PlanAttr() : kernel::PlanAttr::get(context, parameters.getDictionary(context));
}

kernel::PlanAttr PlanOverrides::findByDigest(kernel::TasksOp tasks) const {
  if (llvm::all_of(entries, [](const Entry &entry) { return entry.digest.empty(); }))
    return {};
  std::string digest = kernelDigest(tasks);
  return collect(tasks.getContext(), [&](const Entry &entry) { return entry.digest == digest; });
}

std::set<std::string> PlanOverrides::digests() const {
  std::set<std::string> all;
  for (const Entry &entry : entries)
    if (!entry.digest.empty())
      all.insert(entry.digest);
  return all;
}

kernel::PlanAttr PlanOverrides::findByName(kernel::TasksOp tasks) const {
  auto function = tasks->getParentOfType<func::FuncOp>();
  return collect(tasks.getContext(), [&](const Entry &entry) {
    return entry.digest.empty() && function && entry.name.match(function.getName());
  });
}

}  // namespace talc
