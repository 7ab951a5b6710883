// SPDX-License-Identifier: Apache-2.0
// tabulate-launches: where every value that a kernel is passed comes from.
// RUN: talc-opt %s -split-input-file -verify-diagnostics -tabulate-launches | FileCheck %s

// A buffer of unknown rows is two values, so that the rows of the grid are value 2 and those of the layer's list
// follow: step, address and rows of %x, address of %w, state. A launch waits where a barrier stands; in functions that do
// not say that theirs suffice for workers of any task, everywhere.
// CHECK: func.func private @norm({{.*}}kernel.launch = #kernel.launch<threads = 64, grid = <rows_argument = 2>>
// CHECK: func.func private @prefill() attributes {kernel.dynamic_schedule, kernel.launches = [
// CHECK-SAME: {arguments = [{argument = 0 : i64}, {base = "arena", per_token = 512 : i64}, {base = "number", per_token = 1 : i64}, {base = "weights", fixed = 64 : i64}, {base = "states", fixed = 4096 : i64}], call = @layer}
// CHECK-SAME: {arguments = [{argument = 0 : i64}, {base = "arena", fixed = 128 : i64, per_token = 512 : i64}, {base = "wanted"}, {base = "results"}, {base = "wanted"}], call = @norm, mark = 3 : i64, waits = 1 : i64}
// CHECK: func.func private @layer() attributes {kernel.launches = [
// CHECK-SAME: {arguments = [{argument = 0 : i64}, {argument = 1 : i64}, {argument = 2 : i64}, {argument = 1 : i64}, {argument = 2 : i64}], call = @norm, waits = 1 : i64}
talc.weight @w : tensor<32xf32> = #talc.file<"none", 0, f32> {offset = 64 : i64}
talc.kv_cache @kv : !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>> {offset = 4096 : i64}
func.func private @norm(%s: !kernel.step, %x: memref<?x32xf32>, %y: memref<?x32xf32>) attributes {kernel.op = "norm", kernel.launch = #kernel.launch<threads = 64, grid = <rows_argument = 1>>} {
  return
}
func.func @prefill(%s: !kernel.step) attributes {talc.entry, kernel.dynamic_schedule} {
  %n = kernel.token_count %s
  %x = kernel.arena %s rows %n at 512 plus 0 by_worker 0 : memref<?x32xf32>
  %w = kernel.weight %s @w : memref<32xf32>
  %kv = kernel.kv_cache @kv : !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>
  call @layer(%s, %x, %w, %kv) : (!kernel.step, memref<?x32xf32>, memref<32xf32>, !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>) -> ()
  kernel.barrier %s
  %wanted = kernel.output_count %s 0
  %y = kernel.arena %s rows %wanted at 512 plus 128 by_worker 0 : memref<?x32xf32>
  %out = kernel.output %s 0 : memref<?x32xf32>
  call @norm(%s, %y, %out) : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  kernel.mark %s 3
  return
}
func.func private @layer(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<32xf32>, %kv: !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>) {
  call @norm(%s, %x, %x) : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

// The place of a view is part of its type: the kernel adds it by itself.
// CHECK: func.func private @prefill
// CHECK-SAME: {arguments = [{argument = 0 : i64}, {base = "arena", per_token = 128 : i64}, {base = "number", per_token = 1 : i64}], call = @use, waits = 1 : i64}
func.func private @use(%s: !kernel.step, %x: memref<?x16xf32, strided<[32, 1], offset: 16>>) attributes {kernel.op = "copy"} {
  return
}
func.func @prefill(%s: !kernel.step) attributes {talc.entry} {
  %n = kernel.token_count %s
  %x = kernel.arena %s rows %n at 128 plus 0 by_worker 0 : memref<?x32xf32>
  %view = memref.subview %x[0, 16] [%n, 16] [1, 1] : memref<?x32xf32> to memref<?x16xf32, strided<[32, 1], offset: 16>>
  call @use(%s, %view) : (!kernel.step, memref<?x16xf32, strided<[32, 1], offset: 16>>) -> ()
  return
}

// -----

func.func private @use(%s: !kernel.step, %x: memref<4x16xf32>) attributes {kernel.op = "copy"} {
  return
}
func.func @prefill(%s: !kernel.step) attributes {talc.entry} {
  // expected-error @+1 {{the result of 'memref.alloc' cannot be an argument of a launch}}
  %x = memref.alloc() : memref<4x16xf32>
  call @use(%s, %x) : (!kernel.step, memref<4x16xf32>) -> ()
  return
}
