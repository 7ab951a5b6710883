// SPDX-License-Identifier: Apache-2.0
// Links launch tables. A list that another list calls is inlined, with the values that it is passed: so an entry is one
// table, however many layers share a list.
#include "compiler/targets/gpu/LaunchLinker.h"

#include "compiler/Error.h"
#include "compiler/targets/gpu/GpuObject.h"
#include "runtime/artifact/Entries.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace talc::artifact;

namespace talc::gpu {

namespace {

constexpr uint32_t noModule = UINT32_MAX;

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
  llvm::Expected<targets::LinkedCode> link(LinkModules linkModules) const;
  const std::vector<std::string> &allCodes() const { return codes; }

private:
  using Values = std::vector<LaunchArgument>;

  llvm::Error addKernel(KernelObject object);
  llvm::Error addEntry(const std::string &name);
  llvm::Error addPersistent(LaunchEntry &entry, MakePersistent makePersistent);
  std::string describeSteps(const LaunchEntry &entry) const;
  llvm::Error addLaunches(const LaunchList &list, const Values &passed, int depth, uint32_t waits);
  llvm::Error addLaunch(const ListLaunch &launch, const Values &values, uint32_t waits);
  static llvm::Expected<LaunchArgument> getValue(const ListArgument &argument, const Values &passed);
  void assignModules();
  std::vector<uint8_t> makeImage(llvm::ArrayRef<std::string> linkedModules) const;

