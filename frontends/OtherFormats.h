// SPDX-License-Identifier: Apache-2.0
// Files of models and archives that talc does not read by themselves: what they are, and what to do with them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace talc {

// How files of a format begin. '?' in `bytes` stands for any byte.
struct FileMagic {
  size_t offset;
  std::string_view bytes;
  std::string_view text = {};  // which must also occur somewhere among the first bytes
};

// Says what a file of the format tells of the model beside it.
enum class FormatUse {
  OtherModel,   // a directory is a model of this format, unless it has weights that talc reads
  PartOfModel,  // the file is one of a model that talc reads
  Nothing
};

struct OtherFormat {
  const char *name;    // "an ONNX model"
  const char *remedy;  // what to do with a file of it
  std::vector<std::string_view> endings;
  std::vector<FileMagic> magics = {};
  FormatUse use = FormatUse::OtherModel;
};

// As many first bytes of a file tell its format.
constexpr size_t formatHeadBytes = 512;

struct FoundFormat {
  const OtherFormat *format = nullptr;
  bool isContent = false;  // the bytes tell the format, not the name alone
};

// The format of a file by its name and its first bytes, which count for more; none if it is of no known format.
FoundFormat findOtherFormat(std::string_view name, std::string_view head);

// Says what a file is and what to do: "is an ONNX model; ...". It names a directory that talc compiles if the file lies
// in it or beside it. Empty if the file is of no known format, or cannot be read. (OtherFiles.cpp)
std::string describeOtherFile(const std::string &path);

}  // namespace talc
