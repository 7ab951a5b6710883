// SPDX-License-Identifier: Apache-2.0
// Looks up an address of this code in /proc/self/maps.
//
// dladdr would not do: for a program it gives argv[0], for a library the path that was given to dlopen, and neither
// survives a change of the working directory.
#include "runtime/artifact/ArtifactBytes.h"

#include <cinttypes>
#include <climits>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace talc {

static std::string programPath() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  return length > 0 ? std::string(path, length) : std::string();
}

namespace {

struct MappedFile {
  std::string path;  // empty: none
  dev_t device = 0;
  uint64_t inode = 0;
};

}  // namespace

// Returns the file in a line of /proc/self/maps when its address range contains `address`.
static MappedFile fileAtAddress(const char *line, uintptr_t address) {
  uintptr_t begin = 0, end = 0;
  unsigned major = 0, minor = 0;
  MappedFile file;
  int path = 0;
  if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %x:%x %" SCNu64 " %n", &begin, &end, &major, &minor, &file.inode,
             &path) < 5)
    return {};
  if (address < begin || address >= end || line[path] != '/')
    return {};
  file.device = makedev(major, minor);
  file.path = line + path;
  if (!file.path.empty() && file.path.back() == '\n')
    file.path.pop_back();
  return file;
}

static MappedFile findBinary() {
  MappedFile binary;
  auto address = reinterpret_cast<uintptr_t>(&thisBinaryName);
  if (FILE *maps = fopen("/proc/self/maps", "re")) {
    char line[PATH_MAX + 128];
    while (binary.path.empty() && fgets(line, sizeof(line), maps))
      binary = fileAtAddress(line, address);
    fclose(maps);
  }
  return binary;
}

std::string thisBinaryName() {
  std::string path = findBinary().path;
  if (path.empty())
    path = programPath();
  return path.empty() ? "this program" : path;
}

// The path may lead to another file by now.
int openThisBinary() {
  MappedFile binary = findBinary();
  struct stat facts;
  if (binary.path.empty() || binary.path == programPath())
    return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  int file = open(binary.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 || (fstat(file, &facts) == 0 && facts.st_dev == binary.device && facts.st_ino == binary.inode))
    return file;
  close(file);
  return -1;
}

}  // namespace talc
