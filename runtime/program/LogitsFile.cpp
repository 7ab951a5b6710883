// SPDX-License-Identifier: Apache-2.0
// safetensors: length of the header (uint64), header (JSON), values. https://github.com/huggingface/safetensors
#include "runtime/program/LogitsFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace talc::program {

static std::string makeHeader(const std::vector<size_t> &tokens, size_t vocabulary) {
  std::string header = "{";
  size_t offset = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    size_t end = offset + tokens[i] * vocabulary * sizeof(float);
    std::string name = tokens.size() == 1 ? "logits" : "logits." + std::to_string(i);
    header += (i ? ",\"" : "\"") + name + "\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(tokens[i]) + "," +
              std::to_string(vocabulary) + "],\"data_offsets\":[" + std::to_string(offset) + "," + std::to_string(end) +
              "]}";
    offset = end;
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');  // aligns the values
  return header;
}

LogitsFile::~LogitsFile() {
  abandon();
}

Status LogitsFile::failure() const {
  return Status::failure(TALC_ERROR_OUTPUT, "%s: cannot be written: %s", path.c_str(), strerror(errno));
}

void LogitsFile::abandon() {
  if (file < 0)
    return;
  close(file);
  file = -1;
  if (written != path)
    unlink(written.c_str());
}

Status LogitsFile::create(const std::string &target, const std::vector<size_t> &tokens, size_t vocabulary) {
  path = target;
  struct stat facts;
  bool special = stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);
  written = special ? path : path + ".partial";
  file = open(written.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return failure();
  std::string header = makeHeader(tokens, vocabulary);
  uint64_t length = header.size();
  if (Status status = write(&length, sizeof(length)); status.failed())
    return status;
  return write(header.data(), header.size());
}

Status LogitsFile::append(const float *values, size_t count) {
  return write(values, count * sizeof(float));
}

Status LogitsFile::write(const void *source, size_t count) {
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
Status LogitsFile::finish() {
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
