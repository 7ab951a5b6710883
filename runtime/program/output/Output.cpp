// SPDX-License-Identifier: Apache-2.0
// Unbuffered writing to standard output, buffered writing to files.
#include "runtime/program/output/Output.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace talc::program {

constexpr size_t bufferBytes = 65536;

Status Output::open(const std::string &path) {
  standard = path.empty() || path == "-";
  return standard ? Status() : file.create(path);
}

Status Output::write(std::string_view text) {
  if (standard)
    return printOut(text);
  waiting += text;
  if (waiting.size() < bufferBytes)
    return {};
  Status status = file.write(waiting.data(), waiting.size());
  waiting.clear();
  return status;
}

Status Output::finish() {
  if (standard)
    return {};
  if (Status status = file.write(waiting.data(), waiting.size()); status.failed())
    return status;
  return file.finish();
}

Status printOut(std::string_view text) {
  while (!text.empty()) {
    ssize_t count = ::write(STDOUT_FILENO, text.data(), text.size());
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
