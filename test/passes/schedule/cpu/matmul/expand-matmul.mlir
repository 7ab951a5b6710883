// SPDX-License-Identifier: Apache-2.0
// expand-matmul: register tiles, masks only where columns end within a panel, wide and narrow weights, gates, shares.
// RUN: talc-opt %s -assign-plans -expand-matmul -distribute-tasks -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -assign-plans="lanes=16" -expand-matmul="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s --check-prefix=WIDE

// One row, 3 panels: this thread's panels [3*i/n, 3*(i+1)/n), three at a time, then one by one. 9 products: two steps of
// four and a rest of one, each sum one chain. The sums go over the stack to the epilogue. 33 columns: every store is
// masked, by the columns that are left.
// CHECK-LABEL: @odd(
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: !kernel.step, %[[X:[a-z0-9]+]]: memref<1x9xf32>, %[[W:[a-z0-9]+]]: memref<3x9x16xf32>, %[[OUT:[a-z0-9]+]]: memref<1x33xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK-DAG: %[[STACK:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1x48xf32>
// CHECK-DAG: %[[I:.*]] = kernel.worker %[[STEP]]
// CHECK-DAG: %[[N:.*]] = kernel.workers %[[STEP]]
// CHECK: %[[IP:.*]] = arith.muli %[[I]], %[[C3:.*]] : index
// CHECK: %[[FIRST:.*]] = arith.divui %[[IP]], %[[N]]
// CHECK: %[[J:.*]] = arith.addi %[[I]], %{{.*}} : index
// CHECK: %[[JP:.*]] = arith.muli %[[J]], %[[C3]]
// CHECK: %[[END:.*]] = arith.divui %[[JP]], %[[N]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[WHOLE:.*]] step %[[C3]] {
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: scf.for %[[P:.*]] = %[[WHOLE]] to %[[END]] step
// CHECK-NEXT: %[[SUMS:.*]]:2 = scf.for %[[K:.*]] = %c0 to %c8 step %c4 iter_args(%[[S0:.*]] = %[[ZERO]], %{{.*}} = %[[ZERO]])
// CHECK-NEXT: %[[A:.*]] = memref.load %[[X]][%c0, %[[K]]]
// CHECK-NEXT: %[[AA:.*]] = vector.broadcast %[[A]]
// CHECK-NEXT: %[[B:.*]] = vector.load %[[W]][%[[P]], %[[K]], %c0]
// CHECK-NEXT: %[[T0:.*]] = vector.fma %[[AA]], %[[B]], %[[S0]]
// CHECK: %[[K1:.*]] = arith.addi %[[K]], %c1
// CHECK: memref.load %[[X]][%c0, %[[K1]]]
// CHECK: %[[T1:.*]] = vector.fma %{{.*}}, %{{.*}}, %[[T0]]
// CHECK: %[[T2:.*]] = vector.fma %{{.*}}, %{{.*}}, %[[T1]]
// CHECK: %[[T3:.*]] = vector.fma %{{.*}}, %{{.*}}, %[[T2]]
// CHECK: scf.yield %[[T3]], %{{.*}}
// CHECK: memref.load %[[X]][%c0, %c8]
// CHECK: %[[R:.*]] = vector.fma %{{.*}}, %{{.*}}, %[[SUMS]]#0
// CHECK: vector.store %[[R]], %[[STACK]][%c0, %c0]
// CHECK: scf.for %[[LANE:.*]] = %c0 to %c16 step %c8
// CHECK-NEXT: %[[COLUMN:.*]] = arith.muli %[[P]], %c16
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[COLUMN]], %[[LANE]]
// CHECK: %[[LEFT:.*]] = arith.subi %c33, %[[AT]]
// CHECK: %[[COUNT:.*]] = arith.maxsi %[[LEFT]], %c0
// CHECK: %[[MASK:.*]] = vector.create_mask %[[COUNT]]
// CHECK-NEXT: %[[SUM:.*]] = vector.load %[[STACK]][%c0, %[[LANE]]]
// CHECK-NEXT: vector.maskedstore %[[OUT]][%c0, %[[AT]]], %[[MASK]], %[[SUM]]
// CHECK-NOT: vector.store {{.*}}, %[[OUT]]
// CHECK-NOT: scf.for
// CHECK: return
func.func @odd(%s: !kernel.step, %x: memref<1x9xf32>, %w: memref<3x9x16xf32>, %out: memref<1x33xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x9xf32>, memref<3x9x16xf32>, memref<1x33xf32>) -> ()
  }
  return
}

