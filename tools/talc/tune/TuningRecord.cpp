// SPDX-License-Identifier: Apache-2.0
// Records are not trusted: lines that are not objects of the expected form are kept but ignored, and assign-plans
// checks tuning parameters.
#include "tools/talc/tune/TuningRecord.h"

#include "compiler/artifact/OutputFile.h"
#include "frontends/Diagnostics.h"
#include "frontends/Json.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace talc::tools {

using Json = nlohmann::ordered_json;

constexpr uint64_t maxRecordBytes = 16 << 20;
constexpr size_t longestName = 100;  // of a processor
constexpr int64_t maxTried = 1'000'000'000, maxThreads = 1 << 20;

static std::string getText(const Json &json, const char *key) {
  auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

// Numbers beyond the signed ones are unsigned in the tree.
static bool isNumber(const Json &json, int64_t minimum, int64_t maximum) {
  bool isSigned = json.is_number_integer() && !(json.is_number_unsigned() && json.get<uint64_t>() > INT64_MAX);
  return isSigned && json.get<int64_t>() >= minimum && json.get<int64_t>() <= maximum;
}

static int64_t getNumber(const Json &json, const char *key) {
  auto it = json.find(key);
  return it != json.end() && isNumber(*it, INT64_MIN, INT64_MAX) ? it->get<int64_t>() : 0;
}

// A name that cannot be mistaken for something else in the text of plans.
static bool isWord(llvm::StringRef text) {
  return !text.empty() && text.size() < 100 &&
         llvm::all_of(text, [](char letter) { return llvm::isAlnum(letter) || letter == '_'; });
}

static bool parsePlan(const Json &json, std::map<std::string, int64_t> &plan) {
  if (!json.is_object())
    return false;
  for (auto &[name, value] : json.items()) {
    if (!isWord(name) || !isNumber(value, INT64_MIN, INT64_MAX))
      return false;
    plan[name] = value.get<int64_t>();
  }
  return true;
}

// The figures that talc tune reads again or adds to.
static bool areFigures(const Json &json) {
  auto gain = json.find("gain"), times = json.find("microseconds");
  return (gain == json.end() || (gain->is_number() && gain->get<double>() > 0)) &&
         (times == json.end() || times->is_object());
}

static bool parseLine(llvm::StringRef text, TuningEntry &line) {
  Json json =
      jsonProblem({text.data(), text.size()}).empty() ? Json::parse(text.begin(), text.end(), nullptr, false) : Json();
  if (!json.is_object() || !areFigures(json))
    return false;
  line.kernel = getText(json, "kernel");
  line.name = getText(json, "name");
  line.target = getText(json, "target");
  line.processor = getText(json, "processor");
  line.threads = getNumber(json, "threads");
  line.tried = getNumber(json, "tried");
  auto confirmed = json.find("confirmed"), plan = json.find("plan");
  line.confirmed = confirmed != json.end() && confirmed->is_boolean() && confirmed->get<bool>();
  bool isCounted = line.tried >= 0 && line.tried <= maxTried && line.threads >= 0 && line.threads <= maxThreads;
  if (!isWord(line.kernel) || line.target.empty() || !isCounted || plan == json.end() || !parsePlan(*plan, line.plan))
    return false;
  for (const char *key : {"kernel", "name", "target", "processor", "threads", "plan", "confirmed", "tried"})
    json.erase(key);
  line.figures = std::move(json);
  return true;
}

static std::string print(const TuningEntry &line) {
  Json json = {{"kernel", line.kernel},       {"name", line.name},       {"target", line.target},
               {"processor", line.processor}, {"threads", line.threads}, {"plan", Json(line.plan)},
               {"confirmed", line.confirmed}, {"tried", line.tried}};
  if (line.plan.empty())
    json["plan"] = Json::object();
  if (line.figures.is_object())
    json.update(line.figures);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const TuningEntry *TuningRecord::find(const TuningEntry &entry) const {
  auto it = places.find(makeKey(entry));
  return it == places.end() ? nullptr : &lines[it->second];
}

void TuningRecord::put(const TuningEntry &line) {
  auto [it, isNew] = places.emplace(makeKey(line), lines.size());
  if (isNew)
    lines.push_back(line);
  else
    lines[it->second] = line;
}

// "1, 2, 7 and 12 more".
static std::string listLines(llvm::ArrayRef<size_t> numbers) {
  constexpr size_t shown = 8;
  std::string list = fmt::format("{}", fmt::join(numbers.take_front(shown), ", "));
  return numbers.size() > shown ? fmt::format("{} and {} more", list, numbers.size() - shown) : list;
}

std::string TuningRecord::read(const std::string &path, NamedBy namedBy, std::vector<std::string> &notes) {
  if (llvm::sys::fs::access(path, llvm::sys::fs::AccessMode::Exist) && !llvm::sys::fs::is_symlink_file(path))
    return "";
  std::string problem;
  auto content = readNamedFile(path, {maxRecordBytes, namedBy}, problem);
  if (!content)
    return fmt::format("{}: {}", path, problem);
  llvm::SmallVector<llvm::StringRef> texts;
  llvm::StringRef(*content).split(texts, '\n');
  std::vector<size_t> damaged;
  for (auto [number, text] : llvm::enumerate(texts)) {
    TuningEntry line;
    if (text.trim().empty())
      continue;
    if (!parseLine(text, line)) {
      damaged.push_back(number + 1);
      others.push_back(text.str());
    } else if (const TuningEntry *previous = find(line); !previous || previous->tried <= line.tried) {
      put(line);
    }
  }
  if (!damaged.empty())
    notes.push_back(fmt::format("note: {}: line {} is not a plan of a kernel: ignored", path, listLines(damaged)));
  return "";
}

std::string TuningRecord::write(const std::string &path) const {
  std::string text;
  for (const TuningEntry &line : lines)
    text += print(line) + "\n";
  for (const std::string &line : others)
    text += line + "\n";
  if (text.empty())
    return "";
  llvm::Error error = writeBytes(llvm::arrayRefFromStringRef(text), path, OutputFile::ownerMayWrite);
  return error ? llvm::toString(std::move(error)) : "";
}

std::string TuningRecord::planOverridesFor(const std::string &target) const {
  std::string plans;
  for (const TuningEntry &line : lines) {
    if (line.target != target || !line.confirmed || line.plan.empty())
      continue;
    std::string numbers;
    for (const auto &[name, value] : line.plan)
      numbers += fmt::format("{}{} = {}", numbers.empty() ? "" : ", ", name, value);
    plans += fmt::format("@{}: {}; ", line.kernel, numbers);
  }
  return plans;
}

std::string TuningRecord::foreignProcessors(llvm::ArrayRef<std::string> targets) const {
  std::set<std::string> processors;
  for (const TuningEntry &line : lines) {
    if (llvm::is_contained(targets, line.target))
      return "";
    if (line.confirmed && !line.plan.empty())
      processors.insert(printableLine(line.processor.substr(0, longestName)));
  }
  constexpr size_t shown = 8;
  std::string all = processors.size() > shown ? ", ..." : "";
  while (processors.size() > shown)
    processors.erase(std::prev(processors.end()));
  return llvm::join(processors, ", ") + all;
}

std::string defaultTuningRecord(const std::string &model) {
  llvm::StringRef path = llvm::StringRef(model).rtrim('/');
  return llvm::sys::fs::is_directory(path) ? (path + "/talc-tuned.jsonl").str() : (path + ".talc-tuned.jsonl").str();
}

}  // namespace talc::tools
