// SPDX-License-Identifier: Apache-2.0
// Unbuffered writing to standard output.
#include "runtime/program/Output.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace talc::program {

Status printOut(std::string_view text) {
  while (!text.empty()) {
    ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return Status::failure(TALC_ERROR_OUTPUT, "standard output: cannot be written: %s", strerror(errno));
    text.remove_prefix(static_cast<size_t>(count));
  }
  return {};
}

std::string joinIds(const std::vector<int32_t> &ids) {
  std::string line;
  for (int32_t id : ids)
    line += (line.empty() ? "" : ",") + std::to_string(id);
  return line;
}

}  // namespace talc::program
