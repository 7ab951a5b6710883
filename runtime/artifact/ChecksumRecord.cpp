// SPDX-License-Identifier: Apache-2.0
// A record is trusted only if nobody else can have written it: it and its folder belong to the user, and others cannot
// write to them. A file that was changed a moment ago gets no record, since another change might not move its times.
#include "runtime/artifact/ChecksumRecord.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

namespace talc {

constexpr int64_t second = 1000000000;  // nanoseconds; the coarsest times of change that file systems have

namespace {

// An open file that is closed by its destructor.
struct Descriptor {
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
  const int number;
};

}  // namespace

static std::string variable(const char *name) {
  const char *value = secure_getenv(name);
  return value ? value : "";
}

// Returns the folder, chosen as talc compile chooses that of its cache; empty: there is none.
static std::string folderPath() {
  std::string talcCache = variable("TALC_CACHE"), shared = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (talcCache == "off")
    return "";
  if (!talcCache.empty())
    return talcCache + "/checked";
  if (!shared.empty() && shared[0] == '/')
    return shared + "/talc/checked";
  return home.empty() || home[0] != '/' ? "" : home + "/.cache/talc/checked";
}

static void createFolders(const std::string &path) {
  for (size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1))
    mkdir(path.substr(0, end).c_str(), 0700);
  mkdir(path.c_str(), 0700);
}

static bool isOwn(int file, mode_t type) {
  struct stat facts;
  return fstat(file, &facts) == 0 && (facts.st_mode & S_IFMT) == type && facts.st_uid == geteuid() &&
         (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Opens the folder; negative: none can be trusted.
static int openFolder(bool creates) {
  std::string path = folderPath();
  if (path.empty())
    return -1;
  if (creates)
    createFolders(path);
  int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 || isOwn(folder, S_IFDIR))
    return folder;
  close(folder);
  return -1;
}

static int64_t nanoseconds(const timespec &time) {
  return int64_t(time.tv_sec) * second + time.tv_nsec;
}

static std::string format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
static std::string format(const char *pattern, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, pattern);
  int length = vsnprintf(text, sizeof(text), pattern, arguments);
  va_end(arguments);
  return std::string(text, length);
}

ChecksumRecord::ChecksumRecord(int file, uint64_t offset, uint64_t size, uint64_t hash)
    : file(file), offset(offset), size(size), hash(hash), hasFacts(fstat(file, &facts) == 0) {}

ChecksumRecord::~ChecksumRecord() {
  if (file >= 0)
    close(file);
}

static std::string recordName(const struct stat &facts, uint64_t offset) {
  return format("%" PRIx64 "-%" PRIx64 "-%" PRIx64, uint64_t(facts.st_dev), uint64_t(facts.st_ino), offset);
}

// The name of the record has the rest.
std::string ChecksumRecord::line() const {
  return format("%" PRIu64 " %" PRId64 " %" PRId64 " %" PRIu64 " %016" PRIx64 "\n", uint64_t(facts.st_size),
                nanoseconds(facts.st_mtim), nanoseconds(facts.st_ctim), size, hash);
}

bool ChecksumRecord::exists() const {
  Descriptor folder(openFolder(false));
  if (folder.number < 0 || !hasFacts)
    return false;
  Descriptor note(
      openat(folder.number, recordName(facts, offset).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::string expected = line();
  char text[256];
  return note.number >= 0 && isOwn(note.number, S_IFREG) &&
         read(note.number, text, sizeof(text)) == static_cast<ssize_t>(expected.size()) &&
         memcmp(text, expected.data(), expected.size()) == 0;
}

// The record appears under its name when it is complete.
void ChecksumRecord::write() const {
  struct stat now;
  timespec time;
  bool unchanged = hasFacts && fstat(file, &now) == 0 && clock_gettime(CLOCK_REALTIME, &time) == 0 &&
                   nanoseconds(now.st_mtim) == nanoseconds(facts.st_mtim) &&
                   nanoseconds(now.st_ctim) == nanoseconds(facts.st_ctim) &&
                   nanoseconds(time) - nanoseconds(facts.st_ctim) > second;
  Descriptor folder(unchanged ? openFolder(true) : -1);
  if (folder.number < 0)
    return;
  std::string name = recordName(facts, offset), text = line(), partial = format("%s.%d", name.c_str(), getpid());
  unlinkat(folder.number, partial.c_str(), 0);  // left by a process that was killed
  Descriptor note(openat(folder.number, partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (note.number < 0)
    return;
  bool written = ::write(note.number, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!written || renameat(folder.number, partial.c_str(), folder.number, name.c_str()) != 0)
    unlinkat(folder.number, partial.c_str(), 0);
}

}  // namespace talc
