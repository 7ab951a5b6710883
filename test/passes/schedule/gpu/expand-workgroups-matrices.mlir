// SPDX-License-Identifier: Apache-2.0
// expand-workgroups{matrices=true}: contractions of 16-bit weights by matrix instructions, others as ever.
// RUN: talc-opt %s -split-input-file -expand-workgroups=matrices=true -canonicalize | FileCheck %s

// Two panels, a subgroup each; 32 rows. Of 64 lanes a thread loads 8 at once, of 4 lines: 8 instructions for each tile
// of 16 rows.
// CHECK-LABEL: func.func private @contract(
// CHECK-SAME: kernel.threads = 64
// CHECK: memref.alloca() : memref<4096xf32, #gpu.address_space<workgroup>>
// CHECK: kernel.tasks %{{.*}} over tiles by adaptive of(%{{.*}}, %c2) grain [32, 2]
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c16
// CHECK-COUNT-4: vector.load %arg2{{.*}} {alignment = 16 : i64} : memref<2x32x64xbf16>, vector<8xbf16>
// CHECK: arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK-COUNT-16: nvgpu.mma.sync
// CHECK-NOT: nvgpu.mma.sync
// CHECK: gpu.barrier
// CHECK: arith.addf
func.func private @contract(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x32x64xbf16>, %bias: memref<128xf32>, %y: memref<?x128xf32>) attributes {kernel.piece = "contract"} {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.contract %s, %x, %w inputs(%bias) into %y {
    ^bb0(%sum: f32, %b: f32):
      %r = arith.addf %sum, %b : f32
      kernel.yield %r : f32
    } : (!kernel.step, memref<?x32xf32>, memref<2x32x64xbf16>, memref<128xf32>, memref<?x128xf32>) -> ()
  }
  return
}

// -----

// One row is a tile of 16, of which one is stored. Gates and ups of a column are sums of the same thread.
// CHECK-LABEL: func.func private @gated(
// CHECK-SAME: kernel.threads = 128
// CHECK: kernel.tasks %{{.*}} over tiles by columns of(%c1, %c6) grain [16, 4]
// CHECK-COUNT-4: vector.load %arg2{{.*}} {alignment = 4 : i64} : memref<6x16x32xf16>, vector<2xf16>
// CHECK-COUNT-4: nvgpu.mma.sync
// CHECK-NOT: nvgpu.mma.sync
func.func private @gated(%s: !kernel.step, %x: memref<1x16xf32>, %w: memref<6x16x32xf16>, %y: memref<1x96xf32>) attributes {kernel.piece = "contract"} {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.contract %s, %x, %w into %y gated {
    ^bb0(%gate: f32, %up: f32):
      %r = arith.mulf %gate, %up : f32
      kernel.yield %r : f32
    } : (!kernel.step, memref<1x16xf32>, memref<6x16x32xf16>, memref<1x96xf32>) -> ()
  }
  return
}

// -----

// A depth that no instruction divides, and f32.
// CHECK-LABEL: func.func private @uneven(
// CHECK-NOT: nvgpu.mma.sync
// CHECK: math.fma
func.func private @uneven(%s: !kernel.step, %x: memref<?x24xf32>, %w: memref<2x24x16xf16>, %y: memref<?x32xf32>) attributes {kernel.piece = "contract"} {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.contract %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x24xf32>, memref<2x24x16xf16>, memref<?x32xf32>) -> ()
  }
  return
}

// -----

// CHECK-LABEL: func.func private @f32(
// CHECK-NOT: nvgpu.mma.sync
// CHECK: math.fma
func.func private @f32(%s: !kernel.step, %x: memref<?x16xf32>, %w: memref<2x16x16xf32>, %y: memref<?x32xf32>) attributes {kernel.piece = "contract"} {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.contract %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x16xf32>, memref<2x16x16xf32>, memref<?x32xf32>) -> ()
  }
  return
}
