// SPDX-License-Identifier: Apache-2.0
// distribute-tasks: which thread does which tasks, in every space; what expand-matmul and expand-attention check of tiles
// and queries beside their bodies is not repeated here.
// RUN: talc-opt %s -split-input-file -distribute-tasks -canonicalize -cse -verify-diagnostics | FileCheck %s

// Rows: equal parts, one for each worker; everything if every worker computes the op for itself.
// CHECK-LABEL: @rows(
// CHECK: %[[I:.*]] = kernel.worker
// CHECK: %[[N:.*]] = kernel.workers
// CHECK: %[[BEFORE:.*]] = arith.muli %arg1, %[[I]]
// CHECK: %[[FIRST:.*]] = arith.divui %[[BEFORE]], %[[N]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c1
// CHECK: %[[UPTO:.*]] = arith.muli %arg1, %[[NEXT]]
// CHECK: %[[END:.*]] = arith.divui %[[UPTO]], %[[N]]
// CHECK: memref.store %[[FIRST]], %arg2[%[[END]]]
// CHECK-NOT: kernel.worker
// CHECK: memref.store %c0, %arg2[%arg1]
// CHECK-NOT: kernel.tasks
// CHECK: return
func.func @rows(%s: !kernel.step, %n: index, %log: memref<?xindex>) {
  kernel.tasks %s over rows by rows of(%n) {
  ^bb0(%first: index, %end: index):
    memref.store %first, %log[%end] : memref<?xindex>
  }
  kernel.tasks %s over rows by all of(%n) {
  ^bb0(%first: index, %end: index):
    memref.store %first, %log[%end] : memref<?xindex>
  }
  return
}

// -----

// Heads cyclically; blocks of keys cyclically, the newest first.
// CHECK-LABEL: @turns(
// CHECK: scf.for %[[HEAD:.*]] = %[[I:.*]] to %arg1 step %[[N:.*]] {
// CHECK-NEXT: memref.store %[[HEAD]], %arg3[%[[HEAD]]]
// CHECK: %[[COUNT:.*]] = arith.subi %arg2, %arg1
// CHECK: %[[BLOCKS:.*]] = arith.maxsi %[[COUNT]], %c0
// CHECK: %[[TASKS:.*]] = arith.muli %[[BLOCKS]], %c4
// CHECK: scf.for %[[TASK:.*]] = %[[I]] to %[[TASKS]] step %[[N]] {
// CHECK: %[[NEWEST:.*]] = arith.subi %arg2, %c1
// CHECK: %[[AGE:.*]] = arith.divui %[[TASK]], %c4
// CHECK: %[[BLOCK:.*]] = arith.subi %[[NEWEST]], %[[AGE]]
// CHECK: %[[OF:.*]] = arith.remui %[[TASK]], %c4
// CHECK: memref.store %[[BLOCK]], %arg3[%[[OF]]]
func.func @turns(%s: !kernel.step, %n: index, %m: index, %log: memref<?xindex>) {
  kernel.tasks %s over heads by heads of(%n) {
  ^bb0(%head: index):
    memref.store %head, %log[%head] : memref<?xindex>
  }
  %four = arith.constant 4 : index
  kernel.tasks %s over keys by heads of(%n, %m, %four) {
  ^bb0(%block: index, %head: index):
    memref.store %block, %log[%head] : memref<?xindex>
  }
  return
}

// -----

// Rows that are known to be few: a part of the panels for each thread, and nothing is claimed. From 24 rows on there are
// claims.
// CHECK-LABEL: @tiles(
// CHECK-NOT: kernel.next_task
// CHECK: memref.store %{{.*}}, %arg2[%c23]
// CHECK: kernel.next_task
// CHECK: memref.store
func.func @tiles(%s: !kernel.step, %panels: index, %log: memref<?xindex>) {
  %few = arith.constant 23 : index
  kernel.tasks %s over tiles by columns of(%few, %panels) grain [192, 4] {
  ^bb0(%first: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    memref.store %panel, %log[%end] : memref<?xindex>
  }
  %many = arith.constant 24 : index
  kernel.tasks %s over tiles by columns of(%many, %panels) grain [192, 4] {
  ^bb0(%first: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    memref.store %panel, %log[%end] : memref<?xindex>
  }
  return
}

// -----

// What comes behind a task: the next task's first panel; behind the last one, for the first thread what lies behind the
// weight, and for others what they have just read.
// CHECK-LABEL: @next(
// CHECK: scf.while
// CHECK: %[[UPTO:.*]] = arith.minsi %arg1, %{{.*}}
// CHECK-NEXT: %[[END:.*]] = arith.select %{{.*}}, %[[UPTO]], %{{.*}}
// CHECK-NEXT: %[[LATER:.*]] = arith.addi %[[TASK:.*]], %c1
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[LATER]], %{{.*}}
// CHECK: %[[FIRST:.*]] = arith.select
// CHECK-NEXT: %[[OTHER:.*]] = arith.cmpi sgt, %{{.*}}, %c0
// CHECK-NEXT: %[[READ:.*]] = arith.subi %[[END]], %c1
// CHECK-NEXT: %[[BEHIND:.*]] = arith.select %[[OTHER]], %[[READ]], %arg1
// CHECK-NEXT: %[[NEXT:.*]] = arith.select %[[MORE]], %[[FIRST]], %[[BEHIND]]
// CHECK-NEXT: memref.store %[[END]], %arg2[%[[NEXT]]]
func.func @next(%s: !kernel.step, %panels: index, %log: memref<?xindex>) {
  %many = arith.constant 24 : index
  kernel.tasks %s over tiles by columns of(%many, %panels) grain [192, 4] {
  ^bb0(%first: index, %end: index, %panel: index, %panelEnd: index, %next: index):
    memref.store %panelEnd, %log[%next] : memref<?xindex>
  }
  return
}

// -----

// If the heads of a token are separate tasks, a sequence has a task for each head and block of rows; a single row's
// heads are taken in turn.
// CHECK-LABEL: @queries(
// CHECK: kernel.next_task
// CHECK: scf.while
// CHECK: kernel.next_task
// CHECK-NOT: kernel.next_task
// CHECK: scf.for %[[HEAD:.*]] = %{{.*}} to %c4 step
// CHECK-NEXT: memref.store %[[HEAD]], %arg2[%c0]
// CHECK: return
func.func @queries(%s: !kernel.step, %rows: index, %log: memref<?xindex>) {
  %one = arith.constant 1 : index
  %heads = arith.constant 4 : index
  kernel.tasks %s over queries by heads of(%rows, %heads, %one) grain [48, 1] scattered {
  ^bb0(%sequence: index, %head: index, %count: index, %row: index, %end: index):
    memref.store %head, %log[%row] : memref<?xindex>
  }
  kernel.tasks %s over queries by heads of(%one, %heads, %one) grain [1, 1] scattered {
  ^bb0(%sequence: index, %head: index, %count: index, %row: index, %end: index):
    memref.store %head, %log[%row] : memref<?xindex>
  }
  return
}

// -----

func.func @unexpanded(%s: !kernel.step, %x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  // expected-error@+1 {{holds an op that no pass has turned into loops}}
  kernel.tasks %s over rows by rows {
  ^bb0(%first: index, %end: index):
    memref.copy %x, %y : memref<?x8xf32> to memref<?x8xf32>
  }
  return
}
