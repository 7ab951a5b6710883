// SPDX-License-Identifier: Apache-2.0
// outline-kernels: every compute op becomes a function; ops that differ in nothing but values share one.
// RUN: talc-opt %s -outline-kernels | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>

// Operands are passed once each, the step first; what surrounds the compute ops stays.
// CHECK-LABEL: func.func @shared
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: !kernel.step, %[[X:[a-z0-9]+]]: memref<?x32xf32>, %[[S:[a-z0-9]+]]: memref<32xf32>, %[[Y:[a-z0-9]+]]: memref<?x32xf32>, %[[KV:[a-z0-9]+]]: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>
// CHECK-NEXT: call @[[NORM:norm_[0-9]+]](%[[STEP]], %[[X]], %[[S]], %[[Y]])
// CHECK-NEXT: kernel.barrier
// CHECK-NEXT: call @[[NORM]](%[[STEP]], %[[Y]], %[[S]], %[[X]])
// CHECK-NEXT: call @[[APPEND:kv_append_[0-9]+]](%[[STEP]], %[[KV]], %[[X]])
// CHECK-NEXT: return
func.func @shared(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<32xf32>, %y: memref<?x32xf32>, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %x, %w epsilon 0.5 groups 1 into %y : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  kernel.barrier %s
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %y, %w epsilon 0.5 groups 1 into %x : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.kv_append %s, %kv, %x, %x : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>, memref<?x32xf32>
  }
  return
}

// Another function's equal compute op shares as well; another attribute, layout, share or order of operands does not.
// CHECK-LABEL: func.func @unequal
// CHECK-NEXT: call @[[NORM]](
// CHECK-NEXT: call @[[EPSILON:norm_[0-9]+]](
// CHECK-NEXT: %[[VIEW:.*]] = memref.subview
// CHECK-NEXT: call @[[STRIDED:norm_[0-9]+]](%{{.*}}, %[[VIEW]],
// CHECK-NEXT: call @[[ALL:norm_[0-9]+]](
// CHECK-NEXT: call @[[TWO:kv_append_[0-9]+]](
func.func @unequal(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<32xf32>, %y: memref<?x32xf32>, %z: memref<?x64xf32>, %rows: index, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %x, %w epsilon 0.5 groups 1 into %y : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %x, %w epsilon 0.25 groups 1 into %y : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  %view = memref.subview %z[0, 0] [%rows, 32] [1, 1] : memref<?x64xf32> to memref<?x32xf32, strided<[64, 1]>>
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %view, %w epsilon 0.5 groups 1 into %y : (!kernel.step, memref<?x32xf32, strided<[64, 1]>>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over rows by all {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %x, %w epsilon 0.5 groups 1 into %y : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.kv_append %s, %kv, %x, %y : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>, memref<?x32xf32>
  }
  return
}

// Bodies take part in the comparison; constants move into the kernel, so that they are part of it; buffers that a body
// needs from above become arguments.
// CHECK-LABEL: func.func @bodies
// CHECK: call @[[HALF:generic_[0-9]+]](%{{.*}}, %[[X:[a-z0-9]+]], %[[Y:[a-z0-9]+]])
// CHECK-NEXT: call @[[HALF]](%{{.*}}, %[[Y]], %[[X]])
// CHECK-NEXT: call @[[DOUBLE:generic_[0-9]+]](
// CHECK-NEXT: %[[F:.*]] = arith.
// CHECK-NEXT: call @[[CAPTURE:generic_[0-9]+]](%{{.*}}, %[[X]], %[[Y]], %[[F]])
// CHECK-NEXT: call @[[COPY:copy_[0-9]+]](
// CHECK-NEXT: call @[[CONTRACT:matmul_[0-9]+]](
func.func @bodies(%s: !kernel.step, %x: memref<?x32xf32>, %y: memref<?x32xf32>, %w: memref<2x32x16xf32>, %g: f32) {
  %half = arith.constant 0.5 : f32
  %two = arith.constant 2.0 : f32
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x32xf32>) outs(%y : memref<?x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.mulf %a, %half : f32
      linalg.yield %m : f32
    }
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%y : memref<?x32xf32>) outs(%x : memref<?x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.mulf %a, %half : f32
      linalg.yield %m : f32
    }
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x32xf32>) outs(%y : memref<?x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.mulf %a, %two : f32
      linalg.yield %m : f32
    }
  }
  %f = arith.negf %g : f32
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%x : memref<?x32xf32>) outs(%y : memref<?x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.mulf %a, %f : f32
      linalg.yield %m : f32
    }
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    memref.copy %x, %y : memref<?x32xf32> to memref<?x32xf32>
  }
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf32>, memref<?x32xf32>) -> ()
  }
  return
}

// The kernels, each once, with the name of its compute op, and the op in its tasks.
// CHECK: func.func private @[[NORM]](%[[P:.*]]: !kernel.step, %[[A:.*]]: memref<?x32xf32>, %[[B:.*]]: memref<32xf32>, %[[C:.*]]: memref<?x32xf32>) attributes {kernel.op = "norm"} {
// CHECK-NEXT: kernel.tasks %[[P]] over rows by rows {
// CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index):
// CHECK-NEXT: kernel.norm rms %[[P]], %[[A]], %[[B]] epsilon 5.000000e-01 groups 1 into %[[C]]
// CHECK: return
// CHECK: func.func private @[[APPEND]](%{{.*}}: !kernel.step, %{{.*}}: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %{{.*}}: memref<?x32xf32>)
// CHECK: func.func private @[[EPSILON]]({{.*}}
// CHECK-NEXT: kernel.tasks
// CHECK-NEXT: ^bb0
// CHECK-NEXT: epsilon 2.500000e-01
// CHECK: func.func private @[[STRIDED]]({{.*}} memref<?x32xf32, strided<[64, 1]>>,
// CHECK: func.func private @[[ALL]]({{.*}} attributes {kernel.op = "norm"}
// CHECK-NEXT: kernel.tasks {{.*}} by all
// CHECK: func.func private @[[TWO]](
// CHECK: func.func private @[[HALF]]({{.*}} attributes {kernel.op = "generic"}
// CHECK-NEXT: arith.constant 5.000000e-01
// CHECK-NEXT: kernel.tasks
// CHECK-NEXT: ^bb0
// CHECK-NEXT: linalg.generic
// CHECK: func.func private @[[DOUBLE]](
// CHECK-NEXT: arith.constant 2.000000e+00
// CHECK: func.func private @[[CAPTURE]]({{.*}}, %[[F:.*]]: f32)
// CHECK: arith.mulf %{{.*}}, %[[F]]
// CHECK: func.func private @[[COPY]]({{.*}} attributes {kernel.op = "copy"}
// CHECK: func.func private @[[CONTRACT]]({{.*}} attributes {kernel.op = "matmul"}
// CHECK-NOT: func.func
