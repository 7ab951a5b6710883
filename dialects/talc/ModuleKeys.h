// SPDX-License-Identifier: Apache-2.0
// The keys of the dictionaries talc.plan and talc.kernels, for those who write them and those who read them, in a
// module or in an artifact's manifest.
#pragma once

namespace talc {

// talc.plan: what plan-memory decided, in bytes; slotBytesKey in TalcDialect.h is another of its keys.
namespace planKeys {
constexpr char weightBytes[] = "weight_bytes";
constexpr char kvBytesPerToken[] = "state_bytes_per_token";       // of all states, that a token of the sequence touches
constexpr char sourceBytesPerToken[] = "source_bytes_per_token";  // the same of a source's token
constexpr char kvTokenGroup[] = "state_token_group";              // tokens whose places are touched together
constexpr char ringTokens[] = "ring_tokens";                      // that the smallest ring has room for; 0: none
constexpr char arenaBytesPerToken[] = "arena_bytes_per_token";
constexpr char arenaBytesFixed[] = "arena_bytes_fixed";
constexpr char arenaBytesPerThread[] = "arena_bytes_per_thread";
}  // namespace planKeys

// talc.kernels: what mark-kernels found at each place that calls a kernel.
namespace kernelKeys {
constexpr char name[] = "name";          // of the kernel
constexpr char op[] = "piece";           // what it does
constexpr char entry[] = "phase";        // that the place belongs to
constexpr char rows[] = "rows";          // what its rows are: tokens, outputs, outputs 1
constexpr char shapes[] = "shapes";      // in words
constexpr char fused[] = "fused";        // what else it computes
constexpr char share[] = "share";        // how threads divide it
constexpr char calls[] = "calls";        // in a step
constexpr char quantized[] = "rounded";  // the format that rows were rounded to before it; missing: none
constexpr char operationsPerRow[] = "operations_per_row";
constexpr char operationsPerPair[] = "operations_per_pair";  // of a query and a key
constexpr char storedBytesPerCall[] = "stored_bytes_per_call";
constexpr char storedBytesPerRow[] = "stored_bytes_per_row";
constexpr char storedBytesPerKey[] = "stored_bytes_per_key";
constexpr char passedBytesPerRow[] = "passed_bytes_per_row";
constexpr char mask[] = "mask";      // of attention: which keys a query sees
constexpr char window[] = "window";  // of attention: how far it sees; 0: without limit
constexpr char keys[] = "keys";      // of attention: whose they are
constexpr char spills[] = "spills";  // only in a manifest: vector registers that LLVM had no room for
}  // namespace kernelKeys

// A module's attribute if its program was measured (--measure): a dictionary.
constexpr char measuredAttr[] = "talc.measured";
namespace measuredKeys {
constexpr char text[] = "text";                // the name of the file
constexpr char predictions[] = "predictions";  // tokens that were predicted
constexpr char context[] = "context";          // tokens of a window
constexpr char perplexity[] = "perplexity";
constexpr char error[] = "perplexity_error";
// If the program rounds more than the model's files do: how far it is from one that does not.
constexpr char divergence[] = "divergence";  // of Kullback and Leibler, a mean
constexpr char divergenceError[] = "divergence_error";
constexpr char maxDivergence[] = "most_divergence";
constexpr char sameTop[] = "same_top";             // the share of predictions with the same likeliest token
constexpr char layerErrors[] = "layer_errors";     // of each layer's output the relative error, a mean
constexpr char maxErrors[] = "most_layer_errors";  // and the largest
}  // namespace measuredKeys

// A module's attribute: a dictionary of what talc compile was called with, as it was written; for talc tune.
constexpr char originAttr[] = "talc.origin";
namespace originKeys {
constexpr char model[] = "model";
constexpr char options[] = "options";  // those that decide about its code (tools/talc/ModelOptions.h)
}  // namespace originKeys

}  // namespace talc