// A single product has no loop over products; whole panels are stored without masks; bf16 is converted to f32.
// CHECK-LABEL: @whole(
// CHECK-NOT: iter_args
// CHECK-NOT: mask
// CHECK: %[[B:.*]] = vector.load %{{.*}} : memref<2x1x16xbf16>, vector<8xbf16>
// CHECK-NEXT: %[[F:.*]] = arith.extf %[[B]] : vector<8xbf16> to vector<8xf32>
// CHECK-NEXT: vector.fma %{{.*}}, %[[F]],
// CHECK-NOT: mask
// CHECK: vector.store %{{.*}} : memref<1x32xf32>, vector<8xf32>
// CHECK-NOT: mask
// CHECK: return
func.func @whole(%s: !kernel.step, %x: memref<1x1xf32>, %w: memref<2x1x16xbf16>, %out: memref<1x32xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x1xf32>, memref<2x1x16xbf16>, memref<1x32xf32>) -> ()
  }
  return
}

// Four rows convert two vectors of bf16 as one of words, and one without a neighbor in its panel by itself.
// CHECK-LABEL: @words(
// CHECK: %[[B:.*]] = vector.load %{{.*}} : memref<2x1x16xbf16>, vector<16xbf16>
// CHECK-NEXT: %[[WORDS:.*]] = vector.bitcast %[[B]] : vector<16xbf16> to vector<8xi32>
// CHECK-NEXT: %[[UP:.*]] = arith.shli %[[WORDS]], %{{.*}} : vector<8xi32>
// CHECK-NEXT: %[[EVEN:.*]] = vector.bitcast %[[UP]] : vector<8xi32> to vector<8xf32>
// CHECK-NEXT: %[[KEPT:.*]] = arith.andi %[[WORDS]], %{{.*}} : vector<8xi32>
// CHECK-NEXT: %[[ODD:.*]] = vector.bitcast %[[KEPT]] : vector<8xi32> to vector<8xf32>
// CHECK: %[[EVENS:.*]] = vector.fma %{{.*}}, %[[EVEN]],
// CHECK-NEXT: %[[ODDS:.*]] = vector.fma %{{.*}}, %[[ODD]],
// CHECK: vector.shuffle %[[EVENS]], %[[ODDS]] [0, 8, 1, 9, 2, 10, 3, 11]
// CHECK: vector.shuffle %[[EVENS]], %[[ODDS]] [4, 12, 5, 13, 6, 14, 7, 15]
// CHECK: return
// WIDE-LABEL: @words(
// WIDE: %[[B:.*]] = vector.load %{{.*}} : memref<2x1x16xbf16>, vector<16xbf16>
// WIDE-NEXT: arith.extf %[[B]] : vector<16xbf16> to vector<16xf32>
func.func @words(%s: !kernel.step, %x: memref<4x1xf32>, %w: memref<2x1x16xbf16>, %out: memref<4x32xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<4x1xf32>, memref<2x1x16xbf16>, memref<4x32xf32>) -> ()
  }
  return
}

