// SPDX-License-Identifier: Apache-2.0
// The table of model families.
#include "frontends/families/Families.h"

namespace talc {

// Texts that several rows share.
constexpr std::string_view decoderHeads = "next token";
constexpr std::string_view encoderHeads = "masked tokens, text classes, token classes, hidden states";
constexpr std::string_view bertStructure =
    "learned positions, token types, full attention, layer norm after each part, plain feed-forward";
constexpr std::string_view t5Structure = "bias by distance, RMS norm before each part, plain or gated feed-forward";

constexpr Family table[] = {
    {"bert", "bert.", defineBert, {}, {"BERT", encoderHeads, bertStructure, "WordPiece"}},
    {"camembert", "roberta.", defineCamembert, {0, 2}, {"CamemBERT", encoderHeads, "as RoBERTa", "Unigram"}},
    {"distilbert",
     "distilbert.",
     defineDistilBert,
     {},
     {"DistilBERT", encoderHeads, "as BERT without token types", "WordPiece"}},
    {"gpt2",
     "transformer.",
     defineGpt2,
     {50256, 50256},
     {"GPT-2", decoderHeads, "learned positions, causal attention, layer norm before each part, plain feed-forward",
      "byte-level BPE"}},
    {"llama",
     "model.",
     defineLlama,
     {1, 2},
     {"Llama 1 to 3, TinyLlama, SmolLM2, Vicuna", decoderHeads,
      "rotary positions (linear and Llama 3 scaling), causal attention with grouped heads, RMS norm before each part, "
      "gated feed-forward",
      "BPE with byte fallback, byte-level BPE"}},
    {"marian",
     "model.",
     defineMarian,
     {-1, 0, 58100, 0},
     {"Marian, OPUS-MT, the Transformer of 2017", "next token after a source",
      "sinusoidal positions, layer norm after or before each part, plain feed-forward, one embedding or two",
      "Unigram"}},
    {"mistral",
     "model.",
     defineMistral,
     {1, 2},
     {"Mistral", decoderHeads, "as Llama with a sliding window", "BPE with byte fallback, byte-level BPE"}},
    {"mt5",
     "",
     defineMt5,
     {-1, 1, 0},
     {"mT5", "next token after a source, hidden states of the encoder", t5Structure, "Unigram"}},
    {"qwen2",
     "model.",
     defineQwen2,
     {},
     {"Qwen2, Qwen2.5", decoderHeads, "as Llama with biases at queries, keys and values, windows in later layers",
      "byte-level BPE"}},
    {"qwen3",
     "model.",
     defineQwen3,
     {},
     {"Qwen3", decoderHeads, "as Llama with queries and keys normalized head by head, windows by type of layer",
      "byte-level BPE"}},
    {"roberta",
     "roberta.",
     defineRoberta,
     {0, 2},
     {"RoBERTa", encoderHeads, "as BERT, positions counted from the padding token's id + 1", "byte-level BPE"}},
    {"t5",
     "",
     defineT5,
     {-1, 1, 0},
     {"T5, T5 1.1, Flan-T5", "next token after a source, hidden states of the encoder", t5Structure, "Unigram"}},
    {"xlm-roberta", "roberta.", defineXlmRoberta, {0, 2}, {"XLM-RoBERTa", encoderHeads, "as RoBERTa", "Unigram"}},
};

llvm::ArrayRef<Family> families() {
  return table;
}

}  // namespace talc
