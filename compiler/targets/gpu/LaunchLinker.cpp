// SPDX-License-Identifier: Apache-2.0
// Follows the lists of launches from the entries on: a list that another one calls stands in its place, with the values
// that it was given. So an entry is one table, however many layers share a list.
#include "compiler/targets/gpu/LaunchLinker.h"

#include "compiler/Error.h"
#include "compiler/passes/codegen/gpu/Launches.h"
#include "runtime/artifact/Entries.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <nlohmann/json.hpp>

using Json = nlohmann::json;
using namespace talc::artifact;

namespace talc::gpu {

namespace {

constexpr uint32_t noText = UINT32_MAX;

template <size_t size> llvm::Error setName(char (&array)[size], const std::string &name) {
  if (name.size() >= size)
    return internalError("the name '{}' is longer than {} bytes", name, size - 1);
  std::memcpy(array, name.data(), name.size());
  return llvm::Error::success();
}

class LaunchLinker {
public:
  llvm::Error read(llvm::ArrayRef<targets::ObjectCode> objects);
  llvm::Error addEntries(MakePersistent makePersistent);
  llvm::Expected<targets::LinkedCode> link(JoinCodes join) const;
  const std::vector<std::string> &allCodes() const { return codes; }

private:
  using Values = std::vector<LaunchArgument>;

  llvm::Error addKernel(const Json &object);
  llvm::Error addEntry(const std::string &name);
  llvm::Error addPersistent(LaunchEntry &entry, MakePersistent makePersistent);
  std::string stepsOf(const LaunchEntry &entry) const;
  llvm::Error addLaunches(const Json &list, const Values &given, int depth, uint32_t waits);
  llvm::Error addLaunch(const Json &launch, const Values &values, uint32_t waits);
  static llvm::Expected<LaunchArgument> valueOf(const Json &argument, const Values &given);
  void placeLaunches();
  std::vector<uint8_t> image(llvm::ArrayRef<std::string> joined) const;

