// SPDX-License-Identifier: Apache-2.0
// Writes results to standard output or a file, and notices when that fails (full disk, closed pipe).
#pragma once

#include "runtime/program/AtomicFile.h"

#include <string_view>
#include <vector>

namespace talc::program {

class Output {
public:
  // `path` empty or "-": standard output.
  Status open(const std::string &path);
  // Standard output is flushed on return: a reader sees text as it is made.
  Status write(std::string_view text);
  Status finish();

private:
  bool standard = true;
  AtomicFile file;
  std::string waiting;  // not yet in the file
};

// To standard output.
Status printOut(std::string_view text);

std::string joinIds(const std::vector<int32_t> &ids);

}  // namespace talc::program
