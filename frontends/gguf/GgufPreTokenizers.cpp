// SPDX-License-Identifier: Apache-2.0
// The table of pre-tokenizers. The names are those of llama.cpp; the patterns are those of the models' tokenizer.json,
// as far as they are published. NFC: see the tokenizers of Qwen, GPT-NeoX and Cohere in transformers.
#include "frontends/gguf/GgufPreTokenizers.h"

#include "frontends/tokenizer/SplitPatterns.h"

#include <algorithm>

namespace talc::frontend {

namespace {

const PreTokenizer table[] = {
    {{"gpt-2", "gpt2", "phi-2", "jina-de", "jina-en", "jina-es", "jina-v1-en", "jina-v2-code", "jina-v2-de",
      "jina-v2-es", "roberta-bpe", "gigachat", "a.x-4.0", "mellum", "exaone4", "jais", "trillion", "granite-docling"},
     {{}, false, true}},
    {{"mpt", "olmo", "modern-bert"}, {{}, false, true}, true},
    {{"starcoder", "refact", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"}, {{}, true, true}},
    {{"command-r"}, {{}, true, true}, true},
    {{"default"}, {{falconMarks, gpt2Pattern, numberRuns, threeDigits}}},
    {{"falcon"}, {{falconAllMarks, gpt2Pattern, threeDigits}}},
    {{"llama-bpe", "llama-v3", "llama3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano"},
     {{llama3Pattern}},
     false,
     true,
     true},
    {{"dbrx", "smaug-bpe", "glm4", "chatglm-bpe"}, {{llama3Pattern}}},
    {{"minicpm5"}, {{threeNumbers, minicpm5Pattern}}, false, true},
    {{"jais-2"}, {{jais2Pattern}}},
    {{"qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "megrez"}, {{qwen2Pattern}}, true},
    {{"qwen35"}, {{qwen35Pattern}}, true},
    {{"stablelm2", "hunyuan", "solar-open", "grok-2"}, {{qwen2Pattern}}},
    {{"laguna"}, {{newlineRuns, qwen2Pattern}}},
    {{"ufakzeka"}, {{ufakzekaPattern}}},
    {{"seed-coder"}, {{seedCoderPattern}}},
    {{"bailingmoe", "bailingmoe2", "llada-moe"}, {{bailingPattern}}},
    {{"exaone-moe"}, {{exaoneMoePattern}}},
    {{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"}, {{gpt4oPattern}}},
    {{"granite-embed-multi-97m"}, {{gpt4oPattern}}, false, true},
    {{"tiny_aya", "cohere2moe"}, {{threeDigitsFromRight, gpt4oPattern}}},
    {{"tekken"}, {{tekkenPattern}}, false, true, true},
    {{"youtu"}, {{youtuScripts, youtuPattern}}, false, true},
    {{"kimi-k2"}, {{kimiK2Pattern}}},
    {{"bloom", "gpt3-finnish", "poro-chat"}, {{bloomPattern}}},
    {{"viking"}, {{bloomPattern}, true}},
    {{"superbpe"}, {{numberRuns, superBpeDigits}}},
    {{"chameleon"},
     {{chameleonSentinels, chameleonImages, chameleonSpaces, oneNumber, chameleonMarks, gpt2Pattern}},
     false,
     false,
     true},
    {{"deepseek-llm"}, {{deepseekNewlines, deepseekLetters, deepseekMarks, deepseekEnd, deepseekScripts}, true}},
    {{"deepseek-coder"}, {{deepseekNewlines, deepseekCoderLetters, deepseekCoderMarks, deepseekScripts}, true}},
    {{"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"}, {{threeNumbers, deepseekV3Scripts, deepseekV3Words}}},
    {{"spark2_5"}, {{threeNumbers, deepseekV3Scripts, spark25Words, oneNumber}}},
    {{"afmoe"}, {{numberRuns, afmoeNumbers, afmoeScripts, deepseekV3Words}}},
    {{"gemma4", "granite-embed-multi-311m"}, {{newlineRuns}}, false, false, true, true},
    {{"sarvam-moe"}, {{newlineRuns}}, false, false, false, true},
};

}  // namespace

const PreTokenizer *findPreTokenizer(const std::string &name) {
  auto isNamed = [&](const PreTokenizer &known) {
    return std::find(known.names.begin(), known.names.end(), name) != known.names.end();
  };
  auto it = std::find_if(std::begin(table), std::end(table), isNamed);
  return it == std::end(table) ? nullptr : it;
}

}  // namespace talc::frontend
