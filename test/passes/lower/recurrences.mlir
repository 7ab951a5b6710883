// SPDX-License-Identifier: Apache-2.0
// Ops with states become compute ops of their own; softplus a series.
// RUN: talc-opt %s -convert-talc-to-kernel | FileCheck %s

// CHECK-LABEL: @conv
// CHECK: kernel.causal_conv %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}}, %{{.*}} then silu into %{{.*}} : (!kernel.step, tensor<?x8xf32>, tensor<3x8xf32>, tensor<8xf32>, !talc.kv_cache<1 x 8 x 2, recurrence>, tensor<?x8xf32>) -> tensor<?x8xf32>
func.func private @conv(%x: tensor<?x8xf32>, %w: tensor<3x8xf32>, %b: tensor<8xf32>, %m: !talc.kv_cache<1 x 8 x 2, recurrence>, %s: !talc.sequences) -> tensor<?x8xf32> {
  %0 = talc.causal_conv %x, %w bias %b, %m, %s then silu : (tensor<?x8xf32>, tensor<3x8xf32>, tensor<8xf32>, !talc.kv_cache<1 x 8 x 2, recurrence>, !talc.sequences) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @recurrence
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: kernel.recurrence delta %{{.*}} decay %{{.*}} rates %{{.*}} factors %{{.*}} into %{{.*}} : (!kernel.step, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x40xf32>, !talc.kv_cache<4 x 10 x 6, recurrence>, tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>, tensor<?x40xf32>) -> tensor<?x40xf32>
func.func private @recurrence(%q: tensor<?x12xf32>, %v: tensor<?x40xf32>, %h: tensor<?x4xf32>, %r: tensor<4xf32>, %m: !talc.kv_cache<4 x 10 x 6, recurrence>, %s: !talc.sequences) -> tensor<?x40xf32> {
  %d = talc.activation softplus %h : tensor<?x4xf32>
  %0 = talc.recurrence delta %q, %q, %v, %m, %s decay %d rates %r factors %h : (tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x40xf32>, !talc.kv_cache<4 x 10 x 6, recurrence>, !talc.sequences, tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x40xf32>
  return %0 : tensor<?x40xf32>
}

// CHECK-LABEL: @scan
// CHECK: kernel.selective_scan %{{.*}} rates %{{.*}} skip %{{.*}} into
func.func private @scan(%x: tensor<?x16xf32>, %b: tensor<?x10xf32>, %r: tensor<5x16xf32>, %d: tensor<16xf32>, %m: !talc.kv_cache<2 x 8 x 5, recurrence>, %s: !talc.sequences) -> tensor<?x16xf32> {
  %0 = talc.selective_scan %x, %x, %b, %b, %m, %s rates %r skip %d : (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x10xf32>, tensor<?x10xf32>, !talc.kv_cache<2 x 8 x 5, recurrence>, !talc.sequences, tensor<5x16xf32>, tensor<16xf32>) -> tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}
