// SPDX-License-Identifier: Apache-2.0
// Files with a fuzzer's input, for readers that take paths.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace talc::fuzz {

inline std::string_view inputText(const uint8_t *bytes, size_t size) {
  return {reinterpret_cast<const char *>(bytes), size};
}

// A file in memory with a path.
class InputFile {
public:
  explicit InputFile(std::string_view content) : descriptor(memfd_create("input", MFD_CLOEXEC)) {
    isComplete = write(descriptor, content.data(), content.size()) == static_cast<ssize_t>(content.size());
  }
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  ~InputFile() { close(descriptor); }

  explicit operator bool() const { return isComplete; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

private:
  int descriptor;
  bool isComplete;
};

// Writes a file in a directory of this process, whose path it returns.
inline std::string writeDirectory(const std::string &name, std::string_view content) {
  static const std::string directory = "/dev/shm/talc-fuzz-" + std::to_string(getpid());
  mkdir(directory.c_str(), 0700);
  std::ofstream(directory + "/" + name, std::ios::binary) << content;
  return directory;
}

}  // namespace talc::fuzz
