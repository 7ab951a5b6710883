// SPDX-License-Identifier: Apache-2.0
// expand-attention: what the cost model chooses, and the remarks that say why.
// RUN: talc-opt %s -expand-attention -canonicalize -cse --remarks-filter=schedule -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir

// All keys are one block: two passes, nothing is rescaled.
// REMARK: remark: {{.*}}schedule{{.*}}two_pass{{.*}}4/2 heads x 16, 48 rows a task: two passes: all 208 keys are one block, nothing is rescaled; scratch of 80 KiB, limit 256 KiB
// CHECK-LABEL: @two_pass(
// CHECK: memref<48x272xf32>
// CHECK-COUNT-6: math.exp
// CHECK-NOT: math.exp
// CHECK: scf.yield
func.func @two_pass(%s: !kernel.step, %q: memref<?x64xf32>, %kv: !talc.state<2 x 16 x 200>, %out: memref<?x64xf32>) {
  kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 into %out : (!kernel.step, memref<?x64xf32>, !talc.state<2 x 16 x 200>, memref<?x64xf32>) -> ()
  return
}

// More keys than the scratch holds: the online softmax.
// REMARK: remark: {{.*}}prefill{{.*}}12/12 heads x 64, 48 rows a task: online softmax over blocks of 256 keys of 4096: {{.*}} % of the work ({{.*}} % with blocks of 64); scratch of 176 KiB, limit 256 KiB
// CHECK-LABEL: @prefill(
// CHECK: memref<16x64x16xf32>
// CHECK: memref<48x272xf32>
// CHECK: step %c256
func.func @prefill(%s: !kernel.step, %q: memref<?x768xf32>, %kv: !talc.state<12 x 64 x 4096>, %out: memref<?x768xf32>) {
  kernel.attention causal %s, %q, %kv heads 12 scale 0.125 window 0 into %out : (!kernel.step, memref<?x768xf32>, !talc.state<12 x 64 x 4096>, memref<?x768xf32>) -> ()
  return
}

// The phase of a single token cuts the keys alike, so that it computes the same; its task is one row, without loops over
// tiles.
// REMARK: remark: {{.*}}decode{{.*}}12/12 heads x 64, 1 rows a task: online softmax over blocks of 256 keys of 4096
// CHECK-LABEL: @decode(
// CHECK: memref<1x272xf32>
// CHECK: step %c256
// CHECK-NOT: scf.index_switch
// CHECK: return
func.func @decode(%s: !kernel.step, %q: memref<1x768xf32>, %kv: !talc.state<12 x 64 x 4096>, %out: memref<1x768xf32>) {
  kernel.attention causal %s, %q, %kv heads 12 scale 0.125 window 0 into %out {kernel.share = #kernel<share heads>} : (!kernel.step, memref<1x768xf32>, !talc.state<12 x 64 x 4096>, memref<1x768xf32>) -> ()
  return
}

// Wide heads: smaller blocks.
// REMARK: remark: {{.*}}wide{{.*}}online softmax over blocks of 128 keys of 512
// CHECK-LABEL: @wide(
// CHECK: step %c128
func.func @wide(%s: !kernel.step, %q: memref<?x256xf32>, %kv: !talc.state<1 x 128 x 512>, %out: memref<?x256xf32>) {
  kernel.attention full %s, %q, %kv heads 2 scale 0.125 window 0 into %out : (!kernel.step, memref<?x256xf32>, !talc.state<1 x 128 x 512>, memref<?x256xf32>) -> ()
  return
}
