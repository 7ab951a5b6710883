// SPDX-License-Identifier: Apache-2.0
// CONTRACT between compiler and runtime: the layout of an artifact, as plain structs.
//
// An artifact is a range of bytes, in memory or in a file:
//
//   header | padding | section 0 | padding | section 1 | ... | section table | hash of the table
//
// Every section starts on a page boundary, counted from the header, so that weights and code are mapped and never
// copied. All integers are little-endian. A reader must treat every field as untrusted.
//
// A file is either just an artifact, or an ELF file with an embedded one: a program or shared library has it in a
// section and a loaded segment of their own, which begin with the header. So tools that rewrite ELF files keep it, and
// the system maps it with the rest of the file.
#pragma once

#include "runtime/artifact/GenerationSettings.h"
#include "runtime/device/Step.h"

#include <cstdint>

namespace talc::artifact {

constexpr uint32_t formatVersion = 20;
constexpr uint64_t sectionAlignment = 4096;
constexpr char headerMagic[8] = {'T', 'A', 'L', 'C', 'A', 'R', 'T', '2'};

struct Header {
  char magic[8];     // headerMagic
  uint32_t version;  // formatVersion
  uint32_t sectionCount;
  uint64_t size;      // of the whole artifact, from this header to the hash of the section table
  uint64_t stubHash;  // hashStub of the program or library around it; 0: there is none
  uint64_t hash;      // hashBytes of what comes before in this struct
};

// The section of a stub that has no artifact yet begins with this. It takes a page.
constexpr char reservedMagic[16] = {'T', 'A', 'L', 'C', ' ', 'P', 'L', 'A', 'C', 'E', ' ', 'H', 'E', 'R', 'E', '.'};
// The placeholder in a stub for the name of the function that opens the model. The real name is at most as long.
#define TALC_RESERVED_OPEN                                                                                             \
  talc_reserved_for_the_name_of_the_function_that_opens_the_model_of_a_library_or_object_which_is_that_of_its_file____0

enum class SectionKind : uint32_t {
  Manifest = 1,      // UTF-8 JSON for people and tools; the runtime hands it out and never reads it
  ModelInfo = 2,     // one struct ModelInfo
  Code = 3,          // a CodeHeader and the code, one section per target; the runtime takes the first that it can run
  Weights = 4,       // packed weights, addressed by offsets that the generated code holds; one section per layout
  Tokenizer = 5,     // runtime/tokenizer/TokenizerFormat.h; absent when the model has no tokenizer
  Labels = 6,        // names of the classes, UTF-8, each ended by a NUL; absent when the model has none
  KvCache = 7,       // an array of KvRun: the layout of a slot of the KV cache; absent when the model keeps nothing
  RotaryTables = 8,  // a RotaryTable and its numbers for each table of tableBytes; absent when there are none
  Embedding = 9,     // runtime/embedding/EmbeddingFormat.h; absent when ModelInfo::pooling says all
  StopTexts = 10,    // texts that end a text, UTF-8, each ended by a NUL; absent when the model has none
  Training = 11,     // runtime/training/TrainingFormat.h; only of a trainer
  Files = 12,        // files of the checkpoint that new checkpoints have, too; only of a trainer
};

// Names are UTF-8 and end with a NUL; the rest of their array is zero.
constexpr uint64_t nameBytes = 32;

struct Section {
  uint32_t kind;  // SectionKind
  uint32_t reserved;
  uint64_t offset;       // from the header, a multiple of sectionAlignment
  uint64_t size;         // bytes, without padding
  uint64_t hash;         // hashBytes of the section
  char name[nameBytes];  // of code its target (x86-64-v3), of weights their layout, of others empty
};

// An entry of the model (Entries.h).
struct CodeEntry {
  char name[nameBytes];
  char symbol[nameBytes];  // in the code
};

constexpr uint32_t maxFeatures = 48, maxEntries = 8;

// The head of a Code section. The code itself, in the form that its family has, follows at codeOffset.
struct CodeHeader {
  char family[nameBytes];  // of machines that run it: x86-64 (an ELF shared object without undefined symbols)
  char layout[nameBytes];  // the name of the Weights section that it reads
  uint32_t featureCount, entryCount;
  char features[maxFeatures][nameBytes];  // what a machine of the family must have: avx2, fma, ...
  CodeEntry entries[maxEntries];
};

constexpr uint64_t codeOffset = sectionAlignment;
static_assert(sizeof(CodeHeader) <= codeOffset);

// How a model is used, which decides its entries (Entries.h).
enum class ModelKind : uint32_t {
  Decoder = 1,         // continues sequences
  Encoder = 2,         // evaluates whole sequences
  EncoderDecoder = 3,  // continues sequences that read a source, which is encoded as a whole
  Trainer = 4,         // a step of training: computes a loss and gradients
};

// The kind of an output, which has `width` floats for every token.
enum class OutputKind : uint32_t {
  None = 0,          // the model has no such result
  Logits = 1,        // of every token of the vocabulary
  Hidden = 2,        // hidden state of a token
  Classes = 3,       // logits of every class, of the token that ClassPlace says
  TokenClasses = 4,  // logits of every class, of any token
  // Parts of logits of an adaptive softmax: log-probabilities of words in clusters, for callers who ask for some words.
  // They follow the results, and a step of one token does not compute them. The words of the first cluster follow those
  // in no cluster, and so on; widths give the number of words.
  Head = 5,  // log-probabilities of the words in no cluster, then of the clusters
  Tail = 6,  // of the next cluster's words, each beside the others of the cluster; adds to the cluster's own
  Loss = 7,  // of a label
};

struct OutputInfo {
  uint32_t kind;   // OutputKind
  uint32_t width;  // floats per token
};

// The content of a part of a slot.
enum class KvRunKind : uint32_t {
  Sequence = 0,    // keys or values of the sequence's tokens
  Source = 1,      // keys or values of the source's tokens
  Memory = 2,      // a compressive memory: bytesPerGroup in all
  Recurrence = 3,  // the state of a recurrence: bytesPerGroup in all
};

// A part of a slot of the KV cache. Where it grows, the tokens of group g (of kvTokenGroup tokens) lie at offset + g *
// bytesPerGroup.
struct KvRun {
  uint64_t offset, bytesPerGroup;
  uint32_t kind;    // KvRunKind
  uint32_t tokens;  // capacity in tokens, a multiple of the group (a ring, or sink tokens); 0: all tokens
};

// Whether a run holds what is left of all tokens, and has one size for any number of them.
inline bool isSummary(const KvRun &run) {
  return run.kind == static_cast<uint32_t>(KvRunKind::Memory) ||
         run.kind == static_cast<uint32_t>(KvRunKind::Recurrence);
}

// A table of cosines and sines, f32 [positions, 2 * half], that is made when the model is opened: row p has the cosines
// of its `half` angles, then their sines (talc.rope). Position p = a * stride + b is turned as a * stride, then as b:
//
//   cos = cos_a * cos_b - sin_a * sin_b      sin = sin_a * cos_b + cos_a * sin_b      in f64, times `amplitude`
//
// After this struct come f64 [2, half], cosines before sines, of each b < stride, the same of each multiple of the
// stride below `positions`, and the corrections: what is rounded to f32 in another way than the cosine or sine itself.
struct RotaryTable {
  uint64_t offset;  // in the tables, a multiple of 64
  uint32_t positions, half, stride, correctionCount;
  double amplitude;
};
struct RotaryCorrection {
  uint32_t element;  // of the table
  float value;
};

// The default for how the hidden states of a text become one vector.
enum class Pooling : uint32_t {
  None = 0,
  First = 1,
  Mean = 2,
  Max = 3,             // of every feature
  MeanSqrtLength = 4,  // the sum, divided by the square root of the number of tokens
  WeightedMean = 5,    // token i counts i + 1 times
  Last = 6,
  Several = 7,  // in ModelInfo: the Embedding section lists them
};

// Properties of a model that the runtime needs. Byte figures follow from the compiler's memory plan and are exact.
struct ModelInfo {
  uint32_t kind;                   // ModelKind
  OutputInfo outputs[maxOutputs];  // one or two results, then a Head and its Tails, if there are any
  uint32_t vocabularySize;         // token ids are less; = the width of logits
  uint32_t sourceVocabularySize;   // the same for sources of an encoder-decoder; else 0
  uint32_t tokenTypes;             // token types are less; 0: the model has none
  uint32_t usesPrefix;             // 1: a sequence has a prefix whose tokens see each other
  uint32_t maxSequence;            // tokens that one sequence, or one source, can have (--max-seq)
  uint32_t longestSequence;        // the largest possible --max-seq
  uint32_t
      window;  // of the widest sliding window: a token needs the keys of so many, its own among them; 0: there is none
  uint32_t sinkTokens;  // first tokens that stay beside a ring; 0: none
  uint32_t stepTokens;  // tokens of a sequence that a step may have; 0 without rings: as many as there is room for
  uint32_t ringTokens;  // capacity of the smallest ring; 0 without rings
  uint32_t segment;     // 0, or: the KV cache holds the last of segments of so many tokens, memories those before
  uint64_t weightBytes;
  uint64_t kvBytesPerSlot;       // address space of one slot; pages are committed when touched
  uint64_t kvBytesPerToken;      // n tokens touch roundUp(n, kvTokenGroup) * kvBytesPerToken beside rings
  uint64_t sourceBytesPerToken;  // the same of a source
  uint64_t kvTokenGroup;
  uint64_t arenaBytesPerToken;  // temporaries of a step of T tokens: T * arenaBytesPerToken + arenaBytesFixed ...
  uint64_t arenaBytesFixed;
  uint64_t arenaBytesPerThread;  // ... + threads * arenaBytesPerThread
  StoredSettings generation;     // the defaults of the model's authors
  uint32_t pooling;              // Pooling
  uint32_t reserved;
  uint64_t tableBytes;  // of weightBytes, the last ones: rotary tables, which the Weights section does not have
  char name[64];        // NUL-terminated, for messages
};

// The number of outputs that are results.
inline int32_t countResults(const ModelInfo &info) {
  int32_t count = 0;
  auto isResult = [](uint32_t kind) {
    bool isWhole = kind < static_cast<uint32_t>(OutputKind::Head) || kind == static_cast<uint32_t>(OutputKind::Loss);
    return isWhole && kind != static_cast<uint32_t>(OutputKind::None);
  };
  while (count < maxOutputs && isResult(info.outputs[count].kind))
    ++count;
  return count;
}

// 64-bit hash of a byte string: four lanes of multiply and rotate over 32-byte stripes, then the tail byte by byte. It
// detects damage; it does not protect against an attacker. A writer that streams adds stripes as they come.
class Hash {
public:
  static constexpr uint64_t stripeBytes = 32;