// A panel of gates and ups: the epilogue takes both sums of 8 columns, with vectors of 16 lanes too.
// CHECK-LABEL: @gated(
// CHECK: scf.for %[[P:.*]] = %{{[0-9]+}} to %{{[0-9]+}} step %c1 {
// CHECK: %[[G:.*]] = vector.load %{{.*}}[%[[P]], %c0, %c0]
// CHECK-NEXT: %[[GATE:.*]] = vector.fma %[[A:.*]], %[[G]],
// CHECK-NEXT: %[[U:.*]] = vector.load %{{.*}}[%[[P]], %c0, %c8]
// CHECK-NEXT: %[[UP:.*]] = vector.fma %[[A]], %[[U]],
// CHECK-NEXT: vector.store %[[GATE]], %[[STACK:.*]][%c0, %c0]
// CHECK-NEXT: vector.store %[[UP]], %[[STACK]][%c0, %c8]
// CHECK-NEXT: %[[AT:.*]] = arith.muli %[[P]], %c8
// CHECK-NEXT: %[[GATES:.*]] = vector.load %[[STACK]][%c0, %c0]
// CHECK-NEXT: %[[UPS:.*]] = vector.load %[[STACK]][%c0, %c8]
// CHECK-NEXT: %[[Y:.*]] = arith.divf %[[GATES]], %[[UPS]] : vector<8xf32>
// CHECK-NEXT: vector.store %[[Y]], %{{.*}}[%c0, %[[AT]]]
// WIDE-LABEL: @gated(
// WIDE: scf.for %[[P:.*]] = %{{[0-9]+}} to %{{[0-9]+}} step %c1 {
// WIDE: %[[SUM:.*]] = vector.fma {{.*}} : vector<16xf32>
// WIDE-NEXT: vector.store %[[SUM]], %[[STACK:.*]][%c0, %c0]
// WIDE-NEXT: %[[AT:.*]] = arith.muli %[[P]], %c8
// WIDE-NEXT: %[[GATES:.*]] = vector.load %[[STACK]][%c0, %c0] : {{.*}}, vector<8xf32>
// WIDE-NEXT: %[[UPS:.*]] = vector.load %[[STACK]][%c0, %c8] : {{.*}}, vector<8xf32>
// WIDE-NEXT: %[[Y:.*]] = arith.divf %[[GATES]], %[[UPS]] : vector<8xf32>
// WIDE-NEXT: vector.store %[[Y]], %{{.*}}[%c0, %[[AT]]]
func.func @gated(%s: !kernel.step, %x: memref<1x1xf32>, %w: memref<5x1x16xf32>, %out: memref<1x40xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %out gated {
    ^bb0(%gate: f32, %up: f32):
      %y = arith.divf %gate, %up : f32
      kernel.yield %y : f32
    } : (!kernel.step, memref<1x1xf32>, memref<5x1x16xf32>, memref<1x40xf32>) -> ()
  }
  return
}

// Inputs: a bias that fills the panels is read whole, one that does not and a matrix are masked like the store. Scalars
// of the body become vectors.
// CHECK-LABEL: @inputs(
// CHECK-SAME: %[[PADDED:[a-z0-9]+]]: memref<48xf32>, %[[SHORT:[a-z0-9]+]]: memref<33xf32>, %[[R:[a-z0-9]+]]: memref<1x33xf32>
// CHECK: scf.for %[[P:.*]] = %{{[0-9]+}} to %{{[0-9]+}} step %c1 {
// CHECK: %[[COLUMN:.*]] = arith.muli %[[P]], %c16
// CHECK: %[[AT:.*]] = arith.addi %[[COLUMN]], %{{.*}}
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: %[[B:.*]] = vector.load %[[PADDED]][%[[AT]]]
// CHECK: %[[C:.*]] = vector.maskedload %[[SHORT]][%[[AT]]], %[[MASK]],
// CHECK: %[[D:.*]] = vector.maskedload %[[R]][%c0, %[[AT]]], %[[MASK]],
// CHECK: %[[E:.*]] = arith.addf %{{.*}}, %[[B]]
// CHECK: %[[F:.*]] = arith.mulf %[[E]], %[[C]]
// CHECK: %[[G:.*]] = arith.subf %[[F]], %[[D]]
// CHECK: %[[H:.*]] = arith.mulf %[[G]], %{{.*}} : vector<8xf32>
// CHECK: vector.maskedstore %{{.*}}[%c0, %[[AT]]], %[[MASK]], %[[H]]
func.func @inputs(%padded: memref<48xf32>, %short: memref<33xf32>, %r: memref<1x33xf32>, %s: !kernel.step, %x: memref<1x1xf32>, %w: memref<3x1x16xf32>, %out: memref<1x33xf32>) {
  %half = arith.constant 0.5 : f32
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w inputs(%padded, %short, %r) into %out {
    ^bb0(%sum: f32, %b: f32, %c: f32, %d: f32):
      %e = arith.addf %sum, %b : f32
      %f = arith.mulf %e, %c : f32
      %g = arith.subf %f, %d : f32
      %h = arith.mulf %g, %half : f32
      kernel.yield %h : f32
    } : (!kernel.step, memref<1x1xf32>, memref<3x1x16xf32>, memref<48xf32>, memref<33xf32>, memref<1x33xf32>, memref<1x33xf32>) -> ()
  }
  return
}

