// SPDX-License-Identifier: Apache-2.0
// Opens a model: artifact, model info, weights, code, tokenizer, labels, in this order.
#include "runtime/artifact/Model.h"

#include "runtime/artifact/KvRuns.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <cstdio>

namespace talc {

using namespace artifact;

Status Model::open(const OpenOptions &options, const std::string &device, const UploadProgress &progress) {
  if (Status status = file.open(options); status.failed())
    return status;
  if (Status status = readModelInfo(file, facts); status.failed())
    return status;
  if (Status status = loadOnDevice(device, file, facts, progress, placed); status.failed())
    return status;
  if (Status status = openTokenizer(); status.failed())
    return status;
  listSampleable();
  if (Status status = findKvRuns(); status.failed())
    return status;
  if (Status status = findLabels(); status.failed())
    return status;
  if (Status status = findStopTexts(); status.failed())
    return status;
  return openEmbedding();
}

std::string_view Model::manifest() const {
  const Artifact::LocatedSection *section = file.find(SectionKind::Manifest);
  return section ? std::string_view(reinterpret_cast<const char *>(section->bytes), section->header.size)
                 : std::string_view();
}

Status Model::openTokenizer() {
  const Artifact::LocatedSection *section = file.find(SectionKind::Tokenizer);
  if (!section)
    return {};
  std::string error;
  if (!Tokenizer::open(section->bytes, section->header.size, words, error))
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the section 'tokenizer': %s", name().c_str(), error.c_str());
  return {};
}

Status Model::findKvRuns() {
  const Artifact::LocatedSection *section = file.find(SectionKind::KvCache);
  if (const char *wrong =
          readKvRuns(section ? section->bytes : nullptr, section ? section->header.size : 0, facts, runs))
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the section 'KV cache': %s", name().c_str(), wrong);
  return {};
}

uint64_t Model::memoryBytes() const {
  uint64_t bytes = 0;
  for (const KvRun &run : runs)
    bytes += isSummary(run) ? run.bytesPerGroup : 0;
  return bytes;
}

// Fills `texts` with pointers into the section, where a NUL follows every text, the last one too. Returns null, or what
// is wrong with the section.
static const char *readTexts(const Artifact::LocatedSection &section, std::vector<const char *> &texts) {
  std::string_view all(reinterpret_cast<const char *>(section.bytes), section.header.size);
  if (all.empty() || all.back() != '\0')
    return "the last text has no end";
  if (tokenizer::findInvalid(all) != std::string_view::npos)
    return "a text is not valid UTF-8";
  for (size_t at = 0; at < all.size(); at = all.find('\0', at) + 1)
    texts.push_back(all.data() + at);
  return nullptr;
}

Status Model::findLabels() {
  const Artifact::LocatedSection *section = file.find(SectionKind::Labels);
  if (!section)
    return {};
  uint64_t classes = 0;
  for (const OutputInfo &output : facts.outputs)
    if (output.kind == static_cast<uint32_t>(OutputKind::Classes) ||
        output.kind == static_cast<uint32_t>(OutputKind::TokenClasses))
      classes = output.width;
  const char *wrong = readTexts(*section, classNames);
  if (!wrong && classNames.size() != classes)
    wrong = "the model has another number of classes";
  if (wrong)
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the section 'labels': %s", name().c_str(), wrong);
  return {};
}

Status Model::findStopTexts() {
  const Artifact::LocatedSection *section = file.find(SectionKind::StopTexts);
  const char *wrong = section ? readTexts(*section, stops) : nullptr;
  if (std::any_of(stops.begin(), stops.end(), [](const char *text) { return !*text; }))
    wrong = "a text is empty";
  if (wrong)
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the section 'stop texts': %s", name().c_str(), wrong);
  return {};
}

Status Model::openEmbedding() {
  for (const OutputInfo &output : facts.outputs)
    if (output.kind == static_cast<uint32_t>(OutputKind::Hidden))
      head.emplace(static_cast<artifact::Pooling>(facts.pooling), output.width);
  const Artifact::LocatedSection *section = file.find(SectionKind::Embedding);
  if (section && !head)
    head.emplace(artifact::Pooling::None, 0);
  const char *wrong = nullptr;
  if (section)
    wrong = head->open(section->bytes, section->header.size);
  else if (head && facts.pooling == static_cast<uint32_t>(artifact::Pooling::Several))
    wrong = "is missing";
  if (wrong)
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the section 'embedding': %s", name().c_str(), wrong);
  return {};
}

void Model::listSampleable() {
  const auto &suppressed = facts.generation.suppressed;
  for (int32_t id = 0; id < static_cast<int32_t>(facts.vocabularySize); ++id)
    if ((!words || words->contains(id)) && std::count(suppressed.begin(), suppressed.end(), id) == 0)
      sampleable.push_back(id);
  for (int32_t id : sampleable)
    if (!sampleableRuns.empty() && sampleableRuns.back().end == id)
      ++sampleableRuns.back().end;
    else
      sampleableRuns.push_back({id, id + 1});
}

uint64_t Model::kvBytes(uint64_t tokens, bool ofSource) const {
  uint64_t held = std::min<uint64_t>(tokens, capacity());
  return talc::kvBytes(runs, facts.kvTokenGroup, 0, held, ofSource);
}

bool Model::isEndToken(int32_t id) const {
  for (int32_t token : facts.generation.end)
    if (token == id)
      return true;
  return false;
}

Status Model::checkIds(const int32_t *ids, int32_t count, uint32_t vocabulary, const char *what, int32_t index) const {
  for (int32_t i = 0; i < count; ++i)
    if (ids[i] < 0 || static_cast<uint32_t>(ids[i]) >= vocabulary) {
      char number[16] = "";
      if (index >= 0)
        snprintf(number, sizeof(number), " %d", index);
      return Status::failure(TALC_ERROR_TOKEN, "%s: %s%s: token %d is %d, outside the vocabulary 0 to %u",
                             name().c_str(), what, number, i, ids[i], vocabulary - 1);
    }
  return {};
}

}  // namespace talc
