// SPDX-License-Identifier: Apache-2.0
// Stands for generated code in the runtime's tests: a "model" whose logits follow from all tokens of a sequence.
//
// It uses everything a step function is given: it stores each token in its sequence's state, waits at the barrier, and
// writes logits that depend on the whole history, on the weights, and on no other sequence. A wrong position, slot,
// barrier, span or output row, or a state that was not zero, changes the result. The likeliest next token is
// next[token], so that tests can know what is generated. Freestanding, like real generated code.
#include <stdint.h>

struct Span {
  int32_t firstRow, rowCount, firstPosition, slot, prefix, sourceSlot, sourceLength, history;
};

struct Row {
  int32_t position, slot, type;
};

struct Output {
  int64_t count;
  const int32_t *rows;
  float *data;
};

// The C view of runtime/artifact/StepContext.h.
struct StepContext {
  int64_t thread, threads, rowCount, spanCount;
  const int32_t *ids;
  const struct Row *rows;
  const struct Span *spans;
  const int32_t *history;
  const unsigned char *weights;
  unsigned char *state, *arena;
  struct Output outputs[2];
  void (*barrier)(void *);
  void *barrierState;
  void (*mark)(void *, int64_t, int64_t);
  void *markState;
};

// The weights section.
struct Weights {
  int32_t vocabulary, stateBytesPerSlot;
  int32_t nanFrom;  // from this position on logits are NaN
  int32_t zero;
  int32_t next[];
};

static uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

static int32_t *stateOf(const struct StepContext *c, int32_t slot) {
  const struct Weights *weights = (const struct Weights *)c->weights;
  return (int32_t *)(c->state + (int64_t)slot * weights->stateBytesPerSlot);
}

static void storeTokens(const struct StepContext *c) {
  for (int64_t r = c->thread; r < c->rowCount; r += c->threads) {
    int32_t *cell = stateOf(c, c->rows[r].slot) + c->rows[r].position;
    *cell += c->ids[r] + 1;  // shows a state that was not zero
  }
}

// arena[row] = hash of the sequence up to the row's token.
static void hashHistories(const struct StepContext *c) {
  for (int64_t s = 0; s < c->spanCount; ++s)
    for (int32_t i = (int32_t)c->thread; i < c->spans[s].rowCount; i += (int32_t)c->threads) {
      const int32_t *tokens = stateOf(c, c->spans[s].slot);
      uint32_t hash = 1;
      for (int32_t p = 0; p <= c->spans[s].firstPosition + i; ++p)
        hash = mix(hash ^ (uint32_t)tokens[p]);
      ((uint64_t *)c->arena)[c->spans[s].firstRow + i] = hash;
    }
}

static void writeLogits(const struct StepContext *c) {
  const struct Weights *weights = (const struct Weights *)c->weights;
  for (int64_t o = c->thread; o < c->outputs[0].count; o += c->threads) {
    int32_t row = c->outputs[0].rows[o];
    uint32_t hash = (uint32_t)((const uint64_t *)c->arena)[row];
    float *logits = c->outputs[0].data + o * weights->vocabulary;
    for (int32_t id = 0; id < weights->vocabulary; ++id) {
      float noise = (float)(mix(hash ^ (uint32_t)id) & 0xffff) / 65536.0f;
      logits[id] = weights->next[c->ids[row]] == id ? noise + 2.0f : noise;
      if (c->rows[row].position >= weights->nanFrom)
        logits[id] = __builtin_nanf("");
    }
  }
}

__attribute__((visibility("default"))) void talc_prefill(const struct StepContext *c) {
  storeTokens(c);
  c->barrier(c->barrierState);
  hashHistories(c);
  c->barrier(c->barrierState);
  writeLogits(c);
}

// A table of pointers makes the linker emit relative relocations, as constant tables of real code do.
typedef void (*Phase)(const struct StepContext *);
static const Phase volatile phases[] = {storeTokens, hashHistories, writeLogits};

__attribute__((visibility("default"))) void talc_decode(const struct StepContext *c) {
  if (c->rowCount != 1 || c->outputs[0].count != 1)
    __builtin_trap();  // real code relies on it
  for (int i = 0; i < 3; ++i) {
    if (i > 0)
      c->barrier(c->barrierState);
    phases[i](c);
  }
}
