// SPDX-License-Identifier: Apache-2.0
// Compute ops of backward functions read back as they were printed, and the verifier refuses those that do not fit.
// RUN: talc-opt %s -split-input-file -verify-diagnostics | talc-opt -split-input-file | FileCheck %s

// CHECK-LABEL: @weights
func.func @weights(%s: !kernel.step, %g: tensor<?x24xf32>, %x: tensor<?x8xf32>) {
  // CHECK: %[[W:.*]] = kernel.gradient %{{.*}} @w : memref<24x8xf32>
  %w = kernel.gradient %s @w : memref<24x8xf32>
  // CHECK: kernel.gradient %{{.*}} @bias at 768 : memref<8xf32>
  %bias = kernel.gradient %s @bias at 768 : memref<8xf32>
  // CHECK: kernel.linear_wgrad %{{.*}}, %{{.*}}, %{{.*}} into %[[W]] : tensor<?x24xf32>, tensor<?x8xf32>, memref<24x8xf32>
  kernel.linear_wgrad %s, %g, %x into %w : tensor<?x24xf32>, tensor<?x8xf32>, memref<24x8xf32>
  // CHECK: kernel.sum_rows %{{.*}}, %{{.*}} into %{{.*}} : tensor<?x24xf32>, memref<8xf32>
  kernel.sum_rows %s, %g into %bias : tensor<?x24xf32>, memref<8xf32>
  // CHECK: kernel.scatter_add ids %{{.*}}, %{{.*}} plus 2 into %[[W]] : tensor<?x8xf32>, memref<24x8xf32>
  kernel.scatter_add ids %s, %x plus 2 into %w : tensor<?x8xf32>, memref<24x8xf32>
  return
}

// -----

// CHECK-LABEL: @activations
func.func @activations(%s: !kernel.step, %g: tensor<?x8xf32>, %scale: tensor<4xf32>, %table: tensor<16x4xf32>, %wide: tensor<?x24xf32>, %loss: tensor<?x1xf32>, %at: index) {
  // CHECK: kernel.norm_dgrad layer %{{.*}} epsilon 5.000000e-01 groups 2 into %{{.*}} :
  %0 = kernel.norm_dgrad layer %s, %g, %g, %scale epsilon 0.5 groups 2 into %g : (!kernel.step, tensor<?x8xf32>, tensor<?x8xf32>, tensor<4xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: kernel.rope_dgrad %{{.*}} heads 2 into %{{.*}} :
  %1 = kernel.rope_dgrad %s, %g, %table heads 2 into %g : (!kernel.step, tensor<?x8xf32>, tensor<16x4xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: kernel.softmax_dgrad %{{.*}} into %{{.*}} :
  %2 = kernel.softmax_dgrad %s, %g, %g into %g : (!kernel.step, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: kernel.place %{{.*}} at 3 into %{{.*}} :
  %3 = kernel.place %s, %g at 3 into %wide : (!kernel.step, tensor<?x8xf32>, tensor<?x24xf32>) -> tensor<?x24xf32>
  // CHECK: kernel.spread %{{.*}} output 0 into %{{.*}} :
  %4 = kernel.spread %s, %g output 0 into %g : (!kernel.step, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: kernel.attention_dgrad causal %{{.*}} heads 2, 2 scale 5.000000e-01 window 3 cap 0.000000e+00 into %{{.*}} :
  %5 = kernel.attention_dgrad causal %s, %g, %g, %g, %g heads 2, 2 scale 0.5 window 3 cap 0.0 into %wide : (!kernel.step, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x24xf32>) -> tensor<?x24xf32>
  // CHECK: kernel.token_loss %{{.*}} smoothing 1.000000e-01 into %{{.*}} :
  %6 = kernel.token_loss %s, %g smoothing 0.1 into %loss : (!kernel.step, tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  // CHECK: kernel.loss_dgrad %{{.*}} smoothing 1.000000e-01 into %{{.*}} :
  %7 = kernel.loss_dgrad %s, %g smoothing 0.1 into %g : (!kernel.step, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: kernel.label %{{.*}}[%{{.*}}]
  %label = kernel.label %s[%at]
  // CHECK: kernel.loss_scale %{{.*}}
  %weight = kernel.loss_scale %s
  return
}

// -----

func.func @linear_wgrad(%s: !kernel.step, %g: tensor<?x24xf32>, %x: tensor<?x8xf32>, %w: memref<24x7xf32>) {
  // expected-error @+1 {{'kernel.linear_wgrad' op width of the buffer is 7, expected 8}}
  kernel.linear_wgrad %s, %g, %x into %w : tensor<?x24xf32>, tensor<?x8xf32>, memref<24x7xf32>
  return
}

// -----

func.func @sum_rows(%s: !kernel.step, %g: tensor<?x24xf32>, %b: memref<?xf32>) {
  // expected-error @+1 {{'kernel.sum_rows' op buffer is 'memref<?xf32>', expected f32 in 1 dimensions of known size}}
  kernel.sum_rows %s, %g into %b : tensor<?x24xf32>, memref<?xf32>
  return
}

// -----

func.func @scatter_add(%s: !kernel.step, %g: tensor<?x8xf32>, %b: memref<5x8xf32>) {
  // expected-error @+1 {{'kernel.scatter_add' op has the index outputs, expected ids, positions or types}}
  kernel.scatter_add outputs %s, %g plus 0 into %b : tensor<?x8xf32>, memref<5x8xf32>
  return
}

// -----

func.func @attention_dgrad(%s: !kernel.step, %g: tensor<?x8xf32>) {
  // expected-error @+1 {{'kernel.attention_dgrad' op width of init is 8, expected 24}}
  %0 = kernel.attention_dgrad full %s, %g, %g, %g, %g heads 2, 2 scale 0.5 window 0 cap 0.0 into %g : (!kernel.step, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
