// SPDX-License-Identifier: Apache-2.0
// fuse-epilogues moves elementwise consumers into a matmul that nothing else uses, and leaves all others.
// RUN: talc-opt %s -fuse-epilogues | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// A residual and a vector join the inputs; the body follows the bias; the destination is the consumer's.
// CHECK-LABEL: @residual
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x32xf32>, %[[W:[a-z0-9]+]]: tensor<3x32x16xf32>, %[[B:[a-z0-9]+]]: tensor<48xf32>, %[[R:[a-z0-9]+]]: tensor<?x40xf32>, %[[V:[a-z0-9]+]]: tensor<40xf32>, %[[E:[a-z0-9]+]]: tensor<?x40xf32>, %[[OUT:[a-z0-9]+]]: tensor<?x40xf32>
// CHECK-NEXT: %[[Y:.*]] = kernel.matmul %{{.*}}, %[[X]], %[[W]] inputs(%[[B]], %[[R]], %[[V]]) into %[[OUT]] {
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[BIAS:.*]]: f32, %[[RES:.*]]: f32, %[[VEC:.*]]: f32):
// CHECK-NEXT: %[[A:.*]] = arith.addf %[[SUM]], %[[BIAS]]
// CHECK-NEXT: %[[M:.*]] = arith.subf %[[RES]], %[[A]]
// CHECK-NEXT: %[[N:.*]] = arith.mulf %[[M]], %[[VEC]]
// CHECK-NEXT: kernel.yield %[[N]]
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]]
func.func @residual(%s: !kernel.step, %x: tensor<?x32xf32>, %w: tensor<3x32x16xf32>, %b: tensor<48xf32>, %r: tensor<?x40xf32>, %v: tensor<40xf32>, %e: tensor<?x40xf32>, %out: tensor<?x40xf32>) -> tensor<?x40xf32> {
  %y = kernel.matmul %s, %x, %w inputs(%b) into %e {
  ^bb0(%sum: f32, %bias: f32):
    %a = arith.addf %sum, %bias : f32
    kernel.yield %a : f32
  } : (!kernel.step, tensor<?x32xf32>, tensor<3x32x16xf32>, tensor<48xf32>, tensor<?x40xf32>) -> tensor<?x40xf32>
  %z = linalg.generic {indexing_maps = [#all, #all, #column, #all], iterator_types = ["parallel", "parallel"]} ins(%r, %y, %v : tensor<?x40xf32>, tensor<?x40xf32>, tensor<40xf32>) outs(%out : tensor<?x40xf32>) {
  ^bb0(%res: f32, %in: f32, %vec: f32, %o: f32):
    %m = arith.subf %res, %in : f32
    %n = arith.mulf %m, %vec : f32
    linalg.yield %n : f32
  } -> tensor<?x40xf32>
  return %z : tensor<?x40xf32>
}

// Both consumers of a gated matmul's chain fuse, one after the other; one takes the sum twice.
// CHECK-LABEL: @chain
// CHECK: kernel.matmul {{.*}} gated {
// CHECK-NEXT: ^bb0(%[[GATE:.*]]: f32, %[[UP:.*]]: f32):
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[GATE]], %[[UP]]
// CHECK-NEXT: %[[Q:.*]] = arith.mulf %[[P]], %[[P]]
// CHECK-NEXT: %[[T:.*]] = math.tanh %[[Q]]
// CHECK-NEXT: kernel.yield %[[T]]
// CHECK-NOT: linalg.generic
func.func @chain(%s: !kernel.step, %x: tensor<1x32xf32>, %w: tensor<5x32x16xf32>, %e: tensor<1x40xf32>) -> tensor<1x40xf32> {
  %y = kernel.matmul %s, %x, %w into %e gated {
  ^bb0(%gate: f32, %up: f32):
    %p = arith.mulf %gate, %up : f32
    kernel.yield %p : f32
  } : (!kernel.step, tensor<1x32xf32>, tensor<5x32x16xf32>, tensor<1x40xf32>) -> tensor<1x40xf32>
  %z = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%y, %y : tensor<1x40xf32>, tensor<1x40xf32>) outs(%e : tensor<1x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.mulf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<1x40xf32>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<1x40xf32>) outs(%e : tensor<1x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = math.tanh %a : f32
    linalg.yield %q : f32
  } -> tensor<1x40xf32>
  return %t : tensor<1x40xf32>
}

