// SPDX-License-Identifier: Apache-2.0
// Shows on a terminal what is being measured, in a line that the results replace.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace talc::bench {

class Progress {
public:
  Progress() : terminal(isatty(STDERR_FILENO)) {}
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  ~Progress() { show(""); }

  void show(const std::string &text) const {
    if (terminal)
      fprintf(stderr, "\r\033[K%s%s", text.c_str(), text.empty() ? "" : "...");
  }
  void show(const std::string &text, int32_t threads) const {
    show(text + ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
  }

private:
  bool terminal;
};

}  // namespace talc::bench
