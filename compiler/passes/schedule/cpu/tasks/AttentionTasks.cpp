// SPDX-License-Identifier: Apache-2.0
// The distribution of the queries of a step's sequences to workers.
//
//   sequence 0, 70 rows     head 0: rows 0-47 | rows 48-69   head 1: rows 0-47 | rows 48-69     tasks 0 to 3
//   sequence 1, 1 row       heads 0 and 1                                                       task 4
//
// Tasks are counted through all sequences and distributed by work stealing: a causal mask leaves the last rows of a
// sequence more work than the first, so that equal parts of the rows would not be equal parts of the work. The heads of
// a step with a single row are taken cyclically instead, as kernel.kv_append stored them.
#include "compiler/passes/schedule/cpu/tasks/TaskLoops.h"
#include "compiler/passes/schedule/cpu/tasks/WorkStealing.h"

using namespace mlir;

namespace talc {

namespace {

class AttentionTasks {
public:
  AttentionTasks(Emitter &e, kernel::TasksOp tasks)
      : e(e), tasks(tasks), step(tasks.getStep()), heads(tasks.getExtents()[1]), queries(tasks.getExtents()[2]),
        blockRows(tasks.getGrain()[0]), headsPerTask(tasks.getGrain()[1]) {}

  void distribute() { getConstantIntValue(tasks.getExtents()[0]) == 1 ? distributeOneToken() : distributeSequences(); }

private:
  void distributeOneToken() {
    Value zero = e.index(0), one = e.index(1);
    cyclicLoop(e, step, heads, [&](Value head) {
      e.loop(zero, queries, e.index(blockRows), [&](Value row) {
        inlineBody(e, tasks, {zero, head, one, row, e.min(e.index(blockRows), e.sub(queries, row))});
      });
    });
  }

  void distributeSequences() {
    Value zero = e.index(0);
    workers = kernel::WorkersOp::create(e.b, e.loc, step);
    sequences = kernel::SpanCountOp::create(e.b, e.loc, step);
    Value count = countTasks();
    WorkStealing stealing(e, step, count, constantBool(e, true));
    // A stolen task may be of an earlier sequence: then the loop goes through the sequences again.
    loopWithin(e, stealing.next(zero), zero, count, [&](Value first) {
      return e.loop(zero, sequences, 1, {zero, first}, [&](Value s, ValueRange carried) -> Emitter::Values {
        Value before = carried[0];
        Sequence sequence = enter(s);
        Value other = loopWithin(e, carried[1], before, sequence.tasks, [&](Value task) {
          emitTask(s, sequence, e.sub(task, before));
          return stealing.next(e.add(task, 1));
        });
        return {e.add(before, sequence.tasks), other};
      })[1];
    });
  }

  // Rows, blocks of rows, and tasks. byHeads: each head is a task, or several; null: always.
  struct Sequence {
    Value rows, blocks, byHeads, tasks;
  };

  Sequence enter(Value s) {
    auto span = kernel::SpanOp::create(e.b, e.loc, step, s);
    Sequence sequence;
    sequence.rows = e.mul(span.getTokens(), queries);
    sequence.blocks = e.ceilDiv(sequence.rows, blockRows);
    sequence.byHeads = splitsHeads(span);
    sequence.tasks = e.mul(sequence.blocks, heads);
    if (sequence.byHeads)
      sequence.tasks = e.select(sequence.byHeads, sequence.tasks, e.div(heads, headsPerTask));
    return sequence;
  }

  // Heads are tasks by themselves in a sequence of several tokens, or with keys in several slots, or if there are too
  // few sequences to keep all workers busy otherwise.
  Value splitsHeads(kernel::SpanOp span) {
    constexpr int64_t sequencesPerWorker = 4;
    if (headsPerTask == 1)
      return {};
    Value several = e.less(e.index(1), span.getTokens()), few = e.less(sequences, e.mul(workers, sequencesPerWorker));
    Value either = arith::OrIOp::create(e.b, e.loc, several, few);
    if (!tasks.getScattered())
      return either;
    Value scattered = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sge, span.getHistory(), e.index(0));
    return arith::OrIOp::create(e.b, e.loc, either, scattered);
  }

  Value countTasks() {
    Value zero = e.index(0);
    return e.loop(zero, sequences, 1, ValueRange{zero}, [&](Value s, ValueRange carried) -> Emitter::Values {
      return {e.add(carried[0], enter(s).tasks)};
    })[0];
  }

  void emitTask(Value s, const Sequence &sequence, Value task) {
    Value head = e.div(task, sequence.blocks), row = e.mul(e.rem(task, sequence.blocks), blockRows);
    Value rows = e.min(e.index(blockRows), e.sub(sequence.rows, row)), count = e.index(1);
    auto choose = [&](Value byHeads, Value byTokens) {
      return sequence.byHeads ? e.select(sequence.byHeads, byHeads, byTokens) : byHeads;
    };
    inlineBody(e, tasks,
               {s, choose(head, e.mul(task, headsPerTask)), choose(count, e.index(headsPerTask)),
                choose(row, e.index(0)), choose(rows, e.mul(queries, headsPerTask))});
  }

  Emitter &e;
  kernel::TasksOp tasks;
  const Value step, heads, queries;
  const int64_t blockRows, headsPerTask;
  Value workers, sequences;
};

}  // namespace

void distributeQueries(Emitter &e, kernel::TasksOp tasks) {
  AttentionTasks(e, tasks).distribute();
}

}  // namespace talc
