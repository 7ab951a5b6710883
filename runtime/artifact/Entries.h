// SPDX-License-Identifier: Apache-2.0
// CONTRACT between compiler and runtime: the entries of a model, which are the functions that steps can run.
//
// An entry has one name everywhere: it is a function with talc.entry in the dialect, an exported function or a launch
// table in generated code, a row of CodeHeader::entries in the artifact, and what `--memory` and `talc bench` print.
// The runtime looks names up once, when a model is opened; steps refer to the number of the row. A new entry is a line
// in this table, a function that split-entries makes, and a step that asks for it.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"

#include <cstring>

namespace talc::artifact {

namespace entryNames {
constexpr char encode[] = "encode", prefill[] = "prefill", decode[] = "decode", train[] = "train";
}  // namespace entryNames

// The kind of input that an entry has for each token of a step: a member of StepInputs.
enum class InputKind { TokenIds };

struct EntryInfo {
  const char *name;
  const char *symbol;  // of its function in code for CPUs, a StepFunction
  InputKind input;
  bool isSingleToken;         // its steps have one token, of which every result is wanted
  bool ofDecoder, ofEncoder;  // whether a model that decodes, or encodes, must have it
  bool ofTrainer;
};

constexpr EntryInfo entryTable[] = {
    // Whole sequences, which follow nothing. The encoder of an encoder-decoder leaves the source in the KV cache.
    {entryNames::encode, "talc_encode", InputKind::TokenIds, false, false, true, false},
    // Any number of tokens of a decoder, which follow those in the KV cache.
    {entryNames::prefill, "talc_prefill", InputKind::TokenIds, false, true, false, false},
    // The same for one token.
    {entryNames::decode, "talc_decode", InputKind::TokenIds, true, true, false, false},
    // Whole sequences with labels; adds to gradients.
    {entryNames::train, "talc_train", InputKind::TokenIds, false, false, false, true},
};

// Returns null for an unknown name.
inline const EntryInfo *findEntryInfo(const char *name) {
  for (const EntryInfo &entry : entryTable)
    if (strcmp(entry.name, name) == 0)
      return &entry;
  return nullptr;
}

inline bool needsEntry(ModelKind kind, const EntryInfo &entry) {
  if (kind == ModelKind::Trainer)
    return entry.ofTrainer;
  return (entry.ofDecoder && kind != ModelKind::Encoder) || (entry.ofEncoder && kind != ModelKind::Decoder);
}

// The first entry that a model of a kind must have and `has(name)` denies; null if there is none.
template <typename Has> const EntryInfo *findMissingEntry(ModelKind kind, Has has) {
  for (const EntryInfo &entry : entryTable)
    if (needsEntry(kind, entry) && !has(entry.name))
      return &entry;
  return nullptr;
}

}  // namespace talc::artifact
