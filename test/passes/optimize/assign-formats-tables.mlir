// SPDX-License-Identifier: Apache-2.0
// assign-formats: every row of a table counts alike, however small it is, and the table at least as much as all
// matrices together that are only multiplied.
// RUN: talc-opt %s --assign-formats=weights=4.5bit | FileCheck %s --check-prefix=ROWS
// RUN: talc-opt %s --assign-formats=weights=4.7bit | FileCheck %s --check-prefix=SHARE

// Four-bit floats have exactly the large row and next to none of the small ones. At 4.7 bits there is room for one q5_0,
// which takes more error from a value of the second matrix than of the table, half of which q4_0 has exactly.
// ROWS: talc.weight @large {{.*}} {format = !talc.stored<q4_0>}
// SHARE: talc.weight @large {{.*}} {format = !talc.stored<q5_0>}
// SHARE: talc.weight @first {{.*}} {format = !talc.stored<q4_0>}
// SHARE: talc.weight @second {{.*}} {format = !talc.stored<q4_0>}
talc.weight @large : tensor<1x64xf32> = #talc.values<dense<[[
    0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0, 0.0,
    0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0, 0.0,
    0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0, 0.0,
    0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0, 0.0]]> : tensor<1x64xf32>>
talc.weight @small : tensor<7x64xf32> = #talc.random<seed = 2, mean = 0.0, deviation = 0.004>
talc.weight @even : tensor<8x64xf32> = #talc.fill<0.004>
talc.weight @table : tensor<16x64xf32> = #talc.concat of [@large, @small, @even]
talc.weight @first : tensor<64x64xf32> = #talc.random<seed = 3, mean = 0.0, deviation = 1.0>
talc.weight @second : tensor<16x64xf32> = #talc.random<seed = 4, mean = 0.0, deviation = 1.0>
talc.weight @scale : tensor<64xf32> = #talc.fill<1.0>

func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x16xf32> {
  %table = talc.get_weight @table : tensor<16x64xf32>
  %first = talc.get_weight @first : tensor<64x64xf32>
  %second = talc.get_weight @second : tensor<16x64xf32>
  %g = talc.get_weight @scale : tensor<64xf32>
  %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<16x64xf32>) -> tensor<?x64xf32>
  %n = talc.norm rms %x, %g epsilon 1.0e-5 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %y = talc.linear %n, %first : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %z = talc.linear %y, %second : (tensor<?x64xf32>, tensor<16x64xf32>) -> tensor<?x16xf32>
  return %z : tensor<?x16xf32>
}
