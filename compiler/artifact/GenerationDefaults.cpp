// SPDX-License-Identifier: Apache-2.0
// Reads talc.generation by the table of settings.
#include "compiler/artifact/Sections.h"

#include "compiler/Error.h"
#include "dialects/talc/ModelName.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace mlir;

namespace talc {

using artifact::Setting, artifact::SettingKind;

namespace {

// Remembers the first entry that is wrong, and what it should be.
class GenerationReader {
public:
  GenerationReader(DictionaryAttr entries, uint32_t vocabulary)
      : entries(entries), vocabulary(vocabulary), lastToken(int64_t(vocabulary) - 1) {}

  void read(const Setting &setting, float &target) {
    if (Attribute attr = find(setting.name))
      target = static_cast<float>(number(setting, attr));
  }

  void read(const Setting &setting, int32_t &target) {
    Attribute attr = find(setting.name);
    if (!attr)
      return;
    const artifact::SettingRange &range = setting.range;
    if (range.kind == SettingKind::Flag) {
      target = isa<BoolAttr>(attr) && cast<BoolAttr>(attr).getValue();
      require(setting.name, isa<BoolAttr>(attr), "true or false");
    } else if (range.kind == SettingKind::Choice) {
      target = choice(setting, attr);
    } else {
      int64_t maxValue = range.kind == SettingKind::Token ? lastToken : static_cast<int64_t>(range.maximum);
      target = integer(setting.name, attr, static_cast<int64_t>(range.minimum), maxValue);
    }
  }

  template <int32_t most> void read(const artifact::TokenListSetting &setting, artifact::TokenList<most> &target) {
    bool grouped = setting.shape == artifact::ListShape::groups;
    int64_t last = grouped ? std::max<int64_t>(lastToken, most) : lastToken;  // lengths are numbers, too
    target.count = integers(setting.name, last, target.ids);
    require(setting.name, wrong || !grouped || artifact::areTokenGroups(target.ids, target.count, vocabulary),
            fmt::format("groups of two token ids or more below {}, each after its length", vocabulary));
  }

  void readStops() {
    Attribute attr = find(artifact::stopsEntry);
    auto list = dyn_cast_or_null<ArrayAttr>(attr);
    auto isStop = [](Attribute entry) {
      auto text = dyn_cast<StringAttr>(entry);
      return text && !text.getValue().empty() && text.getValue().size() <= artifact::maxStopBytes &&
             !text.getValue().contains(char(0)) && llvm::json::isUTF8(text.getValue());
    };
    require(artifact::stopsEntry,
            !attr || (list && list.size() <= artifact::maxStopTexts && llvm::all_of(list, isStop)),
            fmt::format("at most {} texts in UTF-8 of 1 to {} bytes without NUL", artifact::maxStopTexts,
                        artifact::maxStopBytes));
  }

  llvm::Error finish(const std::string &model) {
    for (NamedAttribute entry : entries)
      require(entry.getName(), llvm::is_contained(known, entry.getName().getValue()),
              "one of " + llvm::join(known, ", "));
    if (!wrong)
      return llvm::Error::success();
    std::string value;
    llvm::raw_string_ostream(value) << entries.get(*wrong);
    if (value.size() > 80)
      value = value.substr(0, 77) + "...";
    return makeError(ErrorCode::ModelInfo, "{}: the generation default '{}' is {}, expected {}", model, wrong->str(),
                     value, expectation);
  }

private:
  Attribute find(llvm::StringRef name) {
    known.push_back(name);
    return entries.get(name);
  }

  double number(const Setting &setting, Attribute attr) {
    double value = std::nan("");
    if (auto real = dyn_cast<FloatAttr>(attr))
      value = real.getValueAsDouble();
    else if (auto integer = dyn_cast<IntegerAttr>(attr))
      value = static_cast<double>(integer.getValue().getSExtValue());
    double minValue = setting.range.excludesMinimum ? artifact::smallestAbove : setting.range.minimum;
    require(setting.name, std::isfinite(value) && value >= minValue && value <= setting.range.maximum,
            fmt::format("a number from {} to {}", minValue, setting.range.maximum));
    return value;
  }

  int32_t integer(llvm::StringRef name, Attribute attr, int64_t low, int64_t high) {
    auto value = dyn_cast<IntegerAttr>(attr);
    bool fits = value && value.getValue().getSignificantBits() <= 64 && value.getValue().getSExtValue() >= low &&
                value.getValue().getSExtValue() <= high;
    require(name, fits, fmt::format("an integer from {} to {}", low, high));
    return fits ? static_cast<int32_t>(value.getValue().getSExtValue()) : 0;
  }

  int32_t choice(const Setting &setting, Attribute attr) {
    auto text = dyn_cast<StringAttr>(attr);
    const auto &choices = setting.range.choices;
    auto it = text ? llvm::find(choices, text.getValue()) : choices.end();
    require(setting.name, it != choices.end(), llvm::join(choices, ", "));
    return it == choices.end() ? 0 : static_cast<int32_t>(it - choices.begin());
  }

  // The number of integers, each at most `last`, that were stored.
  int32_t integers(llvm::StringRef name, int64_t last, llvm::MutableArrayRef<int32_t> targets) {
    Attribute attr = find(name);
    if (!attr)
      return 0;
    auto list = dyn_cast<ArrayAttr>(attr);
    auto dense = dyn_cast<DenseI64ArrayAttr>(attr);
    size_t count = list ? list.size() : dense ? dense.size() : 0;
    std::string expected = fmt::format("at most {} integers from 0 to {}", targets.size(), last);
    require(name, (list || dense) && count <= targets.size(), expected);
    if (wrong)
      return 0;
    for (size_t i = 0; i < count; ++i) {
      targets[i] = list ? integer(name, list[i], 0, last) : static_cast<int32_t>(dense[i]);
      require(name, !dense || (dense[i] >= 0 && dense[i] <= last), expected);
    }
    return static_cast<int32_t>(count);
  }

  void require(llvm::StringRef name, bool holds, const std::string &expected) {
    if (holds || wrong)
      return;
    wrong = name;
    expectation = expected;
  }

  DictionaryAttr entries;
  uint32_t vocabulary;
  int64_t lastToken;
  llvm::SmallVector<llvm::StringRef> known;
  std::optional<llvm::StringRef> wrong;
  std::string expectation;
};

}  // namespace

llvm::Expected<artifact::StoredSettings> readGeneration(ModuleOp module, uint32_t vocabularySize) {
  auto settings = artifact::neutralSettings<artifact::StoredForm>();
  auto entries = module->getAttrOfType<DictionaryAttr>(generationAttr);
  if (!entries)
    return settings;
  GenerationReader reader(entries, vocabularySize);
  auto read = [&](const auto &setting, auto &value) { reader.read(setting, value); };
  artifact::forEachSetting(settings, read);
  artifact::forEachTokenList(settings, read);
  reader.readStops();
  if (llvm::Error error = reader.finish(modelName(module)))
    return std::move(error);
  return settings;
}

std::string makeStopTexts(ModuleOp module) {
  auto entries = module->getAttrOfType<DictionaryAttr>(generationAttr);
  auto stops = entries ? entries.getAs<ArrayAttr>(artifact::stopsEntry) : ArrayAttr();
  std::string section;
  if (stops)
    for (auto text : stops.getAsRange<StringAttr>())
      section += text.str() + '\0';
  return section;
}

}  // namespace talc
