// SPDX-License-Identifier: Apache-2.0
// The languages of tokenizers whose texts carry a token for their language: M2M-100, mBART, NLLB.
#pragma once

#include "frontends/huggingface/tokenizer/TokenizerSettings.h"

#include <string>
#include <vector>

namespace talc::frontend {

// A class of transformers and its languages.
struct LanguageRules {
  const char *className;
  const char *choice;                   // the value of language_codes that selects the row; null: there is one row
  const char *codes;                    // separated by spaces, in the order of their tokens
  const char *ownCode;                  // the language of texts where src_lang names none
  const char *quotes = "";              // around a code in the spelling of its token
  bool standsLast = false;              // the token stands behind the end token, not before the text
  const char *standsLastKey = nullptr;  // a setting that says so

  std::vector<std::string> list() const;
  std::string spell(const std::string &code) const { return quotes + code + quotes; }
};

// Null if texts of the class carry no language. Fails if language_codes selects none of its rows.
const LanguageRules *findLanguageRules(const std::string &className, const TokenizerSettings &settings,
                                       CompileErrors &errors);

// Adds "languages" and "source_language" to a description, and replaces its post-processor by the one that the class
// makes for the language that the settings name. (LanguageTemplates.cpp)
void applyLanguages(Json &description, const TokenizerSettings &settings, CompileErrors &errors);

}  // namespace talc::frontend
