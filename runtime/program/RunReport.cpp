// SPDX-License-Identifier: Apache-2.0
// Formats the memory table and the summary.
#include "runtime/program/Job.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace talc::program {

static std::string format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
static std::string format(const char *pattern, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, pattern);
  vsnprintf(text, sizeof(text), pattern, arguments);
  va_end(arguments);
  return text;
}

static std::string readable(uint64_t bytes) {
  if (bytes < 1024)
    return format("%" PRIu64 " B", bytes);
  static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit < 3; ++unit)
    value /= 1024;
  return format("%.1f %s", value, units[unit]);
}

static std::string line(const char *what, uint64_t bytes, const std::string &remark) {
  return format("%-34s %16" PRIu64 "  %10s  %s\n", what, bytes, readable(bytes).c_str(), remark.c_str());
}

std::string devicesText() {
  std::string result;
  for (int32_t i = 0; i < talc_device_count(); ++i) {
    talc_device_info info = {};
    info.struct_size = sizeof(info);
    if (talc_device_get_info(i, &info, nullptr) != TALC_OK)
      continue;
    std::string reason = info.reason;
    size_t code = reason.find("]: ");
    reason.erase(0, code == std::string::npos ? 0 : code + 3);
    result += format("%-8s", info.name);
    if (info.memory > 0)
      result += format("  %s, %s of memory", info.description, readable(info.memory).c_str());
    if (info.memory_available > 0)
      result += format(", %s free", readable(info.memory_available).c_str());
    result += (reason.empty() ? "" : "  cannot be used: " + reason) + "\n";
  }
  return result;
}

// Returns the most tokens that a slot holds of a sequence.
static uint64_t heldTokens(const talc_model_info &info) {
  return info.segment ? info.segment : info.max_sequence;
}

static uint64_t resultBytes(const talc_model_info &info) {
  uint64_t width = 0;
  for (int32_t i = 0; i < info.result_count; ++i)
    width = std::max<uint64_t>(width, info.results[i].width);
  return width * sizeof(float);
}

// Formats the memory of n tokens where it grows without a bound.
static std::string growth(const talc_model_info &info, uint64_t bytesPerToken) {
  uint64_t group = info.state_token_group;
  return format("ceil(n / %" PRIu64 ") * %" PRIu64 " for n tokens", group, group * bytesPerToken);
}

static std::string sourceLines(const talc_model_info &info) {
  uint64_t group = info.state_token_group, maxTokens = info.max_sequence, each = info.source_bytes_per_token;
  if (each == 0)
    return "";
  auto bytes = [&](uint64_t tokens) { return (tokens + group - 1) / group * group * each; };
  return line("KV cache of a source, 1 token", bytes(1), growth(info, each)) +
         line("KV cache of a source, all tokens", bytes(maxTokens), format("%" PRIu64 " tokens", maxTokens));
}

static std::string windowTokens(const talc_model_info &info) {
  return info.kept_tokens > 0 ? format(" of the first %d tokens and the last %d", info.kept_tokens, info.window)
                              : format(" of the last %d tokens", info.window);
}

// Windows are bounded by the capacity of their rings, and states of recurrences have one size.
static std::string kvLines(const talc_model *model, const talc_model_info &info) {
  uint64_t all = talc_state_bytes(model, info.max_sequence);
  if (all == 0)
    return "";
  if (info.segment)
    return line("KV cache of a sequence, all tokens", all,
                format("any number: the last %d and a memory of those before", info.segment));
  uint64_t each = info.state_bytes_per_token, rounded = (uint64_t(info.max_sequence) + info.state_token_group - 1) /
                                                        info.state_token_group * info.state_token_group;
  uint64_t states = info.state_bytes_fixed, windows = all - rounded * each - states;
  std::string rule = each > 0 ? growth(info, each) : "";
  if (windows > 0)
    rule += format("%sup to %" PRIu64 " in windows", each > 0 ? " + " : "", windows) + windowTokens(info);
  if (states > 0)
    rule += format("%s%" PRIu64 " in states, in f32", rule.empty() ? "" : " + ", states);
  return line("KV cache of a sequence, 1 token", talc_state_bytes(model, 1), rule) +
         line("KV cache of a sequence, all tokens", all,
              each > 0 ? format("%d tokens", info.max_sequence) : "any number of tokens");
}

