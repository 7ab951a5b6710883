// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name only when it is complete.
#pragma once

#include "runtime/Status.h"

#include <string>

namespace talc::program {

// A file that is called NAME.XXXXXXXX.partial until `finish`; failures and signals remove it. The letters differ from
// one writer to the next. A device or a pipe is written directly.
class AtomicFile {
public:
  AtomicFile() = default;
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;
  ~AtomicFile();

  Status create(const std::string &path);
  Status write(const void *bytes, size_t count);
  Status finish();

private:
  Status createPartial();
  void removePartial();
  Status failure() const;

  std::string path, written;  // `written` is the path being written; equal to `path` when written directly
  int file = -1;
};

}  // namespace talc::program
