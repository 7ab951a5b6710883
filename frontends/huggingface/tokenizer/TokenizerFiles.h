// SPDX-License-Identifier: Apache-2.0
// The tokenizer files of a model directory. Where tokenizer.json is missing, other files are translated to what
// Hugging Face's tokenizer.json would say, so that there is one pipeline behind them:
//
//   vocab.txt                                   WordPiece: BERT and its relatives
//   vocab.txt, vocab.json                       words: Transformer-XL
//   vocab.json, merges.txt                      byte-level BPE: GPT-2, RoBERTa, Qwen
//   tokenizer.model, spiece.model,
//   sentencepiece.bpe.model                     SentencePiece: Llama, T5, XLM-RoBERTa
//   sentencepiece.bpe.model                     the same with tokens for languages: mBART, NLLB
//   source.spm, vocab.json                      SentencePiece for cutting, a vocabulary for ids: Marian
//   sentencepiece.bpe.model, vocab.json         the same: M2M-100
//   tokenizer.model, *.tiktoken                 lines of tiktoken: Llama 3, Qwen 1, Whisper
//   tekken.json                                 Mistral
#pragma once

#include "frontends/ModelDirectory.h"
#include "frontends/huggingface/tokenizer/TokenizerSettings.h"
#include "frontends/tokenizer/TokenizerDraft.h"

namespace talc::frontend {

// The section of a file: a tokenizer.json, or one that Llama's, Qwen's or Mistral's code reads. The file is untrusted;
// on failure `error` is one line "error[T031n]: <file>:
// ...". Truncation, padding and dropout are not part of the section.
std::optional<std::vector<uint8_t>> compileTokenizerFile(const std::string &path, std::string &error);

// The section of a model directory: of tokenizer.json, or of the vocabulary files that stand in for it. An empty
// section: the directory has neither. `warnings`, if any, gets lines "warning: <file>: ...".
std::optional<std::vector<uint8_t>> compileTokenizerDirectory(const std::string &path, std::string &error,
                                                              std::vector<std::string> *warnings = nullptr);

// tokenizer.json or its equivalent; null without an error if the directory has no tokenizer. Errors name the file.
Json readTokenizerFiles(const ModelDirectory &directory, CompileErrors &errors);

// The whole text of a file; errors speak of it from now on. Empty and an error if it cannot be read.
std::string readTokenizerFile(const ModelDirectory &directory, const std::string &file, CompileErrors &errors);
// The same for a file with a token or merge in each line, whose number is limited.
std::string readTokenizerLines(const ModelDirectory &directory, const std::string &file, CompileErrors &errors);
// Reads a file that holds a JSON object.
Json readTokenizerObject(const ModelDirectory &directory, const std::string &file, CompileErrors &errors);

// The input and output of a translation; afterwards the draft is complete, or there is an error.
struct FileTranslation {
  const ModelDirectory &directory;
  const TokenizerSettings &settings;
  CompileErrors &errors;
  TokenizerDraft draft;

  // What the settings add, then the tokens of these roles. A role's own token is left out if the vocabulary lacks it.
  void addTokens(const std::vector<TokenRole> &roles);
};

// WordPieceFiles.cpp
void translateWordPiece(FileTranslation &translation);
// ByteLevelFiles.cpp
void translateGpt2(FileTranslation &translation);
void translateRoberta(FileTranslation &translation);
void translateQwen2(FileTranslation &translation);
// SentencePieceFiles.cpp
void translateLlama(FileTranslation &translation);
void translateT5(FileTranslation &translation);
void translateCamembert(FileTranslation &translation);
void translateXlmRoberta(FileTranslation &translation);
void translateLanguages(FileTranslation &translation);
// WordFiles.cpp
void translateWords(FileTranslation &translation);
// MarianFiles.cpp
void translateMarian(FileTranslation &translation);
void translateM2m100(FileTranslation &translation);
// TiktokenFiles.cpp: vocabularies that name bytes in base64.
void translateTiktoken(FileTranslation &translation);
void translateTekken(FileTranslation &translation);

// Whether tokenizer.model has lines of tiktoken; otherwise it is a SentencePiece model.
bool hasTiktokenModel(const ModelDirectory &directory);

// MosesStages.cpp: how the tokenizer of Moses cuts English texts into words, as stages of a tokenizer.json. Texts
// become as the punctuation normalizer of Moses leaves them, with spaces where the tokenizer cuts at commas,
// apostrophes and dashes within words ("well @-@ known"), and at commas and points within numbers ("5 @,@ 000").
Json makeMosesNormalizer();
// Cuts at spaces, at symbols, at several dots, and before the point of a word that is not an abbreviation.
Json makeMosesPreTokenizer();

}  // namespace talc::frontend