// Any number of rows: with vectors of 8 lanes up to 3 rows take more panels at a time, with 16 lanes six do too. More
// rows: blocks of at most 192, in them as few tiles of at most 6 rows as possible, dealt evenly; the first `rows %
// tiles` have one more. By columns every worker takes all rows. From 24 rows on
// several threads steal tasks, here of one panel, of which shares have 8 if blocks do not fall below 32 rows.
// CHECK-LABEL: @any_rows(
// CHECK-NOT: kernel.token_parallel
// CHECK-DAG: memref.alloca() {{.*}} : memref<3x32xf32>
// CHECK-DAG: %[[STACK:.*]] = memref.alloca() {{.*}} : memref<192x16xf32>
// CHECK: %[[ROWS:.*]] = memref.dim %[[X:.*]], %c0
// CHECK: %[[SEVERAL:.*]] = arith.cmpi sgt, %[[THREADS:.*]], %c1
// CHECK: %[[ENOUGH:.*]] = arith.cmpi sgt, %[[ROWS]], %c23
// CHECK: %[[DEALT:.*]] = arith.select %[[SEVERAL]], %[[ENOUGH]], %[[NO:.*]] : i1
// CHECK: %[[UP:.*]] = arith.addi %[[ROWS]], %c191
// CHECK: %[[LARGE:.*]] = arith.divui %[[UP]], %c192
// CHECK: arith.muli %[[THREADS]], %c8
// CHECK: %[[SMALL:.*]] = arith.divui %[[ROWS]], %c32
// CHECK: %[[WANTED:.*]] = arith.minsi %{{.*}}, %[[SMALL]]
// CHECK: %[[MORE:.*]] = arith.maxsi %[[LARGE]], %[[WANTED]]
// CHECK: %[[BLOCKS:.*]] = arith.select %[[DEALT]], %[[MORE]], %[[LARGE]]
// CHECK: %[[PERBLOCK:.*]] = arith.select %[[DEALT]], %c2, %c1
// CHECK: %[[TASKS:.*]] = arith.muli %[[BLOCKS]], %[[PERBLOCK]]
// CHECK: %[[BEGUN:.*]]:2 = scf.if %[[DEALT]]
// CHECK: %[[PIECE:.*]] = kernel.begin_tasks
// CHECK: %[[CLAIMED:.*]] = kernel.next_task %{{.*}}, %[[PIECE]] of %[[TASKS]]
// CHECK: scf.yield %[[PIECE]], %[[CLAIMED]]
// CHECK: scf.yield %c0, %c0
// CHECK: scf.while (%[[NOW:.*]] = %[[BEGUN]]#1)
// CHECK: %[[LEFT:.*]] = arith.cmpi ult, %[[NOW]], %[[TASKS]]
// CHECK: scf.condition(%[[LEFT]]) %[[NOW]]
// CHECK: ^bb0(%[[TASK:.*]]: index):
// CHECK: arith.divui %[[TASK]], %[[PERBLOCK]]
// CHECK: %[[GROUP:.*]] = arith.remui %[[TASK]], %[[PERBLOCK]]
// CHECK: arith.select %[[DEALT]], %[[GROUP]],
// CHECK: %[[FEW:.*]] = arith.cmpi slt, %[[BLOCKROWS:.*]], %c4
// CHECK: scf.if %[[FEW]] {
// CHECK: scf.index_switch %[[BLOCKROWS]]
// CHECK: case 1 {
// CHECK: case 3 {
// CHECK-NOT: case 4
// CHECK: default {
// CHECK: else
// CHECK: %[[TILES:.*]] = arith.divui %{{.*}}, %c6
// CHECK: %[[LEAST:.*]] = arith.divui %[[IN:.*]], %[[TILES]]
// CHECK: %[[LARGER:.*]] = arith.remui %[[IN]], %[[TILES]]
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK: scf.for %[[T:.*]] = %c0 to %[[TILES]] step
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[T]], %[[LARGER]]
// CHECK: %[[ONE:.*]] = arith.select %[[MORE]], %c1, %c0
// CHECK: %[[SIZE:.*]] = arith.addi %[[LEAST]], %[[ONE]]
// CHECK: scf.index_switch %[[SIZE]]
// CHECK: case 6 {
// CHECK-COUNT-6: memref.load %[[X]]
// CHECK-COUNT-12: vector.store {{.*}}, %[[STACK]]
// CHECK: default {
// CHECK: scf.for %[[R:.*]] = %c0 to %[[IN]] step
// CHECK: scf.for %[[LANE:.*]] = %c0 to %c16 step %c8
// CHECK: vector.load %[[STACK]][%[[R]], %[[LANE]]]
// CHECK: %[[FOLLOWING:.*]] = arith.addi %[[TASK]], %c1
// CHECK: %[[NEXTTASK:.*]] = scf.if %[[DEALT]]
// CHECK-NEXT: %[[OTHER:.*]] = kernel.next_task %{{.*}}, %[[BEGUN]]#0 of %[[TASKS]]
// CHECK-NEXT: scf.yield %[[OTHER]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[FOLLOWING]]
// CHECK: scf.yield %[[NEXTTASK]]
// WIDE-LABEL: @any_rows(
// WIDE: %[[STACK:.*]] = memref.alloca() {{.*}} : memref<192x32xf32>
// WIDE-NOT: memref.alloca
// WIDE: scf.for {{.*}} step %c2
// WIDE: case 6 {
// WIDE-COUNT-12: vector.fma
// WIDE: default {
func.func @any_rows(%s: !kernel.step, %x: memref<?x1xf32>, %w: memref<2x1x16xf32>, %out: memref<?x32xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x1xf32>, memref<2x1x16xf32>, memref<?x32xf32>) -> ()
  }
  return
}

