// SPDX-License-Identifier: Apache-2.0
// The table of tokenizer classes.
#include "frontends/huggingface/tokenizer/TokenizerClasses.h"
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"

#include <algorithm>

namespace talc::frontend {

namespace {

constexpr EndTokens llamaEnds{"<s>", "</s>", true, false};
constexpr EndTokens gptEnds{"<|endoftext|>", "<|endoftext|>", false, false};

const TokenizerClass classes[] = {
    {"BertTokenizer", {"bert", "nomic_bert"}, translateWordPiece, heedsLowercase},
    {"DistilBertTokenizer", {"distilbert"}, translateWordPiece, heedsLowercase},
    {"ElectraTokenizer", {"electra"}, translateWordPiece, heedsLowercase},
    {"MobileBertTokenizer", {"mobilebert"}, translateWordPiece, heedsLowercase},
    {"MPNetTokenizer", {"mpnet"}, nullptr, heedsLowercase},
    {"SqueezeBertTokenizer", {"squeezebert"}, nullptr, heedsLowercase},
    {"ConvBertTokenizer", {"convbert"}, nullptr, heedsLowercase},
    {"FunnelTokenizer", {"funnel"}, nullptr, heedsLowercase},
    {"LayoutLMTokenizer", {"layoutlm"}, nullptr, heedsLowercase},
    {"LxmertTokenizer", {"lxmert"}, nullptr, heedsLowercase},
    {"RetriBertTokenizer", {"retribert"}, nullptr, heedsLowercase},
    {"DPRQuestionEncoderTokenizer", {"dpr"}, nullptr, heedsLowercase},
    {"DPRContextEncoderTokenizer", {}, nullptr, heedsLowercase},
    {"DPRReaderTokenizer", {}, nullptr, heedsLowercase},
    {"GPT2Tokenizer", {"gpt2", "gpt_neo", "gptj", "opt"}, translateGpt2, heedsPrefixSpace},
    {"CodeGenTokenizer", {"codegen", "phi"}, translateGpt2, heedsPrefixSpace},
    {"RobertaTokenizer", {"roberta"}, translateRoberta, heedsPrefixSpace},
    {"BartTokenizer", {"bart"}, translateRoberta, heedsPrefixSpace},
    {"LongformerTokenizer", {"longformer"}, nullptr, heedsPrefixSpace},
    {"LEDTokenizer", {"led"}, nullptr, heedsPrefixSpace},
    {"DebertaTokenizer", {"deberta"}, nullptr, heedsPrefixSpace},
    {"MvpTokenizer", {"mvp"}, nullptr, heedsPrefixSpace},
    {"WhisperTokenizer", {"whisper"}, nullptr, heedsPrefixSpace},
    {"Qwen2Tokenizer", {"qwen2", "qwen3"}, translateQwen2, heedsPrefixSpace},
    {"GPTNeoXTokenizer", {"gpt_neox"}, nullptr, heedsPrefixSpace | replacesEnds, gptEnds},
    {"LlamaTokenizer", {"llama", "mistral", "mixtral"}, translateLlama, heedsEnds, llamaEnds},
    {"CodeLlamaTokenizer", {}, nullptr, replacesEnds, llamaEnds},
    {"GemmaTokenizer", {"gemma", "gemma2", "gemma3_text"}, nullptr, heedsEnds, {"<bos>", "<eos>", true, false}},
    {"CohereTokenizer",
     {"cohere", "cohere2"},
     nullptr,
     heedsEnds,
     {"<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", true, false}},
    {"T5Tokenizer", {"t5", "mt5", "umt5"}, translateT5},
    {"XLMRobertaTokenizer", {"xlm-roberta"}, translateXlmRoberta},
    {"CamembertTokenizer", {"camembert"}, translateCamembert},
    {"MarianTokenizer", {"marian"}, translateMarian},
    {"M2M100Tokenizer", {"m2m_100"}, translateM2m100},
    {"MBartTokenizer", {"mbart"}, translateLanguages},
    {"MBart50Tokenizer", {}, translateLanguages},
    {"NllbTokenizer", {}, translateLanguages},
    {"TransfoXLTokenizer", {"transfo-xl"}, translateWords},
};

}  // namespace

const TokenizerClass *findTokenizerClass(const TokenizerSettings &settings) {
  for (const TokenizerClass &known : classes) {
    auto isSame = [&](const char *type) { return settings.modelType() == type; };
    bool ofType = std::any_of(known.modelTypes.begin(), known.modelTypes.end(), isSame);
    if (settings.tokenizerClass().empty() ? ofType : settings.tokenizerClass() == known.name)
      return &known;
  }
  return nullptr;
}

}  // namespace talc::frontend
