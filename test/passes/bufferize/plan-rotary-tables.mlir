// SPDX-License-Identifier: Apache-2.0
// plan-memory puts long rotary tables behind all weights that the artifact stores, and says how many bytes they take. A
// short table, one of digits and one whose frequencies change with the position are stored.
// RUN: talc-opt %s -plan-memory | FileCheck %s
// CHECK: table_bytes = 262144 : i64, weight_bytes = 925760 : i64
// CHECK: talc.weight @long {{.*}} {offset = 663616 : i64}
// CHECK: talc.weight @short {{.*}} {offset = 0 : i64}
// CHECK: talc.weight @digits {{.*}} {offset = 8192 : i64}
// CHECK: talc.weight @dynamic {{.*}} {offset = 401408 : i64}
// CHECK: talc.weight @last {{.*}} {offset = 663552 : i64}
talc.weight @long : tensor<2048x32xf32> = #talc.rotary_table<base = 1.0e+04>
talc.weight @short : tensor<64x32xf32> = #talc.rotary_table<base = 1.0e+04>
talc.weight @digits : tensor<3072x32xf32> = #talc.rotary_table<base = 1.0e+04, digits = 1024>
talc.weight @dynamic : tensor<2048x32xf32> = #talc.rotary_table<base = 1.0e+04, scaling = #talc.dynamic_scaling<factor = 2.0, original = 512>>
talc.weight @last : tensor<16xf32> = #talc.fill<0.0>
func.func @read(%s: !kernel.step) {
  %0 = kernel.weight %s @long : memref<2048x32xf32>
  %1 = kernel.weight %s @short : memref<64x32xf32>
  %2 = kernel.weight %s @digits : memref<3072x32xf32>
  %3 = kernel.weight %s @dynamic : memref<2048x32xf32>
  %4 = kernel.weight %s @last : memref<16xf32>
  return
}