// If both operands are matmuls, the epilogue goes into the first one, which takes the other one's result as input.
// CHECK-LABEL: @two_contractions
// CHECK: %[[B:.*]] = kernel.matmul
// CHECK: kernel.matmul {{.*}} inputs(%[[B]]) into
// CHECK-NOT: linalg.generic
func.func @two_contractions(%s: !kernel.step, %x: tensor<1x32xf32>, %w: tensor<2x32x16xf32>, %e: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %a = kernel.matmul %s, %x, %w into %e {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, tensor<1x32xf32>, tensor<2x32x16xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %b = kernel.matmul %s, %x, %w into %e {
  ^bb0(%sum: f32):
    %n = arith.negf %sum : f32
    kernel.yield %n : f32
  } : (!kernel.step, tensor<1x32xf32>, tensor<2x32x16xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %z = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]} ins(%a, %b : tensor<1x32xf32>, tensor<1x32xf32>) outs(%e : tensor<1x32xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = arith.addf %p, %q : f32
    linalg.yield %r : f32
  } -> tensor<1x32xf32>
  return %z : tensor<1x32xf32>
}

// CHECK-LABEL: @second_use
// CHECK: kernel.yield %{{.*}} : f32
// CHECK: linalg.generic
func.func @second_use(%s: !kernel.step, %x: tensor<1x32xf32>, %w: tensor<2x32x16xf32>, %e: tensor<1x32xf32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) {
  %y = kernel.matmul %s, %x, %w into %e {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, tensor<1x32xf32>, tensor<2x32x16xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %z = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<1x32xf32>) outs(%e : tensor<1x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = math.tanh %a : f32
    linalg.yield %q : f32
  } -> tensor<1x32xf32>
  return %y, %z : tensor<1x32xf32>, tensor<1x32xf32>
}

// CHECK-LABEL: @transposed
// CHECK: linalg.generic
func.func @transposed(%s: !kernel.step, %x: tensor<32x32xf32>, %w: tensor<2x32x16xf32>, %e: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %y = kernel.matmul %s, %x, %w into %e {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, tensor<32x32xf32>, tensor<2x32x16xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %z = linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<32x32xf32>
  return %z : tensor<32x32xf32>
}

// An input per row is neither a matrix nor a vector over the columns.
// CHECK-LABEL: @input_per_row
// CHECK: linalg.generic
func.func @input_per_row(%s: !kernel.step, %x: tensor<32x32xf32>, %w: tensor<2x32x16xf32>, %v: tensor<32xf32>, %e: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %y = kernel.matmul %s, %x, %w into %e {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, tensor<32x32xf32>, tensor<2x32x16xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %z = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%y, %v : tensor<32x32xf32>, tensor<32xf32>) outs(%e : tensor<32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<32x32xf32>
  return %z : tensor<32x32xf32>
}

// An accumulation reads what the destination held.
// CHECK-LABEL: @reads_destination
// CHECK: linalg.generic
func.func @reads_destination(%s: !kernel.step, %x: tensor<1x32xf32>, %w: tensor<2x32x16xf32>, %e: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %y = kernel.matmul %s, %x, %w into %e {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, tensor<1x32xf32>, tensor<2x32x16xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %z = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<1x32xf32>) outs(%e : tensor<1x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.addf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<1x32xf32>
  return %z : tensor<1x32xf32>
}

// CHECK-LABEL: @reduction
// CHECK: linalg.generic
func.func @reduction(%s: !kernel.step, %x: tensor<1x32xf32>, %w: tensor<2x32x16xf32>, %e: tensor<1x32xf32>, %f: tensor<1xf32>) -> tensor<1xf32> {
  %y = kernel.matmul %s, %x, %w into %e {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, tensor<1x32xf32>, tensor<2x32x16xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
  %z = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<1x32xf32>) outs(%f : tensor<1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.addf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<1xf32>
  return %z : tensor<1xf32>
}
