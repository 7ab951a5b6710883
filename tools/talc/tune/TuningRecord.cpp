// SPDX-License-Identifier: Apache-2.0
// Records are not trusted: lines that are not objects of the expected form are kept but ignored, and assign-plans
// checks tuning parameters.
#include "tools/talc/tune/TuningRecord.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace talc::tools {

using Json = nlohmann::ordered_json;

static std::string getText(const Json &json, const char *key) {
  auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}

static int64_t getNumber(const Json &json, const char *key) {
  auto it = json.find(key);
  return it != json.end() && it->is_number_integer() ? it->get<int64_t>() : 0;
}

// A name that cannot be mistaken for something else in the text of plans.
static bool isWord(llvm::StringRef text) {
  return !text.empty() && text.size() < 100 &&
         llvm::all_of(text, [](char letter) { return llvm::isAlnum(letter) || letter == '_'; });
}

static bool parseLine(llvm::StringRef text, TuningEntry &line) {
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object())
    return false;
  line.kernel = getText(json, "kernel");
  line.name = getText(json, "name");
  line.target = getText(json, "target");
  line.processor = getText(json, "processor");
  line.threads = getNumber(json, "threads");
  line.tried = getNumber(json, "tried");
  auto confirmed = json.find("confirmed"), plan = json.find("plan");
  line.confirmed = confirmed != json.end() && confirmed->is_boolean() && confirmed->get<bool>();
  if (!isWord(line.kernel) || line.target.empty() || plan == json.end() || !plan->is_object())
    return false;
  for (auto &[name, value] : plan->items()) {
    if (!isWord(name) || !value.is_number_integer())
      return false;
    line.plan[name] = value.get<int64_t>();
  }
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

static bool isSame(const TuningEntry &a, const TuningEntry &b) {
  return a.kernel == b.kernel && a.target == b.target && a.threads == b.threads;
}

const TuningEntry *TuningRecord::find(const TuningEntry &entry) const {
  auto it = llvm::find_if(lines, [&](const TuningEntry &line) { return isSame(line, entry); });
  return it == lines.end() ? nullptr : &*it;
}

void TuningRecord::put(const TuningEntry &line) {
  auto it = llvm::find_if(lines, [&](const TuningEntry &other) { return isSame(line, other); });
  if (it == lines.end())
    lines.push_back(line);
  else
    *it = line;
}

std::string TuningRecord::read(const std::string &path, std::vector<std::string> &notes) {
  if (!llvm::sys::fs::exists(path))
    return "";
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true, /*RequiresNullTerminator=*/false);
  if (!file)
    return fmt::format("{}: cannot be read: {}", path, file.getError().message());
  llvm::SmallVector<llvm::StringRef> texts;
  (*file)->getBuffer().split(texts, '\n');
  std::string damaged;
  for (auto [number, text] : llvm::enumerate(texts)) {
    TuningEntry line;
    if (text.trim().empty())
      continue;
    if (!parseLine(text, line)) {
      damaged += (damaged.empty() ? "" : ", ") + std::to_string(number + 1);
      others.push_back(text.str());
    } else if (const TuningEntry *previous = find(line); !previous || previous->tried <= line.tried) {
      put(line);
    }
  }
  if (!damaged.empty())
    notes.push_back(fmt::format("note: {}: line {} is not a plan of a kernel: ignored", path, damaged));
  return "";
}

std::string TuningRecord::write(const std::string &path) const {
  std::string temporary = path + ".new";
  std::error_code error;
  {
    llvm::raw_fd_ostream file(temporary, error);
    if (!error) {
      for (const TuningEntry &line : lines)
        file << print(line) << "\n";
      for (const std::string &line : others)
        file << line << "\n";
      file.flush();
      error = file.error();
      file.clear_error();
    }
  }
  if (!error)
    error = llvm::sys::fs::rename(temporary, path);
  if (!error)
    return "";
  llvm::sys::fs::remove(temporary);
  return fmt::format("{}: cannot be written: {}", path, error.message());
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
      processors.insert(line.processor);
  }
  return llvm::join(processors, ", ");
}

std::string defaultTuningRecord(const std::string &model) {
  llvm::StringRef path = llvm::StringRef(model).rtrim('/');
  return llvm::sys::fs::is_directory(path) ? (path + "/talc-tuned.jsonl").str() : (path + ".talc-tuned.jsonl").str();
}

}  // namespace talc::tools
