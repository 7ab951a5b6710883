// SPDX-License-Identifier: Apache-2.0
// mark-kernels: a matmul of quantized activations names their format, others none, whatever their weight's is.
// RUN: talc-opt %s -mark-kernels | FileCheck %s

// CHECK: talc.kernels = [
// CHECK-SAME: name = "integers", {{[^}]*}}piece = "matmul", rounded = "q8_sums", rows = "tokens", shapes = "32 x 16 q8_0"
// CHECK-SAME: name = "pairs", {{[^}]*}}piece = "matmul", rounded = "bf16", rows = "tokens", shapes = "32 x 16 bf16"
// CHECK-SAME: name = "wide", {{[^}]*}}piece = "matmul", rows = "tokens", shapes = "32 x 16 bf16"
module {
talc.weight @w : tensor<1x32x16x!talc.stored<q8_0>> = #talc.fill<1.0>
talc.weight @v : tensor<1x32x16xbf16> = #talc.fill<1.0>
func.func @prefill(%step: !kernel.step) attributes {talc.entry, talc.entry_name = "prefill"} {
  %w = kernel.weight %step @w : memref<1x32x16x!talc.stored<q8_0>>
  %v = kernel.weight %step @v : memref<1x32x16xbf16>
  %rows = kernel.token_count %step
  %q = kernel.arena %step rows %rows at 0 plus 0 by_worker 0 : memref<?x32x!talc.stored<q8_sums>>
  %b = kernel.arena %step rows %rows at 64 plus 0 by_worker 0 : memref<?x32xbf16>
  %x = kernel.arena %step rows %rows at 128 plus 0 by_worker 0 : memref<?x32xf32>
  %y = kernel.arena %step rows %rows at 256 plus 0 by_worker 0 : memref<?x16xf32>
  call @integers(%step, %q, %w, %y) : (!kernel.step, memref<?x32x!talc.stored<q8_sums>>, memref<1x32x16x!talc.stored<q8_0>>, memref<?x16xf32>) -> ()
  call @pairs(%step, %b, %v, %y) : (!kernel.step, memref<?x32xbf16>, memref<1x32x16xbf16>, memref<?x16xf32>) -> ()
  call @wide(%step, %x, %v, %y) : (!kernel.step, memref<?x32xf32>, memref<1x32x16xbf16>, memref<?x16xf32>) -> ()
  return
}
func.func private @integers(%step: !kernel.step, %x: memref<?x32x!talc.stored<q8_sums>>, %w: memref<1x32x16x!talc.stored<q8_0>>, %y: memref<?x16xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %step over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %step, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x32x!talc.stored<q8_sums>>, memref<1x32x16x!talc.stored<q8_0>>, memref<?x16xf32>) -> ()
  }
  return
}
func.func private @pairs(%step: !kernel.step, %x: memref<?x32xbf16>, %w: memref<1x32x16xbf16>, %y: memref<?x16xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %step over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %step, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x32xbf16>, memref<1x32x16xbf16>, memref<?x16xf32>) -> ()
  }
  return
}
func.func private @wide(%step: !kernel.step, %x: memref<?x32xf32>, %w: memref<1x32x16xbf16>, %y: memref<?x16xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %step over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %step, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x32xf32>, memref<1x32x16xbf16>, memref<?x16xf32>) -> ()
  }
  return
}
}
