// SPDX-License-Identifier: Apache-2.0
// The table of model families. To add one: a file beside this one, a declaration here, a row in Families.cpp.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string_view>

namespace talc {

class GraphBuilder;
class ModelConfig;

// Default token ids; -1: none.
struct FamilyTokens {
  int64_t begin = -1, end = -1;
  int64_t start = -1;      // begins the text of an encoder-decoder
  int64_t forcedEnd = -1;  // ends a text that is cut
  bool startPads = true;   // the text begins with the padding token, if the configuration names one
  bool language = false;   // the token behind it names the language of the text
};

// The entry of a family in docs/families.md.
struct FamilyNotes {
  std::string_view name;        // the name in common use
  std::string_view heads;       // the heads that talc supports
  std::string_view structure;   // positions, masks, norms, feed-forward
  std::string_view tokenizers;  // that its checkpoints come with
};

struct Family {
  std::string_view modelType;   // `model_type` in config.json
  std::string_view basePrefix;  // of tensor names; checkpoints may lack it
  void (*define)(GraphBuilder &graph, const ModelConfig &config);
  FamilyTokens tokens;
  FamilyNotes notes;
  // A class in `architectures` whose name does not begin with that of the model_type; empty: there is none.
  std::string_view otherClass = {};
};

llvm::ArrayRef<Family> families();

void defineAfmoe(GraphBuilder &graph, const ModelConfig &config);
void defineAlbert(GraphBuilder &graph, const ModelConfig &config);
void defineArcee(GraphBuilder &graph, const ModelConfig &config);
void defineAria(GraphBuilder &graph, const ModelConfig &config);
void defineAxk1(GraphBuilder &graph, const ModelConfig &config);
void defineBart(GraphBuilder &graph, const ModelConfig &config);
void defineBamba(GraphBuilder &graph, const ModelConfig &config);
void defineBert(GraphBuilder &graph, const ModelConfig &config);
void defineBigBird(GraphBuilder &graph, const ModelConfig &config);
void defineBigBirdPegasus(GraphBuilder &graph, const ModelConfig &config);
void defineBioGpt(GraphBuilder &graph, const ModelConfig &config);
void defineBitNet(GraphBuilder &graph, const ModelConfig &config);
void defineBlenderbot(GraphBuilder &graph, const ModelConfig &config);
void defineBlenderbotSmall(GraphBuilder &graph, const ModelConfig &config);
void defineBloom(GraphBuilder &graph, const ModelConfig &config);
void defineCamembert(GraphBuilder &graph, const ModelConfig &config);
void defineCodeGen(GraphBuilder &graph, const ModelConfig &config);
void defineCohere(GraphBuilder &graph, const ModelConfig &config);
void defineCohere2(GraphBuilder &graph, const ModelConfig &config);
void defineCohere2Moe(GraphBuilder &graph, const ModelConfig &config);
void defineCwm(GraphBuilder &graph, const ModelConfig &config);
void defineData2VecText(GraphBuilder &graph, const ModelConfig &config);
void defineDbrx(GraphBuilder &graph, const ModelConfig &config);
void defineDeepSeek2(GraphBuilder &graph, const ModelConfig &config);
void defineDeepSeek3(GraphBuilder &graph, const ModelConfig &config);
void defineDistilBert(GraphBuilder &graph, const ModelConfig &config);
void defineDots1(GraphBuilder &graph, const ModelConfig &config);
void defineElectra(GraphBuilder &graph, const ModelConfig &config);
void defineErnie(GraphBuilder &graph, const ModelConfig &config);
void defineErnie45(GraphBuilder &graph, const ModelConfig &config);
void defineErnie45Moe(GraphBuilder &graph, const ModelConfig &config);
void defineEsm(GraphBuilder &graph, const ModelConfig &config);
void defineEsmc(GraphBuilder &graph, const ModelConfig &config);
void defineEuroBert(GraphBuilder &graph, const ModelConfig &config);
void defineExaone(GraphBuilder &graph, const ModelConfig &config);
void defineExaone4(GraphBuilder &graph, const ModelConfig &config);
void defineExaoneMoe(GraphBuilder &graph, const ModelConfig &config);
void defineFalcon(GraphBuilder &graph, const ModelConfig &config);
void defineFlauBert(GraphBuilder &graph, const ModelConfig &config);
void defineFalconH1(GraphBuilder &graph, const ModelConfig &config);
void defineFalconMamba(GraphBuilder &graph, const ModelConfig &config);
void defineFlexOlmo(GraphBuilder &graph, const ModelConfig &config);
void defineFlint(GraphBuilder &graph, const ModelConfig &config);
void defineFsmt(GraphBuilder &graph, const ModelConfig &config);
void defineGemma(GraphBuilder &graph, const ModelConfig &config);
void defineGemma2(GraphBuilder &graph, const ModelConfig &config);
void defineGemma3(GraphBuilder &graph, const ModelConfig &config);
void defineGlm(GraphBuilder &graph, const ModelConfig &config);
void defineGlm4(GraphBuilder &graph, const ModelConfig &config);
void defineGlm4Moe(GraphBuilder &graph, const ModelConfig &config);
void defineGlm4MoeLite(GraphBuilder &graph, const ModelConfig &config);
void defineGpt(GraphBuilder &graph, const ModelConfig &config);
void defineGpt2(GraphBuilder &graph, const ModelConfig &config);
void defineGptBigCode(GraphBuilder &graph, const ModelConfig &config);
void defineGptJ(GraphBuilder &graph, const ModelConfig &config);
void defineGptNeo(GraphBuilder &graph, const ModelConfig &config);
void defineGptNeoX(GraphBuilder &graph, const ModelConfig &config);
void defineGptNeoXJapanese(GraphBuilder &graph, const ModelConfig &config);
void defineGptOss(GraphBuilder &graph, const ModelConfig &config);
void defineGranite(GraphBuilder &graph, const ModelConfig &config);
void defineGraniteMoe(GraphBuilder &graph, const ModelConfig &config);
void defineGraniteMoeHybrid(GraphBuilder &graph, const ModelConfig &config);
void defineGraniteMoeSwa(GraphBuilder &graph, const ModelConfig &config);
void defineGraniteSwa(GraphBuilder &graph, const ModelConfig &config);
void defineGte(GraphBuilder &graph, const ModelConfig &config);
void defineHelium(GraphBuilder &graph, const ModelConfig &config);
void defineHunyuan(GraphBuilder &graph, const ModelConfig &config);
void defineHunyuanMoe(GraphBuilder &graph, const ModelConfig &config);
void defineHy3(GraphBuilder &graph, const ModelConfig &config);
void defineHyperClovaX(GraphBuilder &graph, const ModelConfig &config);
void defineIBert(GraphBuilder &graph, const ModelConfig &config);
void defineInternLm3(GraphBuilder &graph, const ModelConfig &config);
void defineIquestCoder(GraphBuilder &graph, const ModelConfig &config);
void defineJais2(GraphBuilder &graph, const ModelConfig &config);
void defineJamba(GraphBuilder &graph, const ModelConfig &config);
void defineJinaEmbeddingsV3(GraphBuilder &graph, const ModelConfig &config);
void defineKolibri1(GraphBuilder &graph, const ModelConfig &config);
void defineLayoutLm(GraphBuilder &graph, const ModelConfig &config);
void defineLed(GraphBuilder &graph, const ModelConfig &config);
void defineLfm2(GraphBuilder &graph, const ModelConfig &config);
void defineLfm2Moe(GraphBuilder &graph, const ModelConfig &config);
void defineLlama(GraphBuilder &graph, const ModelConfig &config);
void defineLlama4(GraphBuilder &graph, const ModelConfig &config);
void defineLongformer(GraphBuilder &graph, const ModelConfig &config);
void defineLongT5(GraphBuilder &graph, const ModelConfig &config);
void defineLuke(GraphBuilder &graph, const ModelConfig &config);
void defineM2m100(GraphBuilder &graph, const ModelConfig &config);
void defineMamba(GraphBuilder &graph, const ModelConfig &config);
void defineMamba2(GraphBuilder &graph, const ModelConfig &config);
void defineMarian(GraphBuilder &graph, const ModelConfig &config);
void defineMbart(GraphBuilder &graph, const ModelConfig &config);
void defineMegatronBert(GraphBuilder &graph, const ModelConfig &config);
void defineMellum(GraphBuilder &graph, const ModelConfig &config);
void defineMiniCpm3(GraphBuilder &graph, const ModelConfig &config);
void defineMiniMaxM2(GraphBuilder &graph, const ModelConfig &config);
void defineMinistral(GraphBuilder &graph, const ModelConfig &config);
void defineMinistral3(GraphBuilder &graph, const ModelConfig &config);
void defineMistral(GraphBuilder &graph, const ModelConfig &config);
void defineMixtral(GraphBuilder &graph, const ModelConfig &config);
void defineModernBert(GraphBuilder &graph, const ModelConfig &config);
void defineModernBertDecoder(GraphBuilder &graph, const ModelConfig &config);
void defineMpnet(GraphBuilder &graph, const ModelConfig &config);
void defineMpt(GraphBuilder &graph, const ModelConfig &config);
void defineMt5(GraphBuilder &graph, const ModelConfig &config);
void defineMvp(GraphBuilder &graph, const ModelConfig &config);
void defineNanoChat(GraphBuilder &graph, const ModelConfig &config);
void defineNemotron(GraphBuilder &graph, const ModelConfig &config);
void defineNemotronH(GraphBuilder &graph, const ModelConfig &config);
void defineNomicBert(GraphBuilder &graph, const ModelConfig &config);
void defineOlmo(GraphBuilder &graph, const ModelConfig &config);
void defineOlmo2(GraphBuilder &graph, const ModelConfig &config);
void defineOlmo3(GraphBuilder &graph, const ModelConfig &config);
void defineOlmoHybrid(GraphBuilder &graph, const ModelConfig &config);
void defineOlmoe(GraphBuilder &graph, const ModelConfig &config);
void defineOpt(GraphBuilder &graph, const ModelConfig &config);
void definePegasus(GraphBuilder &graph, const ModelConfig &config);
void definePersimmon(GraphBuilder &graph, const ModelConfig &config);
void definePhi(GraphBuilder &graph, const ModelConfig &config);
void definePhi3(GraphBuilder &graph, const ModelConfig &config);
void definePhiMoe(GraphBuilder &graph, const ModelConfig &config);
void definePlBart(GraphBuilder &graph, const ModelConfig &config);
void defineQwen2(GraphBuilder &graph, const ModelConfig &config);
void defineQwen2Moe(GraphBuilder &graph, const ModelConfig &config);
void defineQwen3(GraphBuilder &graph, const ModelConfig &config);
void defineQwen35(GraphBuilder &graph, const ModelConfig &config);
void defineQwen35Moe(GraphBuilder &graph, const ModelConfig &config);
void defineQwen3Moe(GraphBuilder &graph, const ModelConfig &config);
void defineQwen3Next(GraphBuilder &graph, const ModelConfig &config);
void defineRemBert(GraphBuilder &graph, const ModelConfig &config);
void defineRoberta(GraphBuilder &graph, const ModelConfig &config);
void defineRobertaPreLayerNorm(GraphBuilder &graph, const ModelConfig &config);
void defineRoFormer(GraphBuilder &graph, const ModelConfig &config);
void defineSarvamMla(GraphBuilder &graph, const ModelConfig &config);
void defineSarvamMoe(GraphBuilder &graph, const ModelConfig &config);
void defineSeedOss(GraphBuilder &graph, const ModelConfig &config);
void defineSmolLm3(GraphBuilder &graph, const ModelConfig &config);
void defineSolarOpen(GraphBuilder &graph, const ModelConfig &config);
void defineSqueezeBert(GraphBuilder &graph, const ModelConfig &config);
void defineStableLm(GraphBuilder &graph, const ModelConfig &config);
void defineStarcoder2(GraphBuilder &graph, const ModelConfig &config);
void defineT5(GraphBuilder &graph, const ModelConfig &config);
void defineTransfoXl(GraphBuilder &graph, const ModelConfig &config);
void defineUmt5(GraphBuilder &graph, const ModelConfig &config);
void defineVaultGemma(GraphBuilder &graph, const ModelConfig &config);
void defineXglm(GraphBuilder &graph, const ModelConfig &config);
void defineXlm(GraphBuilder &graph, const ModelConfig &config);
void defineXlmRoberta(GraphBuilder &graph, const ModelConfig &config);
void defineXlmRobertaXl(GraphBuilder &graph, const ModelConfig &config);
void defineXmod(GraphBuilder &graph, const ModelConfig &config);
void defineYoutu(GraphBuilder &graph, const ModelConfig &config);

}  // namespace talc
