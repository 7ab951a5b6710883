// SPDX-License-Identifier: Apache-2.0
// Memory is mapped, not allocated: states cost nothing until tokens arrive, and arena and logits only ever grow.
#include "runtime/session/Session.h"

#include "runtime/parallel/Cores.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>

namespace talc {

using artifact::ModelInfo;
using artifact::StepContext;

static Status outOfMemory(const Model &model, const char *what, uint64_t bytes) {
  return Status::failure(TALC_ERROR_MEMORY, "%s: no memory for %s: %" PRIu64 " bytes: %s", model.name().c_str(), what,
                         bytes, strerror(errno));
}

Status Session::create(const Model &model, int32_t threads, int32_t slots, std::unique_ptr<Session> &session) {
  std::unique_ptr<Session> created(new Session(model));
  if (Status status = created->reserveState(slots); status.failed())
    return status;
  if (Status status = ThreadPool::create(std::min(threads, threadLimit()), created->pool); status.failed())
    return status;
  session = std::move(created);
  return {};
}

Status Session::reserveState(int32_t slots) {
  lengths.resize(slots);
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(model.info().stateBytesPerSlot, static_cast<uint64_t>(slots), &bytes))
    bytes = UINT64_MAX;
  if (bytes == 0)
    return {};  // a model without state
  state = Mapping::zeros(bytes);
  return state.empty() ? outOfMemory(model, "the states of sequences", bytes) : Status();
}

Status Session::evaluate(const talc_sequence *sequences, int32_t count) {
  evaluated = false;
  if (Status status = batch.build(model, lengths, sequences, count); status.failed())
    return status;
  if (Status status = reserveStep(); status.failed())
    return status;
  runStep();
  if (model.kind() != artifact::ModelKind::Encoder)
    for (const artifact::Span &span : batch.spans())
      lengths[span.slot] += span.rowCount;
  evaluated = true;
  return {};
}

// Grows arena and logits to what this step needs.
Status Session::reserveStep() {
  const ModelInfo &info = model.info();
  uint64_t perToken = 0, perThread = pool->size() * info.arenaBytesPerThread, needed = 0;
  bool overflow = __builtin_mul_overflow(batch.ids().size(), info.arenaBytesPerToken, &perToken) ||
                  __builtin_add_overflow(perToken, info.arenaBytesFixed, &needed) ||
                  __builtin_add_overflow(needed, perThread, &needed);
  if (overflow || !arena.growZeros(needed))
    return outOfMemory(model, "temporaries (divide the batch into smaller steps)", overflow ? UINT64_MAX : needed);
  uint64_t logitBytes = batch.outputRows().size() * uint64_t(info.outputs[0].width) * sizeof(float);
  if (!output.growZeros(logitBytes))
    return outOfMemory(model, "logits (ask for fewer at a time)", logitBytes);
  return {};
}

namespace {
struct Step {
  artifact::StepFunction function;
  const StepContext *context;
};
}  // namespace

static void runThread(void *argument, int32_t thread) {
  auto *step = static_cast<Step *>(argument);
  StepContext context = *step->context;
  context.thread = thread;
  step->function(&context);
}

namespace {
struct MeasuredThread {
  StepContext context;
  void (*barrier)(void *barrierState);
  void *barrierState;

  void mark(int64_t event) const { context.mark(context.markState, context.thread, event); }
};
}  // namespace

// Also tells when the step begins, when a barrier was passed and when the step ends.
static void runMeasuredThread(void *argument, int32_t thread) {
  auto *step = static_cast<Step *>(argument);
  MeasuredThread own = {*step->context, step->context->barrier, step->context->barrierState};
  own.context.thread = thread;
  own.context.barrierState = &own;
  own.context.barrier = [](void *state) {
    auto *self = static_cast<MeasuredThread *>(state);
    self->barrier(self->barrierState);
    self->mark(Session::barrierPassed);
  };
  own.mark(Session::stepBegins);
  step->function(&own.context);
  own.mark(Session::stepEnds);
}

void Session::measure(Mark newMark, void *state) {
  mark = newMark;
  markState = state;
}

void Session::runStep() {
  StepContext context = {};
  context.threads = pool->size();
  context.rowCount = static_cast<int64_t>(batch.ids().size());
  context.spanCount = static_cast<int64_t>(batch.spans().size());
  context.ids = batch.ids().data();
  context.rows = batch.rows().data();
  context.spans = batch.spans().data();
  context.weights = model.weights();
  context.state = state.data();
  context.arena = arena.data();
  context.outputs[0] = {static_cast<int64_t>(batch.outputRows().size()), batch.outputRows().data(),
                        reinterpret_cast<float *>(output.data())};
  context.barrier = [](void *barrier) { static_cast<Barrier *>(barrier)->wait(); };
  context.barrierState = &pool->barrier();
  context.mark = mark;
  context.markState = markState;
  bool decode = context.rowCount == 1 && context.outputs[0].count == 1;
  artifact::StepFunction evaluation = decode ? model.code().decode() : model.code().prefill();
  Step step = {model.kind() == artifact::ModelKind::Encoder ? model.code().encode() : evaluation, &context};
  pool->run(mark ? runMeasuredThread : runThread, &step);
}

const float *Session::logits(int32_t sequence, int32_t &rows) const {
  rows = 0;
  if (!evaluated || sequence < 0 || static_cast<size_t>(sequence) >= batch.spans().size())
    return nullptr;
  int32_t first = batch.firstOutput(sequence);
  rows = batch.firstOutput(sequence + 1) - first;
  uint64_t offset = first * uint64_t(model.info().outputs[0].width);
  return rows ? reinterpret_cast<const float *>(output.data()) + offset : nullptr;
}

void Session::reset(int32_t slot) {
  if (lengths[slot] > 0 && !state.empty())
    state.clear(slot * model.info().stateBytesPerSlot, model.info().stateBytesPerSlot);
  lengths[slot] = 0;
}

talc_session_memory Session::memory() const {
  const ModelInfo &info = model.info();
  talc_session_memory result = {0, state.size(), arena.size(), output.size()};
  for (int32_t length : lengths) {
    uint64_t groups = (length + info.stateTokenGroup - 1) / info.stateTokenGroup;
    result.state_used += groups * info.stateTokenGroup * info.stateBytesPerToken;
  }
  return result;
}

}  // namespace talc
