// SPDX-License-Identifier: Apache-2.0
// expand-contract: register tiles, masks only where columns end within a panel, wide and narrow weights, gates, shares.
// RUN: talc-opt %s -expand-contract -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -expand-contract="lanes=16" -canonicalize -cse | FileCheck %s --check-prefix=WIDE

// One row, 3 panels: this thread's panels [3*i/n, 3*(i+1)/n), four at a time, then one by one. 5 products: two steps of
// two and a rest of one, each sum one chain. 33 columns: every store is masked, by the columns that are left.
// CHECK-LABEL: @odd(
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: !kernel.step, %[[X:[a-z0-9]+]]: memref<1x5xf32>, %[[W:[a-z0-9]+]]: memref<3x5x16xf32>, %[[OUT:[a-z0-9]+]]: memref<1x33xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK-DAG: %[[I:.*]] = kernel.thread %[[STEP]]
// CHECK-DAG: %[[N:.*]] = kernel.threads %[[STEP]]
// CHECK: %[[IP:.*]] = arith.muli %[[I]], %[[C3:.*]] : index
// CHECK: %[[FIRST:.*]] = arith.divui %[[IP]], %[[N]]
// CHECK: %[[J:.*]] = arith.addi %[[I]], %{{.*}} : index
// CHECK: %[[JP:.*]] = arith.muli %[[J]], %[[C3]]
// CHECK: %[[END:.*]] = arith.divui %[[JP]], %[[N]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[WHOLE:.*]] step %{{.*}} {
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: scf.for %[[P:.*]] = %[[WHOLE]] to %[[END]] step
// CHECK-NEXT: %[[SUMS:.*]]:2 = scf.for %[[K:.*]] = %c0 to %c4 step %c2 iter_args(%[[S0:.*]] = %[[ZERO]], %{{.*}} = %[[ZERO]])
// CHECK-NEXT: %[[A:.*]] = memref.load %[[X]][%c0, %[[K]]]
// CHECK-NEXT: %[[AA:.*]] = vector.broadcast %[[A]]
// CHECK-NEXT: %[[B:.*]] = vector.load %[[W]][%[[P]], %[[K]], %c0]
// CHECK-NEXT: %[[T0:.*]] = vector.fma %[[AA]], %[[B]], %[[S0]]
// CHECK: %[[K1:.*]] = arith.addi %[[K]], %c1
// CHECK: memref.load %[[X]][%c0, %[[K1]]]
// CHECK: %[[T1:.*]] = vector.fma %{{.*}}, %{{.*}}, %[[T0]]
// CHECK: scf.yield %[[T1]], %{{.*}}
// CHECK: memref.load %[[X]][%c0, %c4]
// CHECK: %[[R:.*]] = vector.fma %{{.*}}, %{{.*}}, %[[SUMS]]#0
// CHECK: %[[AT:.*]] = arith.muli %[[P]], %c16
// CHECK: %[[LEFT:.*]] = arith.subi %c33, %[[AT]]
// CHECK: %[[COUNT:.*]] = arith.maxsi %[[LEFT]], %c0
// CHECK: %[[MASK:.*]] = vector.create_mask %[[COUNT]]
// CHECK-NEXT: vector.maskedstore %[[OUT]][%c0, %[[AT]]], %[[MASK]], %[[R]]
// CHECK-NOT: vector.store
// CHECK-NOT: scf.for
// CHECK: return
func.func @odd(%s: !kernel.step, %x: memref<1x5xf32>, %w: memref<3x5x16xf32>, %out: memref<1x33xf32>) {
  kernel.contract %s, %x, %w into %out {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } {kernel.share = #kernel<share columns>} : (!kernel.step, memref<1x5xf32>, memref<3x5x16xf32>, memref<1x33xf32>) -> ()
  return
}

// A single product is no loop over products; whole panels are stored without masks; bf16 is widened.
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
  kernel.contract %s, %x, %w into %out {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } {kernel.share = #kernel<share columns>} : (!kernel.step, memref<1x1xf32>, memref<2x1x16xbf16>, memref<1x32xf32>) -> ()
  return
}

// A panel of gates and ups: the epilogue takes both sums of 8 columns. Vectors of 16 lanes hold both and are halved.
// CHECK-LABEL: @gated(
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %c1 {
// CHECK: %[[G:.*]] = vector.load %{{.*}}[%[[P]], %c0, %c0]
// CHECK-NEXT: %[[GATE:.*]] = vector.fma %[[A:.*]], %[[G]],
// CHECK-NEXT: %[[U:.*]] = vector.load %{{.*}}[%[[P]], %c0, %c8]
// CHECK-NEXT: %[[UP:.*]] = vector.fma %[[A]], %[[U]],
// CHECK-NEXT: %[[AT:.*]] = arith.muli %[[P]], %c8
// CHECK-NEXT: %[[Y:.*]] = arith.divf %[[GATE]], %[[UP]] : vector<8xf32>
// CHECK-NEXT: vector.store %[[Y]], %{{.*}}[%c0, %[[AT]]]
// WIDE-LABEL: @gated(
// WIDE: scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %c1 {
// WIDE: %[[SUM:.*]] = vector.fma {{.*}} : vector<16xf32>
// WIDE-DAG: %[[GATE:.*]] = vector.extract_strided_slice %[[SUM]] {offsets = [0], sizes = [8], strides = [1]}
// WIDE-DAG: %[[UP:.*]] = vector.extract_strided_slice %[[SUM]] {offsets = [8], sizes = [8], strides = [1]}
// WIDE: %[[AT:.*]] = arith.muli %[[P]], %c8
// WIDE-NEXT: %[[Y:.*]] = arith.divf %[[GATE]], %[[UP]] : vector<8xf32>
// WIDE-NEXT: vector.store %[[Y]], %{{.*}}[%c0, %[[AT]]]
func.func @gated(%s: !kernel.step, %x: memref<1x1xf32>, %w: memref<5x1x16xf32>, %out: memref<1x40xf32>) {
  kernel.contract %s, %x, %w into %out gated {
  ^bb0(%gate: f32, %up: f32):
    %y = arith.divf %gate, %up : f32
    kernel.yield %y : f32
  } {kernel.share = #kernel<share columns>} : (!kernel.step, memref<1x1xf32>, memref<5x1x16xf32>, memref<1x40xf32>) -> ()
  return
}

// Inputs: a bias that fills the panels is read whole, one that does not and a matrix are masked like the store. Scalars
// of the body become vectors.
// CHECK-LABEL: @inputs(
// CHECK-SAME: %[[PADDED:[a-z0-9]+]]: memref<48xf32>, %[[SHORT:[a-z0-9]+]]: memref<33xf32>, %[[R:[a-z0-9]+]]: memref<1x33xf32>
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %{{.*}} step %c1 {
// CHECK: %[[AT:.*]] = arith.muli %[[P]], %c16
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
  kernel.contract %s, %x, %w inputs(%padded, %short, %r) into %out {
  ^bb0(%sum: f32, %b: f32, %c: f32, %d: f32):
    %e = arith.addf %sum, %b : f32
    %f = arith.mulf %e, %c : f32
    %g = arith.subf %f, %d : f32
    %h = arith.mulf %g, %half : f32
    kernel.yield %h : f32
  } {kernel.share = #kernel<share columns>} : (!kernel.step, memref<1x1xf32>, memref<3x1x16xf32>, memref<48xf32>, memref<33xf32>, memref<1x33xf32>, memref<1x33xf32>) -> ()
  return
}

// Any number of rows: a tile for each of 1 to 5 rows, and for more tiles of 6, of 5, and a rest. By columns every
// thread takes all rows.
// CHECK-LABEL: @any_rows(
// CHECK-NOT: kernel.by_rows
// CHECK: %[[ROWS:.*]] = memref.dim %[[X:.*]], %c0
// CHECK-DAG: %[[FEW:.*]] = arith.cmpi slt, %[[ROWS]], %c6
// CHECK: scf.if %[[FEW]] {
// CHECK: scf.index_switch %[[ROWS]]
// CHECK: case 1 {
// CHECK: case 5 {
// CHECK-NOT: case 6
// CHECK: default {
// CHECK: %[[MANY:.*]] = arith.cmpi {{.*}} %[[ROWS]]
// CHECK: scf.if %[[MANY]] {
// CHECK: scf.for %[[BLOCK:.*]] = %c0 to %[[ROWS]] step
// CHECK: scf.for %{{.*}} = %[[FIRST:.*]] to %[[END:.*]] step %c1
// CHECK: scf.for %[[ROW:.*]] = %[[BLOCK]] to %{{.*}} step %c6
// CHECK-COUNT-5: arith.addi %[[ROW]],
// CHECK-COUNT-6: memref.load %[[X]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c5
// CHECK-COUNT-5: memref.load %[[X]]
// CHECK: scf.index_switch
// CHECK: case 1
func.func @any_rows(%s: !kernel.step, %x: memref<?x1xf32>, %w: memref<2x1x16xf32>, %out: memref<?x32xf32>) {
  kernel.contract %s, %x, %w into %out {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } {kernel.share = #kernel<share columns>} : (!kernel.step, memref<?x1xf32>, memref<2x1x16xf32>, memref<?x32xf32>) -> ()
  return
}

// Adaptive: either this thread's rows and all panels, or all rows and this thread's panels.
// CHECK-LABEL: @adaptive(
// CHECK: %[[ROWS:.*]] = memref.dim
// CHECK: %[[PANEL:.*]] = arith.divui
// CHECK: %[[LASTPANEL:.*]] = arith.divui
// CHECK: %[[BYROWS:.*]] = kernel.by_rows
// CHECK: %[[ROW:.*]] = arith.divui
// CHECK: %[[LASTROW:.*]] = arith.divui
// CHECK: arith.select %[[BYROWS]], %[[ROW]], %c0
// CHECK: arith.select %[[BYROWS]], %[[LASTROW]], %[[ROWS]]
// CHECK: arith.select %[[BYROWS]], %c0, %[[PANEL]]
// CHECK: arith.select %[[BYROWS]], %c2, %[[LASTPANEL]]
func.func @adaptive(%s: !kernel.step, %x: memref<?x1xf32>, %w: memref<2x1x16xf32>, %out: memref<?x32xf32>) {
  kernel.contract %s, %x, %w into %out {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } {kernel.share = #kernel<share adaptive>} : (!kernel.step, memref<?x1xf32>, memref<2x1x16xf32>, memref<?x32xf32>) -> ()
  return
}
