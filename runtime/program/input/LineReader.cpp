// SPDX-License-Identifier: Apache-2.0
// Polls what is not a regular file, so that a caller with other work can go on.
#include "runtime/program/input/LineReader.h"

#include "runtime/program/Signals.h"
#include "runtime/program/input/Prompts.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace talc::program {

constexpr size_t bufferBytes = 65536, mostLines = 1024;

LineReader::~LineReader() {
  if (file > STDIN_FILENO)
    close(file);
}

Status LineReader::failure(const char *what) const {
  return Status::failure(TALC_ERROR_FILE, "%s: cannot be %s: %s", name.c_str(), what, strerror(errno));
}

Status LineReader::open(const std::string &path) {
  name = shownName(path);
  file = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0)
    return failure("opened");
  streams = !S_ISREG(facts.st_mode);
  return {};
}

// Whether there is something to read. An interrupt ends the wait.
bool LineReader::waitForBytes(bool waits) const {
  pollfd entries[] = {{file, POLLIN, 0}, {interruptDescriptor(), POLLIN, 0}};
  while (!interrupted())
    if (int count = poll(entries, 2, waits ? -1 : 0); count >= 0 || errno != EINTR)
      return entries[0].revents != 0 || count < 0;
  return false;
}

// Waits for all of a mark that has begun.
void LineReader::dropMark() {
  size_t markBytes = std::min(rest.size(), strlen(byteOrderMark));
  if (!isBegin || (markBytes < strlen(byteOrderMark) && rest.compare(0, markBytes, byteOrderMark, markBytes) == 0))
    return;
  dropByteOrderMark(rest);
  isBegin = false;
}

Status LineReader::readBytes() {
  size_t before = rest.size();
  rest.resize(before + bufferBytes);
  ssize_t count = ::read(file, rest.data() + before, bufferBytes);
  rest.resize(before + std::max<ssize_t>(count, 0));
  atEnd = count == 0;
  dropMark();
  return count >= 0 || errno == EINTR || errno == EAGAIN ? Status() : failure("read");
}

void LineReader::splitLines(std::vector<std::string> &lines) {
  size_t begin = 0, before = lines.size();
  for (size_t end; (end = rest.find('\n', std::max(begin, searched))) != std::string::npos; begin = end + 1)
    lines.emplace_back(rest, begin, end - begin);
  if (atEnd && begin < rest.size()) {
    lines.emplace_back(rest, begin);
    begin = rest.size();
  }
  rest.erase(0, begin);
  searched = rest.size();
  for (size_t i = before; i < lines.size(); ++i)
    if (!lines[i].empty() && lines[i].back() == '\r')
      lines[i].pop_back();
  lineCount += lines.size() - before;
}

Status LineReader::read(bool waits, std::vector<std::string> &lines) {
  const size_t before = lines.size();
  while (!atEnd && (!streams || lines.size() - before < mostLines)) {
    bool waitsNow = waits && lines.size() == before;
    if (streams && !waitForBytes(waitsNow)) {
      atEnd = interrupted();
      return {};
    }
    if (Status status = readBytes(); status.failed())
      return status;
    splitLines(lines);
    if (rest.size() > maxPromptBytes)
      return Status::failure(TALC_ERROR_FILE, "%s: line %zu: has more than %zu bytes, too long for a text",
                             name.c_str(), lineCount + 1, maxPromptBytes);
  }
  return {};
}

}  // namespace talc::program
