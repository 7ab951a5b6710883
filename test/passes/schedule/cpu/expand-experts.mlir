// SPDX-License-Identifier: Apache-2.0
// expand-experts: for every expert the rows that chose it are listed, then pass its panels in tiles of six rows.
// RUN: talc-opt %s -assign-plans="lanes=16" -expand-experts="lanes=16" | FileCheck %s
// RUN: talc-opt %s -assign-plans -expand-experts | FileCheck %s --check-prefix=NARROW

// Lists of a block of rows, and one place behind; tasks of 192 rows and a panel: 3 of each expert.
// CHECK-LABEL: @gated
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x24xf32>, %[[ROUTES:[a-z0-9]+]]: memref<?x4xf32>, %[[W:[a-z0-9]+]]: memref<12x24x32xf32>
// CHECK: %[[SUMS:.*]] = memref.alloca() {{.*}}: memref<6x32xf32>
// CHECK-COUNT-3: memref.alloca() : memref<193xindex>
// CHECK: kernel.tasks {{.*}} over tiles by adaptive {{.*}}of(%{{.*}}, %c3{{.*}}) grain [192, 1]
// The experts in turn; whoever has a route is put on the list.
// CHECK: scf.for %[[E:.*]] = %c0{{.*}} to %c4
// CHECK: scf.for %[[R:.*]] = %{{.*}} iter_args(
// CHECK: memref.load %[[ROUTES]][%[[R]], %[[E]]]
// CHECK: arith.cmpf une
// Panel `expert * 3 + panel`; six rows, wherever they stand, and two vectors for each. Both halves of the lanes make 16
// columns of a slot 40 wide.
// CHECK: scf.for
// CHECK-COUNT-2: vector.load %[[W]][
// CHECK-COUNT-12: vector.fma
// CHECK: vector.store %{{.*}}, %[[SUMS]]
// CHECK: arith.maximumf
// CHECK: arith.mulf
// CHECK: vector.maskedstore
// NARROW-LABEL: @gated
// NARROW: vector<8xf32>
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

// The result begins at zero, and gets what the row's slots yield, times their routes.
// CHECK-LABEL: @summed
// CHECK-SAME: %[[ROUTES:[a-z0-9]+]]: memref<?x4xf32>, %{{.*}}, %[[Y:[a-z0-9]+]]: memref<?x16xf32>
// CHECK: vector.maskedstore %[[Y]]
// CHECK: vector.fma
// CHECK: %[[ROUTE:.*]] = memref.load %[[ROUTES]]
// CHECK: vector.load %[[Y]]
// CHECK: arith.addf
// CHECK: vector.store %{{.*}}, %[[Y]]
func.func @summed(%s: !kernel.step, %x: memref<?x80xf32>, %routes: memref<?x4xf32>, %w: memref<4x40x16xf32>, %y: memref<?x16xf32>) {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.experts %s, %x routes %routes, %w slots 2 into %y {
    ^bb0(%sum: f32, %route: f32, %before: f32):
      %a = arith.mulf %sum, %route : f32
      %b = arith.addf %before, %a : f32
      kernel.yield %b : f32
    } : (!kernel.step, memref<?x80xf32>, memref<?x4xf32>, memref<4x40x16xf32>, memref<?x16xf32>) -> ()
  }
  return
}
