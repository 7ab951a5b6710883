// SPDX-License-Identifier: Apache-2.0
// expand-workgroups: rows that are noted as rounded are stored so. Those of functions without a body, whose
// code was found, too.
// RUN: talc-opt %s -expand-workgroups -canonicalize | FileCheck %s
// Which ones are: norms for a matmul, and what one matmul makes for another. A residual stays.
// RUN: %talc compile %models/tales-gpt2 --target=nvptx --weights=bf16 --stop-after=schedule -o %t --remarks=schedule 2>&1 | FileCheck %s --check-prefix=REMARKS
// RUN: FileCheck %s --check-prefix=GPT2 < %t
// RUN: %talc compile %models/tales-bert --target=nvptx --weights=bf16 --stop-after=schedule -o %t
// RUN: FileCheck %s --check-prefix=BERT < %t
// REMARKS-DAG: schedule: narrow-activations: norm_{{[0-9]+}}: argument 4 is read by tensor cores only: stored as bf16
// REMARKS-DAG: schedule: expand-workgroups: matmul_{{[0-9]+}}: matmul: workgroups of 32 threads: 32 rows x 64 columns a task, by MMA m16n8k16 of bf16; rows in 4 stages of shared memory, 16 features each
// GPT2: func.func private @transformer.h.prefill(%arg0: !kernel.step, %arg1: memref<?x128xf32>
// GPT2: %[[NORMED:.*]] = kernel.arena {{.*}} : memref<?x128xbf16>
// GPT2: call @norm_{{[0-9]+}}(%arg0, %arg1, {{.*}}, %[[NORMED]])
// GPT2: %[[QKV:.*]] = kernel.arena {{.*}} : memref<?x384xf32>
// GPT2: call @matmul_{{[0-9]+}}(%arg0, %[[NORMED]], {{.*}}, %[[QKV]])
// GPT2: func.func private @matmul_{{[0-9]+}}(%arg0: !kernel.step, %arg1: memref<?x512xbf16>
// BERT-NOT: func.func private @norm_{{[0-9]+}}({{.*}}memref<?x{{[0-9]+}}xbf16>
// BERT: func.func private @matmul_{{[0-9]+}}(%arg0: !kernel.step, %arg1: memref<?x{{[0-9]+}}xbf16>

// CHECK-LABEL: func.func @step(
// CHECK: %[[NORMED:.*]] = kernel.arena {{.*}} at 128 {{.*}} : memref<?x32xbf16>
// CHECK: %[[WIDE:.*]] = kernel.arena {{.*}} at 256 {{.*}} : memref<?x128xbf16>
// CHECK: call @norm({{.*}}, %[[NORMED]]) : {{.*}}memref<?x32xbf16>) -> ()
// CHECK: call @up({{.*}}, %[[NORMED]], {{.*}}, %[[WIDE]])
// CHECK: call @down({{.*}}, %[[WIDE]], %{{.*}}, %arg1, %arg5)
func.func @step(%s: !kernel.step, %x: memref<?x32xf32>, %v: memref<32xf32>, %w: memref<2x32x64xbf16>, %d: memref<1x128x32xbf16>, %y: memref<?x32xf32>) {
  %n = kernel.token_count %s
  %normed = kernel.arena %s rows %n at 128 plus 0 by_worker 0 {kernel.narrowed = bf16} : memref<?x32xf32>
  %wide = kernel.arena %s rows %n at 256 plus 0 by_worker 0 {kernel.narrowed = bf16} : memref<?x128xf32>
  call @norm(%s, %x, %v, %normed) : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  call @up(%s, %normed, %w, %wide) : (!kernel.step, memref<?x32xf32>, memref<2x32x64xbf16>, memref<?x128xf32>) -> ()
  call @down(%s, %wide, %d, %x, %y) : (!kernel.step, memref<?x128xf32>, memref<1x128x32xbf16>, memref<?x32xf32>, memref<?x32xf32>) -> ()
  return
}

