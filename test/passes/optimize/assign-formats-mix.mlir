// SPDX-License-Identifier: Apache-2.0
// assign-formats: a mix of llama.cpp chooses formats by what matrices are for, and by layer. Names may be in upper case.
// RUN: talc-opt %s --assign-formats=weights=Q4_K_M | FileCheck %s
// RUN: talc-opt %s --assign-formats=weights=q4_k_s | FileCheck %s --check-prefix=SMALL
// RUN: talc-opt %s --assign-formats=weights=q3_k_m | FileCheck %s --check-prefix=Q3
// RUN: talc-opt %s --assign-formats=weights=q2_k | FileCheck %s --check-prefix=Q2
// RUN: talc-opt %s --assign-formats="weights=q4_k_m;*.v=f16;*=q2_k" | FileCheck %s --check-prefix=RULES
// The first layer of eight, the last and every third between have better values and outputs of feed-forward layers.
// CHECK: module attributes {talc.chosen_formats = "4.{{[0-9]+}} bits a value: matrices in q4_k (33), q6_k (9), q5_0 (1); matrices whose rows are not whole blocks have q5_0 instead of q4_k (1)"}
// CHECK-DAG: @embedding : {{.*}} {format = !talc.stored<q4_k>}
// CHECK-DAG: @output : {{.*}} {format = !talc.stored<q6_k>}
// CHECK-DAG: @narrow : {{.*}} {format = !talc.stored<q5_0>}
// CHECK-DAG: @layer.0.v : {{.*}} {format = !talc.stored<q6_k>}
// CHECK-DAG: @layer.0.down : {{.*}} {format = !talc.stored<q6_k>}
// CHECK-DAG: @layer.0.q : {{.*}} {format = !talc.stored<q4_k>}
// CHECK-DAG: @layer.0.o : {{.*}} {format = !talc.stored<q4_k>}
// CHECK-DAG: @layer.1.v : {{.*}} {format = !talc.stored<q4_k>}
// CHECK-DAG: @layer.2.down : {{.*}} {format = !talc.stored<q4_k>}
// CHECK-DAG: @layer.3.v : {{.*}} {format = !talc.stored<q6_k>}
// CHECK-DAG: @layer.6.down : {{.*}} {format = !talc.stored<q6_k>}
// CHECK-DAG: @layer.7.v : {{.*}} {format = !talc.stored<q6_k>}
// SMALL-DAG: @layer.3.v : {{.*}} {format = !talc.stored<q5_k>}
// SMALL-DAG: @layer.4.v : {{.*}} {format = !talc.stored<q4_k>}
// SMALL-DAG: @layer.0.down : {{.*}} {format = !talc.stored<q5_k>}
// SMALL-DAG: @layer.1.down : {{.*}} {format = !talc.stored<q4_k>}
// Q3-DAG: @layer.1.v : {{.*}} {format = !talc.stored<q5_k>}
// Q3-DAG: @layer.2.v : {{.*}} {format = !talc.stored<q4_k>}
// Q3-DAG: @layer.0.o : {{.*}} {format = !talc.stored<q4_k>}
// Q3-DAG: @layer.0.q : {{.*}} {format = !talc.stored<q3_k>}
// Q3-DAG: @narrow : {{.*}} {format = !talc.stored<q4_0>}
// Four query heads share a key-value head.
// Q2-DAG: @layer.0.v : {{.*}} {format = !talc.stored<q4_k>}
// Q2-DAG: @layer.0.down : {{.*}} {format = !talc.stored<q3_k>}
// Q2-DAG: @layer.0.q : {{.*}} {format = !talc.stored<q2_k>}
// Q2-DAG: @output : {{.*}} {format = !talc.stored<q6_k>}
// The last rule that matches decides.
// RULES-COUNT-43: {format = !talc.stored<q2_k>}
// RULES-NOT: talc.stored<q4_k>

