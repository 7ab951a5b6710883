// SPDX-License-Identifier: Apache-2.0
// assign-formats: a weight that has a format keeps it; its bits count.
// RUN: talc-opt %s --assign-formats=weights=7.5bit | FileCheck %s
// CHECK: module attributes {talc.chosen_formats = "7.{{[0-9]+}} bits a value: {{.*}}q8_0 (1)
// CHECK: talc.weight @q.weight {{.*}} {format = !talc.stored<q8_0>}
// CHECK: talc.weight @o.weight {{.*}} {format = {{.*}}}
talc.weight @q.weight : tensor<32x64xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0> {format = !talc.stored<q8_0>}
talc.weight @o.weight : tensor<64x32xf32> = #talc.random<seed = 2, mean = 0.0, deviation = 1.0>

func.func @model(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %q = talc.get_weight @q.weight : tensor<32x64xf32>
  %o = talc.get_weight @o.weight : tensor<64x32xf32>
  %0 = talc.linear %x, %q : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
  %1 = talc.linear %0, %o : (tensor<?x32xf32>, tensor<64x32xf32>) -> tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}
