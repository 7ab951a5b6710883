// SPDX-License-Identifier: Apache-2.0
// expand-moe: for every expert the rows that chose it are listed, then pass its panels in the loops of a matmul.
// RUN: talc-opt %s -assign-plans="lanes=16" -expand-moe="lanes=16" -canonicalize | FileCheck %s
// RUN: talc-opt %s -assign-plans -expand-moe | FileCheck %s --check-prefix=NARROW
// RUN: talc-opt %s -assign-plans="lanes=16 plans='*: block_rows = 16, task_panels = 3'" -expand-moe="lanes=16" -canonicalize | FileCheck %s --check-prefix=WISH

// Sums of the rows of an expert that pass a panel together; lists of a task's rows, twice as many where a row has two of
// four experts, and one place behind.
// CHECK-LABEL: @gated
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x24xf32>, %[[ROUTES:[a-z0-9]+]]: memref<?x4xf32>, %[[W:[a-z0-9]+]]: memref<12x24x32xf32>, %[[Y:[a-z0-9]+]]: memref<?x80xf32>
// CHECK: %[[SUMS:.*]] = memref.alloca() {{.*}}: memref<192x64xf32>
// CHECK: %[[LIST:.*]] = memref.alloca() : memref<385xindex>
// CHECK-COUNT-2: memref.alloca() : memref<385xindex>
// CHECK: kernel.tasks {{.*}} over tiles by adaptive {{.*}}of(%{{.*}}, %c3{{.*}}) grain [384, 2]
// CHECK-NEXT: ^bb0(%[[FIRST:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index, %[[PANEL:[a-z0-9]+]]: index, %[[PANELS:[a-z0-9]+]]: index, %[[NEXT:[a-z0-9]+]]: index)
// The experts in turn; whoever has a route is put on the list.
// CHECK: scf.for %[[E:.*]] = %c0 to %c4
// CHECK: %[[COUNT:.*]] = scf.for %[[R:.*]] = %{{.*}} iter_args(
// CHECK: memref.load %[[ROUTES]][%[[R]], %[[E]]]
// CHECK: arith.cmpf une
// Behind the expert's panels come the next one's; behind the last expert's those of another task.
// CHECK: %[[LATER:.*]] = arith.addi %[[E]], %c1
// CHECK: arith.cmpi slt, %[[LATER]], %c4
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[NEXT]]
// An expert that nobody chose is not read; rows are no more than sums have room for.
// CHECK: arith.cmpi sgt, %[[COUNT]], %c0
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]] step %c192
// A row by itself takes three panels of two vectors, from its place on the list.
// CHECK: scf.index_switch
// CHECK: %[[OWN:.*]] = memref.load %[[LIST]][
// CHECK: memref.load %[[X]][%[[OWN]],
// CHECK-COUNT-12: vector.fma
// Both halves of the lanes make 16 columns of a slot 40 wide.
// CHECK: arith.maximumf
// CHECK: arith.mulf
// CHECK: vector.maskedstore %[[Y]]
// Six rows pass two panels, wherever they stand.
// CHECK: case 6
// CHECK-COUNT-6: memref.load %[[LIST]][
// CHECK-COUNT-48: vector.fma
// CHECK-COUNT-24: vector.store %{{.*}}, %[[SUMS]]
// NARROW-LABEL: @gated
// NARROW: vector<8xf32>
// WISH-LABEL: @gated
// WISH: kernel.tasks {{.*}}grain [32, 3]
// WISH: scf.for %{{.*}} = %c0 to %{{.*}} step %c16
func.func @gated(%s: !kernel.step, %x: memref<?x24xf32>, %routes: memref<?x4xf32>, %w: memref<12x24x32xf32>, %y: memref<?x80xf32>) {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.experts %s, %x routes %routes, %w slots 2 into %y gated {
    ^bb0(%gate: f32, %up: f32):
      %zero = arith.constant 0.0 : f32
      %a = arith.maximumf %gate, %zero : f32
      %b = arith.mulf %a, %up : f32
      kernel.yield %b : f32
    } : (!kernel.step, memref<?x24xf32>, memref<?x4xf32>, memref<12x24x32xf32>, memref<?x80xf32>) -> ()
  }
  return
}

// The result begins at zero, and gets what the row's slots yield, times their routes. No sums wait in it, though its
// panels are full.
// CHECK-LABEL: @summed
// CHECK-SAME: %[[ROUTES:[a-z0-9]+]]: memref<?x4xf32>, %{{.*}}, %[[Y:[a-z0-9]+]]: memref<?x16xf32>
// CHECK: vector.maskedstore %[[Y]]
// CHECK: vector.fma
// CHECK-NOT: %[[Y]]
// CHECK: %[[ROUTE:.*]] = memref.load %[[ROUTES]]
// CHECK: vector.load %[[Y]]
// CHECK: arith.addf
// CHECK: vector.store %{{.*}}, %[[Y]]
func.func @summed(%s: !kernel.step, %x: memref<?x2048xf32>, %routes: memref<?x4xf32>, %w: memref<4x1024x16xf32>, %y: memref<?x16xf32>) {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.experts %s, %x routes %routes, %w slots 2 into %y {
    ^bb0(%sum: f32, %route: f32, %before: f32):
      %a = arith.mulf %sum, %route : f32
      %b = arith.addf %before, %a : f32
      kernel.yield %b : f32
    } : (!kernel.step, memref<?x2048xf32>, memref<?x4xf32>, memref<4x1024x16xf32>, memref<?x16xf32>) -> ()
  }
  return
}

// A single row is alone on each list; its rounded features begin at those of the slot, and products are of integers.
// CHECK-LABEL: @rounded
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<1x128x!talc.stored<q8_sums>>
// CHECK: scf.if
// CHECK-NOT: scf.index_switch
// CHECK: %[[SLOT:.*]] = arith.minsi %{{.*}}, %c1
// CHECK: %[[FEATURE:.*]] = arith.muli %[[SLOT]], %c64
// CHECK: scf.for %[[K:.*]] = %c0 to %c64 step %c32
// CHECK: arith.addi %[[FEATURE]], %[[K]]
// CHECK: kernel.dot
// CHECK: return
func.func @rounded(%s: !kernel.step, %x: memref<1x128x!talc.stored<q8_sums>>, %routes: memref<1x4xf32>, %w: memref<4x64x16x!talc.stored<q8_0>>, %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.experts %s, %x routes %routes, %w slots 2 into %y {
    ^bb0(%sum: f32, %route: f32, %before: f32):
      %a = arith.mulf %sum, %route : f32
      %b = arith.addf %before, %a : f32
      kernel.yield %b : f32
    } : (!kernel.step, memref<1x128x!talc.stored<q8_sums>>, memref<1x4xf32>, memref<4x64x16x!talc.stored<q8_0>>, memref<1x16xf32>) -> ()
  }
  return
}
