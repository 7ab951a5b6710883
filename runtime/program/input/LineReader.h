// SPDX-License-Identifier: Apache-2.0
// Reads the lines of a file, or of a pipe or terminal as they come.
#pragma once

#include "runtime/Status.h"

#include <string>
#include <vector>

namespace talc::program {

class LineReader {
public:
  LineReader() = default;
  LineReader(const LineReader &) = delete;
  LineReader &operator=(const LineReader &) = delete;
  ~LineReader();

  // `path` "-" is standard input.
  Status open(const std::string &path);

  // Appends lines without their ends: all of a regular file, else those that have come, but a bounded number. With
  // `waits` there is at least one, unless the file ends, which it also does when the user interrupts.
  Status read(bool waits, std::vector<std::string> &lines);

  bool ended() const { return atEnd; }
  // Whether lines may come at any time.
  bool isStream() const { return streams; }

private:
  bool waitForBytes(bool waits) const;
  Status readBytes();
  void dropMark();
  void splitLines(std::vector<std::string> &lines);
  Status failure(const char *what) const;

  std::string name;
  int file = -1;
  bool isBegin = true;  // a byte order mark may come
  bool streams = false, atEnd = false;
  std::string rest;      // what follows the last line end
  size_t searched = 0;   // bytes of it without a line end
  size_t lineCount = 0;  // so far
};

}  // namespace talc::program
