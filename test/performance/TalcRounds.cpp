// SPDX-License-Identifier: Apache-2.0
// talc-rounds: runs a compiled model once for every line on standard input, and prints how many seconds it took. The
// kinds of rounds: `prompt` is so many tokens, logits of the last; `encode` so many, results of all; `decode` so many
// one by one; each behind `past` others. `ragged` encodes so many sequences of 8 to `past` tokens in one step.
#include "runtime/talc.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct Rounds {
  talc_model *model = nullptr;
  talc_session *session = nullptr;
  talc_model_info info = {};
  std::vector<int32_t> ids;
  std::vector<talc_sequence> sequences;
  talc_error error = {};

  bool open(const char *path, int32_t threads, int32_t tokens, int32_t slots);
  bool evaluate(int32_t count, talc_rows rows);
  bool encodeRagged();
  bool run(const std::string &kind, int32_t tokens, int32_t past);
};

bool Rounds::open(const char *path, int32_t threads, int32_t tokens, int32_t slots) {
  talc_session_options options = {};
  options.threads = threads;
  options.slots = slots;
  if (talc_model_open(path, nullptr, &model, &error) != TALC_OK ||
      talc_model_get_info(model, &info, &error) != TALC_OK ||
      talc_session_create(model, &options, &session, &error) != TALC_OK)
    return false;
  for (int32_t i = 0; i < tokens; ++i)
    ids.push_back(static_cast<int32_t>(i * int64_t(7919) % info.vocabulary_size));
  // Lengths from 8 to the longest, evenly spread and in no order.
  constexpr int32_t shortest = 8;
  for (int32_t i = 0; i < slots; ++i) {
    sequences.emplace_back();
    sequences[i].slot = i;
    sequences[i].count = shortest + i * int64_t(7919) % slots * (tokens - shortest) / std::max(slots - 1, 1);
    sequences[i].ids = ids.data();
    sequences[i].wanted[0].rows = TALC_ROWS_ALL;
  }
  return true;
}

bool Rounds::encodeRagged() {
  return talc_evaluate(session, sequences.data(), static_cast<int32_t>(sequences.size()), &error) == TALC_OK;
}

bool Rounds::evaluate(int32_t count, talc_rows rows) {
  talc_sequence sequence = {};
  sequence.count = count;
  sequence.ids = ids.data();
  sequence.wanted[0].rows = rows;
  return talc_evaluate(session, &sequence, 1, &error) == TALC_OK;
}

bool Rounds::run(const std::string &kind, int32_t tokens, int32_t past) {
  talc_slot_reset(session, 0, nullptr);
  if (kind != "ragged" && past > 0 && !evaluate(past, TALC_ROWS_NONE))
    return false;
  auto begin = std::chrono::steady_clock::now();
  int32_t steps = kind == "decode" ? tokens : 1;
  for (int32_t i = 0; i < steps; ++i)
    if (!(kind == "ragged" ? encodeRagged()
                           : evaluate(tokens / steps, kind == "encode" ? TALC_ROWS_ALL : TALC_ROWS_LAST)))
      return false;
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  printf("%.9f\n", seconds.count());
  return fflush(stdout) == 0;
}

}  // namespace

int main(int count, char **arguments) {
  if (count != 6) {
    fprintf(stderr, "usage: talc-rounds APP THREADS prompt|encode|decode TOKENS PAST, or ragged SEQUENCES LONGEST\n");
    return 2;
  }
  Rounds rounds;
  int32_t tokens = atoi(arguments[4]), past = atoi(arguments[5]);
  bool ragged = strcmp(arguments[3], "ragged") == 0;
  bool good = rounds.open(arguments[1], atoi(arguments[2]), ragged ? past : tokens + past, ragged ? tokens : 1);
  for (int character = 0; good && (character = getchar()) != EOF;)
    if (character == '\n')
      good = rounds.run(arguments[3], tokens, past);
  if (!good)
    fprintf(stderr, "%s\n", rounds.error.text);
  talc_session_destroy(rounds.session);
  talc_model_close(rounds.model);
  return good ? 0 : 1;
}
