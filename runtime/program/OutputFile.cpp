// SPDX-License-Identifier: Apache-2.0
// Writes beside the target and renames.
#include "runtime/program/OutputFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace talc::program {

OutputFile::~OutputFile() {
  if (file < 0)
    return;
  close(file);
  if (written != path)
    unlink(written.c_str());
}

Status OutputFile::failure() const {
  return Status::failure(TALC_ERROR_OUTPUT, "%s: cannot be written: %s", path.c_str(), strerror(errno));
}

Status OutputFile::create(const std::string &target) {
  path = target;
  struct stat facts;
  bool special = stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);
  written = special ? path : path + ".partial";
  file = open(written.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return file < 0 ? failure() : Status();
}

Status OutputFile::write(const void *source, size_t count) {
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
Status OutputFile::finish() {
  int closing = file;
  file = -1;
  bool complete = close(closing) == 0 && (written == path || rename(written.c_str(), path.c_str()) == 0);
  if (complete)
    return {};
  Status status = failure();
  if (written != path)
    unlink(written.c_str());
  return status;
}

}  // namespace talc::program
