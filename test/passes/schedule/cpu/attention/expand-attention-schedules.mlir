// SPDX-License-Identifier: Apache-2.0
// expand-attention: what the cost model chooses, and the remarks that say why.
// RUN: talc-opt %s -assign-plans -expand-attention -distribute-tasks -canonicalize -cse --remarks-filter=schedule -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir

// All keys are one block: two passes, nothing is rescaled.
// REMARK: remark: {{.*}}schedule{{.*}}two_pass{{.*}}4/2 heads x 16, 48 rows a task: two passes: all 208 keys are one block, nothing is rescaled; scratch of 80 KiB, limit 256 KiB
// CHECK-LABEL: @two_pass(
// CHECK: memref<48x272xf32>
// CHECK-COUNT-6: math.exp2
// CHECK-NOT: math.exp
// CHECK: scf.yield
func.func @two_pass(%s: !kernel.step, %q: memref<?x64xf32>, %kv: !talc.kv_cache<2 x 16 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<?x64xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 into %out : (!kernel.step, memref<?x64xf32>, !talc.kv_cache<2 x 16 x 200 in #kernel.kv_panels<16 x f32>>, memref<?x64xf32>) -> ()
  }
  return
}

// More keys than the scratch holds: the online softmax.
// REMARK: remark: {{.*}}prefill{{.*}}12/12 heads x 64, 48 rows a task: online softmax over blocks of 256 keys of 4096: {{.*}} % of the work ({{.*}} % with blocks of 64); scratch of 176 KiB, limit 256 KiB
// CHECK-LABEL: @prefill(
// CHECK: memref<16x64x16xf32>
// CHECK: memref<48x272xf32>
// CHECK: step %c256
func.func @prefill(%s: !kernel.step, %q: memref<?x768xf32>, %kv: !talc.kv_cache<12 x 64 x 4096 in #kernel.kv_panels<16 x f32>>, %out: memref<?x768xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 12 scale 0.125 window 0 into %out : (!kernel.step, memref<?x768xf32>, !talc.kv_cache<12 x 64 x 4096 in #kernel.kv_panels<16 x f32>>, memref<?x768xf32>) -> ()
  }
  return
}

// The phase of a single token cuts the keys alike, so that it computes the same; its task is one row, without loops over
// tiles.
// REMARK: remark: {{.*}}decode{{.*}}12/12 heads x 64, 1 rows a task: online softmax over blocks of 256 keys of 4096
// CHECK-LABEL: @decode(
// CHECK: memref<1x272xf32>
// CHECK: step %c256
// CHECK-NOT: step %c6{{[^0-9]}}
// CHECK: return
func.func @decode(%s: !kernel.step, %q: memref<1x768xf32>, %kv: !talc.kv_cache<12 x 64 x 4096 in #kernel.kv_panels<16 x f32>>, %out: memref<1x768xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 12 scale 0.125 window 0 into %out : (!kernel.step, memref<1x768xf32>, !talc.kv_cache<12 x 64 x 4096 in #kernel.kv_panels<16 x f32>>, memref<1x768xf32>) -> ()
  }
  return
}

// A single row whose blocks are tasks: the newest first, so that the first task of a head is that of the thread that
// appended its key. Each leaves its part, maximum and sum.
// REMARK: remark: {{.*}}split{{.*}}8/2 heads x 64, 4 rows a task: split over blocks of 256 keys of 4096: up to 32 tasks instead of 2
// CHECK-LABEL: @split(
// CHECK-SAME: %[[PARTS:[a-z0-9]+]]: memref<16x544xf32>
// CHECK: %[[BEGIN:.*]] = arith.divui %{{.*}}, %c256
// CHECK: %[[LAST:.*]] = arith.divui %{{.*}}, %c256
// CHECK: %[[COUNT:.*]] = arith.subi %[[LAST]], %[[BEGIN]]
// CHECK: %[[BLOCKS:.*]] = arith.maxsi %[[COUNT]], %c0
// CHECK: %[[TASKS:.*]] = arith.muli %[[BLOCKS]], %c2
// CHECK: %[[I:.*]] = kernel.worker
// CHECK: %[[N:.*]] = kernel.workers
// CHECK-NEXT: scf.for %[[TASK:.*]] = %[[I]] to %[[TASKS]] step %[[N]]
// CHECK: %[[NEWEST:.*]] = arith.subi %[[LAST]], %c1
// CHECK: %[[AGE:.*]] = arith.divui %[[TASK]], %c2
// CHECK: %[[BLOCK:.*]] = arith.subi %[[NEWEST]], %[[AGE]]
// CHECK: arith.remui %[[TASK]], %c2
// CHECK: vector.store %{{.*}}, %[[PARTS]][%[[BLOCK]],
// CHECK: memref.store %{{.*}}, %[[PARTS]][%[[BLOCK]],
// CHECK: memref.store %{{.*}}, %[[PARTS]][%[[BLOCK]],
// CHECK: return
func.func @split(%s: !kernel.step, %q: memref<1x512xf32>, %kv: !talc.kv_cache<2 x 64 x 4096 in #kernel.kv_panels<16 x f32>>, %parts: memref<16x544xf32>) {
  kernel.tasks %s over keys by heads {
  ^bb0(%p0: index, %p1: index):
    kernel.attention causal %s, %q, %kv heads 8 scale 0.125 window 0 block 256 into %parts : (!kernel.step, memref<1x512xf32>, !talc.kv_cache<2 x 64 x 4096 in #kernel.kv_panels<16 x f32>>, memref<16x544xf32>) -> ()
  }
  return
}

// Wide heads: smaller blocks.
// REMARK: remark: {{.*}}wide{{.*}}online softmax over blocks of 128 keys of 512
// CHECK-LABEL: @wide(
// CHECK: step %c128
func.func @wide(%s: !kernel.step, %q: memref<?x256xf32>, %kv: !talc.kv_cache<1 x 128 x 512 in #kernel.kv_panels<16 x f32>>, %out: memref<?x256xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention full %s, %q, %kv heads 2 scale 0.125 window 0 into %out : (!kernel.step, memref<?x256xf32>, !talc.kv_cache<1 x 128 x 512 in #kernel.kv_panels<16 x f32>>, memref<?x256xf32>) -> ()
  }
  return
}

// Four heads of a single token in a step of many sequences go through one loop, each with keys and values of its own:
// eight chains, of two vectors each.
// CHECK-LABEL: @token(
// CHECK: } else {
// CHECK-COUNT-4: memref.reinterpret_cast {{.*}} memref<4x16x16xf32, strided<[1024, 16, 1], offset: ?>>
// CHECK: %{{.*}}:8 = scf.for %{{.*}} = %c0 to %c16 step %c2
// CHECK-COUNT-16: vector.fma
// CHECK: scf.yield
// CHECK: math.exp2
// CHECK: %{{.*}}:8 = scf.for
// CHECK: %{{.*}}:8 = scf.for
// CHECK-COUNT-8: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
func.func @token(%s: !kernel.step, %q: memref<?x64xf32>, %kv: !talc.kv_cache<4 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %out: memref<?x64xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 into %out : (!kernel.step, memref<?x64xf32>, !talc.kv_cache<4 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x64xf32>) -> ()
  }
  return
}
