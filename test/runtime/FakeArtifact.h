// SPDX-License-Identifier: Apache-2.0
// Writes small artifacts for tests, valid or with chosen content.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"

#include <string>
#include <vector>

namespace talc::test {

using Bytes = std::vector<unsigned char>;

struct FakeSection {
  artifact::SectionKind kind;
  std::string name;  // of code its target, of weights their layout
  Bytes bytes;
};

struct FakeOptions {
  std::string stub, code;  // paths; an empty stub makes an artifact without program
  std::string openName;    // see embedIn
  std::vector<std::string> targets = {
      "x86-64-v2"};                                 // x86-64-v2 to x86-64-v4, any, nvptx, or other: of a foreign family
  int32_t vocabulary = 260;                         // the tokenizer has the bytes 0 to 255 and the end token 256
  int32_t maxSequence = 2048, longestSequence = 0;  // the longest is no less than the other
  int32_t nanFrom = 1 << 30;
  bool tokenizer = true;
  std::string cycle;  // text whose bytes follow one another; empty: id + 1 follows id
  bool ends = false;  // after the cycle's last byte comes the end token
  float temperature = 0;
  artifact::ModelKind kind = artifact::ModelKind::Decoder;
  artifact::OutputKind result = artifact::OutputKind::Logits;  // the first result
  std::vector<std::string> classes;                            // labels; the width of a result of classes
  int32_t hidden = 0;                                          // width of a second result; 0: there is none
  int32_t sourceVocabulary = 260;                              // of an encoder-decoder
  int32_t tokenTypes = 0;
  bool prefix = false;
  std::vector<int32_t> suppressed, beginSuppressed, forbidden;
  int32_t startToken = -1, forcedBegin = -1, forcedEnd = -1, maskToken = -1, newTokens = 0, beams = 1;
  int32_t maxLength = 0, minLength = 0, minNewTokens = 0;
  artifact::ClassPlace classPlace = artifact::ClassPlace::First;
  int32_t classToken = -1;
  artifact::Pooling pooling = artifact::Pooling::None;
  artifact::ClassScores scores = artifact::ClassScores::Softmax;
};

constexpr int32_t endToken = 256;

// Empty when the file cannot be read.
Bytes readBytes(const std::string &path);
bool writeBytes(const std::string &path, const Bytes &bytes);

std::vector<FakeSection> makeSections(const FakeOptions &options);

// A section of code for a target, which reads the weights in a layout.
FakeSection makeCode(const FakeOptions &options, const std::string &target, const std::string &layout = "fake");

// An artifact of its own: header, sections and table, with right offsets and checksums.
Bytes assemble(const std::vector<FakeSection> &sections);

// A program or library that carries it; `openName`: of the library's function that opens it. Empty: it has no place.
Bytes embedIn(const Bytes &stub, const std::string &openName, Bytes artifact);

// A tokenizer that has one token per byte, spelled <0x00> to <0xFF>, and the special token </s>.
Bytes makeByteTokenizer();

}  // namespace talc::test