talc.weight @embedding : tensor<16x256xf32> = #talc.fill<1.0>
talc.weight @layer.0.q : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.0.v : tensor<64x256xf32> = #talc.fill<1.0>
talc.weight @layer.0.o : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.0.up : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.0.down : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.1.q : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.1.v : tensor<64x256xf32> = #talc.fill<1.0>
talc.weight @layer.1.o : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.1.up : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.1.down : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.2.q : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.2.v : tensor<64x256xf32> = #talc.fill<1.0>
talc.weight @layer.2.o : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.2.up : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.2.down : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.3.q : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.3.v : tensor<64x256xf32> = #talc.fill<1.0>
talc.weight @layer.3.o : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.3.up : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.3.down : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.4.q : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.4.v : tensor<64x256xf32> = #talc.fill<1.0>
talc.weight @layer.4.o : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.4.up : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.4.down : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.5.q : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.5.v : tensor<64x256xf32> = #talc.fill<1.0>
talc.weight @layer.5.o : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.5.up : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.5.down : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.6.q : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.6.v : tensor<64x256xf32> = #talc.fill<1.0>
talc.weight @layer.6.o : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.6.up : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.6.down : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.7.q : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.7.v : tensor<64x256xf32> = #talc.fill<1.0>
talc.weight @layer.7.o : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.7.up : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @layer.7.down : tensor<256x256xf32> = #talc.fill<1.0>
talc.weight @output : tensor<32x256xf32> = #talc.fill<1.0>
talc.weight @narrow : tensor<32x32xf32> = #talc.fill<1.0>

