// SPDX-License-Identifier: Apache-2.0
// The verifiers of the kernel dialect refuse ops and attributes that are not valid.
// RUN: talc-opt %s -split-input-file -verify-diagnostics

func.func @ranks(%s: !kernel.step, %x: memref<32xf32>, %w: memref<2x32x16xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{x is 'memref<32xf32>', expected rows of contiguous f32, with a known number of features}}
  kernel.matmul %s, %x, %w into %y {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<32xf32>, memref<2x32x16xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @depth(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x31x16xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{multiplies 32 features by a weight of depth 31}}
  kernel.matmul %s, %x, %w into %y {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x32xf32>, memref<2x31x16xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

// Parts of k: rows of sums, of a row that says nothing else.
func.func @parts(%s: !kernel.step, %x: memref<1x32xf32>, %w: memref<2x32x16xf32>, %y: memref<3x32xf32>) {
  // expected-error@+1 {{row count of init is 3, expected 4}}
  kernel.matmul %s, %x, %w into %y split_k 4 {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<1x32xf32>, memref<2x32x16xf32>, memref<3x32xf32>) -> ()
  return
}

// -----

func.func @uneven_parts(%s: !kernel.step, %x: memref<1x32xf32>, %w: memref<2x32x16xf32>, %y: memref<3x32xf32>) {
  // expected-error@+1 {{divides 32 features into 3 parts}}
  kernel.matmul %s, %x, %w into %y split_k 3 {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<1x32xf32>, memref<2x32x16xf32>, memref<3x32xf32>) -> ()
  return
}

// -----

func.func @parts_with_inputs(%s: !kernel.step, %x: memref<1x32xf32>, %w: memref<2x32x16xf32>, %bias: memref<32xf32>, %y: memref<4x32xf32>) {
  // expected-error@+1 {{has split_k, expected no inputs, gates or groups}}
  kernel.matmul %s, %x, %w inputs(%bias) into %y split_k 4 {
  ^bb0(%sum: f32, %b: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<1x32xf32>, memref<2x32x16xf32>, memref<32xf32>, memref<4x32xf32>) -> ()
  return
}

// -----

// 33 columns need 3 panels of 16.
func.func @panels(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x32x16xf32>, %y: memref<?x33xf32>) {
  // expected-error@+1 {{has 2 panels of 16 columns for a width of 33}}
  kernel.matmul %s, %x, %w into %y {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf32>, memref<?x33xf32>) -> ()
  return
}

// -----

// Gated panels yield half as many columns.
func.func @gated_panels(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x32x16xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{has 2 panels of 8 columns for a width of 32}}
  kernel.matmul %s, %x, %w into %y gated {
  ^bb0(%gate: f32, %up: f32):
    kernel.yield %up : f32
  } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @arguments(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x32x16xf32>, %b: memref<32xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{has an epilogue of 1 arguments, expected 2}}
  kernel.matmul %s, %x, %w inputs(%b) into %y {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @gated_arguments(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<4x32x16xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{has an epilogue of 1 arguments, expected 2}}
  kernel.matmul %s, %x, %w into %y gated {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x32xf32>, memref<4x32x16xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @yields_two(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x32x16xf32>, %y: memref<?x32xf32>) {
  // expected-error@+1 {{has an epilogue that does not yield a single value}}
  kernel.matmul %s, %x, %w into %y {
  ^bb0(%sum: f32):
    kernel.yield %sum, %sum : f32, f32
  } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @stray_yield(%x: f32) {
  // expected-error@+1 {{expects parent op to be one of 'kernel.matmul, kernel.experts'}}
  kernel.yield %x : f32
}

// -----

func.func @no_step(%x: memref<?x32xf32>, %n: memref<32xf32>) {
  // expected-error@+1 {{operand #0 must be the running step}}
  "kernel.norm"(%x, %x, %n, %x) {kind = #talc<norm rms>, epsilon = 0.5 : f64, groups = 1 : i64} : (memref<?x32xf32>, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  return
}

// -----

func.func @task_arguments(%s: !kernel.step) {
  // expected-error@+1 {{over tiles has a body of 2 arguments, expected 5 of type index}}
  kernel.tasks %s over tiles by columns {
  ^bb0(%first: index, %end: index):
  }
  return
}

// -----

func.func @task_extents(%s: !kernel.step, %n: index) {
  // expected-error@+1 {{over rows has 2 extents, expected 1}}
  kernel.tasks %s over rows by rows of(%n, %n) {
  ^bb0(%first: index, %end: index):
  }
  return
}

// -----

func.func @task_grain(%s: !kernel.step, %n: index) {
  // expected-error@+1 {{over tiles has a grain of 2 sizes, expected 2 of at least 1}}
  kernel.tasks %s over tiles by columns of(%n, %n) grain [0, 4] {
  ^bb0(%first: index, %end: index, %panel: index, %panelEnd: index, %next: index):
  }
  return
}

// -----

func.func @nested_tasks(%s: !kernel.step) {
  kernel.tasks %s over heads by heads {
  ^bb0(%head: index):
    // expected-error@+1 {{is inside a task of another compute op}}
    kernel.tasks %s over heads by heads {
    ^bb0(%other: index):
    }
  }
  return
}

// -----

func.func @memory_layout(%s: !kernel.step, %y: memref<?x4xf32>, %m: !talc.kv_cache<2 x 2 x 8, memory>, %g: memref<2xf32>) {
  // expected-error@+1 {{has a cache that is not laid out as #kernel.matrices; layout-kv-cache does that}}
  kernel.memory linear %s, %y, %y, %y, %y, %m gates %g heads 2 into %y : (!kernel.step, memref<?x4xf32>, memref<?x4xf32>, memref<?x4xf32>, memref<?x4xf32>, !talc.kv_cache<2 x 2 x 8, memory>, memref<2xf32>, memref<?x4xf32>) -> ()
  return
}

// -----

func.func @memory_gates(%s: !kernel.step, %y: tensor<?x4xf32>, %m: !talc.kv_cache<2 x 2 x 8, memory>, %g: tensor<3xf32>) {
  // expected-error@+1 {{gates is 'tensor<3xf32>', expected 2 f32}}
  %0 = kernel.memory linear %s, %y, %y, %y, %y, %m gates %g heads 2 into %y : (!kernel.step, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !talc.kv_cache<2 x 2 x 8, memory>, tensor<3xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @matrices(%s: !kernel.step, %m: !talc.kv_cache<2 x 2 x 8, memory in #kernel.matrices>, %at: index) {
  // expected-error@+1 {{yields 'memref<2x2x2x2xf32>' for '!talc.kv_cache<2 x 2 x 8, memory in #kernel.matrices>'}}
  %0 = kernel.matrices %s, %m[%at] : !talc.kv_cache<2 x 2 x 8, memory in #kernel.matrices> -> memref<2x2x2x2xf32>
  return
}

// -----

// expected-error @+1 {{has the attribute kernel.color, which is not an attribute of the dialect}}
func.func @unknown() attributes {kernel.color = "red"} {
  return
}

// -----

func.func @wrong_carrier() {
  // expected-error @+1 {{has the attribute kernel.op, which only functions may carry}}
  %x = memref.alloc() {kernel.op = "norm"} : memref<8xf32>
  return
}

// -----

// expected-error @+1 {{has kernel.narrowed = f32 on argument 0, which may not carry it}}
func.func private @not_narrower(memref<8xf32> {kernel.narrowed = f32})
