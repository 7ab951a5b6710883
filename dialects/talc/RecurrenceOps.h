// SPDX-License-Identifier: Apache-2.0
// C++ classes of RecurrenceOps.td, which only code that knows what is in a state needs.
//
// A state is a KV cache of the role recurrence: for each head a matrix of `capacity` rows and `width` columns, in f32,
// whose size does not depend on the number of tokens.
//
//   op            heads   rows                          columns
//   causal_conv   1       earlier tokens that it sees   features
//   recurrence    heads   features of a key             features of a value
//   selective_scan groups numbers of a feature          features of a group
//
// It counts as zero before the first token of a sequence, so that nothing has to be cleared where a sequence begins. An
// op reads and writes the state at every token: what a step has done to it cannot be taken back, and sequences that
// share their beginning need copies. One op of an entry changes a state (check-model).
//
// Where a state is in memory follows from its type, as for other KV caches:
//
//   layout-kv-cache   #kernel.columns, whatever --state says of keys and values
//   plan-memory       its place among the KV caches of a slot; a token takes no bytes of it
//   the artifact      a run of the kind Recurrence, which sessions copy for forks, and put back after a failed step
//
// Tokens of a sequence are taken one after the other, and sums over rows ascend. What follows from a token depends only
// on the rows of its sequence, never on how they are cut into steps, on other sequences, or on threads.
//
// Rounding errors of a state add up over all tokens: after 10,000 of them a state in bf16 is off by up to 10 percent,
// one in f32 by 2e-6.
#pragma once

#include "dialects/talc/TalcDialect.h"

#define GET_OP_CLASSES
#include "dialects/talc/RecurrenceOps.h.inc"