func.func private @layer(%x: tensor<?x256xf32>, %s: !talc.sequences, %q: tensor<256x256xf32>, %v: tensor<64x256xf32>, %o: tensor<256x256xf32>, %up: tensor<256x256xf32>, %down: tensor<256x256xf32>) -> tensor<?x256xf32> {
  %0 = talc.linear %x, %q : (tensor<?x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  %1 = talc.slice %0 at 0 : tensor<?x256xf32> -> tensor<?x64xf32>
  %2 = talc.linear %x, %v : (tensor<?x256xf32>, tensor<64x256xf32>) -> tensor<?x64xf32>
  %3 = talc.attention full %0, %1, %2, %s heads 4, 1 scale 0.125 : tensor<?x256xf32>, tensor<?x64xf32>
  %4 = talc.linear %3, %o : (tensor<?x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  %5 = talc.linear %4, %up : (tensor<?x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  %6 = talc.activation silu %5 : tensor<?x256xf32>
  %7 = talc.linear %6, %down : (tensor<?x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  return %7 : tensor<?x256xf32>
}
func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x32xf32> attributes {talc.entry} {
  %e = talc.get_weight @embedding : tensor<16x256xf32>
  %x0 = talc.embedding %ids, %e : (tensor<?xi32>, tensor<16x256xf32>) -> tensor<?x256xf32>
  %q0 = talc.get_weight @layer.0.q : tensor<256x256xf32>
  %v0 = talc.get_weight @layer.0.v : tensor<64x256xf32>
  %o0 = talc.get_weight @layer.0.o : tensor<256x256xf32>
  %up0 = talc.get_weight @layer.0.up : tensor<256x256xf32>
  %down0 = talc.get_weight @layer.0.down : tensor<256x256xf32>
  %x1 = call @layer(%x0, %s, %q0, %v0, %o0, %up0, %down0) : (tensor<?x256xf32>, !talc.sequences, tensor<256x256xf32>, tensor<64x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  %q1 = talc.get_weight @layer.1.q : tensor<256x256xf32>
  %v1 = talc.get_weight @layer.1.v : tensor<64x256xf32>
  %o1 = talc.get_weight @layer.1.o : tensor<256x256xf32>
  %up1 = talc.get_weight @layer.1.up : tensor<256x256xf32>
  %down1 = talc.get_weight @layer.1.down : tensor<256x256xf32>
  %x2 = call @layer(%x1, %s, %q1, %v1, %o1, %up1, %down1) : (tensor<?x256xf32>, !talc.sequences, tensor<256x256xf32>, tensor<64x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  %q2 = talc.get_weight @layer.2.q : tensor<256x256xf32>
  %v2 = talc.get_weight @layer.2.v : tensor<64x256xf32>
  %o2 = talc.get_weight @layer.2.o : tensor<256x256xf32>
  %up2 = talc.get_weight @layer.2.up : tensor<256x256xf32>
  %down2 = talc.get_weight @layer.2.down : tensor<256x256xf32>
  %x3 = call @layer(%x2, %s, %q2, %v2, %o2, %up2, %down2) : (tensor<?x256xf32>, !talc.sequences, tensor<256x256xf32>, tensor<64x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  %q3 = talc.get_weight @layer.3.q : tensor<256x256xf32>
  %v3 = talc.get_weight @layer.3.v : tensor<64x256xf32>
  %o3 = talc.get_weight @layer.3.o : tensor<256x256xf32>
  %up3 = talc.get_weight @layer.3.up : tensor<256x256xf32>
  %down3 = talc.get_weight @layer.3.down : tensor<256x256xf32>
  %x4 = call @layer(%x3, %s, %q3, %v3, %o3, %up3, %down3) : (tensor<?x256xf32>, !talc.sequences, tensor<256x256xf32>, tensor<64x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  %q4 = talc.get_weight @layer.4.q : tensor<256x256xf32>
  %v4 = talc.get_weight @layer.4.v : tensor<64x256xf32>
  %o4 = talc.get_weight @layer.4.o : tensor<256x256xf32>
  %up4 = talc.get_weight @layer.4.up : tensor<256x256xf32>
  %down4 = talc.get_weight @layer.4.down : tensor<256x256xf32>
  %x5 = call @layer(%x4, %s, %q4, %v4, %o4, %up4, %down4) : (tensor<?x256xf32>, !talc.sequences, tensor<256x256xf32>, tensor<64x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  %q5 = talc.get_weight @layer.5.q : tensor<256x256xf32>
  %v5 = talc.get_weight @layer.5.v : tensor<64x256xf32>
  %o5 = talc.get_weight @layer.5.o : tensor<256x256xf32>
  %up5 = talc.get_weight @layer.5.up : tensor<256x256xf32>
  %down5 = talc.get_weight @layer.5.down : tensor<256x256xf32>
  %x6 = call @layer(%x5, %s, %q5, %v5, %o5, %up5, %down5) : (tensor<?x256xf32>, !talc.sequences, tensor<256x256xf32>, tensor<64x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  %q6 = talc.get_weight @layer.6.q : tensor<256x256xf32>
  %v6 = talc.get_weight @layer.6.v : tensor<64x256xf32>
  %o6 = talc.get_weight @layer.6.o : tensor<256x256xf32>
  %up6 = talc.get_weight @layer.6.up : tensor<256x256xf32>
  %down6 = talc.get_weight @layer.6.down : tensor<256x256xf32>
  %x7 = call @layer(%x6, %s, %q6, %v6, %o6, %up6, %down6) : (tensor<?x256xf32>, !talc.sequences, tensor<256x256xf32>, tensor<64x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  %q7 = talc.get_weight @layer.7.q : tensor<256x256xf32>
  %v7 = talc.get_weight @layer.7.v : tensor<64x256xf32>
  %o7 = talc.get_weight @layer.7.o : tensor<256x256xf32>
  %up7 = talc.get_weight @layer.7.up : tensor<256x256xf32>
  %down7 = talc.get_weight @layer.7.down : tensor<256x256xf32>
  %x8 = call @layer(%x7, %s, %q7, %v7, %o7, %up7, %down7) : (tensor<?x256xf32>, !talc.sequences, tensor<256x256xf32>, tensor<64x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<?x256xf32>
  %w = talc.get_weight @output : tensor<32x256xf32>
  %n = talc.get_weight @narrow : tensor<32x32xf32>
  %y = talc.slice %x8 at 0 : tensor<?x256xf32> -> tensor<?x32xf32>
  %z = talc.linear %y, %n : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %l = talc.linear %x8, %w : (tensor<?x256xf32>, tensor<32x256xf32>) -> tensor<?x32xf32>
  return %l : tensor<?x32xf32>
}
