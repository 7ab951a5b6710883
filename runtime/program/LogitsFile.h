// SPDX-License-Identifier: Apache-2.0
// Streams logits to a safetensors file.
#pragma once

#include "runtime/Status.h"

#include <string>
#include <vector>

namespace talc::program {

// The file appears under its name when it is complete; until then it is NAME.partial, which a failure removes.
// Something that is no regular file (a device, a pipe) is written directly.
class LogitsFile {
public:
  LogitsFile() = default;
  LogitsFile(const LogitsFile &) = delete;
  LogitsFile &operator=(const LogitsFile &) = delete;
  ~LogitsFile();

  // One float32 tensor [tokens[i]][vocabulary] per prompt.
  Status create(const std::string &path, const std::vector<size_t> &tokens, size_t vocabulary);
  // Appends values in the order of prompts, tokens, vocabulary.
  Status append(const float *values, size_t count);
  Status finish();

private:
  Status write(const void *bytes, size_t count);
  Status failure() const;
  void abandon();

  std::string path, written;  // `written` is the path being written; equal to `path` when written directly
  int file = -1;
};

}  // namespace talc::program
