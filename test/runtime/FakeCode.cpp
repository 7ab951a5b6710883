// SPDX-License-Identifier: Apache-2.0
// Stands for generated code in the runtime's tests: a "model" whose results follow from all that a token may see.
//
// It uses everything a step function is given: it stores each token in its sequence's state, waits at the barrier, and
// claims rows of which it writes results that depend on the tokens and types that a token sees, on its source, on the
// weights, and on no other sequence. A wrong position, slot, barrier, span or output row changes the result. The
// likeliest next token is next[token], so that tests can know what is generated. Freestanding, like real generated
// code.
#include "runtime/device/cpu/StepContext.h"

using namespace talc::artifact;

// The weights section. A slot's state has cells for the tokens of its sequence, then cells for those of its source.
struct Weights {
  int32_t vocabulary, kvBytesPerSlot;
  int32_t nanFrom;      // from this position on results are NaN
  int32_t sourceCells;  // where the source's cells begin; 0: the model has no sources
  int32_t widths[2];    // of the results; 0: there is none
  int32_t next[];
};

static uint32_t mix(uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

static const Weights *getWeights(const StepContext *c) {
  return (const Weights *)c->weights;
}

static int32_t *getSlot(const StepContext *c, int32_t slot) {
  return (int32_t *)(c->kvCache + (int64_t)slot * getWeights(c)->kvBytesPerSlot);
}

static int32_t makeCell(const StepContext *c, int64_t row) {
  return c->inputs.tokenIds[row] + 1 + 100003 * c->tokens[row].type;
}

static void storeTokens(StepContext *c) {
  for (int64_t r = c->worker; r < c->tokenCount; r += c->workers)
    getSlot(c, c->tokens[r].slot)[c->tokens[r].position] = makeCell(c, r);
}

static void storeSources(const StepContext *c) {
  for (int64_t r = c->worker; r < c->tokenCount; r += c->workers)
    getSlot(c, c->tokens[r].slot)[getWeights(c)->sourceCells + c->tokens[r].position] = makeCell(c, r);
}

static int32_t tokenAt(const StepContext *c, const Span *span, int32_t position) {
  int scattered = span->history >= 0 && position < span->firstPosition;
  return getSlot(c, scattered ? c->history[span->history + position] : span->slot)[position];
}

// Hashes the source and the first `visible` tokens of the sequence.
static uint32_t hashHistory(const StepContext *c, const Span *span, int32_t visible) {
  uint32_t hash = 1;
  const int32_t *source = getSlot(c, span->sourceSlot) + getWeights(c)->sourceCells;
  for (int32_t p = 0; getWeights(c)->sourceCells > 0 && p < span->sourceLength; ++p)
    hash = mix(hash ^ (uint32_t)source[p]);
  for (int32_t p = 0; p < visible; ++p)
    hash = mix(hash ^ (uint32_t)tokenAt(c, span, p));
  return hash;
}

// arena[row] = hash of what the row's token sees. `whole`: all tokens of its sequence.
static void hashRows(const StepContext *c, int isWhole) {
  for (int64_t s = 0; s < c->spanCount; ++s)
    for (int32_t i = (int32_t)c->worker; i < c->spans[s].tokenCount; i += (int32_t)c->workers) {
      const Span *span = &c->spans[s];
      int32_t position = span->firstPosition + i, visible = isWhole ? span->tokenCount : position + 1;
      uint32_t hash = hashHistory(c, span, visible < span->prefix ? span->prefix : visible);
      ((uint64_t *)c->arena)[span->firstToken + i] = mix(hash ^ (uint32_t)position);
    }
}

static void hashHistories(StepContext *c) {
  hashRows(c, 0);
}

// Rows are claimed; the second result's directly behind the first one's.
static void writeResult(StepContext *c, int result) {
  const int32_t width = getWeights(c)->widths[result];
  const int64_t piece = c->dynamicOps++, count = c->outputs[result].count;
  int64_t o;
  while ((o = c->nextTask(c->schedulerState, c->worker, piece, count)) < count) {
    int32_t row = c->outputs[result].tokens[o];
    uint32_t hash = (uint32_t)((const uint64_t *)c->arena)[row] + (uint32_t)result;
    float *data = c->outputs[result].data + o * width;
    for (int32_t i = 0; i < width; ++i) {
      float noise = (float)(mix(hash ^ (uint32_t)i) & 0xffff) / 65536.0f;
      data[i] = getWeights(c)->next[c->inputs.tokenIds[row]] == i ? noise + 2.0f : noise;
      if (c->tokens[row].position >= getWeights(c)->nanFrom)
        data[i] = __builtin_nanf("");
    }
  }
}

static void writeResults(StepContext *c) {
  for (int result = 0; result < 2; ++result)
    writeResult(c, result);
}

extern "C" __attribute__((visibility("default"))) void talc_encode(StepContext *c) {
  if (getWeights(c)->sourceCells > 0) {
    storeSources(c);
    return;
  }
  storeTokens(c);
  c->barrier(c->barrierState);
  hashRows(c, 1);
  c->barrier(c->barrierState);
  writeResults(c);
}

extern "C" __attribute__((visibility("default"))) void talc_prefill(StepContext *c) {
  storeTokens(c);
  c->barrier(c->barrierState);
  hashHistories(c);
  c->barrier(c->barrierState);
  writeResults(c);
}

// A table of pointers makes the linker emit relative relocations, as constant tables of real code do.
static const volatile StepFunction phases[] = {storeTokens, hashHistories, writeResults};

extern "C" __attribute__((visibility("default"))) void talc_decode(StepContext *c) {
  if (c->tokenCount != 1)
    __builtin_trap();  // real code relies on it
  for (int result = 0; result < 2; ++result)
    if (getWeights(c)->widths[result] > 0 && c->outputs[result].count != 1)
      __builtin_trap();
  for (int i = 0; i < 3; ++i) {
    if (i > 0)
      c->barrier(c->barrierState);
    phases[i](c);
  }
}
