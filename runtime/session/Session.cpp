// SPDX-License-Identifier: Apache-2.0
// Memory is mapped, not allocated: states cost nothing until tokens arrive, and arena and results only ever grow.
#include "runtime/session/Session.h"

#include "runtime/device/cpu/Cores.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>

namespace talc {

using artifact::ModelInfo, artifact::ModelKind;
using artifact::StepContext;

static Status outOfMemory(const Model &model, const char *what, uint64_t bytes) {
  return Status::failure(TALC_ERROR_MEMORY, "%s: no memory for %s: %" PRIu64 " bytes: %s", model.name().c_str(), what,
                         bytes, strerror(errno));
}

Status Session::create(const Model &model, int32_t threads, int32_t slots, std::unique_ptr<Session> &session) {
  std::unique_ptr<Session> created(new Session(model));
  if (Status status = Slots::create(model, slots, created->held); status.failed())
    return status;
  if (Status status = ThreadPool::create(std::min(threads, threadLimit()), created->pool); status.failed())
    return status;
  session = std::move(created);
  return {};
}

Status Session::wrongKind(const char *function, const char *expected) const {
  const char *kinds[] = {"a decoder", "an encoder", "an encoder-decoder"};
  return Status::failure(TALC_ERROR_KIND, "%s: %s needs %s, but this is %s", model.name().c_str(), function, expected,
                         kinds[model.info().kind - 1]);
}

Status Session::evaluate(const talc_sequence *sequences, int32_t count) {
  if (Status status = prepare(sequences, count, Batch::Purpose::Evaluate); status.failed())
    return status;
  run(chooseFunction());
  for (const artifact::Span &span : batch.spans())
    if (model.kind() == ModelKind::Encoder)
      held.touched(span.slot, span.rowCount);
    else
      held.appended(span.slot, span.rowCount);
  evaluated = true;
  return {};
}

Status Session::encode(const talc_sequence *sources, int32_t count) {
  if (model.kind() != ModelKind::EncoderDecoder)
    return wrongKind("talc_encode", "an encoder-decoder");
  if (Status status = prepare(sources, count, Batch::Purpose::Encode); status.failed())
    return status;
  for (const artifact::Span &span : batch.spans())
    held.reset(span.slot);
  run(model.code().encode());
  for (const artifact::Span &span : batch.spans())
    held.encoded(span.slot, span.rowCount);
  return {};
}

Status Session::reorder(const int32_t *list, const int32_t *parents, int32_t count) {
  if (model.kind() == ModelKind::Encoder)
    return wrongKind("talc_reorder", "a decoder");
  return held.reorder(list, parents, count);
}

// Everything that can fail.
Status Session::prepare(const talc_sequence *sequences, int32_t count, Batch::Purpose purpose) {
  evaluated = false;
  if (Status status = batch.build(model, held, sequences, count, purpose); status.failed())
    return status;
  return reserveStep();
}

// Grows arena and results to what this step needs.
Status Session::reserveStep() {
  const ModelInfo &info = model.info();
  uint64_t perToken = 0, perThread = pool->size() * info.arenaBytesPerThread, needed = 0;
  bool overflow = __builtin_mul_overflow(batch.ids().size(), info.arenaBytesPerToken, &perToken) ||
                  __builtin_add_overflow(perToken, info.arenaBytesFixed, &needed) ||
                  __builtin_add_overflow(needed, perThread, &needed);
  if (overflow || !arena.growZeros(needed))
    return outOfMemory(model, "temporaries (divide the batch into smaller steps)", overflow ? UINT64_MAX : needed);
  for (int32_t i = 0; i < artifact::maxOutputs; ++i) {
    uint64_t bytes = batch.outputRows(i).size() * uint64_t(info.outputs[i].width) * sizeof(float);
    if (!outputs[i].growZeros(bytes))
      return outOfMemory(model, "results (ask for fewer rows at a time)", bytes);
  }
  return {};
}

// The code for one token is for one that every result is wanted of.
artifact::StepFunction Session::chooseFunction() const {
  if (model.kind() == ModelKind::Encoder)
    return model.code().encode();
  bool single = batch.ids().size() == 1;
  for (int32_t i = 0; i < model.resultCount(); ++i)
    single = single && batch.outputRows(i).size() == 1;
  return single ? model.code().decode() : model.code().prefill();
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

void Session::run(artifact::StepFunction function) {
  StepContext context = {};
  context.threads = pool->size();
  context.rowCount = static_cast<int64_t>(batch.ids().size());
  context.spanCount = static_cast<int64_t>(batch.spans().size());
  context.ids = batch.ids().data();
  context.rows = batch.rows().data();
  context.spans = batch.spans().data();
  context.weights = model.weights();
  context.history = held.history();
  context.state = held.state();
  context.arena = arena.data();
  for (int32_t i = 0; i < artifact::maxOutputs; ++i)
    context.outputs[i] = {static_cast<int64_t>(batch.outputRows(i).size()), batch.outputRows(i).data(),
                          reinterpret_cast<float *>(outputs[i].data())};
  context.barrier = [](void *barrier) { static_cast<Barrier *>(barrier)->wait(); };
  if (pool->size() == 1)
    context.barrier = [](void *) {};
  context.barrierState = &pool->barrier();
  context.claim = [](void *state, int64_t thread, int64_t piece, int64_t tasks) {
    return static_cast<Tasks *>(state)->claim(thread, piece, tasks);
  };
  context.claimState = &pool->tasks();
  context.mark = mark;
  context.markState = markState;
  Step step = {function, &context};
  pool->run(mark ? runMeasuredThread : runThread, &step);
}

const float *Session::result(int32_t output, int32_t sequence, int32_t &rows) const {
  rows = 0;
  bool known = output >= 0 && output < artifact::maxOutputs && sequence >= 0;
  if (!evaluated || !known || static_cast<size_t>(sequence) >= batch.spans().size())
    return nullptr;
  int32_t first = batch.firstOutput(output, sequence);
  rows = batch.firstOutput(output, sequence + 1) - first;
  uint64_t offset = first * uint64_t(model.info().outputs[output].width);
  return rows ? reinterpret_cast<const float *>(outputs[output].data()) + offset : nullptr;
}

talc_session_memory Session::memory() const {
  return {held.usedBytes(), held.reservedBytes(), arena.size(), outputs[0].size() + outputs[1].size()};
}

}  // namespace talc
