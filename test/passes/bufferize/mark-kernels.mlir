// SPDX-License-Identifier: Apache-2.0
// mark-kernels: an entry for every place that calls a kernel, and a mark behind the call.
// RUN: talc-opt %s -mark-kernels | FileCheck %s


// Operations: 2 * 32 * 80 for a row of the matmul, 4 * 32 for one of a norm, 4 * 2 heads * 16 for a query and a key.
// The block runs twice in a step. Its norm treats the step's tokens, the entry's norm the rows of results.
// CHECK: module attributes {
// CHECK-SAME: talc.kernels = [
// CHECK-SAME: {calls = 1 : i64, {{[^}]*}}name = "norm", {{[^}]*}}operations_per_row = 128 : i64, passed_bytes_per_row = 256 : i64, phase = "prefill", piece = "norm", rows = "outputs", shapes = "32", share = "rows", stored = "scale", stored_bytes_per_call = 128 : i64
// CHECK-SAME: {calls = 1 : i64, fused = "bias, silu, residual", name = "matmul", {{[^}]*}}operations_per_row = 5120 : i64, passed_bytes_per_row = 768 : i64, {{[^}]*}}rows = "outputs", shapes = "32 x 80 bf16", share = "columns", stored = "w, b", stored_bytes_per_call = 5440 : i64
// CHECK-SAME: {calls = 2 : i64, {{[^}]*}}name = "norm", {{[^}]*}}rows = "tokens"
// CHECK-SAME: {calls = 2 : i64, {{[^}]*}}keys = "sequence", mask = "causal", name = "attention", operations_per_pair = 128 : i64, operations_per_row = 0 : i64, passed_bytes_per_row = 256 : i64, {{[^}]*}}shapes = "2/1 heads x 16 window 7", {{[^}]*}}stored_bytes_per_key = 128 : i64, {{[^}]*}}window = 7 : i64}]
module {
talc.weight @scale : tensor<32xf32> = #talc.fill<1.0>
talc.weight @w : tensor<5x32x16xbf16> = #talc.fill<1.0>
talc.weight @b : tensor<80xf32> = #talc.fill<1.0>
talc.kv_cache @kv : !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>

// CHECK-LABEL: func.func @prefill
// CHECK: call @block
// CHECK-NEXT: call @block
// CHECK: call @norm(
// CHECK-NEXT: kernel.mark %{{.*}} 0
// CHECK: call @matmul(
// CHECK-NEXT: kernel.mark %{{.*}} 1
func.func @prefill(%step: !kernel.step) attributes {talc.entry, talc.entry_name = "prefill"} {
  %scale = kernel.weight %step @scale : memref<32xf32>
  %w = kernel.weight %step @w : memref<5x32x16xbf16>
  %b = kernel.weight %step @b : memref<80xf32>
  %kv = kernel.kv_cache @kv : !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>
  %rows = kernel.token_count %step
  %x = kernel.arena %step rows %rows at 0 plus 0 by_worker 0 : memref<?x32xf32>
  %y = kernel.arena %step rows %rows at 128 plus 0 by_worker 0 : memref<?x32xf32>
  call @block(%step, %x, %scale, %kv, %y) : (!kernel.step, memref<?x32xf32>, memref<32xf32>, !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>) -> ()
  call @block(%step, %y, %scale, %kv, %x) : (!kernel.step, memref<?x32xf32>, memref<32xf32>, !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>) -> ()
  %wanted = kernel.output_count %step 0
  %z = kernel.arena %step rows %wanted at 256 plus 0 by_worker 0 : memref<?x32xf32>
  call @norm(%step, %x, %scale, %z) : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  %output = kernel.output %step 0 : memref<?x80xf32>
  call @matmul(%step, %z, %w, %b, %output, %output) : (!kernel.step, memref<?x32xf32>, memref<5x32x16xbf16>, memref<80xf32>, memref<?x80xf32>, memref<?x80xf32>) -> ()
  return
}

// CHECK-LABEL: func.func private @block
// CHECK: call @norm(
// CHECK-NEXT: kernel.mark %{{.*}} 2
// CHECK: call @attention(
// CHECK-NEXT: kernel.mark %{{.*}} 3
func.func private @block(%step: !kernel.step, %x: memref<?x32xf32>, %scale: memref<32xf32>, %kv: !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %y: memref<?x32xf32>) attributes {talc.entry_name = "prefill"} {
  call @norm(%step, %x, %scale, %y) : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  call @attention(%step, %y, %kv, %y) : (!kernel.step, memref<?x32xf32>, !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>) -> ()
  return
}

// CHECK-NOT: kernel.mark
func.func private @norm(%step: !kernel.step, %x: memref<?x32xf32>, %scale: memref<32xf32>, %y: memref<?x32xf32>) attributes {kernel.op = "norm"} {
  kernel.tasks %step over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %step, %x, %scale epsilon 1.0e-5 groups 1 into %y : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  return
}
func.func private @attention(%step: !kernel.step, %x: memref<?x32xf32>, %kv: !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %y: memref<?x32xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %step over queries by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %step, %x, %kv heads 2 scale 0.25 window 7 into %y : (!kernel.step, memref<?x32xf32>, !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>) -> ()
  }
  return
}
func.func private @matmul(%step: !kernel.step, %x: memref<?x32xf32>, %w: memref<5x32x16xbf16>, %b: memref<80xf32>, %r: memref<?x80xf32>, %y: memref<?x80xf32>) attributes {kernel.op = "matmul"} {
  %one = arith.constant 1.0 : f32
  kernel.tasks %step over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %step, %x, %w inputs(%b, %r) into %y {
    ^bb0(%sum: f32, %bias: f32, %residual: f32):
      %s = arith.addf %sum, %bias : f32
      %n = arith.negf %s : f32
      %e = math.exp %n : f32
      %d = arith.addf %e, %one : f32
      %a = arith.divf %s, %d {talc.activation = "silu"} : f32
      %o = arith.addf %residual, %a : f32
      kernel.yield %o : f32
    } : (!kernel.step, memref<?x32xf32>, memref<5x32x16xbf16>, memref<80xf32>, memref<?x80xf32>, memref<?x80xf32>) -> ()
  }
  return
}
}
