// SPDX-License-Identifier: Apache-2.0
// Operations of backward functions print as they are read.
// RUN: talc-opt %s | talc-opt | FileCheck %s

talc.weight @w : tensor<16x8xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0>
talc.weight @scale : tensor<8xf32> = #talc.random<seed = 2, mean = 1.0, deviation = 0.1>

// CHECK-LABEL: func.func @layers
func.func @layers(%g: tensor<?x8xf32>, %x: tensor<?x8xf32>, %wide: tensor<?x16xf32>, %w: tensor<16x8xf32>, %scale: tensor<8xf32>, %s: !talc.sequences) {
  // CHECK: %[[W:.*]] = talc.get_gradient @w : memref<16x8xf32>
  %dw = talc.get_gradient @w : memref<16x8xf32>
  %dscale = talc.get_gradient @scale : memref<8xf32>
  // CHECK: talc.linear_dgrad %{{.*}}, %{{.*}} : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
  %0 = talc.linear_dgrad %wide, %w : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
  // CHECK: talc.linear_dgrad %{{.*}}, %{{.*}} {groups = 2 : i64} : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x16xf32>
  %1 = talc.linear_dgrad %wide, %w {groups = 2} : (tensor<?x16xf32>, tensor<16x8xf32>) -> tensor<?x16xf32>
  // CHECK: talc.linear_wgrad %{{.*}}, %{{.*}} into %[[W]] : tensor<?x16xf32>, tensor<?x8xf32>, memref<16x8xf32>
  talc.linear_wgrad %wide, %x into %dw : tensor<?x16xf32>, tensor<?x8xf32>, memref<16x8xf32>
  // CHECK: talc.sum_rows %{{.*}} into %{{.*}} : tensor<?x8xf32>, memref<8xf32>
  talc.sum_rows %g into %dscale : tensor<?x8xf32>, memref<8xf32>
  // CHECK: talc.norm_dgrad layer %{{.*}}, %{{.*}}, %{{.*}} epsilon 1.000000e-05 : tensor<?x8xf32>, tensor<8xf32>
  %2 = talc.norm_dgrad layer %g, %x, %scale epsilon 1.0e-5 : tensor<?x8xf32>, tensor<8xf32>
  // CHECK: talc.norm_wgrad rms %{{.*}}, %{{.*}} into %{{.*}} epsilon 1.000000e-05 : tensor<?x8xf32>, memref<8xf32>
  talc.norm_wgrad rms %g, %x into %dscale epsilon 1.0e-5 : tensor<?x8xf32>, memref<8xf32>
  // CHECK: talc.activation_dgrad silu %{{.*}}, %{{.*}} : tensor<?x8xf32>
  %3 = talc.activation_dgrad silu %g, %x : tensor<?x8xf32>
  // CHECK: talc.softmax_dgrad %{{.*}}, %{{.*}} : tensor<?x8xf32>
  %4 = talc.softmax_dgrad %g, %x : tensor<?x8xf32>
  // CHECK: talc.clamp_dgrad %{{.*}}, %{{.*}} to 8.000000e+00 : tensor<?x8xf32>
  %5 = talc.clamp_dgrad %g, %x to 8.0 : tensor<?x8xf32>
  // CHECK: talc.rope_dgrad %{{.*}}, %{{.*}} heads 2 rotary 4 base 1.000000e+04 : tensor<?x8xf32>
  %6 = talc.rope_dgrad %g, %s heads 2 rotary 4 base 10000.0 : tensor<?x8xf32>
  return
}

