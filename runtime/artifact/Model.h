// SPDX-License-Identifier: Apache-2.0
// An opened model: checked model info, code and weights on a device, tokenizer. Immutable once opened.
#pragma once

#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/IdRanges.h"
#include "runtime/device/Devices.h"
#include "runtime/embedding/EmbeddingHead.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace talc {

class Model {
public:
  // The bytes of the model; one of its functions is called before open().
  ArtifactBytes &source() { return file.source; }
  Status open(const OpenOptions &options, const std::string &device, const UploadProgress &progress);

  const artifact::ModelInfo &info() const { return facts; }
  const Artifact &artifact() const { return file; }
  const std::string &name() const { return file.name(); }
  // See Artifact::fingerprint.
  uint64_t fingerprint() const { return file.fingerprint(); }
  uint64_t weightsHash() const { return file.weightsHash(); }
  // JSON about the model for people and tools; empty: there is none.
  std::string_view manifest() const;
  artifact::ModelKind kind() const { return static_cast<artifact::ModelKind>(facts.kind); }
  int32_t resultCount() const { return artifact::countResults(facts); }
  const LoadedModel &loaded() const { return *placed.model; }
  // The device that the model runs on, and why it does not run on a preferred one.
  const Device &device() const { return *placed.device; }
  const std::string &deviceNote() const { return placed.note; }
  const Tokenizer *tokenizer() const { return words.get(); }

  // Names of the classes; empty: they have none.
  const std::vector<const char *> &labels() const { return classNames; }

  // Texts before which a text ends; none is empty.
  const std::vector<const char *> &stopTexts() const { return stops; }

  // Makes one vector of hidden states; null: the model has none.
  const EmbeddingHead *embeddingHead() const { return head ? &*head : nullptr; }

  // The layout of a slot of the KV cache.
  const std::vector<artifact::KvRun> &kvRuns() const { return runs; }
  // The bytes that n tokens of a sequence, or of a source, take there.
  uint64_t kvBytes(uint64_t tokens, bool ofSource) const;
  // The bytes of a slot's compressive memories and states of recurrences, which do not grow with its tokens.
  uint64_t memoryBytes() const;
  // Whether slots have such parts: they cannot forget single tokens, and every step changes them.
  bool hasSummaries() const { return memoryBytes() > 0; }
  // The number of tokens that a slot can hold.
  int32_t capacity() const { return static_cast<int32_t>(facts.segment ? facts.segment : facts.maxSequence); }
  // The number of tokens that a slot still holds of the first `tokens` of a sequence: with segments, those of the last
  // one.
  int32_t rowsOf(int32_t tokens) const { return facts.segment ? static_cast<int32_t>(tokens % facts.segment) : tokens; }
  int32_t segmentOf(int32_t token) const { return facts.segment ? static_cast<int32_t>(token / facts.segment) : 0; }

  bool isEndToken(int32_t id) const;
  // Ids that may be sampled, ascending: those of the tokenizer, or all without a tokenizer, except the suppressed ones.
  const std::vector<int32_t> &sampleableIds() const { return sampleable; }
  // The same ids, as intervals.
  const std::vector<IdRange> &sampleableRanges() const { return sampleableRuns; }
  // Fails for an id outside the vocabulary. `what` names the list for the message, with `index` behind it if that is
  // not negative, such as "sequence 2".
  Status checkIds(const int32_t *ids, int32_t count, uint32_t vocabulary, const char *what, int32_t index = -1) const;
  Status checkIds(const int32_t *ids, int32_t count, const char *what) const {
    return checkIds(ids, count, facts.vocabularySize, what);
  }

private:
  Status openTokenizer();
  Status findKvRuns();
  Status findLabels();
  Status findStopTexts();
  Status openEmbedding();
  void listSampleable();

  Artifact file;
  artifact::ModelInfo facts = {};
  ModelOnDevice placed;
  std::unique_ptr<Tokenizer> words;
  std::vector<int32_t> sampleable;
  std::vector<IdRange> sampleableRuns;
  std::vector<const char *> classNames, stops;
  std::optional<EmbeddingHead> head;
  std::vector<artifact::KvRun> runs;
};

// Reads the model info of an open artifact and checks it.
Status readModelInfo(const Artifact &file, artifact::ModelInfo &facts);

}  // namespace talc
