// SPDX-License-Identifier: Apache-2.0
// assign-formats: panels have whole sixteens of rows, so that a matrix of one row takes as much as one of sixteen. What
// fills them counts where it is larger than the size that was asked for.
// RUN: talc-opt %s --assign-formats=weights=4.9bit | FileCheck %s
// RUN: sed 's/<1x64/<16x64/g; s/?x1xf32/?x16xf32/g' %s | talc-opt --assign-formats=weights=4.9bit | FileCheck %s

// CHECK: talc.weight @row {{.*}} {format = !talc.stored<q8_0>}
talc.weight @row : tensor<1x64xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0>
talc.weight @many : tensor<256x64xf32> = #talc.random<seed = 2, mean = 0.0, deviation = 1.0>

func.func @model(%x: tensor<?x64xf32>) -> (tensor<?x1xf32>, tensor<?x256xf32>) {
  %row = talc.get_weight @row : tensor<1x64xf32>
  %many = talc.get_weight @many : tensor<256x64xf32>
  %y = talc.scale %x by 2.0 : tensor<?x64xf32>
  %0 = talc.linear %x, %row : (tensor<?x64xf32>, tensor<1x64xf32>) -> tensor<?x1xf32>
  %1 = talc.linear %y, %many : (tensor<?x64xf32>, tensor<256x64xf32>) -> tensor<?x256xf32>
  return %0, %1 : tensor<?x1xf32>, tensor<?x256xf32>
}
