// SPDX-License-Identifier: Apache-2.0
// Writes the settings of generation to the module's attribute, as their table says.
#include "frontends/GenerationDefaults.h"

#include "mlir/IR/Builders.h"

#include <algorithm>

using namespace mlir;

namespace talc {

using artifact::Setting, artifact::SettingKind, artifact::TokenListSetting;

void fitToModel(GenerationDefaults &values, int64_t vocabulary, std::set<std::string> &ignored) {
  auto foreign = [&](int64_t token) { return token >= vocabulary; };
  artifact::forEachSetting(values, [&](const Setting &setting, auto &value) {
    if (setting.range.kind == SettingKind::Token && foreign(static_cast<int64_t>(value)))
      value = -1;
  });
  artifact::forEachTokenList(values, [&](const TokenListSetting &setting, std::vector<int64_t> &list) {
    if (setting.shape == artifact::ListShape::groups)  // whole groups are left out where they are read
      return;
    list.erase(std::remove_if(list.begin(), list.end(), foreign), list.end());
    if (&setting == &artifact::settings::end || list.size() <= static_cast<size_t>(setting.maxCount))
      return;
    ignored.insert(setting.key);
    list.resize(static_cast<size_t>(setting.maxCount));
  });
}

static Attribute toAttribute(Builder &b, const Setting &setting, double value) {
  switch (setting.range.kind) {
  case SettingKind::Number:
    return b.getF64FloatAttr(value);
  case SettingKind::Flag:
    return b.getBoolAttr(value != 0);
  case SettingKind::Choice:
    return b.getStringAttr(setting.range.choices[static_cast<size_t>(value)]);
  case SettingKind::Count:
  case SettingKind::Token:
    break;
  }
  return b.getI64IntegerAttr(static_cast<int64_t>(value));
}

DictionaryAttr generationDictionary(const GenerationDefaults &values, MLIRContext &context) {
  Builder b(&context);
  SmallVector<NamedAttribute> entries;
  artifact::forEachSetting(values, [&](const Setting &setting, const auto &value) {
    entries.push_back(b.getNamedAttr(setting.name, toAttribute(b, setting, static_cast<double>(value))));
  });
  artifact::forEachTokenList(values, [&](const TokenListSetting &setting, const std::vector<int64_t> &list) {
    entries.push_back(b.getNamedAttr(setting.name, b.getDenseI64ArrayAttr(list)));
  });
  SmallVector<StringRef> stops(values.stops.begin(), values.stops.end());
  if (!stops.empty())
    entries.push_back(b.getNamedAttr(artifact::stopsEntry, b.getStrArrayAttr(stops)));
  return b.getDictionaryAttr(entries);
}

}  // namespace talc
