// SPDX-License-Identifier: Apache-2.0
// talc-settings: prints docs/generation.md, whose first table is that of the settings.
#include "runtime/artifact/GenerationSettings.h"

#include <cstdio>
#include <string>

using namespace talc::artifact;

static constexpr const char *head = R"(# Settings of generation

A compiled model generates as its authors want: with the settings of `generation_config.json`, or of `config.json` where there is no such
file, over the defaults of the model's class. Tokens that begin and end a text may stand in either. Settings mean what they mean in
Hugging Face's `generate()`; options of the program and fields of `talc_sampling` and `talc_search` (`talc.h`) take their places. Ids
that the tokenizer lacks are never generated. Every key of transformers' `GenerationConfig` (4.57) is in one of the
three tables; other keys change nothing there either. `./dev docs` makes this page from
`runtime/artifact/GenerationSettings.def`.

## What talc does

The third column is the name in the module's attribute `talc.generation` and in the manifest, the fifth the value where nothing is said.

| key | option | `talc.generation` | values | else | remarks |
|---|---|---|---|---|---|
)";

static constexpr const char *tail =
    R"(| `stop_strings` | `--stop` adds to it | `stops` | at most 64 texts | none | a text ends before the first of them; `--ignore-eos` goes on |
| `pad_token_id` | | | a token id | | begins texts of an encoder-decoder where nothing else does; nothing is padded |

## What talc generates without

A warning names these when the model is compiled, unless they have the value that changes nothing.

| key | what it would do |
|---|---|
| `max_time` | end texts after a time |
| `num_return_sequences` | several texts for a prompt |
| `num_beam_groups`, `diversity_penalty` | groups of beams |
| `constraints`, `force_words_ids`, `forced_decoder_ids` | words that must occur, tokens in certain places |
| `penalty_alpha`, `dola_layers`, `guidance_scale` | contrastive search, contrast of layers, guidance |
| `top_h`, `epsilon_cutoff`, `eta_cutoff` | other ways to cut a distribution |
| `sequence_bias`, `watermarking_config`, `exponential_decay_length_penalty` | other changes of scores |
| `encoder_repetition_penalty`, `encoder_no_repeat_ngram_size` | rules about tokens of the source |
| `token_healing` | another token for the end of the prompt |
| `generation_kwargs` | anything |

## What changes no text

| key | why |
|---|---|
| `use_cache`, `cache_implementation`, `cache_config`, `return_legacy_cache`, `prefill_chunk_size`, `low_memory`, `compile_config`, `disable_compile` | how it is computed |
| `output_attentions`, `output_hidden_states`, `output_scores`, `output_logits`, `return_dict_in_generate` | what else is returned |
| `is_assistant`, `num_assistant_tokens`, `num_assistant_tokens_schedule`, `assistant_confidence_threshold`, `assistant_lookbehind`, `target_lookbehind`, `assistant_early_exit`, `prompt_lookup_num_tokens`, `max_matching_ngram_size` | guesses that make generation faster; a guess is kept only where the model chooses the same, or draws from the same distribution |
| `remove_invalid_values` | a logit that is not a number is never chosen anyway |
| `transformers_version`, `_from_model_config`, `_commit_hash` | where the file comes from |
)";

static std::string choicesText(const SettingRange &range) {
  std::string text;
  for (const char *choice : range.choices)
    text += (text.empty() ? "" : ", ") + std::string(choice);
  return text;
}

static std::string valuesText(const SettingRange &range) {
  switch (range.kind) {
  case SettingKind::Flag:
    return "true, false";
  case SettingKind::Choice:
    return choicesText(range);
  case SettingKind::Token:
    return "a token id";
  case SettingKind::Number:
  case SettingKind::Count:
    break;
  }
  return rangeText(range);
}

static std::string neutralText(const Setting &setting) {
  switch (setting.range.kind) {
  case SettingKind::Flag:
    return setting.neutral != 0 ? "true" : "false";
  case SettingKind::Choice:
    return setting.range.choices[static_cast<size_t>(setting.neutral)];
  case SettingKind::Token:
    return "none";
  case SettingKind::Number:
  case SettingKind::Count:
    break;
  }
  return numberText(setting.neutral);
}

static std::string code(const char *text) {
  return text ? "`" + std::string(text) + "` " : "";
}

static void printRow(const Setting &setting, const char *note) {
  printf("| %s| %s| %s| %s | %s | %s |\n", code(setting.key).c_str(), code(setting.option.name).c_str(),
         code(setting.name).c_str(), valuesText(setting.range).c_str(), neutralText(setting).c_str(), note);
}

static void printRow(const TokenListSetting &setting, const char *note) {
  bool grouped = setting.shape == ListShape::groups;
  printf("| %s| | %s| at most %d token ids%s | none | %s |\n", code(setting.key).c_str(), code(setting.name).c_str(),
         setting.maxCount, grouped ? " and lengths" : "", note);
}

int main() {
  fputs(head, stdout);
#define TALC_SETTING(type, member, name, field, title, range, neutral, key, option, note)                              \
  printRow(settings::member, note);
#define TALC_TOKEN_LIST(maxCount, member, name, title, counted, shape, key, note) printRow(settings::member, note);
#include "runtime/artifact/GenerationSettings.def"
  fputs(tail, stdout);
  return 0;
}
