// SPDX-License-Identifier: Apache-2.0
// Files with a fuzzer's input, for readers that take paths.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <sys/mman.h>
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

// A directory in memory, removed at the end of the process.
class InputDirectory {
public:
  InputDirectory() : directory("/dev/shm/talc-fuzz-" + std::to_string(getpid())) {
    std::filesystem::create_directory(directory);
  }
  InputDirectory(const InputDirectory &) = delete;
  InputDirectory &operator=(const InputDirectory &) = delete;
  ~InputDirectory() { std::filesystem::remove_all(directory); }

  const std::string &path() const { return directory; }
  void write(const std::string &name, std::string_view content) const {
    std::ofstream(directory + "/" + name, std::ios::binary) << content;
  }

private:
  const std::string directory;
};

}  // namespace talc::fuzz
