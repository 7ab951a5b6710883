// SPDX-License-Identifier: Apache-2.0
// Memory is mapped, not allocated: the KV cache costs nothing until tokens arrive, and arena and results only grow.
#include "runtime/device/cpu/CpuWorkspace.h"

#include "runtime/Invariant.h"
#include "runtime/device/cpu/Architecture.h"
#include "runtime/device/cpu/Cores.h"

#include <cerrno>
#include <cinttypes>
#include <csetjmp>
#include <cstring>
#include <ctime>

namespace talc {

using artifact::StepContext;

Status CpuWorkspace::outOfMemory(const char *what, uint64_t bytes) const {
  return Status::failure(TALC_ERROR_MEMORY, "%s: no memory for %s: %" PRIu64 " bytes: %s", model.name().c_str(), what,
                         bytes, strerror(errno));
}

CpuWorkspace::CpuWorkspace(const CpuModel &model, const WorkspaceOptions &options)
    : model(model), slots(options.slots) {
  for (Mapping *memory : {&kvCache, &arena})
    memory->allocateFrom(options.allocator);
  for (Mapping &memory : outputs)
    memory.allocateFrom(options.allocator);
  if (options.ask)
    abort = std::make_unique<StepAbort>(options.ask, options.askUser);
}

Status CpuWorkspace::create(const CpuModel &model, const WorkspaceOptions &options,
                            std::unique_ptr<Workspace> &workspace) {
  std::unique_ptr<CpuWorkspace> created(new CpuWorkspace(model, options));
  uint64_t bytes = model.memoryFor(options.slots, options.threads, {}).kvCache;
  if (bytes > 0 && !created->kvCache.growZeros(bytes))  // an encoder has none
    return created->outOfMemory("the KV cache", bytes);
  const int32_t threads = std::min(options.threads, threadLimit());
  if (threads > 1 && !threadsAreFixed())
    created->governor =
        std::make_unique<ThreadGovernor>(threads, usableProcessors(), onlineProcessors(), otherRunningThreads);
  if (Status status = ThreadPool::create(threads, created->pool); status.failed())
    return status;
  workspace = std::move(created);
  return {};
}

Status CpuWorkspace::grow(const StepSize &size) {
  StepSize wanted = {std::max(size.tokens, room.tokens), {}};
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

Status CpuWorkspace::readKvBytes(int32_t slot, uint64_t offset, uint64_t bytes, unsigned char *target) const {
  memcpy(target, kvCache.data() + slot * model.info().kvBytesPerSlot + offset, bytes);
  return {};
}

Status CpuWorkspace::writeKvBytes(int32_t slot, uint64_t offset, uint64_t bytes, const unsigned char *source) {
  memcpy(kvCache.data() + slot * model.info().kvBytesPerSlot + offset, source, bytes);
  return {};
}

void CpuWorkspace::discard(int32_t slot) {
  uint64_t bytes = model.info().kvBytesPerSlot;
  if (!kvCache.empty())
    kvCache.discard(slot * bytes, bytes);
}

WorkspaceMemory CpuWorkspace::memory() const {
  uint64_t results = 0;
  for (const Mapping &memory : outputs)
    results += memory.size();
  return {kvCache.size(), arena.size(), results};
}

void CpuWorkspace::measure(Mark newMark, void *state) {
  mark = newMark;
  markState = state;
}

// ---- On every thread

namespace {

struct Call {
  artifact::StepFunction function;
  const StepContext *context;
  ThreadPool *pool;
  StepAbort *abort;
};

// A worker in a step, for the callbacks of generated code.
struct Seat {
  ThreadPool *pool;
  StepContext *context;
  StepAbort *abort;
  int64_t barriers = 0;  // that the worker has reached
  jmp_buf out = {};      // of an aborted step

  static Seat &of(void *state) { return *static_cast<Seat *>(state); }
  void mark(int64_t event) const { context->mark(context->markState, context->worker, event); }
};

void wait(void *state) {
  Seat &seat = Seat::of(state);
  seat.pool->wait(seat.context->worker);
}

// Waits, and marks when the barrier was passed.
void waitMeasured(void *state) {
  wait(state);
  Seat::of(state).mark(Workspace::barrierPassed);
}

// May end the step.
void waitAsking(void *state) {
  Seat &seat = Seat::of(state);
  const int64_t number = ++seat.barriers;
  if (seat.context->worker == 0)
    seat.abort->askBefore(number);
  if (seat.context->workers > 1)
    wait(state);
  if (seat.abort->endsAt(number))
    longjmp(seat.out, 1);
}

int64_t nextTask(void *pool, int64_t worker, int64_t op, int64_t tasks) {
  return static_cast<ThreadPool *>(pool)->nextTask(worker, op, tasks);
}

void runWorker(void *argument, int32_t worker) {
  auto *call = static_cast<Call *>(argument);
  StepContext context = *call->context;
  Seat seat = {call->pool, &context, call->abort};
  context.worker = worker;
  context.barrierState = &seat;
  if (call->abort && setjmp(seat.out) != 0)
    return;
  if (!context.mark)
    return call->function(&context);
  seat.mark(Workspace::stepBegins);
  call->function(&context);
  seat.mark(Workspace::stepEnds);
}

}  // namespace

// ---- Steps

void CpuWorkspace::describe(const Step &step, StepContext &context) {
  context.tokenCount = step.tokenCount;
  context.spanCount = step.spanCount;
  context.inputs = step.inputs;
  context.tokens = step.tokens;
  context.spans = step.spans;
  context.history = step.history;
  context.weights = step.training.weights ? step.training.weights : model.weights().stored();
  context.tables = model.weights().tables();
  context.kvCache = kvCache.data();
  context.arena = arena.data();
  for (int32_t i = 0; i < artifact::maxOutputs; ++i)
    context.output(i) = {step.wanted[i].count, step.wanted[i].tokens, reinterpret_cast<float *>(outputs[i].data())};
  context.labels = step.training.labels;
  context.lossScale = step.training.lossScale;
  context.gradients = reinterpret_cast<unsigned char *>(step.training.gradients);
  context.nextTask = nextTask;
  context.schedulerState = pool.get();
  context.mark = mark;
  context.markState = markState;
}

void CpuWorkspace::runOn(int32_t threads, const Step &step, StepContext &context) {
  context.workers = usedThreads = threads;
  const bool asks = abort && step.isAbortable;
  context.barrier = mark ? waitMeasured : asks ? waitAsking : threads > 1 ? wait : [](void *) {};
  Call call = {model.function(step.entry), &context, pool.get(), asks ? abort.get() : nullptr};
  if (abort)
    abort->begin();
  pool->run(runWorker, &call, threads);
}

static int64_t nanosecondsNow() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * int64_t(1000000000) + time.tv_nsec;
}

Status CpuWorkspace::run(const Step &step) {
  StepContext context = {};
  describe(step, context);
  if (!governor || mark) {
    runOn(pool->size(), step, context);
    return outcome();
  }
  const int32_t kind = ThreadGovernor::stepKind(step.entry, step.tokenCount);
  int64_t begin = nanosecondsNow();
  uint64_t waited = pool->waited(), beginTicks = ticks();
  runOn(governor->choose(kind, begin), step, context);
  if (Status ended = outcome(); ended.failed())  // a part of a step teaches nothing
    return ended;
  auto waitedShare = static_cast<double>(pool->waited() - waited) / static_cast<double>(ticks() - beginTicks + 1);
  int64_t end = nanosecondsNow();
  governor->ran(kind, step.tokenCount, end, end - begin,
                static_cast<int64_t>(waitedShare * static_cast<double>(end - begin)));
  return {};
}

void CpuWorkspace::runTasks(int64_t count, void (*task)(void *context, int64_t index), void *context) {
  struct Tasks {
    int64_t count, workers;
    void (*task)(void *context, int64_t index);
    void *context;
  } tasks = {count, pool->size(), task, context};
  auto runShare = [](void *state, int32_t worker) {
    const auto &tasks = *static_cast<const Tasks *>(state);
    for (int64_t i = worker; i < tasks.count; i += tasks.workers)
      tasks.task(tasks.context, i);
  };
  pool->run(runShare, &tasks);
}

Status CpuWorkspace::outcome() const {
  if (!pool->isAtRest())
    return defect("CpuWorkspace::run", "all workers of a step pass the same barriers");
  if (!abort || !abort->ended())
    return {};
  return Status::failure(TALC_ERROR_ABORTED, "%s: the step was ended by should_abort", model.name().c_str());
}

}  // namespace talc