// CHECK-LABEL: func.func @experts
func.func @experts(%g: tensor<?x8xf32>, %x: tensor<?x8xf32>, %routes: tensor<?x2xf32>, %up: tensor<24x8xf32>, %down: tensor<16x12xf32>, %dup: memref<24x8xf32>, %ddown: memref<16x12xf32>) {
  // CHECK: talc.route_dgrad %{{.*}}, %{{.*}}, %{{.*}} normalized : tensor<?x2xf32>
  %0 = talc.route_dgrad %routes, %routes, %routes normalized : tensor<?x2xf32>
  // CHECK: talc.experts_dgrad silu %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} down %{{.*}} : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x2xf32>, tensor<24x8xf32>, tensor<24x8xf32>, tensor<16x12xf32>) -> (tensor<?x8xf32>, tensor<?x2xf32>)
  %1, %2 = talc.experts_dgrad silu %g, %x, %routes, %up, %up down %down : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x2xf32>, tensor<24x8xf32>, tensor<24x8xf32>, tensor<16x12xf32>) -> (tensor<?x8xf32>, tensor<?x2xf32>)
  // CHECK: talc.experts_wgrad silu %{{.*}} down %{{.*}} into %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x8xf32>,
  talc.experts_wgrad silu %g, %x, %routes, %up, %up down %down into %dup, %dup, %ddown : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x2xf32>, tensor<24x8xf32>, tensor<24x8xf32>, tensor<16x12xf32>, memref<24x8xf32>, memref<24x8xf32>, memref<16x12xf32>
  return
}

// CHECK-LABEL: func.func @tokens
func.func @tokens(%ids: tensor<?xi32>, %g: tensor<?x8xf32>, %k: tensor<?x4xf32>, %sinks: tensor<4xf32>, %s: !talc.sequences, %dtable: memref<11x8xf32>, %dsinks: memref<4xf32>) {
  // CHECK: talc.spread %{{.*}}, %{{.*}} : tensor<?x8xf32> -> tensor<?x8xf32>
  %0 = talc.spread %g, %s : tensor<?x8xf32> -> tensor<?x8xf32>
  // CHECK: talc.place %{{.*}} at 3 : tensor<?x8xf32> -> tensor<?x12xf32>
  %1 = talc.place %g at 3 : tensor<?x8xf32> -> tensor<?x12xf32>
  // CHECK: talc.slice_heads %{{.*}} heads 2 at 1 : tensor<?x8xf32> -> tensor<?x4xf32>
  %2 = talc.slice_heads %g heads 2 at 1 : tensor<?x8xf32> -> tensor<?x4xf32>
  // CHECK: talc.embedding_wgrad %{{.*}}, %{{.*}} into %{{.*}} : tensor<?xi32>, tensor<?x8xf32>, memref<11x8xf32>
  talc.embedding_wgrad %ids, %g into %dtable : tensor<?xi32>, tensor<?x8xf32>, memref<11x8xf32>
  // CHECK: talc.position_wgrad %{{.*}}, %{{.*}} into %{{.*}} : tensor<?x8xf32>, memref<11x8xf32>
  talc.position_wgrad %s, %g into %dtable : tensor<?x8xf32>, memref<11x8xf32>
  // CHECK: talc.position_wgrad %{{.*}}, %{{.*}} of %{{.*}} : tensor<?xi32> without 1 into %{{.*}} {offset = 2 : i64} : tensor<?x8xf32>, memref<11x8xf32>
  talc.position_wgrad %s, %g of %ids : tensor<?xi32> without 1 into %dtable {offset = 2} : tensor<?x8xf32>, memref<11x8xf32>
  // CHECK: talc.token_type_wgrad %{{.*}}, %{{.*}} into %{{.*}} : tensor<?x8xf32>, memref<11x8xf32>
  talc.token_type_wgrad %s, %g into %dtable : tensor<?x8xf32>, memref<11x8xf32>
  // CHECK: talc.attention_dgrad causal %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} heads 4, 2 scale 5.000000e-01 sinks %{{.*}} : tensor<4xf32> into %{{.*}} : memref<4xf32> {window = 3 : i64} : tensor<?x8xf32>, tensor<?x4xf32>
  %3, %4, %5 = talc.attention_dgrad causal %g, %g, %k, %k, %s heads 4, 2 scale 0.5 sinks %sinks : tensor<4xf32> into %dsinks : memref<4xf32> {window = 3} : tensor<?x8xf32>, tensor<?x4xf32>
  // CHECK: talc.cross_entropy %{{.*}}, %{{.*}} {smoothing = 1.000000e-01 : f64} : tensor<?x8xf32>, tensor<?xi32> -> tensor<?x1xf32>
  %6, %7 = talc.cross_entropy %g, %ids {smoothing = 0.1} : tensor<?x8xf32>, tensor<?xi32> -> tensor<?x1xf32>
  return
}