// Adaptive: if the step is divided by rows, every worker's share of the tasks are the blocks of its rows.
// CHECK-LABEL: @adaptive(
// CHECK: %[[ROWS:.*]] = memref.dim
// CHECK: %[[DEALT:.*]] = arith.select %{{.*}}, %{{.*}}, %[[NO:.*]] : i1
// CHECK: %[[STEP:.*]] = kernel.token_parallel
// CHECK: %[[BYROWS:.*]] = arith.select %[[DEALT]], %[[STEP]], %[[NO]] : i1
// CHECK: %[[SHARES:.*]] = arith.select %[[BYROWS]], %[[THREADS:.*]], %c1
// CHECK: arith.select %[[BYROWS]], %c1, %[[THREADS]]
// CHECK: %[[OFSHARE:.*]] = arith.select %[[DEALT]],
// CHECK: %[[BLOCKS:.*]] = arith.muli %[[SHARES]], %[[OFSHARE]]
// CHECK: kernel.next_task
// CHECK: %[[BLOCK:.*]] = arith.divui
// CHECK: %[[SHARE:.*]] = arith.divui %[[BLOCK]], %[[OFSHARE]]
// CHECK: %[[BEFORE:.*]] = arith.muli %[[ROWS]], %[[SHARE]]
// CHECK: arith.divui %[[BEFORE]], %[[SHARES]]
// CHECK: arith.remui %[[BLOCK]], %[[OFSHARE]]
func.func @adaptive(%s: !kernel.step, %x: memref<?x1xf32>, %w: memref<2x1x16xf32>, %out: memref<?x32xf32>) {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x1xf32>, memref<2x1x16xf32>, memref<?x32xf32>) -> ()
  }
  return
}

