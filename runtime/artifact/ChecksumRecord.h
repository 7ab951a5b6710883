// SPDX-License-Identifier: Apache-2.0
// Remembers that a checksum of a file has been compared, so that the next process need not read all of it again.
#pragma once

#include <cstdint>
#include <string>
#include <sys/stat.h>

namespace talc {

// A record in the user's cache folder for one range of bytes of a file. It is valid as long as the file has the same
// device, inode, size and times of change; the system updates those times whoever writes to the file and however.
class ChecksumRecord {
public:
  // Takes an open file, which is closed with the object; negative: nothing is recorded. `hash`: the expected hash of
  // the bytes; `offset`: any number that tells the ranges of a file apart.
  ChecksumRecord(int file, uint64_t offset, uint64_t size, uint64_t hash);
  ChecksumRecord(const ChecksumRecord &) = delete;
  ChecksumRecord &operator=(const ChecksumRecord &) = delete;
  ~ChecksumRecord();

  // Whether the bytes are recorded to have the hash. False in case of doubt.
  bool exists() const;
  // Records that the bytes have the hash. A failure is silent: then the next process compares again.
  void write() const;

private:
  std::string line() const;

  const int file;
  const uint64_t offset, size, hash;
  struct stat facts = {};
  bool hasFacts;
};

}  // namespace talc
