// SPDX-License-Identifier: Apache-2.0
// The parts of tokenizer.json, each compiled by a file of its own. Errors go to the context.
#pragma once

#include "frontends/tokenizer/JsonFields.h"

namespace talc::frontend {

// Normalizers.cpp, PreTokenizers.cpp, Decoders.cpp: append operations to the section.
void compileNormalizer(CompileContext &context, const Json &json, const std::string &path);
void compilePreTokenizer(CompileContext &context, const Json &json, const std::string &path);
// `json` is null where the file has no decoder.
void compileDecoder(CompileContext &context, const Json *json, const std::string &path);

// Models.cpp: vocabulary, merges, scores.
void compileModel(CompileContext &context, const Json &json, const std::string &path);
// AddedTokens.cpp, behind compileModel: they extend the vocabulary.
void compileAddedTokens(CompileContext &context, const Json &json, const std::string &path);
// PostProcessors.cpp, behind compileAddedTokens; `json` is null where the file has none.
void compilePostProcessor(CompileContext &context, const Json *json, const std::string &path);

// Patterns.cpp: {"String": ...} or {"Regex": ...}; none and an error if it is neither.
uint32_t compilePattern(CompileContext &context, const Json &json, const std::string &path);
uint32_t compileRegexAt(CompileContext &context, std::string_view regex, const std::string &path);

// UnicodeTables.cpp, UnicodeScripts.cpp: fill the section's tables on first use.
void addNormalFormTables(SectionBuilder &section, bool compatible);
void addGraphemeTable(SectionBuilder &section);
void addScriptTable(SectionBuilder &section);

// CharsmapRules.cpp: the trie root of SentencePiece's precompiled rules: a string in base64, or bytes.
uint32_t compileCharsmap(CompileContext &context, const Json &rules, const std::string &path);

// Calls `each` with every element of the array `name` of a Sequence and its path.
template <typename Each>
void forEachIn(CompileContext &context, const JsonFields &fields, const char *name, Each each) {
  const Json *list = fields.array(name);
  for (size_t i = 0; list && i < list->size() && !context.errors.failed(); ++i)
    each((*list)[i], fields.path(name) + "[" + std::to_string(i) + "]");
}

}  // namespace talc::frontend
