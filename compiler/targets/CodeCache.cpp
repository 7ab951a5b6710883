// SPDX-License-Identifier: Apache-2.0
// An entry whose key begins with AB is the file AB/KEY.code: a line "talc code KEY", the BLAKE3 hash of what follows,
// the number of functions that spill, a line "SPILLS NAME" for each, and the object. The time of a file is that of its
// last use.
#include "compiler/targets/CodeCache.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace talc::targets {

namespace fs = llvm::sys::fs;

static constexpr llvm::StringLiteral entrySuffix = ".code", partialSuffix = ".partial";

static std::string firstLines(llvm::StringRef key, llvm::StringRef content) {
  auto hash = llvm::BLAKE3::hash(llvm::arrayRefFromStringRef(content));
  return "talc code " + key.str() + "\n" + llvm::toHex(hash) + "\n";
}

static std::string serialize(const ObjectCode &code) {
  std::string content;
  llvm::raw_string_ostream stream(content);
  stream << code.spills.size() << "\n";
  for (const auto &entry : code.spills)
    stream << entry.second << " " << entry.first() << "\n";
  stream << llvm::toStringRef(code.bytes);
  return content;
}

// Takes a line from the front of a text.
static llvm::StringRef takeLine(llvm::StringRef &text) {
  auto [line, rest] = text.split('\n');
  text = rest;
  return line;
}

static std::optional<ObjectCode> parseContent(llvm::StringRef content) {
  ObjectCode code;
  size_t functions = 0;
  if (takeLine(content).getAsInteger(10, functions))
    return std::nullopt;
  for (size_t i = 0; i < functions; ++i) {
    auto [count, name] = takeLine(content).split(' ');
    if (count.getAsInteger(10, code.spills[name]))
      return std::nullopt;
  }
  code.bytes.assign(content.bytes_begin(), content.bytes_end());
  return code;
}

std::string CodeCache::entryFolder(llvm::StringRef key) const {
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, key.take_front(2));
  return path.str().str();
}

static std::string entryName(llvm::StringRef key) {
  return (key + entrySuffix).str();
}

// Whether what is open belongs to the user, and nobody else may write it: entries are code that will be run.
static bool isOwn(int descriptor, struct stat &facts) {
  return fstat(descriptor, &facts) == 0 && facts.st_uid == geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

namespace {

// The user's own folder, or none if the path leads to another's.
class EntryFolder {
public:
  explicit EntryFolder(const std::string &path)
      : descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) {
    struct stat facts;
    if (descriptor >= 0 && !isOwn(descriptor, facts))
      close(std::exchange(descriptor, -1));
  }
  EntryFolder(const EntryFolder &) = delete;
  ~EntryFolder() {
    if (descriptor >= 0)
      close(descriptor);
  }

  int number() const { return descriptor; }
  int openFile(const std::string &name, int flags) const {
    return descriptor < 0 ? -1 : openat(descriptor, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0600);
  }

private:
  int descriptor;
};

}  // namespace

// Reads an entry that is a regular file, since a pipe or a device in its place might block. It is not mapped, because
// another process may truncate the file. Sets the time of the file, by which trim() finds the least recently used.
static std::unique_ptr<llvm::MemoryBuffer> readEntry(const EntryFolder &folder, const std::string &name) {
  int file = folder.openFile(name, O_RDONLY | O_NONBLOCK);
  if (file < 0)
    return nullptr;
  struct stat facts;
  bool regular = isOwn(file, facts) && S_ISREG(facts.st_mode);
  auto text = regular ? llvm::MemoryBuffer::getOpenFile(file, name, facts.st_size, /*RequiresNullTerminator=*/false,
                                                        /*IsVolatile=*/true)
                      : std::make_error_code(std::errc::invalid_argument);
  if (text)
    futimens(file, nullptr);
  close(file);
  return text ? std::move(*text) : nullptr;
}

std::optional<ObjectCode> CodeCache::find(llvm::StringRef key) const {
  std::unique_ptr<llvm::MemoryBuffer> file = readEntry(EntryFolder(entryFolder(key)), entryName(key));
  if (!file)
    return std::nullopt;
  llvm::StringRef text = file->getBuffer();
  size_t headSize = firstLines(key, "").size();
  llvm::StringRef content = text.drop_front(std::min(headSize, text.size()));
  if (text.take_front(headSize) != firstLines(key, content))
    return std::nullopt;
  return parseContent(content);
}

void CodeCache::store(llvm::StringRef key, const ObjectCode &code) const {
  std::string path = entryFolder(key);
  if (fs::create_directories(path, true, fs::owner_all))
    return;
  EntryFolder folder(path);
  std::string partial = llvm::utohexstr(llvm::sys::Process::GetRandomNumber(), /*LowerCase=*/true, /*Width=*/8) +
                        entryName(key) + partialSuffix.str();
  int file = folder.openFile(partial, O_WRONLY | O_CREAT | O_EXCL);
  if (file < 0)
    return;
  llvm::raw_fd_ostream stream(file, /*shouldClose=*/true);
  std::string content = serialize(code);
  stream << firstLines(key, content) << content;
  stream.close();
  bool failed = stream.has_error();
  stream.clear_error();
  if (failed || renameat(folder.number(), partial.c_str(), folder.number(), entryName(key).c_str()) != 0)
    unlinkat(folder.number(), partial.c_str(), 0);
  trim(path);
}

// The folder is the user's own.
void CodeCache::trim(const std::string &folder) const {
  struct Entry {
    std::string path;
    uint64_t bytes;
    llvm::sys::TimePoint<> used;
  };
  std::vector<Entry> entries;
  uint64_t sum = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    llvm::StringRef path = at->path();
    auto status = at->status();
    if (!status || !(path.ends_with(entrySuffix) || path.ends_with(partialSuffix)))
      continue;
    entries.push_back({path.str(), status->getSize(), status->getLastModificationTime()});
    sum += status->getSize();
  }
  llvm::sort(entries, [](const Entry &a, const Entry &b) { return a.used < b.used; });
  for (const Entry &entry : entries) {
    if (sum <= maxBytes / folders)
      return;
    fs::remove(entry.path);
    sum -= entry.bytes;
  }
}

}  // namespace talc::targets
