// SPDX-License-Identifier: Apache-2.0
// Runs lld inside the process, on files in a fresh temporary directory.
#include "compiler/targets/cpu/CompileAndLink.h"

#include "compiler/Error.h"
#include "compiler/TemporaryDirectory.h"
#include "runtime/artifact/Entries.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

namespace talc::cpu {

// The loader resolves no symbols, so whatever one function refers to has to be another one. Finds all that there are.
static llvm::Error findDefined(llvm::ArrayRef<targets::ObjectCode> objects, llvm::StringSet<> &defined) {
  std::vector<llvm::StringRef> undefined;
  for (const targets::ObjectCode &object : objects) {
    auto file = llvm::object::ObjectFile::createObjectFile({llvm::toStringRef(object.bytes), "generated code"});
    if (!file)
      return file.takeError();
    for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
      llvm::Expected<uint32_t> flags = symbol.getFlags();
      llvm::Expected<llvm::StringRef> name = symbol.getName();
      if (!flags || !name)
        return llvm::joinErrors(flags.takeError(), name.takeError());
      if (!(*flags & llvm::object::SymbolRef::SF_Undefined))
        defined.insert(*name);
      else if (!name->empty() && *name != "_GLOBAL_OFFSET_TABLE_")
        undefined.push_back(*name);
    }
  }
  for (llvm::StringRef name : undefined)
    if (!defined.contains(name))
      return internalError("the generated code refers to '{}', which it does not define", name.str());
  return llvm::Error::success();
}

static llvm::Error runLinker(llvm::ArrayRef<std::string> inputs, llvm::ArrayRef<const char *> options) {
  std::vector<const char *> arguments = {"ld.lld", "--build-id=none", "--threads=1"};
  llvm::append_range(arguments, options);
  for (const std::string &input : inputs)
    arguments.push_back(input.c_str());
  static std::mutex mutex;  // lld keeps what it does in variables of the process
  std::lock_guard lock(mutex);
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(arguments, llvm::nulls(), stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0)
    return llvm::Error::success();
  std::string message = llvm::StringRef(messages).split('\n').first.str();
  if (llvm::StringRef(message).contains("failed to open") || llvm::StringRef(message).contains("failed to write"))
    return makeError(ErrorCode::Output,
                     "the generated code cannot be linked: {}; TMPDIR names another directory for "
                     "temporary files",
                     message);
  return internalError("the generated code cannot be linked: {}", message);
}

static llvm::Expected<std::vector<uint8_t>> link(llvm::ArrayRef<targets::ObjectCode> objects,
                                                 std::vector<const char *> options) {
  auto temporary = TemporaryDirectory::make();
  if (!temporary)
    return temporary.takeError();
  const TemporaryDirectory &directory = **temporary;
  std::vector<std::string> inputs;
  for (const targets::ObjectCode &object : objects) {
    inputs.push_back(directory.file(std::to_string(inputs.size()) + ".o"));
    if (llvm::Error error = writeTemporary(inputs.back(), llvm::toStringRef(object.bytes)))
      return std::move(error);
  }
  std::string output = directory.file("linked");
  options.insert(options.end(), {"-o", output.c_str()});
  if (llvm::Error error = runLinker(inputs, options))
    return std::move(error);
  auto linked = llvm::MemoryBuffer::getFile(output, false, false);
  if (!linked)
    return makeError(ErrorCode::Output, "{}: cannot be read: {}", output, linked.getError().message());
  llvm::StringRef bytes = (*linked)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

llvm::Expected<targets::LinkedCode> linkSharedObject(llvm::ArrayRef<targets::ObjectCode> objects) {
  llvm::StringSet<> defined;
  if (llvm::Error error = findDefined(objects, defined))
    return std::move(error);
  auto image = link(objects, {"-shared", "--no-undefined", "-z", "separate-code", "-z", "noexecstack", "-z", "now",
                              "--hash-style=both"});
  if (!image)
    return image.takeError();
  targets::LinkedCode linked{std::move(*image), {}};
  for (const artifact::EntryInfo &entry : artifact::entryTable)
    if (defined.contains(entry.symbol))
      linked.entries.push_back({entry.name, entry.symbol});
  return linked;
}

llvm::Expected<std::vector<uint8_t>> linkRelocatable(llvm::ArrayRef<targets::ObjectCode> objects) {
  llvm::StringSet<> defined;
  if (llvm::Error error = findDefined(objects, defined))
    return std::move(error);
  return link(objects, {"-r"});
}

llvm::Expected<std::vector<uint8_t>> mergeObjects(llvm::ArrayRef<targets::ObjectCode> objects) {
  return link(objects, {"-r"});
}

}  // namespace talc::cpu