  void addStripes(const unsigned char *bytes, uint64_t stripes) {
    for (uint64_t i = 0; i < stripes; ++i)
      for (int l = 0; l < 4; ++l) {
        uint64_t word;
        __builtin_memcpy(&word, bytes + stripeBytes * i + 8 * l, 8);
        lane[l] = rotate(lane[l] + word * q, 31) * p;
      }
  }

  // `tail`: the bytes after the last stripe; `size`: of the whole string.
  uint64_t finish(const unsigned char *tail, uint64_t tailBytes, uint64_t size) const {
    uint64_t hash = size * p;
    for (uint64_t value : lane)
      hash = rotate(hash ^ value, 27) * p + q;
    for (uint64_t i = 0; i < tailBytes; ++i)
      hash = rotate(hash ^ (tail[i] * q), 11) * p;
    hash = (hash ^ (hash >> 33)) * q;
    return hash ^ (hash >> 29);
  }

private:
  static constexpr uint64_t p = 0x9E3779B185EBCA87ull, q = 0xC2B2AE3D27D4EB4Full;
  static uint64_t rotate(uint64_t x, int n) { return (x << n) | (x >> (64 - n)); }

  uint64_t lane[4] = {p, q, p ^ q, p + q};
};

inline uint64_t hashBytes(const unsigned char *bytes, uint64_t size) {
  Hash hash;
  uint64_t tail = size % Hash::stripeBytes;
  hash.addStripes(bytes, size / Hash::stripeBytes);
  return hash.finish(bytes + (size - tail), tail, size);
}

}  // namespace talc::artifact