std::string memoryText(const talc_model *model, const talc_model_info &info, int32_t threads) {
  constexpr uint64_t stepTokens = 512;
  auto arena = [&](uint64_t tokens) {
    return info.arena_bytes_fixed + tokens * info.arena_bytes_per_token + threads * info.arena_bytes_per_thread;
  };
  const uint64_t maxTokens = heldTokens(info);
  const bool onHost = strcmp(info.device, "cpu") == 0;
  std::string place = onHost ? "" : std::string(", in the memory of ") + info.device;
  std::string result =
      format("%s, code for %s%s\n%-34s %16s\n", info.name, info.target, place.c_str(), "memory", "bytes");
  result += line("weights", info.weight_bytes, onHost ? "mapped from the file, shared among processes" : "copied once");
  result += kvLines(model, info);
  result += sourceLines(info);
  result += line("temporaries, step of 1 token", arena(1),
                 format("%" PRIu64 " + T * %" PRIu64 " + %d threads * %" PRIu64 " for T tokens", info.arena_bytes_fixed,
                        info.arena_bytes_per_token, threads, info.arena_bytes_per_thread));
  uint64_t step = std::min(stepTokens, maxTokens), group = info.state_token_group;
  uint64_t kvBytes = talc_state_bytes(model, info.max_sequence) +
                     (maxTokens + group - 1) / group * group * info.source_bytes_per_token;
  if (info.step_tokens > 0)
    step = std::min<uint64_t>(step, info.step_tokens);
  result += line(format("temporaries, step of %" PRIu64 " tokens", step).c_str(), arena(step), "the longest step");
  bool hasLogits = info.results[0].kind == TALC_RESULT_LOGITS;
  result += line(hasLogits ? "logits of a token" : "result of a token", resultBytes(info),
                 format("%d %s", info.results[0].width, hasLogits ? "ids" : "numbers"));
  result += line("one sequence, all tokens", info.weight_bytes + kvBytes + arena(step) + resultBytes(info), "in all");
  if (info.device_steps)
    result += format("%-34s %s\n", "launches of a step", info.device_steps);
  return result;
}

std::string endingText(const Job &job) {
  constexpr size_t maxNotes = 8;
  std::string result;
  for (size_t i = 0; i < std::min(job.cut.size(), maxNotes); ++i)
    result += format("note: %s: its text ended after %zu new tokens: the model was compiled for at most %d tokens%s\n",
                     job.inputName(job.cut[i].input).c_str(), job.cut[i].newTokens, job.info.max_sequence,
                     job.info.longest_sequence > job.info.max_sequence ? " (--max-seq)" : "");
  return job.cut.size() <= maxNotes ? result : result + format("note: and %zu more\n", job.cut.size() - maxNotes);
}

static double rate(size_t tokens, double seconds) {
  return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
}

std::string summaryText(const Job &job, const talc_session *session, double loadSeconds, double runSeconds) {
  talc_session_memory memory = {};
  int32_t threads = 0;
  talc_session_get_memory(session, &memory, &threads, nullptr);
  const Timing &timing = job.timing;
  uint64_t kvBytes = std::max(memory.state_used, timing.maxKvBytes);
  bool generates = job.info.kind != TALC_MODEL_ENCODER;
  std::string result = format("load %.1f ms | ", 1e3 * loadSeconds);
  if (job.fromFile)
    result += format("%zu lines, %.1f lines/s | ", job.inputs.count(), rate(job.inputs.count(), runSeconds));
  result += format("%s %zu tokens, %.1f tokens/s | ", generates ? "prompt" : "text", timing.promptTokens,
                   rate(timing.promptTokens, timing.promptSeconds));
  if (generates)
    result += format("decode %zu tokens, %.1f tokens/s | ", timing.decodedTokens,
                     rate(timing.decodedTokens, timing.decodeSeconds));
  return result + format("%d thread%s | weights %s, KV cache %s, temporaries %s\n", threads, threads == 1 ? "" : "s",
                         readable(job.info.weight_bytes).c_str(), readable(kvBytes).c_str(),
                         readable(memory.arena).c_str());
}

}  // namespace talc::program