  llvm::StringMap<LaunchList> lists;
  llvm::StringMap<uint32_t> kernelIndices;
  std::vector<LaunchKernel> kernels;
  std::vector<uint32_t> maxRegisters;             // of kernels
  std::vector<std::string> codes, taskCodes;      // of kernels
  std::vector<std::vector<std::string>> modules;  // codes of each
  std::vector<LaunchEntry> entries;
  llvm::StringMap<std::string> obstacles;  // to persistent kernels, by entry
  std::vector<Launch> launches;
  std::vector<LaunchArgument> arguments;
};

llvm::Error LaunchLinker::read(llvm::ArrayRef<targets::ObjectCode> objects) {
  for (const targets::ObjectCode &object : objects) {
    auto parsed = parseObject(object);
    if (!parsed)
      return parsed.takeError();
    if (auto *list = std::get_if<LaunchList>(&*parsed))
      lists[list->name] = std::move(*list);
    else if (llvm::Error error = addKernel(std::move(std::get<KernelObject>(*parsed))))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error LaunchLinker::addKernel(KernelObject object) {
  object.kernel.module = noModule;
  kernelIndices[object.name] = static_cast<uint32_t>(kernels.size());
  kernels.push_back(object.kernel);
  maxRegisters.push_back(object.maxRegisters);
  codes.push_back(std::move(object.code));
  taskCodes.push_back(std::move(object.taskCode));
  return setName(kernels.back().name, object.name);
}

llvm::Expected<LaunchArgument> LaunchLinker::getValue(const ListArgument &argument, const Values &passed) {
  LaunchArgument value = {};
  if (argument.isValueOfList) {
    if (argument.index >= passed.size())
      return internalError("a list of launches refers to value {} of {}", argument.index, passed.size());
    value = passed[argument.index];
  } else {
    value.base = argument.index;
  }
  value.fixed += argument.fixed;
  value.perToken += argument.perToken;
  return value;
}

llvm::Error LaunchLinker::addLaunch(const ListLaunch &launch, const Values &values, uint32_t waits) {
  auto kernel = kernelIndices.find(launch.callee);
  if (kernel == kernelIndices.end() || kernels[kernel->second].argumentCount != values.size())
    return internalError("a launch calls '{}', which is not a kernel of {} arguments", launch.callee, values.size());
  launches.push_back({kernel->second, static_cast<uint32_t>(arguments.size()), launch.mark, waits});
  llvm::append_range(arguments, values);
  return llvm::Error::success();
}

// `waits`: whether the first launch waits, whatever the list says.
llvm::Error LaunchLinker::addLaunches(const LaunchList &list, const Values &passed, int depth, uint32_t waits) {
  constexpr int maxDepth = 64;  // calls have no cycle; plan-memory has checked it
  if (depth > maxDepth)
    return internalError("lists of launches call each other more than {} deep", maxDepth);
  for (const ListLaunch &launch : list.launches) {
    Values values;
    for (const ListArgument &argument : launch.arguments) {
      auto value = getValue(argument, passed);
      if (!value)
        return value.takeError();
      values.push_back(*value);
    }
    waits |= launch.waits;
    auto callee = lists.find(launch.callee);
    llvm::Error error = callee != lists.end() ? addLaunches(callee->second, values, depth + 1, waits)
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

std::vector<uint8_t> LaunchLinker::makeImage(llvm::ArrayRef<std::string> linkedModules) const {
  LaunchHeader header = {};
  std::memcpy(header.magic, launchMagic, sizeof(header.magic));
  header.kernelCount = static_cast<uint32_t>(kernels.size());
  header.entryCount = static_cast<uint32_t>(entries.size());
  header.launchCount = static_cast<uint32_t>(launches.size());
  header.argumentCount = static_cast<uint32_t>(arguments.size());
  header.moduleCount = static_cast<uint32_t>(linkedModules.size());
  std::vector<LaunchModule> moduleTable;
  uint64_t offset = sizeof(header) + linkedModules.size() * sizeof(LaunchModule) +
                    kernels.size() * sizeof(LaunchKernel) + entries.size() * sizeof(LaunchEntry) +
                    launches.size() * sizeof(Launch) + arguments.size() * sizeof(LaunchArgument);
  for (const std::string &module : linkedModules) {
    moduleTable.push_back({offset, module.size()});
    offset += module.size();
  }
  std::vector<uint8_t> image(sizeof(header));
  std::memcpy(image.data(), &header, sizeof(header));
  append(image, moduleTable);
  append(image, kernels);
  append(image, entries);
  append(image, launches);
  append(image, arguments);
  for (const std::string &module : linkedModules)
    image.insert(image.end(), module.begin(), module.end());
  return image;
}

llvm::Error LaunchLinker::addEntries(MakePersistent makePersistent) {
  for (const EntryInfo &entry : entryTable)
    if (lists.contains(entry.name))
      if (llvm::Error error = addEntry(entry.name))
        return error;
  assignModules();
  for (LaunchEntry &entry : entries)
    if (makePersistent)
      if (llvm::Error error = addPersistent(entry, makePersistent))
        return error;
  return llvm::Error::success();
}

// A kernel belongs to the module of the first entry that launches it.
void LaunchLinker::assignModules() {
  uint32_t count = 0;
  for (const LaunchEntry &entry : entries) {
    bool isUsed = false;
    for (uint32_t i = 0; i < entry.launchCount; ++i)
      if (uint32_t &module = kernels[launches[entry.firstLaunch + i].kernel].module; module == noModule) {
        module = count;
        isUsed = true;
      }
    count += isUsed;
  }
  modules.resize(std::max(count, 1U));
  for (auto [kernel, code] : llvm::zip_equal(kernels, codes)) {
    kernel.module = kernel.module == noModule ? 0 : kernel.module;
    modules[kernel.module].push_back(code);
  }
}

llvm::Error LaunchLinker::addPersistent(LaunchEntry &entry, MakePersistent makePersistent) {
  std::map<uint32_t, EntryKernel> entryKernels;
  for (uint32_t i = 0; i < entry.launchCount; ++i) {
    uint32_t kernel = launches[entry.firstLaunch + i].kernel;
    if (taskCodes[kernel].empty()) {
      obstacles[entry.name] = std::string(kernels[kernel].name) + " cannot be done by a team of a workgroup";
      return llvm::Error::success();
    }
    entryKernels[kernel] = {kernel, kernels[kernel], maxRegisters[kernel], taskCodes[kernel]};
  }
  const std::string name = std::string("talc_") + entry.name;
  PersistentKernel persistent = {};
  obstacles[entry.name] = makePersistent(name, llvm::to_vector(llvm::make_second_range(entryKernels)), persistent);
  if (!obstacles[entry.name].empty())
    return llvm::Error::success();
  entry.persistentKernel = static_cast<uint32_t>(kernels.size());
  entry.persistentTokens = persistent.maxTokens;
  LaunchKernel &kernel = kernels.emplace_back();
  kernel.threads = persistent.threads;
  kernel.dynamicBytes = persistent.dynamicBytes;
  kernel.argumentCount = persistentArguments;
  kernel.grid = {noArgument, 1, 0, 1};
  kernel.module = static_cast<uint32_t>(modules.size());
  modules.push_back({persistent.code});
  codes.push_back(std::move(persistent.code));
  taskCodes.emplace_back();
  return setName(kernel.name, name);
}

// Nothing is said of persistent kernels where the target does not have them.
std::string LaunchLinker::describeSteps(const LaunchEntry &entry) const {
  std::string count = llvm::formatv("{0} launches", entry.launchCount);
  if (entry.persistentKernel != noKernel)
    return llvm::formatv("one launch of workgroups of {0} threads for up to {1} tokens, else {2}",
                         kernels[entry.persistentKernel].threads, entry.persistentTokens, count);
  std::string obstacle = obstacles.lookup(entry.name);
  return obstacle.empty() ? count : count + ", and never one: " + obstacle;
}

llvm::Expected<targets::LinkedCode> LaunchLinker::link(LinkModules linkModules) const {
  targets::LinkedCode linked;
  for (const LaunchEntry &entry : entries)
    linked.entries.push_back({entry.name, entry.name, describeSteps(entry)});
  if (linked.entries.empty())
    return makeError(ErrorCode::Program, "the program has none of the functions {}",
                     llvm::join(llvm::map_range(entryTable, [](const EntryInfo &entry) { return entry.name; }), ", "));
  std::vector<std::string> linkedModules;
  for (const std::vector<std::string> &module : modules) {
    auto linkedModule = linkModules(module);
    if (!linkedModule)
      return linkedModule.takeError();
    linkedModules.push_back(std::move(*linkedModule));
  }
  linked.image = makeImage(linkedModules);
  return linked;
}

}  // namespace

static llvm::Error linkAll(LaunchLinker &linker, llvm::ArrayRef<targets::ObjectCode> objects,
                           MakePersistent makePersistent) {
  if (llvm::Error error = linker.read(objects))
    return error;
  return linker.addEntries(makePersistent);
}

llvm::Expected<targets::LinkedCode> linkLaunches(llvm::ArrayRef<targets::ObjectCode> objects, LinkModules linkModules,
                                                 MakePersistent makePersistent) {
  LaunchLinker linker;
  if (llvm::Error error = linkAll(linker, objects, makePersistent))
    return std::move(error);
  return linker.link(linkModules);
}

llvm::Expected<std::vector<std::string>> getKernelModules(llvm::ArrayRef<targets::ObjectCode> objects,
                                                          MakePersistent makePersistent) {
  LaunchLinker linker;
  if (llvm::Error error = linkAll(linker, objects, makePersistent))
    return std::move(error);
  return linker.allCodes();
}

}  // namespace talc::gpu
