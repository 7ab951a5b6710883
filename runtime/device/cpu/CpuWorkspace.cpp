// SPDX-License-Identifier: Apache-2.0
// Memory is mapped, not allocated: states cost nothing until tokens arrive, and arena and results only ever grow.
#include "runtime/device/cpu/CpuWorkspace.h"

#include "runtime/device/cpu/Cores.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>

namespace talc {

using artifact::StepContext;

Status CpuWorkspace::outOfMemory(const char *what, uint64_t bytes) const {
  return Status::failure(TALC_ERROR_MEMORY, "%s: no memory for %s: %" PRIu64 " bytes: %s", model.name().c_str(), what,
                         bytes, strerror(errno));
}

Status CpuWorkspace::create(const CpuModel &model, int32_t slots, int32_t threads,
                            std::unique_ptr<Workspace> &workspace) {
  std::unique_ptr<CpuWorkspace> created(new CpuWorkspace(model, slots));
  uint64_t bytes = model.memoryFor(slots, threads, {}).states;
  if (bytes > 0 && !created->states.growZeros(bytes))  // an encoder has none
    return created->outOfMemory("the states of sequences", bytes);
  if (Status status = ThreadPool::create(std::min(threads, threadLimit()), created->pool); status.failed())
    return status;
  workspace = std::move(created);
  return {};
}

Status CpuWorkspace::grow(const StepSize &size) {
  StepSize wanted = {std::max(size.rows, room.rows), {}};
  room = {};  // what cannot grow is given up first
  uint64_t bytes = model.memoryFor(slots, pool->size(), wanted).temporaries;
  if (!arena.growZeros(bytes))
    return outOfMemory("temporaries (divide the batch into smaller steps)", bytes);
  for (int32_t i = 0; i < artifact::maxOutputs; ++i) {
    uint64_t rowBytes = model.info().outputs[i].width * sizeof(float);
    bytes = std::max(size.wanted[i] * rowBytes, outputs[i].size());
    if (!outputs[i].growZeros(bytes))
      return outOfMemory("results (ask for fewer rows at a time)", bytes);
    hostResults[i] = reinterpret_cast<const float *>(outputs[i].data());
    wanted.wanted[i] = rowBytes ? bytes / rowBytes : size.wanted[i];
  }
  room = wanted;
  return {};
}

void CpuWorkspace::discard(int32_t slot) {
  uint64_t bytes = model.info().stateBytesPerSlot;
  if (!states.empty())
    states.discard(slot * bytes, bytes);
}

WorkspaceMemory CpuWorkspace::memory() const {
  return {states.size(), arena.size(), outputs[0].size() + outputs[1].size()};
}

void CpuWorkspace::measure(Mark newMark, void *state) {
  mark = newMark;
  markState = state;
}

namespace {
struct Call {
  artifact::StepFunction function;
  const StepContext *context;
};
}  // namespace

static void runThread(void *argument, int32_t thread) {
  auto *call = static_cast<Call *>(argument);
  StepContext context = *call->context;
  context.thread = thread;
  call->function(&context);
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
  auto *call = static_cast<Call *>(argument);
  MeasuredThread own = {*call->context, call->context->barrier, call->context->barrierState};
  own.context.thread = thread;
  own.context.barrierState = &own;
  own.context.barrier = [](void *state) {
    auto *self = static_cast<MeasuredThread *>(state);
    self->barrier(self->barrierState);
    self->mark(Workspace::barrierPassed);
  };
  own.mark(Workspace::stepBegins);
  call->function(&own.context);
  own.mark(Workspace::stepEnds);
}

void CpuWorkspace::describe(const Step &step, StepContext &context) const {
  context.threads = pool->size();
  context.rowCount = step.rowCount;
  context.spanCount = step.spanCount;
  context.ids = step.ids;
  context.rows = step.rows;
  context.spans = step.spans;
  context.history = step.history;
  context.weights = model.weights();
  context.state = states.data();
  context.arena = arena.data();
  for (int32_t i = 0; i < artifact::maxOutputs; ++i)
    context.outputs[i] = {step.wanted[i].count, step.wanted[i].rows, reinterpret_cast<float *>(outputs[i].data())};
}

Status CpuWorkspace::run(const Step &step) {
  StepContext context = {};
  describe(step, context);
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
  Call call = {model.function(step.phase), &context};
  pool->run(mark ? runMeasuredThread : runThread, &call);
  return {};
}

}  // namespace talc
