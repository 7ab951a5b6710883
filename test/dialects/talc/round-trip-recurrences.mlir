// SPDX-License-Identifier: Apache-2.0
// Ops with states of recurrences print as they are written.
// RUN: talc-opt %s | talc-opt | FileCheck %s

// CHECK: talc.kv_cache @window : !talc.kv_cache<1 x 2048 x 2, recurrence>
talc.kv_cache @window : !talc.kv_cache<1 x 2048 x 2, recurrence>
talc.kv_cache @matrices : !talc.kv_cache<4 x 10 x 6, recurrence>
talc.kv_cache @numbers : !talc.kv_cache<2 x 8 x 5, recurrence>

// CHECK-LABEL: @conv
func.func @conv(%x: tensor<?x2048xf32>, %w: tensor<3x2048xf32>, %b: tensor<2048xf32>, %s: !talc.sequences) {
  %m = talc.get_kv_cache @window : !talc.kv_cache<1 x 2048 x 2, recurrence>
  // CHECK: talc.causal_conv %{{.*}}, %{{.*}} bias %{{.*}}, %{{.*}}, %{{.*}} then silu : (tensor<?x2048xf32>, tensor<3x2048xf32>, tensor<2048xf32>, !talc.kv_cache<1 x 2048 x 2, recurrence>, !talc.sequences) -> tensor<?x2048xf32>
  %0 = talc.causal_conv %x, %w bias %b, %m, %s then silu : (tensor<?x2048xf32>, tensor<3x2048xf32>, tensor<2048xf32>, !talc.kv_cache<1 x 2048 x 2, recurrence>, !talc.sequences) -> tensor<?x2048xf32>
  // CHECK: talc.causal_conv %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x2048xf32>, tensor<3x2048xf32>, !talc.kv_cache
  %1 = talc.causal_conv %0, %w, %m, %s : (tensor<?x2048xf32>, tensor<3x2048xf32>, !talc.kv_cache<1 x 2048 x 2, recurrence>, !talc.sequences) -> tensor<?x2048xf32>
  return
}

// CHECK-LABEL: @recurrence
func.func @recurrence(%q: tensor<?x12xf32>, %v: tensor<?x40xf32>, %h: tensor<?x4xf32>, %r: tensor<4xf32>, %s: !talc.sequences) {
  %m = talc.get_kv_cache @matrices : !talc.kv_cache<4 x 10 x 6, recurrence>
  // CHECK: talc.recurrence delta %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} decay %{{.*}} rates %{{.*}} factors %{{.*}} : (tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x40xf32>, !talc.kv_cache<4 x 10 x 6, recurrence>, !talc.sequences, tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x40xf32>
  %0 = talc.recurrence delta %q, %q, %v, %m, %s decay %h rates %r factors %h : (tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x40xf32>, !talc.kv_cache<4 x 10 x 6, recurrence>, !talc.sequences, tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>) -> tensor<?x40xf32>
  // CHECK: talc.recurrence additive {{.*}} factors %{{.*}} skip %{{.*}} :
  %1 = talc.recurrence additive %q, %q, %v, %m, %s decay %h rates %r factors %h skip %r : (tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x40xf32>, !talc.kv_cache<4 x 10 x 6, recurrence>, !talc.sequences, tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x40xf32>
  return
}

// CHECK-LABEL: @scan
func.func @scan(%x: tensor<?x16xf32>, %b: tensor<?x10xf32>, %r: tensor<5x16xf32>, %d: tensor<16xf32>, %s: !talc.sequences) {
  %m = talc.get_kv_cache @numbers : !talc.kv_cache<2 x 8 x 5, recurrence>
  // CHECK: talc.selective_scan %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} rates %{{.*}} skip %{{.*}} :
  %0 = talc.selective_scan %x, %x, %b, %b, %m, %s rates %r skip %d : (tensor<?x16xf32>, tensor<?x16xf32>, tensor<?x10xf32>, tensor<?x10xf32>, !talc.kv_cache<2 x 8 x 5, recurrence>, !talc.sequences, tensor<5x16xf32>, tensor<16xf32>) -> tensor<?x16xf32>
  return
}
