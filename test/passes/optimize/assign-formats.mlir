// SPDX-License-Identifier: Apache-2.0
// assign-formats: every matrix gets its format. Bits go where they reduce the error most, and the total keeps to the size.
// RUN: talc-opt %s --assign-formats=weights=6bit | FileCheck %s
// RUN: talc-opt %s --assign-formats=weights=6bit --pack-weights | FileCheck %s --check-prefix=PACKED
// RUN: talc-opt %s --assign-formats="weights=6bit;o=q4_0" | FileCheck %s --check-prefix=NAMED
// RUN: talc-opt %s --assign-formats=weights=32bit | FileCheck %s --check-prefix=WHOLE
// RUN: talc-opt %s --assign-formats=weights=q8_0 | FileCheck %s --check-prefix=ONE
// RUN: not talc-opt %s --assign-formats=weights=2.5bit 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: error: weights cannot have 2.50 bits: the smallest formats have 4.25 on average
// RUN: not talc-opt %s --assign-formats=weights=33bit 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error: weights cannot be '33bit': '33bit' is not a storage format
// RUN: not talc-opt %s --assign-formats=weights=q4 2>&1 | FileCheck %s --check-prefix=MISSPELT
// MISSPELT: error: weights cannot be 'q4': 'q4' is not a storage format, expected f32, f16, {{.*}} or checkpoint
// RUN: not talc-opt %s --assign-formats="weights=d=q4_0" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: weights: no weight is called 'd'

// CHECK: module attributes {talc.chosen_formats = "5.{{[0-9]+}} bits a value: {{.*}}"}
// Matrices that multiply the same activations have one format.
// CHECK: talc.weight @q.weight {{.*}} {format = [[FORMAT:.*]]}
// CHECK: talc.weight @k.weight {{.*}} {format = [[FORMAT]]}
// A weight and what a recipe makes of it have one format.
// CHECK: talc.weight @o.stored {{.*}} {format = [[OUTPUT:.*]]}
// CHECK: talc.weight @o {{.*}} = #talc.transpose of [@o.stored] {format = [[OUTPUT]]}
// Vectors have none.
// CHECK: talc.weight @scale : tensor<64xf32> = {{.*}}>{{$}}
// NAMED: talc.weight @o.stored {{.*}} {format = !talc.stored<q4_0>}
// WHOLE: talc.chosen_formats = "32.000 bits a value: matrices in f32 (4)"
// ONE-COUNT-5: {format = !talc.stored<q8_0>}
// ONE-NOT: format
// CHECK-NOT: importance
talc.weight @q.weight : tensor<64x64xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 1.0>
talc.weight @k.weight : tensor<32x64xf32> = #talc.random<seed = 2, mean = 0.0, deviation = 1.0>
talc.weight @o.stored : tensor<64x64xf32> = #talc.random<seed = 3, mean = 0.0, deviation = 1.0>
talc.weight @o : tensor<64x64xf32> = #talc.transpose of [@o.stored]
talc.weight @table.weight : tensor<16x64xf32> = #talc.random<seed = 4, mean = 0.0, deviation = 1.0>
talc.weight @scale : tensor<64xf32> = #talc.fill<1.0>

// PACKED: talc.derive #talc.pack of(%{{.*}}) : (tensor<64x64xf32>) -> tensor<4x64x16x!talc.stored<
func.func private @block(%x: tensor<?x64xf32>, %q: tensor<64x64xf32>, %k: tensor<32x64xf32>, %o: tensor<64x64xf32>, %g: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?x32xf32>) {
  %n = talc.norm rms %x, %g epsilon 1.0e-5 : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
  %0 = talc.linear %n, %q : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %1 = talc.linear %n, %k : (tensor<?x64xf32>, tensor<32x64xf32>) -> tensor<?x32xf32>
  %2 = talc.linear %0, %o : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  return %2, %1 : tensor<?x64xf32>, tensor<?x32xf32>
}

func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> (tensor<?x64xf32>, tensor<?x32xf32>) {
  %table = talc.get_weight @table.weight : tensor<16x64xf32>
  %q = talc.get_weight @q.weight : tensor<64x64xf32>
  %k = talc.get_weight @k.weight : tensor<32x64xf32>
  %o = talc.get_weight @o : tensor<64x64xf32>
  %g = talc.get_weight @scale : tensor<64xf32>
  %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<16x64xf32>) -> tensor<?x64xf32>
  %0, %1 = call @block(%x, %q, %k, %o, %g) : (tensor<?x64xf32>, tensor<64x64xf32>, tensor<32x64xf32>, tensor<64x64xf32>, tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?x32xf32>)
  return %0, %1 : tensor<?x64xf32>, tensor<?x32xf32>
}
