// SPDX-License-Identifier: Apache-2.0
// The keys of the dictionaries talc.plan and talc.kernels, in a module or in the manifest of an artifact. Manifests
// keep the keys of their first version.
#pragma once

namespace talc {

// talc.plan: sizes in bytes (plan-memory); slotBytesKey in TalcDialect.h is another of its keys.
namespace planKeys {
constexpr char weightBytes[] = "weight_bytes";
constexpr char tableBytes[] = "table_bytes";                      // of them: rotary tables, made on opening
constexpr char gradientBytes[] = "gradient_bytes";                // only of a model that is trained
constexpr char kvBytesPerToken[] = "state_bytes_per_token";       // of all KV caches, per token of the sequence
constexpr char sourceBytesPerToken[] = "source_bytes_per_token";  // the same per token of the source
constexpr char kvTokenGroup[] = "state_token_group";              // tokens that share pages of a KV cache
constexpr char ringTokens[] = "ring_tokens";                      // capacity of the smallest ring; 0: none
constexpr char arenaBytesPerToken[] = "arena_bytes_per_token";
constexpr char arenaBytesFixed[] = "arena_bytes_fixed";
constexpr char arenaBytesPerThread[] = "arena_bytes_per_thread";
}  // namespace planKeys

// A model that is trained: the value of talc.entry_name, its kind of result (talc.outputs), and the attribute of a
// weight for the offset of its gradient in bytes (plan-memory).
constexpr char trainEntry[] = "train";  // forward, loss and backward of whole sequences
constexpr char lossOutput[] = "loss";   // of every label
constexpr char gradientOffsetAttr[] = "gradient_offset";

// talc.kernels: one dictionary for each call of a kernel (mark-kernels).
namespace kernelKeys {
constexpr char name[] = "name";          // of the kernel
constexpr char op[] = "piece";           // the compute op
constexpr char entry[] = "phase";        // the entry that the call belongs to
constexpr char rows[] = "rows";          // what its rows stand for: tokens, outputs, outputs 1
constexpr char shapes[] = "shapes";      // as text
constexpr char fused[] = "fused";        // fused ops
constexpr char stored[] = "stored";      // the weights and KV caches that it takes; * stands for what differs by call
constexpr char share[] = "share";        // how workers divide it
constexpr char calls[] = "calls";        // in a step
constexpr char quantized[] = "rounded";  // the format of quantized activations; missing: none
constexpr char operationsPerRow[] = "operations_per_row";
constexpr char operationsPerPair[] = "operations_per_pair";  // per query and key
constexpr char storedBytesPerCall[] = "stored_bytes_per_call";
constexpr char storedBytesPerRow[] = "stored_bytes_per_row";
constexpr char storedBytesPerKey[] = "stored_bytes_per_key";
constexpr char passedBytesPerRow[] = "passed_bytes_per_row";
constexpr char mask[] = "mask";      // of attention: which keys a query sees
constexpr char window[] = "window";  // of attention: its width; 0: no limit
constexpr char keys[] = "keys";      // of attention: the role of the KV cache
constexpr char spills[] = "spills";  // only in a manifest: vector registers that LLVM spilled
}  // namespace kernelKeys

// On a module whose perplexity was measured (--measure): a dictionary.
constexpr char measuredAttr[] = "talc.measured";
namespace measuredKeys {
constexpr char text[] = "text";                // the name of the file
constexpr char predictions[] = "predictions";  // tokens that were predicted
constexpr char context[] = "context";          // tokens of a window
constexpr char perplexity[] = "perplexity";
constexpr char error[] = "perplexity_error";
// If the program quantizes more than the files of the model: its distance from a program that does not.
constexpr char divergence[] = "divergence";  // Kullback-Leibler, a mean
constexpr char divergenceError[] = "divergence_error";
constexpr char maxDivergence[] = "most_divergence";
constexpr char sameTop[] = "same_top";             // share of predictions with the same likeliest token
constexpr char layerErrors[] = "layer_errors";     // relative error of the output of each layer, a mean
constexpr char maxErrors[] = "most_layer_errors";  // and the largest
}  // namespace measuredKeys

// On a module: a dictionary of the arguments of talc compile, as they were written, for talc tune; and of the family of
// the model. A manifest has the names of files without their folders.
constexpr char originAttr[] = "talc.origin";
namespace originKeys {
constexpr char family[] = "family";  // model_type in config.json
constexpr char model[] = "model";
constexpr char options[] = "options";          // those that affect its code (tools/talc/ModelOptions.h)
constexpr char fileOption[] = "--calibrate=";  // the one of them that names a file
}  // namespace originKeys

}  // namespace talc