// CHECK-LABEL: func.func private @norm(
// CHECK-SAME: %[[X:.*]]: memref<?x32xf32>, %{{.*}}: memref<32xf32>, %[[Y:.*]]: memref<?x32xbf16>
// CHECK: %[[ROUNDED:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK: memref.store %[[ROUNDED]], %[[Y]]
func.func private @norm(%s: !kernel.step, %x: memref<?x32xf32>, %v: memref<32xf32>, %y: memref<?x32xf32> {kernel.narrowed = bf16}) attributes {kernel.op = "norm"} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %x, %v epsilon 1.0e-5 groups 1 into %y : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  return
}

// Four stages of 32 rows and 16 k. Two steps are on their way before the first is multiplied; each waits for all copies
// but those of the next two. The last step has no weights to load ahead. Two wide panels are 128 sums of a thread, so that a
// subgroup waits in front of every part of the weights: they stay where they are loaded.
// CHECK-LABEL: func.func private @up(
// CHECK-SAME: tile = "32 rows x 128 columns a task, by MMA m16n8k16 of bf16; rows in 4 stages of shared memory, 16 features each"
// CHECK: memref.view %{{.*}} : memref<17408xi8, #gpu.address_space<workgroup>> to memref<2048xbf16, #gpu.address_space<workgroup>>
// CHECK: %[[WEIGHT:.*]] = memref.collapse_shape %arg2
// CHECK-COUNT-2: nvgpu.device_async_copy %arg1[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}], 8 {bypassL1}
// CHECK: nvgpu.device_async_create_group
// CHECK-COUNT-2: nvgpu.device_async_copy
// CHECK: nvgpu.device_async_create_group
// CHECK-COUNT-8: vector.load %[[WEIGHT]]
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-4: vector.load %[[WEIGHT]]
// CHECK-NOT: nvgpu.device_async_copy
// CHECK: %[[GROUP:.*]] = nvgpu.device_async_create_group
// CHECK: nvgpu.device_async_wait %[[GROUP]] {numGroups = 2 : i32}
// CHECK-COUNT-2: nvgpu.ldmatrix %{{.*}} {numTiles = 4 : i32, transpose = false} : memref<2048xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
// CHECK-COUNT-16: nvgpu.mma.sync
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-4: vector.load %[[WEIGHT]]
// CHECK-COUNT-16: nvgpu.mma.sync
// CHECK-NOT: nvvm.bar.warp.sync
// CHECK: nvgpu.device_async_wait
// CHECK-COUNT-32: nvgpu.mma.sync
// CHECK-NOT: nvgpu.mma.sync
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<{{.*}}xf32, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK: arith.truncf %{{.*}} : vector<4xf32> to vector<4xbf16>
// CHECK: vector.store %{{.*}}, %arg3[%{{.*}}] {alignment = 8 : i64} : memref<?x128xbf16>, vector<4xbf16>
func.func private @up(%s: !kernel.step, %x: memref<?x32xf32> {kernel.narrowed = bf16}, %w: memref<2x32x64xbf16>, %y: memref<?x128xf32> {kernel.narrowed = bf16}) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x32xf32>, memref<2x32x64xbf16>, memref<?x128xf32>) -> ()
  }
  return
}

// Six of the eight k-steps are three iterations of two, which copy as long as anything is left to copy.
// CHECK-LABEL: func.func private @long(
// CHECK-COUNT-4: nvgpu.device_async_copy
// CHECK: scf.for %[[K:.*]] = %c0 to %c96 step %c32
// CHECK-COUNT-2: nvgpu.device_async_copy
// CHECK: nvgpu.device_async_wait
// CHECK: scf.if
// CHECK-COUNT-2: nvgpu.device_async_copy
// CHECK: nvgpu.device_async_wait
// CHECK: scf.yield
// CHECK-NOT: nvgpu.device_async_copy
func.func private @long(%s: !kernel.step, %x: memref<?x128xf32> {kernel.narrowed = bf16}, %w: memref<2x128x16xbf16>, %y: memref<?x32xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x128xf32>, memref<2x128x16xbf16>, memref<?x32xf32>) -> ()
  }
  return
}

// CHECK: func.func private @down(!kernel.step, memref<?x128xbf16>, memref<1x128x32xbf16>, memref<?x32xf32>, memref<?x32xf32>)
func.func private @down(!kernel.step, memref<?x128xf32> {kernel.narrowed = bf16}, memref<1x128x32xbf16>, memref<?x32xf32>, memref<?x32xf32>)
