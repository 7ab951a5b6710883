// SPDX-License-Identifier: Apache-2.0
// How threads share the queries of a step's sequences.
//
//   sequence 0, 70 rows     head 0: rows 0-47 | rows 48-69   head 1: rows 0-47 | rows 48-69     tasks 0 to 3
//   sequence 1, 1 row       heads 0 and 1                                                       task 4
//
// Tasks are counted through all sequences and claimed: a causal mask leaves the last rows of a sequence more work than
// the first, so that equal parts of the rows would not be equal parts of the work. The heads of a step with a single
// row are taken in turn instead, as kernel.kv_append stored them.
#include "compiler/passes/schedule/cpu/tasks/TaskLoops.h"
#include "compiler/passes/schedule/cpu/tasks/WorkStealing.h"

using namespace mlir;

namespace talc {

namespace {

class QueryTasks {
public:
  QueryTasks(Emitter &e, kernel::TasksOp tasks)
      : e(e), tasks(tasks), step(tasks.getStep()), heads(tasks.getExtents()[1]), queries(tasks.getExtents()[2]),
        rowBlock(tasks.getGrain()[0]), headsOfToken(tasks.getGrain()[1]) {}

  void share() { getConstantIntValue(tasks.getExtents()[0]) == 1 ? shareOneRow() : shareAll(); }

private:
  void shareOneRow() {
    Value zero = e.index(0), one = e.index(1);
    inTurn(e, step, heads, [&](Value head) {
      e.loop(zero, queries, e.index(rowBlock), [&](Value row) {
        inlineBody(e, tasks, {zero, head, one, row, e.min(e.index(rowBlock), e.sub(queries, row))});
      });
    });
  }

  void shareAll() {
    Value zero = e.index(0);
    threads = kernel::ThreadsOp::create(e.b, e.loc, step);
    sequences = kernel::SpanCountOp::create(e.b, e.loc, step);
    Value count = countAll();
    WorkStealing claims(e, step, count, constantBool(e, true));
    // Through the sequences again if a task of an earlier one is claimed.
    loopWithin(e, claims.next(zero), zero, count, [&](Value first) {
      return e.loop(zero, sequences, 1, {zero, first}, [&](Value s, ValueRange carried) -> Emitter::Values {
        Value before = carried[0];
        Sequence sequence = enter(s);
        Value other = loopWithin(e, carried[1], before, sequence.tasks, [&](Value task) {
          place(s, sequence, e.sub(task, before));
          return claims.next(e.add(task, 1));
        });
        return {e.add(before, sequence.tasks), other};
      })[1];
    });
  }

  // Rows, blocks of them, and tasks. byHeads: each head is a task, or more; null: always.
  struct Sequence {
    Value rows, blocks, byHeads, tasks;
  };

  Sequence enter(Value s) {
    auto span = kernel::SpanOp::create(e.b, e.loc, step, s);
    Sequence sequence;
    sequence.rows = e.mul(span.getTokens(), queries);
    sequence.blocks = e.ceilDiv(sequence.rows, rowBlock);
    sequence.byHeads = takesHeads(span);
    sequence.tasks = e.mul(sequence.blocks, heads);
    if (sequence.byHeads)
      sequence.tasks = e.select(sequence.byHeads, sequence.tasks, e.div(heads, headsOfToken));
    return sequence;
  }

  // A sequence's heads are tasks by themselves if it has several rows, or keys in several slots, or if there are too
  // few sequences to keep all threads busy otherwise.
  Value takesHeads(kernel::SpanOp span) {
    constexpr int64_t sequencesOfThread = 4;
    if (headsOfToken == 1)
      return {};
    Value several = e.less(e.index(1), span.getTokens()), few = e.less(sequences, e.mul(threads, sequencesOfThread));
    Value either = arith::OrIOp::create(e.b, e.loc, several, few);
    if (!tasks.getScattered())
      return either;
    Value scattered = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sge, span.getHistory(), e.index(0));
    return arith::OrIOp::create(e.b, e.loc, either, scattered);
  }

  Value countAll() {
    Value zero = e.index(0);
    return e.loop(zero, sequences, 1, ValueRange{zero}, [&](Value s, ValueRange carried) -> Emitter::Values {
      return {e.add(carried[0], enter(s).tasks)};
    })[0];
  }

  void place(Value s, const Sequence &sequence, Value task) {
    Value head = e.div(task, sequence.blocks), row = e.mul(e.rem(task, sequence.blocks), rowBlock);
    Value rows = e.min(e.index(rowBlock), e.sub(sequence.rows, row)), count = e.index(1);
    auto either = [&](Value ofHead, Value ofToken) {
      return sequence.byHeads ? e.select(sequence.byHeads, ofHead, ofToken) : ofHead;
    };
    inlineBody(e, tasks,
               {s, either(head, e.mul(task, headsOfToken)), either(count, e.index(headsOfToken)),
                either(row, e.index(0)), either(rows, e.mul(queries, headsOfToken))});
  }

  Emitter &e;
  kernel::TasksOp tasks;
  const Value step, heads, queries;
  const int64_t rowBlock, headsOfToken;
  Value threads, sequences;
};

}  // namespace

void shareQueries(Emitter &e, kernel::TasksOp tasks) {
  QueryTasks(e, tasks).share();
}

}  // namespace talc
