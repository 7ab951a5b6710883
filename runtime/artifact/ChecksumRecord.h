// SPDX-License-Identifier: Apache-2.0
// Remembers that a checksum of a file has been compared, so that the next process need not read all of it again.
#pragma once

#include <cstdint>
#include <string>
#include <sys/stat.h>

namespace talc {

// A note in the user's cache folder, on one range of bytes of a file. It holds as long as the file has the same device,
// inode, size and times of change; the system keeps those times whoever writes to the file and however.
class ChecksumRecord {
public:
  // Of an open file, which is closed with the object; negative: there is no note. `hash`: what the bytes are expected
  // to have; `offset`: any number that tells the ranges of a file apart.
  ChecksumRecord(int file, uint64_t offset, uint64_t size, uint64_t hash);
  ChecksumRecord(const ChecksumRecord &) = delete;
  ChecksumRecord &operator=(const ChecksumRecord &) = delete;
  ~ChecksumRecord();

  // The bytes were found to have the hash. False whenever there is a doubt.
  bool exists() const;
  // After they were found to have it. Nobody is told when this fails: then the next process compares again.
  void write() const;

private:
  std::string line() const;

  const int file;
  const uint64_t offset, size, hash;
  struct stat facts = {};
  bool known;
};

}  // namespace talc