  llvm::StringMap<Json> lists;
  llvm::StringMap<uint32_t> numbers;  // of kernels
  std::vector<LaunchKernel> kernels;
  std::vector<uint32_t> registers;              // of kernels
  std::vector<std::string> codes, taskCodes;    // of kernels
  std::vector<std::vector<std::string>> texts;  // the codes in each
  std::vector<LaunchEntry> entries;
  llvm::StringMap<std::string> obstacles;  // to persistent kernels, by entry
  std::vector<Launch> launches;
  std::vector<LaunchArgument> arguments;
};

llvm::Error LaunchLinker::read(llvm::ArrayRef<targets::ObjectCode> objects) {
  for (const targets::ObjectCode &object : objects) {
    Json json = Json::parse(object.bytes, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object())
      return internalError("an object for GPUs is no JSON");
    if (json.contains("list"))
      lists[json["list"].get<std::string>()] = json;
    else if (llvm::Error error = addKernel(json))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error LaunchLinker::addKernel(const Json &object) {
  LaunchKernel kernel = {};
  auto name = object.at("kernel").get<std::string>();
  const Json &grid = object.at("grid");
  kernel.text = noText;
  kernel.threads = object.at("threads");
  kernel.sharedBytes = object.at("shared");
  kernel.argumentCount = object.at("arguments");
  kernel.grid.rows = grid.value("rows", noArgument);
  kernel.grid.divisor = grid.at("divisor");
  kernel.grid.plus = grid.at("plus");
  kernel.grid.y = grid.at("y");
  numbers[name] = static_cast<uint32_t>(kernels.size());
  codes.push_back(llvm::fromHex(object.at("code").get<std::string>()));
  kernels.push_back(kernel);
  registers.push_back(object.at("registers"));
  taskCodes.push_back(llvm::fromHex(object.at("task").get<std::string>()));
  return setName(kernels.back().name, name);
}

llvm::Expected<LaunchArgument> LaunchLinker::valueOf(const Json &argument, const Values &given) {
  LaunchArgument value = {};
  if (argument.contains(launchKeys::argument.data())) {
    size_t number = argument.at(launchKeys::argument.data());
    if (number >= given.size())
      return internalError("a list of launches refers to value {} of {}", number, given.size());
    value = given[number];
  } else {
    auto name = argument.at(launchKeys::base.data()).get<std::string>();
    value.base = static_cast<uint32_t>(llvm::find(baseNames, name) - std::begin(baseNames));
  }
  value.fixed += argument.value(launchKeys::fixed.data(), int64_t(0));
  value.perToken += argument.value(launchKeys::perToken.data(), int64_t(0));
  return value;
}

llvm::Error LaunchLinker::addLaunch(const Json &launch, const Values &values, uint32_t waits) {
  auto name = launch.at(launchKeys::call.data()).get<std::string>();
  auto kernel = numbers.find(name);
  if (kernel == numbers.end() || kernels[kernel->second].argumentCount != values.size())
    return internalError("a launch calls '{}', which is no kernel of {} arguments", name, values.size());
  launches.push_back({kernel->second, static_cast<uint32_t>(arguments.size()),
                      launch.value(launchKeys::mark.data(), UINT32_MAX), waits});
  llvm::append_range(arguments, values);
  return llvm::Error::success();
}

// `waits`: whether the first one does, whatever the list says.
llvm::Error LaunchLinker::addLaunches(const Json &list, const Values &given, int depth, uint32_t waits) {
  constexpr int deepest = 64;  // calls form no cycle; plan-memory has checked it
  if (depth > deepest)
    return internalError("lists of launches call each other more than {} deep", deepest);
  for (const Json &launch : list.at("launches")) {
    Values values;
    for (const Json &argument : launch.at(launchKeys::arguments.data())) {
      auto value = valueOf(argument, given);
      if (!value)
        return value.takeError();
      values.push_back(*value);
    }
    waits |= launch.value(launchKeys::waits.data(), uint32_t(0));
    auto called = lists.find(launch.at(launchKeys::call.data()).get<std::string>());
    llvm::Error error = called != lists.end() ? addLaunches(called->second, values, depth + 1, waits)
                                              : addLaunch(launch, values, waits);
    if (error)
      return error;
    waits = 0;
  }
  return llvm::Error::success();
}

llvm::Error LaunchLinker::addEntry(const std::string &name) {
  LaunchEntry entry = {};
  entry.persistentKernel = noKernel;
  entry.firstLaunch = static_cast<uint32_t>(launches.size());
  LaunchArgument step = {static_cast<uint32_t>(LaunchBase::Step), 0, 0, 0};
  if (llvm::Error error = addLaunches(lists[name], {step}, /*depth=*/0, /*waits=*/0))
    return error;
  entry.launchCount = static_cast<uint32_t>(launches.size()) - entry.firstLaunch;
  entries.push_back(entry);
  return setName(entries.back().name, name);
}

template <typename T> static void append(std::vector<uint8_t> &image, const std::vector<T> &values) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(values.data());
  image.insert(image.end(), bytes, bytes + values.size() * sizeof(T));
}

std::vector<uint8_t> LaunchLinker::image(llvm::ArrayRef<std::string> joined) const {
  LaunchHeader header = {};
  std::memcpy(header.magic, launchMagic, sizeof(header.magic));
  header.kernelCount = static_cast<uint32_t>(kernels.size());
  header.entryCount = static_cast<uint32_t>(entries.size());
  header.launchCount = static_cast<uint32_t>(launches.size());
  header.argumentCount = static_cast<uint32_t>(arguments.size());
  header.moduleCount = static_cast<uint32_t>(joined.size());
  std::vector<LaunchModule> places;
  uint64_t at = sizeof(header) + joined.size() * sizeof(LaunchModule) + kernels.size() * sizeof(LaunchKernel) +
                entries.size() * sizeof(LaunchEntry) + launches.size() * sizeof(Launch) +
                arguments.size() * sizeof(LaunchArgument);
  for (const std::string &text : joined) {
    places.push_back({at, text.size()});
    at += text.size();
  }
  std::vector<uint8_t> image(sizeof(header));
  std::memcpy(image.data(), &header, sizeof(header));
  append(image, places);
  append(image, kernels);
  append(image, entries);
  append(image, launches);
  append(image, arguments);
  for (const std::string &text : joined)
    image.insert(image.end(), text.begin(), text.end());
  return image;
}

llvm::Error LaunchLinker::addEntries(MakePersistent makePersistent) {
  for (const EntryInfo &entry : artifact::entryTable)
    if (lists.contains(entry.name))
      if (llvm::Error error = addEntry(entry.name))
        return error;
  placeLaunches();
  for (LaunchEntry &entry : entries)
    if (makePersistent)
      if (llvm::Error error = addPersistent(entry, makePersistent))
        return error;
  return llvm::Error::success();
}

// A kernel stands in the text of the first entry that launches it.
void LaunchLinker::placeLaunches() {
  uint32_t count = 0;
  for (const LaunchEntry &entry : entries) {
    bool isNew = false;
    for (uint32_t i = 0; i < entry.launchCount; ++i)
      if (uint32_t &text = kernels[launches[entry.firstLaunch + i].kernel].text; text == noText) {
        text = count;
        isNew = true;
      }
    count += isNew;
  }
  texts.resize(std::max(count, 1U));
  for (auto [kernel, code] : llvm::zip_equal(kernels, codes)) {
    kernel.text = kernel.text == noText ? 0 : kernel.text;
    texts[kernel.text].push_back(code);
  }
}

llvm::Error LaunchLinker::addPersistent(LaunchEntry &entry, MakePersistent makePersistent) {
  std::map<uint32_t, EntryKernel> pieces;
  for (uint32_t i = 0; i < entry.launchCount; ++i) {
    uint32_t kernel = launches[entry.firstLaunch + i].kernel;
    if (taskCodes[kernel].empty()) {
      obstacles[entry.name] = std::string(kernels[kernel].name) + " cannot be done by a team of a workgroup";
      return llvm::Error::success();
    }
    pieces[kernel] = {kernel, kernels[kernel], registers[kernel], taskCodes[kernel]};
  }
  const std::string name = std::string("talc_") + entry.name;
  PersistentKernel made = {};
  obstacles[entry.name] = makePersistent(name, llvm::to_vector(llvm::make_second_range(pieces)), made);
  if (!obstacles[entry.name].empty())
    return llvm::Error::success();
  entry.persistentKernel = static_cast<uint32_t>(kernels.size());
  entry.persistentTokens = made.mostRows;
  LaunchKernel &kernel = kernels.emplace_back();
  kernel.threads = made.threads;
  kernel.dynamicBytes = made.dynamicBytes;
  kernel.argumentCount = persistentArguments;
  kernel.grid = {noArgument, 1, 0, 1};
  kernel.text = static_cast<uint32_t>(texts.size());
  texts.push_back({made.code});
  codes.push_back(std::move(made.code));
  taskCodes.emplace_back();
  return setName(kernel.name, name);
}

// Where GPUs know no persistent kernels there is nothing to be said of them.
std::string LaunchLinker::stepsOf(const LaunchEntry &entry) const {
  std::string count = llvm::formatv("{0} launches", entry.launchCount);
  if (entry.persistentKernel != noKernel)
    return llvm::formatv("one launch of workgroups of {0} threads for up to {1} rows, else {2}",
                         kernels[entry.persistentKernel].threads, entry.persistentTokens, count);
  std::string obstacle = obstacles.lookup(entry.name);
  return obstacle.empty() ? count : count + ", and never one: " + obstacle;
}

llvm::Expected<targets::LinkedCode> LaunchLinker::link(JoinCodes join) const {
  targets::LinkedCode linked;
  for (const LaunchEntry &entry : entries)
    linked.entries.push_back({entry.name, entry.name, stepsOf(entry)});
  if (linked.entries.empty())
    return makeError(
        ErrorCode::Program, "the program has none of the functions {}",
        llvm::join(llvm::map_range(artifact::entryTable, [](const EntryInfo &entry) { return entry.name; }), ", "));
  linked.image = image(llvm::map_to_vector(texts, [&](llvm::ArrayRef<std::string> text) { return join(text); }));
  return linked;
}

}  // namespace

static llvm::Error linkAll(LaunchLinker &linker, llvm::ArrayRef<targets::ObjectCode> objects,
                           MakePersistent makePersistent) {
  if (llvm::Error error = linker.read(objects))
    return error;
  return linker.addEntries(makePersistent);
}

llvm::Expected<targets::LinkedCode> linkLaunches(llvm::ArrayRef<targets::ObjectCode> objects, JoinCodes join,
                                                 MakePersistent makePersistent) {
  LaunchLinker linker;
  if (llvm::Error error = linkAll(linker, objects, makePersistent))
    return std::move(error);
  return linker.link(join);
}

llvm::Expected<std::vector<std::string>> kernelCodes(llvm::ArrayRef<targets::ObjectCode> objects,
                                                     MakePersistent makePersistent) {
  LaunchLinker linker;
  if (llvm::Error error = linkAll(linker, objects, makePersistent))
    return std::move(error);
  return linker.allCodes();
}

}  // namespace talc::gpu