// Deep sums are divided into blocks of k, here three of 512. A block of panels takes one after the other; sums wait in the
// result, of which nothing is read before the first k. While a group of panels passes, the next one is fetched, behind
// the block's last one its first with the next k, or what this thread comes to next. Behind the last k every group is
// finished.
// WIDE-LABEL: @deep(
// WIDE-SAME: memref<8x1536x16xf32>, %[[OUT:[a-z0-9]+]]: memref<?x128xf32>
// WIDE: memref.alloca() {{.*}} : memref<1x128xf32>
// WIDE-NOT: memref.alloca
// WIDE: scf.for %[[BEGIN:.*]] = %{{.*}} to %[[SHARE:.*]] step %[[BLOCK:c32]]
// WIDE: %[[FULL:.*]] = arith.addi %[[BEGIN]], %[[BLOCK]]
// WIDE: %[[END:.*]] = arith.minsi %[[FULL]], %[[SHARE]]
// WIDE: scf.for %[[K:.*]] = %c0 to %c1536 step %[[KC:c512]]
// WIDE: %[[LAST:.*]] = arith.cmpi sgt, %{{.*}}, %c1536
// WIDE: scf.for %[[P:.*]] = %[[BEGIN]] to %{{.*}} step %c4
// WIDE: %[[BEHIND:.*]] = arith.addi %[[P]], %c4
// WIDE: %[[INSIDE:.*]] = arith.cmpi slt, %[[BEHIND]], %[[END]]
// WIDE: %[[INTASK:.*]] = arith.cmpi slt, %[[BEHIND]], %[[SHARE]]
// WIDE: %[[FOLLOWING:.*]] = arith.select %[[INTASK]], %[[BEHIND]],
// WIDE: %[[OTHER:.*]] = arith.select %[[LAST]], %[[FOLLOWING]], %[[BEGIN]]
// WIDE: arith.select %[[INSIDE]], %[[BEHIND]], %[[OTHER]]
// WIDE-NOT: case 1 {
// WIDE: case 2 {
// WIDE-COUNT-8: memref.prefetch %[[OUT]]{{.*}}, write
// WIDE: %[[LANES:.*]] = arith.muli %[[K]], %c16
// WIDE: %[[KNOWN:.*]] = arith.minsi %[[LANES]], %c16
// WIDE: %[[MASK:.*]] = vector.create_mask %[[KNOWN]]
// WIDE: %[[BEFORE:.*]] = vector.maskedload %[[OUT]]{{.*}}, %[[MASK]],
// WIDE: scf.for %[[J:.*]] = %c0 to %[[KC]] step %c2 iter_args(%{{.*}} = %[[BEFORE]]
// WIDE: memref.prefetch {{.*}}, read
// WIDE: arith.addi %[[K]], %[[J]]
// WIDE: vector.store %{{.*}}, %[[OUT]]
// WIDE: case 6 {
// WIDE: scf.if %[[LAST]] {
func.func @deep(%s: !kernel.step, %x: memref<?x1536xf32>, %w: memref<8x1536x16xf32>, %out: memref<?x128xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x1536xf32>, memref<8x1536x16xf32>, memref<?x128xf32>) -> ()
  }
  return
}

// If the last panel is not full (or its columns are gates), sums wait on the stack, those of one group.
// WIDE-LABEL: @deep_and_partial(
// WIDE-SAME: %[[OUT:[a-z0-9]+]]: memref<?x120xf32>
// WIDE: %[[STACK:.*]] = memref.alloca() {{.*}} : memref<{{.*}}x64xf32>
// WIDE: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c4
// WIDE: scf.for %{{.*}} = %c0 to %c1536 step %c512
// WIDE: vector.maskedload %[[STACK]]
// WIDE-NOT: vector.maskedload %[[OUT]]
// WIDE: return
func.func @deep_and_partial(%s: !kernel.step, %x: memref<?x1536xf32>, %w: memref<8x1536x16xf32>, %out: memref<?x120xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x1536xf32>, memref<8x1536x16xf32>, memref<?x120xf32>) -> ()
  }
  return
}

