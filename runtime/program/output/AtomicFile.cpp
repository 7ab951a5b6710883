// SPDX-License-Identifier: Apache-2.0
// Writes beside the target and renames.
#include "runtime/program/output/AtomicFile.h"

#include "runtime/program/Signals.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

namespace talc::program {

AtomicFile::~AtomicFile() {
  if (file < 0)
    return;
  close(file);
  if (written != path)
    removePartial();
}

void AtomicFile::removePartial() {
  unlink(written.c_str());
  keepOnSignal(written.c_str());
}

Status AtomicFile::failure() const {
  return Status::failure(TALC_ERROR_OUTPUT, "%s: cannot be written: %s", path.c_str(), strerror(errno));
}

// Whether a path leads to an open file of the process, as /dev/stdout does: a new file cannot take its place.
static bool namesOpenFile(const std::string &path) {
  size_t slash = path.rfind('/');
  char *folder = realpath(slash == std::string::npos ? "." : path.substr(0, slash + 1).c_str(), nullptr);
  bool inside = folder && strncmp(folder, "/proc/", 6) == 0;
  free(folder);
  char link[6];
  return inside || (readlink(path.c_str(), link, sizeof(link)) == sizeof(link) && memcmp(link, "/proc/", 6) == 0);
}

Status AtomicFile::create(const std::string &target) {
  path = target;
  struct stat facts;
  bool special = stat(path.c_str(), &facts) == 0 && (!S_ISREG(facts.st_mode) || namesOpenFile(path));
  if (!special)
    return createPartial();
  written = path;
  file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return file < 0 ? failure() : Status();
}

// O_EXCL: neither another program's file nor a link that somebody has put there is ever opened.
Status AtomicFile::createPartial() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    char letters[16];
    snprintf(letters, sizeof(letters), ".%08x", std::random_device()());
    written = path + letters + ".partial";
    removeOnSignal(written.c_str());
    file = open(written.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file >= 0)
      return {};
    keepOnSignal(written.c_str());
    if (errno != EEXIST)
      break;
  }
  return failure();
}

Status AtomicFile::write(const void *source, size_t count) {
  auto *bytes = static_cast<const char *>(source);
  while (count > 0) {
    ssize_t done = ::write(file, bytes, count);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return failure();
    bytes += done;
    count -= static_cast<size_t>(done);
  }
  return {};
}

// Some file systems report a full disk only when closing.
Status AtomicFile::finish() {
  int closing = file;
  file = -1;
  bool complete = close(closing) == 0 && (written == path || rename(written.c_str(), path.c_str()) == 0);
  Status status = complete ? Status() : failure();
  if (written != path)
    complete ? keepOnSignal(written.c_str()) : removePartial();
  return status;
}

}  // namespace talc::program
