// SPDX-License-Identifier: Apache-2.0
// assign-formats: of matrices that are stored alike, the one with a value that their format does not hold is named.
// RUN: not talc-opt %s --assign-formats="weights=16bit" 2>&1 | FileCheck %s
// CHECK: weight 'large' has the value 65520 at [0, 0], too large for f16; compile with --weights=f32
talc.weight @small : tensor<32x64xf32> = #talc.fill<1.0> {format = f16}
talc.weight @large : tensor<32x64xf32> = #talc.fill<65520.0> {format = f16}

func.func @model(%x: tensor<?x64xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %small = talc.get_weight @small : tensor<32x64xf32>
  %large = talc.get_weight @large : tensor<32x64xf32>
  %0 = talc.linear %x, %small : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
  %1 = talc.linear %x, %large : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
  return %0, %1 : tensor<?x32xf32>, tensor<?x32xf32>
}