// 7 panels, two rows: four at a time, of what is left two, then one.
// WIDE-LABEL: @rest(
// WIDE: scf.for %{{.*}} = %{{.*}} to %[[FOURS:.*]] step %c4
// WIDE-COUNT-8: vector.fma
// WIDE: %[[LEFT:.*]] = arith.subi %[[END:.*]], %[[FOURS]]
// WIDE: scf.for %{{.*}} = %[[FOURS]] to %[[TWOS:.*]] step %c2
// WIDE-COUNT-4: vector.fma
// WIDE: scf.for %{{.*}} = %[[TWOS]] to %{{.*}} step %c1
// WIDE-COUNT-2: vector.fma
// WIDE-NOT: vector.fma
// WIDE: return
func.func @rest(%s: !kernel.step, %x: memref<2x1xf32>, %w: memref<7x1x16xf32>, %out: memref<2x112xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<2x1xf32>, memref<7x1x16xf32>, memref<2x112xf32>) -> ()
  }
  return
}

// One row reads a large weight in streams, and fetches what comes 4 KiB later, counting all four: 16 rows of f32, 32 of
// bf16, as many lines as an iteration reads.
// CHECK-LABEL: @streams(
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %c4
// CHECK: scf.for %[[K:.*]] = %c0 to %c2048 step %c4
// CHECK: %[[AHEAD:.*]] = arith.addi %[[K]], %c16
// CHECK: memref.prefetch %{{.*}}[%[[P]], %[[AHEAD]], %c0], read, locality<2>, data
// CHECK-COUNT-15: memref.prefetch
// CHECK-NEXT: memref.load
// CHECK-LABEL: @narrow_streams(
// CHECK: scf.for %[[K:.*]] = %c0 to %c2048 step %c4
// CHECK: arith.addi %[[K]], %c32
// CHECK-COUNT-8: memref.prefetch
// CHECK-NEXT: memref.load
func.func @streams(%s: !kernel.step, %x: memref<1x2048xf32>, %w: memref<32x2048x16xf32>, %out: memref<1x512xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x2048xf32>, memref<32x2048x16xf32>, memref<1x512xf32>) -> ()
  }
  return
}
func.func @narrow_streams(%s: !kernel.step, %x: memref<1x2048xf32>, %w: memref<32x2048x16xbf16>, %out: memref<1x512xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x2048xf32>, memref<32x2048x16xbf16>, memref<1x512xf32>) -> ()
  }
  return
}

// A panel that was packed for vectors of 16 lanes is one tile for them, and one stream; vectors of 8 lanes take it in
// four tiles of two vectors, as with narrow panels. What is fetched next is divided among all of them, two lines in
// every iteration.
// WIDE-LABEL: @wide_panels(
// WIDE-DAG: memref.alloca() {{.*}} : memref<1x192xf32>
// WIDE-DAG: memref.alloca() {{.*}} : memref<192x64xf32>
// WIDE: case 6 {
// WIDE: scf.for %[[K:.*]] = %c0 to %c32 step %c2
// WIDE-COUNT-2: memref.prefetch
// WIDE: vector.load %{{.*}}[%[[P:.*]], %[[K]], %c0]
// WIDE: vector.load %{{.*}}[%[[P]], %[[K]], %c48]
// WIDE: default {
// CHECK-LABEL: @wide_panels(
// CHECK: case 6 {
// CHECK: scf.for %[[PIECE:.*]] = %c0 to %c4 step %c1
// CHECK: %[[FIRST:.*]] = arith.muli %[[PIECE]], %c16
// CHECK: scf.for %[[K:.*]] = %c0 to %c32 step %c4
// CHECK-COUNT-2: memref.prefetch
// CHECK: vector.load %{{.*}}[%[[P:.*]], %[[K]], %[[FIRST]]]
// CHECK-COUNT-48: vector.fma
// CHECK-NOT: vector.fma
// CHECK: default {
func.func @wide_panels(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<3x32x64xf32>, %out: memref<?x192xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x32xf32>, memref<3x32x64xf32>, memref<?x192xf32>) -> ()
  }
  return
}
