// SPDX-License-Identifier: Apache-2.0
// Writes the stages by the same rules as Hugging Face's conversion.
#include "frontends/tokenizer/sentencepiece/SentencePieceModel.h"

namespace talc::frontend {

namespace {

constexpr const char *space = "\u2581";  // what stands for a space in pieces

Json replace(Json pattern, const char *content) {
  return {{"type", "Replace"}, {"pattern", std::move(pattern)}, {"content", content}};
}

Json sequence(const char *list, Json members) {
  return {{"type", "Sequence"}, {list, std::move(members)}};
}

Json metaspace(SpacePrefix prefix, bool splits) {
  const char *scheme = !prefix.adds ? "never" : prefix.legacy ? "always" : "first";
  return {{"type", "Metaspace"}, {"replacement", space}, {"prepend_scheme", scheme}, {"split", splits}};
}

}  // namespace

Json segmentationStage(const SentencePieceModel &model, uint32_t unknown, Json vocabulary, CompileErrors &errors) {
  if (model.kind == SegmentationKind::Unigram)
    return {{"type", "Unigram"},
            {"unk_id", unknown},
            {"byte_fallback", model.byteFallback},
            {"vocab", std::move(vocabulary)}};
  Json ids = Json::object();
  for (size_t id = 0; id < vocabulary.size(); ++id)
    ids[vocabulary[id][0].get_ref<const std::string &>()] = id;
  return {{"type", "BPE"},           {"unk_token", vocabulary[unknown][0]},
          {"fuse_unk", true},        {"byte_fallback", model.byteFallback},
          {"vocab", std::move(ids)}, {"merges", listMerges(model, errors)}};
}

void setLlamaStages(Json &description, SpacePrefix prefix) {
  if (prefix.legacy) {
    Json rules = Json::array();
    if (prefix.adds)
      rules.push_back({{"type", "Prepend"}, {"prepend", space}});
    rules.push_back(replace({{"String", " "}}, space));
    description["normalizer"] = sequence("normalizers", std::move(rules));
  } else {
    description["pre_tokenizer"] = metaspace(prefix, false);
  }
  Json decoders = Json::array(
      {replace({{"String", space}}, " "), Json::object({{"type", "ByteFallback"}}), Json::object({{"type", "Fuse"}})});
  if (prefix.adds)
    decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1u}, {"stop", 0u}});
  description["decoder"] = sequence("decoders", std::move(decoders));
}

void setMetaspaceStages(Json &description, const SentencePieceModel &model, SpacePrefix prefix, bool keepsSpaces) {
  Json rules = Json::array();
  if (!model.charsmap.empty())
    rules.push_back({{"type", "Precompiled"},
                     {"precompiled_charsmap", Json::binary({model.charsmap.begin(), model.charsmap.end()})}});
  if (!keepsSpaces) {
    rules.push_back({{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}});
    rules.push_back(replace({{"Regex", " {2,}"}}, space));
  }
  description["normalizer"] = sequence("normalizers", std::move(rules));
  description["pre_tokenizer"] = metaspace(prefix, !keepsSpaces);
  Json decoders = Json::array({metaspace(prefix, true)});
  if (model.byteFallback)
    decoders.insert(decoders.begin(), Json::object({{"type", "ByteFallback"}}));
  description["decoder"] = sequence("decoders", std::move(decoders));
}

}  // namespace talc::frontend
