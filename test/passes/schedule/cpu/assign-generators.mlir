// SPDX-License-Identifier: Apache-2.0
// assign-generators: float matmuls, attention with a float KV cache and row-wise ops go to Halide; other ops stay as they are.
// RUN: talc-opt %s -assign-generators=build=b1 --remarks-filter=schedule 2>&1 | FileCheck %s
// RUN: talc-opt %s -assign-generators=generator=auto --remarks-filter=schedule 2>&1 | FileCheck %s --check-prefix=AUTO
// RUN: talc-opt %s '-assign-plans=plans={product: by_halide = 1}' -assign-generators=generator=auto --remarks-filter=schedule 2>&1 | FileCheck %s --check-prefix=WISH
// RUN: talc-opt %s '-assign-plans=plans={softmax: by_halide = 1; copy: by_halide = 1}' -assign-generators=generator=auto | FileCheck %s --check-prefix=ROWS
// RUN: not talc-opt %s -assign-generators=generator=other 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: unknown generator 'other'; expected halide or auto

// CHECK-DAG: remark: {{.*}}halide makes the loops
// CHECK-DAG: remark: {{.*}}mlir makes the loops: keys are stored in quant blocks
// CHECK-DAG: remark: {{.*}}mlir makes the loops: Halide makes only matmuls, attention, norms, softmax, RoPE and elementwise ops
// AUTO-DAG: remark: {{.*}}mlir makes the loops: no plan chooses another generator
// AUTO-DAG: remark: {{.*}}mlir makes the loops: Halide makes only matmuls, attention, norms, softmax, RoPE and elementwise ops
// AUTO-NOT: kernel.generator
// WISH-DAG: remark: {{.*}}halide makes the loops: the plan chooses it
// WISH-DAG: func.func @product({{.*}}) attributes {kernel.generator = {build = "", name = "halide", optional}, kernel.op = "matmul"}
// ROWS: func.func @product({{.*}}) attributes {kernel.op = "matmul"}
// ROWS: func.func @softmax({{.*}}) attributes {kernel.generator = {build = "", name = "halide", optional}, kernel.op = "softmax"}
// ROWS: func.func @copy({{.*}}) attributes {kernel.op = "copy"}

// CHECK: func.func @product({{.*}}) attributes {kernel.generator = {build = "b1", name = "halide"}, kernel.op = "matmul"}
func.func @product(%step: !kernel.step, %x: memref<?x9xf32>, %w: memref<3x9x16xf32>, %out: memref<?x33xf32>)
    attributes {kernel.op = "matmul"} {
  kernel.tasks %step over tiles by columns {
  ^bb0(%first: index, %end: index, %panel: index, %endPanel: index, %next: index):
    kernel.matmul %step, %x, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x9xf32>, memref<3x9x16xf32>, memref<?x33xf32>) -> ()
  }
  return
}

// CHECK: func.func @softmax({{.*}}) attributes {kernel.generator = {build = "b1", name = "halide"}, kernel.op = "softmax"}
func.func @softmax(%step: !kernel.step, %x: memref<?x9xf32>, %out: memref<?x9xf32>)
    attributes {kernel.op = "softmax"} {
  kernel.tasks %step over rows by rows {
  ^bb0(%first: index, %end: index):
    kernel.softmax %step, %x into %out : (!kernel.step, memref<?x9xf32>, memref<?x9xf32>) -> ()
  }
  return
}

// CHECK: func.func @copy({{.*}}) attributes {kernel.op = "copy"}
func.func @copy(%step: !kernel.step, %x: memref<?x9xf32>, %out: memref<?x9xf32>) attributes {kernel.op = "copy"} {
  kernel.tasks %step over rows by rows {
  ^bb0(%first: index, %end: index):
    memref.copy %x, %out : memref<?x9xf32> to memref<?x9xf32>
  }
  return
}

// CHECK: func.func @attend({{.*}}) attributes {kernel.generator = {build = "b1", name = "halide"}, kernel.op = "attention"}
func.func @attend(%s: !kernel.step, %q: memref<?x128xf32>, %kv: !talc.kv_cache<2 x 32 x 64 in #kernel.kv_panels<16 x f32>>, %out: memref<?x128xf32>)
    attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 into %out : (!kernel.step, memref<?x128xf32>, !talc.kv_cache<2 x 32 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x128xf32>) -> ()
  }
  return
}

// CHECK: func.func @attend_blocks({{.*}}) attributes {kernel.op = "attention"}
func.func @attend_blocks(%s: !kernel.step, %q: memref<?x128xf32>, %kv: !talc.kv_cache<2 x 32 x 64 in #kernel.kv_panels<16 x !talc.stored<q8_0>>>, %out: memref<?x128xf32>)
    attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 into %out : (!kernel.step, memref<?x128xf32>, !talc.kv_cache<2 x 32 x 64 in #kernel.kv_panels<16 x !talc.stored<q8_0>>>, memref<?x128xf32>) -> ()
  }
  return
}

// Not a kernel.
// CHECK: func.func @step(%{{.*}}: !kernel.step) {
func.func @step(%step: !kernel.step) {
  return
}
