// SPDX-License-Identifier: Apache-2.0
// talc-families: prints docs/families.md, which the table of families holds.
#include "frontends/families/Families.h"

#include "llvm/Support/raw_ostream.h"

using namespace talc;

static constexpr const char *head = R"(# Model families

`model_type` in `config.json` chooses the family, the end of `architectures[0]` its head. What talc does not compute is refused with
T0105. `./dev docs` makes this page from the table in `frontends/families/Families.cpp`;
[adding.md](adding.md) says how to add a row.

| model_type | models | results | structure | tokenizers |
|---|---|---|---|---|
)";

static constexpr const char *tail = R"(
Results:

* *next token*: logits of the vocabulary (`...ForCausalLM`, `...LMHeadModel`). After a
  source, the encoder runs once per source and leaves keys and values for every layer of the decoder
  (`...ForConditionalGeneration`, `MarianMTModel`). Those of Transformer-XL are log-probabilities; `talc_score` computes only the
  clusters that its candidates are in, of up to six clusters beside the first words.
* *masked tokens*: logits of the vocabulary for the rows that are wanted (`...ForMaskedLM`, `BertForPreTraining`).
* *classes*: one row per text (`...ForSequenceClassification`, `...ForMultipleChoice`) or per token (`...ForTokenClassification`), named by
  `id2label`; the scores `start` and `end` of each token (`...ForQuestionAnswering`).
* *hidden states*: of the last layer. Models of masked tokens and classes yield them as a second result, base models
  (`BertModel`, `LlamaModel`, `T5EncoderModel`) as the only one. They are pooled as `modules.json` says, which may have layers after that,
  else by the mean of all tokens, as sentence-transformers does; those of GGUF files are pooled as the key `pooling_type` says.
  A decoder with that file or key has this result alone.

Decoders of Llama's kind (those that name Llama, directly or not) take the key `infini_attention` (arXiv 2404.07143): an object of
`segment_length`, `update` (`linear`, the default, or `delta`) and `first_segment` (`gated`, the default, or `local`), with a
tensor `self_attn.infini_beta` [heads] in every layer, whose sigmoid is the share of the memory. A text then goes on without end,
whatever `max_position_embeddings` and `--max-seq` say: the KV cache of a sequence holds one segment and the memory of those before.
Latent attention (DeepSeek), `prefix_lm` and `--sinks` have no segments.

`rope_scaling` of type `longrope` (Phi-3) has a list of factors for texts up to `original_max_position_embeddings` and one for longer ones.
Keys that a compiled model keeps were turned by one list, and no result may depend on how a text is cut into steps: so the length that a
model is compiled for decides. By default, and with a `--max-seq` up to the original context, all texts take the short factors; with more
all take the long ones, and talc says so.

With `dynamic` scaling a token beyond `max_position_embeddings` is turned by the length of the text up to it, and keeps that; Hugging
Face's library turns all tokens of a prompt by its whole length. Such logits differ, which talc says when it compiles.

Names and shapes of tensors are those of Hugging Face checkpoints. The prefix of the base model may be missing, layer norms may be
called gamma and beta, and of tied tensors one is enough; two that differ are not tied, whatever the configuration says. A tensor or a
key of `config.json` that talc does not know is refused; `--unused=allow` compiles without it.
)";

int main() {
  llvm::outs() << head;
  for (const Family &family : families())
    llvm::outs() << "| `" << family.modelType << "` | " << family.notes.name << " | " << family.notes.heads << " | "
                 << family.notes.structure << " | " << family.notes.tokenizers << " |\n";
  llvm::outs() << tail;
  return 0;
}
