// SPDX-License-Identifier: Apache-2.0
// simplify-gradients: operations of forward functions say what gradients of linears and of scales are.
// RUN: talc-opt %s --simplify-gradients | FileCheck %s

// CHECK-LABEL: func.func @dgrad
// CHECK: %[[T:.*]] = talc.derive #talc.transpose of(%{{.*}}) : (tensor<12x8xf32>) -> tensor<8x12xf32>
// CHECK: talc.linear %{{.*}}, %[[T]] : (tensor<?x12xf32>, tensor<8x12xf32>) -> tensor<?x8xf32>
func.func @dgrad(%g: tensor<?x12xf32>, %w: tensor<12x8xf32>) -> tensor<?x8xf32> {
  %0 = talc.linear_dgrad %g, %w : (tensor<?x12xf32>, tensor<12x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @wgrad
// CHECK: %[[ONE:.*]] = talc.derive #talc.fill<1.000000e+00> of() : () -> tensor<8xf32>
// CHECK: %[[H:.*]] = talc.norm rms %{{.*}}, %[[ONE]] epsilon 1.000000e-05
// CHECK: %[[P:.*]] = talc.mul %{{.*}}, %[[H]]
// CHECK: talc.sum_rows %[[P]] into %{{.*}} : tensor<?x8xf32>, memref<8xf32>
func.func @wgrad(%g: tensor<?x8xf32>, %x: tensor<?x8xf32>, %w: memref<8xf32>) {
  talc.norm_wgrad rms %g, %x into %w epsilon 1.0e-5 : tensor<?x8xf32>, memref<8xf32>
  return
}

// Groups have blocks of the weight of their own.
// CHECK-LABEL: func.func @groups
// CHECK: talc.linear_dgrad
func.func @groups(%g: tensor<?x12xf32>, %w: tensor<12x8xf32>) -> tensor<?x16xf32> {
  %0 = talc.linear_dgrad %g, %w {groups = 2} : (tensor<?x12xf32>, tensor<12x8xf32>) -> tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}
