// SPDX-License-Identifier: Apache-2.0
// Every op of the kernel dialect, on tensors and on buffers, reads back as it was printed.
// RUN: talc-opt %s | talc-opt | FileCheck %s

// CHECK-LABEL: @tensors
func.func @tensors(%s: !kernel.step, %x: tensor<?x32xf32>, %w: tensor<3x32x16xbf16>, %g: tensor<5x32x16xf32>, %b: tensor<48xf32>, %n: tensor<16xf32>, %angles: tensor<64x16xf32>, %e: tensor<?x33xf32>, %f: tensor<?x40xf32>, %table: tensor<5x32x16xf16>, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %distances: tensor<2x127xf32>, %source: !talc.kv_cache<2 x 16 x 64, source in #kernel.kv_panels<16 x f32>>) {
  // CHECK: kernel.matmul %{{.*}}, %{{.*}}, %{{.*}} inputs(%{{.*}}, %{{.*}}) into %{{.*}} {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
  // CHECK: kernel.yield %{{.*}} : f32
  // CHECK: } : (!kernel.step, tensor<?x32xf32>, tensor<3x32x16xbf16>, tensor<48xf32>, tensor<?x33xf32>, tensor<?x33xf32>) -> tensor<?x33xf32>
  %0 = kernel.matmul %s, %x, %w inputs(%b, %e) into %e {
  ^bb0(%sum: f32, %bias: f32, %residual: f32):
    %a = arith.addf %sum, %bias : f32
    kernel.yield %a : f32
  } : (!kernel.step, tensor<?x32xf32>, tensor<3x32x16xbf16>, tensor<48xf32>, tensor<?x33xf32>, tensor<?x33xf32>) -> tensor<?x33xf32>
  // CHECK: kernel.matmul %{{.*}}, %{{.*}}, %{{.*}} into %{{.*}} gated {
  // CHECK: } :
  %1 = kernel.matmul %s, %x, %g into %f gated {
  ^bb0(%gate: f32, %up: f32):
    kernel.yield %up : f32
  } : (!kernel.step, tensor<?x32xf32>, tensor<5x32x16xf32>, tensor<?x40xf32>) -> tensor<?x40xf32>
  // CHECK: kernel.attention causal %{{.*}}, %{{.*}}, %{{.*}} heads 2 scale 2.500000e-01 window 5 into %{{.*}} : (!kernel.step, tensor<?x32xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, tensor<?x32xf32>) -> tensor<?x32xf32>
  %2 = kernel.attention causal %s, %x, %kv heads 2 scale 0.25 window 5 into %x : (!kernel.step, tensor<?x32xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: kernel.attention prefix %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} heads 2 scale 2.500000e-01 window 0 into %{{.*}} : (!kernel.step, tensor<?x32xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, tensor<2x127xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  %bias = kernel.attention prefix %s, %x, %kv bias %distances heads 2 scale 0.25 window 0 into %x : (!kernel.step, tensor<?x32xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, tensor<2x127xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: kernel.attention full %{{.*}}, %{{.*}}, %{{.*}} heads 2 scale 2.500000e-01 window 0 into %{{.*}} : (!kernel.step, tensor<?x32xf32>, !talc.kv_cache<2 x 16 x 64, source in #kernel.kv_panels<16 x f32>>, tensor<?x32xf32>) -> tensor<?x32xf32>
  %cross = kernel.attention full %s, %x, %source heads 2 scale 0.25 window 0 into %x : (!kernel.step, tensor<?x32xf32>, !talc.kv_cache<2 x 16 x 64, source in #kernel.kv_panels<16 x f32>>, tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: kernel.norm layer %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} epsilon 5.000000e-01 groups 2 into %{{.*}} :
  %3 = kernel.norm layer %s, %x, %n bias %n epsilon 0.5 groups 2 into %x : (!kernel.step, tensor<?x32xf32>, tensor<16xf32>, tensor<16xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: kernel.rope %{{.*}}, %{{.*}}, %{{.*}} heads 2 into %{{.*}} :
  %4 = kernel.rope %s, %x, %angles heads 2 into %x : (!kernel.step, tensor<?x32xf32>, tensor<64x16xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: kernel.gather ids %{{.*}}, %{{.*}} plus 0 into %{{.*}} :
  %5 = kernel.gather ids %s, %table plus 0 into %x : (!kernel.step, tensor<5x32x16xf16>, tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: kernel.gather ids %{{.*}}, %{{.*}} plus -7 partial into %{{.*}} :
  %part = kernel.gather ids %s, %table plus -7 partial into %x : (!kernel.step, tensor<5x32x16xf16>, tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: kernel.log_softmax %{{.*}}, %{{.*}} tails [9] into %{{.*}} : (!kernel.step, tensor<?x33xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  %log = kernel.log_softmax %s, %e tails [9] into %x : (!kernel.step, tensor<?x33xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: kernel.attention causal %{{.*}} row_bias %{{.*}} zero_start heads 2 scale 2.500000e-01 window 5 into
  %own = kernel.attention causal %s, %x, %kv row_bias %f zero_start heads 2 scale 0.25 window 5 into %x : (!kernel.step, tensor<?x32xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, tensor<?x40xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: kernel.kv_append %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, tensor<?x32xf32>, tensor<?x32xf32>
  kernel.kv_append %s, %kv, %x, %x : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, tensor<?x32xf32>, tensor<?x32xf32>
  return
}

// CHECK-LABEL: @buffers
func.func @buffers(%s: !kernel.step, %x: memref<?x32xf32>, %strided: memref<?x32xf32, strided<[64, 1], offset: 32>>, %w: memref<2x32x16xf32>, %n: memref<32xf32>, %table: memref<66x32xf32>, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %row: memref<1x32xf32>, %parts: memref<2x64xf32>, %q8: memref<?x32x!talc.stored<q8_sums>>, %d: vector<16xi8>, %sums: vector<4xi32>, %p: vector<8xbf16>, %floats: vector<4xf32>) {
  // CHECK: kernel.bytes %{{.*}} : memref<?x32x!talc.stored<q8_sums>> -> memref<?x48xi8>
  %rows = kernel.bytes %q8 : memref<?x32x!talc.stored<q8_sums>> -> memref<?x48xi8>
  // CHECK: kernel.dot %{{.*}} to 255, %{{.*}} plus %{{.*}} : vector<16xi8> -> vector<4xi32>
  %dot = kernel.dot %d to 255, %d plus %sums : vector<16xi8> -> vector<4xi32>
  // CHECK: kernel.dot %{{.*}}, %{{.*}} plus %{{.*}} signed : vector<16xi8> -> vector<4xi32>
  %signed = kernel.dot %d, %d plus %sums signed : vector<16xi8> -> vector<4xi32>
  // CHECK: kernel.table_lookup %{{.*}} in [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12] : vector<16xi8>
  %looked = kernel.table_lookup %d in [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12] : vector<16xi8>
  // CHECK: kernel.ldexp %{{.*}} by %{{.*}} : vector<4xf32>, vector<4xi32>
  %times = kernel.ldexp %floats by %sums : vector<4xf32>, vector<4xi32>
  // CHECK: kernel.dot_pairs %{{.*}}, %{{.*}} plus %{{.*}} : vector<8xbf16> -> vector<4xf32>
  %pairs = kernel.dot_pairs %p, %p plus %floats : vector<8xbf16> -> vector<4xf32>
  // CHECK: } : (!kernel.step, memref<?x32xf32, strided<[64, 1], offset: 32>>, memref<2x32x16xf32>, memref<?x32xf32>) -> ()
  kernel.matmul %s, %strided, %w into %x {
  ^bb0(%sum: f32):
    kernel.yield %sum : f32
  } : (!kernel.step, memref<?x32xf32, strided<[64, 1], offset: 32>>, memref<2x32x16xf32>, memref<?x32xf32>) -> ()
  // CHECK: kernel.attention full {{.*}} -> ()
  kernel.attention full %s, %x, %kv heads 2 scale 0.25 window 0 into %x : (!kernel.step, memref<?x32xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>) -> ()
  // CHECK: kernel.attention causal %{{.*}}, %{{.*}}, %{{.*}} heads 2 scale 2.500000e-01 window 5 block 32 into %{{.*}} : (!kernel.step, memref<1x32xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<2x64xf32>) -> ()
  kernel.attention causal %s, %row, %kv heads 2 scale 0.25 window 5 block 32 into %parts : (!kernel.step, memref<1x32xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<2x64xf32>) -> ()
  // CHECK: kernel.combine %{{.*}}, %{{.*}} heads 2 window 5 block 32 into %{{.*}} : (!kernel.step, memref<2x64xf32>, memref<1x32xf32>) -> ()
  kernel.combine %s, %parts heads 2 window 5 block 32 into %row : (!kernel.step, memref<2x64xf32>, memref<1x32xf32>) -> ()
  // CHECK: kernel.combine {{.*}} block 32 source into
  kernel.combine %s, %parts heads 2 window 0 block 32 source into %row : (!kernel.step, memref<2x64xf32>, memref<1x32xf32>) -> ()
  // CHECK: kernel.quantize %{{.*}}, %{{.*}} into %{{.*}} : (!kernel.step, memref<?x32xf32>, memref<?x32x!talc.stored<q8_sums>>) -> ()
  kernel.quantize %s, %x into %q8 : (!kernel.step, memref<?x32xf32>, memref<?x32x!talc.stored<q8_sums>>) -> ()
  // CHECK: kernel.softmax %{{.*}}, %{{.*}} into %{{.*}} : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  kernel.softmax %s, %x into %x : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  // CHECK: kernel.route %{{.*}}, %{{.*}} to 2 normalized into %{{.*}} : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  kernel.route %s, %x to 2 normalized into %x : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  // CHECK: kernel.gather counted {{.*}} plus 2 into %{{.*}} {padding = 1 : i64}
  kernel.gather counted %s, %table plus 2 into %x {padding = 1 : i64} : (!kernel.step, memref<66x32xf32>, memref<?x32xf32>) -> ()
  // CHECK: kernel.norm rms {{.*}} -> ()
  kernel.norm rms %s, %x, %n epsilon 0.5 groups 1 into %x : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  // CHECK: kernel.gather positions {{.*}} plus 2 into
  kernel.gather positions %s, %table plus 2 into %x : (!kernel.step, memref<66x32xf32>, memref<?x32xf32>) -> ()
  // CHECK: kernel.gather types
  kernel.gather types %s, %table plus 0 into %x : (!kernel.step, memref<66x32xf32>, memref<?x32xf32>) -> ()
  // CHECK: kernel.gather outputs {{.*}} {output = 1 : i64}
  kernel.gather outputs %s, %x plus 0 into %x {output = 1 : i64} : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  return
}

talc.weight @w : tensor<3x5xf32> = #talc.fill<1.0>
talc.kv_cache @kv : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>
talc.kv_cache @memory : !talc.kv_cache<2 x 16 x 64, memory in #kernel.matrices>

// CHECK-LABEL: @step
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: !kernel.step, %[[AT:[a-z0-9]+]]: index
func.func @step(%s: !kernel.step, %at: index) {
  // CHECK: kernel.tasks %[[STEP]] over rows by all {
  // CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index):
  kernel.tasks %s over rows by all {
  ^bb0(%first: index, %end: index):
  }
  // CHECK: kernel.tasks %[[STEP]] over queries by heads of(%[[AT]], %[[AT]], %[[AT]]) grain [48, 2] scattered {
  kernel.tasks %s over queries by heads of(%at, %at, %at) grain [48, 2] scattered {
  ^bb0(%sequence: index, %head: index, %heads: index, %row: index, %rows: index):
  }
  // CHECK: kernel.worker %[[STEP]]
  %0 = kernel.worker %s
  // CHECK: kernel.workers %[[STEP]]
  %1 = kernel.workers %s
  // CHECK: kernel.token_count %[[STEP]]
  %2 = kernel.token_count %s
  // CHECK: kernel.span_count %[[STEP]]
  %3 = kernel.span_count %s
  // CHECK: kernel.output_count %[[STEP]] 0
  %4 = kernel.output_count %s 0
  // CHECK: kernel.token_parallel %[[STEP]]
  %5 = kernel.token_parallel %s
  // CHECK: %[[PIECE:.*]] = kernel.begin_tasks %[[STEP]]
  %piece = kernel.begin_tasks %s
  // CHECK: kernel.next_task %[[STEP]], %[[PIECE]] of %[[AT]]
  %task = kernel.next_task %s, %piece of %at
  // CHECK: kernel.id %[[STEP]][%[[AT]]]
  %6 = kernel.id %s[%at]
  // CHECK: kernel.position %[[STEP]][%[[AT]]]
  %7 = kernel.position %s[%at]
  // CHECK: %[[SLOT:.*]] = kernel.slot %[[STEP]][%[[AT]]]
  %8 = kernel.slot %s[%at]
  // CHECK: kernel.output_token %[[STEP]] 1[%[[AT]]]
  %9 = kernel.output_token %s 1[%at]
  // CHECK: kernel.token_type %[[STEP]][%[[AT]]]
  %type = kernel.token_type %s[%at]
  // CHECK: = kernel.span %[[STEP]][%[[AT]]]
  %10:8 = kernel.span %s[%at]
  // CHECK: kernel.segment %[[STEP]][%[[AT]]]
  %segment = kernel.segment %s[%at]
  // CHECK: %[[MEMORY:.*]] = kernel.kv_cache @memory
  %memory = kernel.kv_cache @memory : !talc.kv_cache<2 x 16 x 64, memory in #kernel.matrices>
  // CHECK: kernel.matrices %[[STEP]], %[[MEMORY]][%[[SLOT]]] : !talc.kv_cache<2 x 16 x 64, memory in #kernel.matrices> -> memref<2x2x17x16xf32>
  %matrices = kernel.matrices %s, %memory[%8] : !talc.kv_cache<2 x 16 x 64, memory in #kernel.matrices> -> memref<2x2x17x16xf32>
  // CHECK: kernel.history %[[STEP]][%[[AT]]]
  %history = kernel.history %s[%at]
  // CHECK: kernel.weight %[[STEP]] @w : memref<3x5xf32>
  %14 = kernel.weight %s @w : memref<3x5xf32>
  // CHECK: kernel.bytes %{{.*}} : memref<3x5xf32> -> memref<60xi8>
  %bytes = kernel.bytes %14 : memref<3x5xf32> -> memref<60xi8>
  // CHECK: kernel.weight %[[STEP]] @w : tensor<3x5xf32>
  %15 = kernel.weight %s @w : tensor<3x5xf32>
  // CHECK: %[[KV:.*]] = kernel.kv_cache @kv : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>
  %16 = kernel.kv_cache @kv : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>
  // CHECK: kernel.keys %[[STEP]], %[[KV]][%[[SLOT]]] : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>> -> memref<4x2x16x16xf32>
  %17 = kernel.keys %s, %16[%8] : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>> -> memref<4x2x16x16xf32>
  // CHECK: kernel.values %[[STEP]], %[[KV]][%[[SLOT]]] : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>> -> memref<4x2x16x16xf32>
  %18 = kernel.values %s, %16[%8] : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>> -> memref<4x2x16x16xf32>
  // CHECK: kernel.output %[[STEP]] 0 : memref<?x80xf32>
  %19 = kernel.output %s 0 : memref<?x80xf32>
  // CHECK: kernel.arena %[[STEP]] rows %[[AT]] at 128 plus 64 by_worker 0 : memref<?x32xf32>
  %20 = kernel.arena %s rows %at at 128 plus 64 by_worker 0 : memref<?x32xf32>
  // CHECK: kernel.arena %[[STEP]] at 0 plus 0 by_worker 128 : memref<1x32xf32>
  %21 = kernel.arena %s at 0 plus 0 by_worker 128 : memref<1x32xf32>
  // CHECK: kernel.barrier %[[STEP]]{{$}}
  kernel.barrier %s
  // CHECK: kernel.barrier %[[STEP]] unless_token_parallel
  kernel.barrier %s unless_token_parallel
  // CHECK: kernel.mark %[[STEP]] 3
  kernel.mark %s 3
  return
}
