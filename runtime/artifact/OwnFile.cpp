// SPDX-License-Identifier: Apache-2.0
// Looks up one of its own addresses in /proc/self/maps.
//
// dladdr would not do: for a program it gives argv[0], for a library the path that was given to dlopen, and neither
// survives a change of the working directory.
#include "runtime/artifact/OwnFile.h"

#include <cinttypes>
#include <climits>
#include <cstdio>
#include <unistd.h>

namespace talc {

static std::string programPath() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  return length > 0 ? std::string(path, length) : std::string();
}

// The path in a line of /proc/self/maps when its address range contains `address`.
static std::string pathAtAddress(const char *line, uintptr_t address) {
  uintptr_t begin = 0, end = 0;
  int path = 0;
  if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n", &begin, &end, &path) < 2)
    return {};
  if (address < begin || address >= end || line[path] != '/')
    return {};
  std::string result = line + path;
  if (!result.empty() && result.back() == '\n')
    result.pop_back();
  return result;
}

std::string ownFileName() {
  std::string own;
  auto address = reinterpret_cast<uintptr_t>(&ownFileName);
  if (FILE *maps = fopen("/proc/self/maps", "re")) {
    char line[PATH_MAX + 128];
    while (own.empty() && fgets(line, sizeof(line), maps))
      own = pathAtAddress(line, address);
    fclose(maps);
  }
  if (own.empty())
    own = programPath();
  return own.empty() ? "this program" : own;
}

}  // namespace talc
