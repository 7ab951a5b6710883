// SPDX-License-Identifier: Apache-2.0
// expand-matmul: weights in quant blocks are dequantized block by block, and rounded as checkpoints mean them.
// RUN: talc-opt %s -assign-plans="lanes=8" -expand-matmul="lanes=8" -distribute-tasks -canonicalize -cse | FileCheck %s --implicit-check-not='dense<32767>'
// RUN: talc-opt %s -assign-plans="lanes=8" | FileCheck %s --check-prefix=PLAN
// RUN: talc-opt %s -assign-plans="lanes=16" | FileCheck %s --check-prefix=WIDE
// RUN: not talc-opt %s -assign-plans="lanes=8 plans='levels: block_depth = 192'" 2>&1 | FileCheck %s --check-prefix=DEPTH
// DEPTH: cannot have this plan: block_depth and stream_depth must be multiples of 128, which the microkernel takes at a time

// Two vectors leave registers for their scales; AVX-512 has twice as many. Iterations take the four of a word, whatever
// the lanes.
// PLAN-COUNT-2: row_columns = 16, {{.*}} tile_steps = 4>
// WIDE-COUNT-2: row_columns = 256, {{.*}} tile_steps = 4>

// Three blocks of 128 k: within one, where its scale lies does not depend on k, so that it is unpacked once. Of its
// stretches of 16, which lie in low and in high halves of bytes by turns, an iteration takes four, which share a word.
// Levels are numbers beside 2^23, and values are rounded by one operation more than they take: 65537 x - 65536 x is x in
// eight bits.
// CHECK-LABEL: @levels(
// CHECK-DAG: %[[SUM:.*]] = arith.constant dense<6.553700e+04> : vector<8xf32>
// CHECK-DAG: %[[LARGE:.*]] = arith.constant dense<-6.553600e+04> : vector<8xf32>
// CHECK-DAG: %[[BESIDE:.*]] = arith.constant dense<1258291200> : vector<8xi32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0x4B000008> : vector<8xf32>
// CHECK-DAG: %[[BLOCK:.*]] = arith.constant 128 : index
// CHECK-DAG: %[[PAIR:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[STRETCH:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[STEPS:.*]] = arith.constant 4 : index
// CHECK: scf.for %{{.*}} step %[[BLOCK]]
// CHECK: scf.for %{{.*}} to %[[BLOCK]] step %[[PAIR]]
// CHECK: scf.for %{{.*}} to %[[STRETCH]] step %[[STEPS]]
// CHECK: %[[BITS:.*]] = arith.ori %{{.*}}, %[[BESIDE]]
// CHECK: %[[NUMBER:.*]] = arith.bitcast %[[BITS]]
// CHECK: %[[LEVEL:.*]] = arith.subf %[[NUMBER]], %[[ZERO]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[SCALE:.*]], %[[SUM]]
// CHECK: %[[BOTH:.*]] = arith.mulf %[[LEVEL]], %[[SCALED]]
// CHECK: %[[MINUS:.*]] = arith.mulf %[[SCALE]], %[[LARGE]]
// CHECK: %[[ROUNDED:.*]] = vector.fma %[[LEVEL]], %[[MINUS]], %[[BOTH]]
// CHECK: vector.fma %{{.*}}, %[[ROUNDED]], %{{.*}}
// CHECK: scf.for %{{.*}} to %[[STRETCH]] step %[[STEPS]]
// CHECK: return
func.func @levels(%s: !kernel.step, %x: memref<1x384xf32>, %w: memref<1x384x16x!talc.stored<int4_128_bf16>>,
                  %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x384xf32>, memref<1x384x16x!talc.stored<int4_128_bf16>>, memref<1x16xf32>) -> ()
  }
  return
}

// Products of f32 scales have more bits: they are rounded beside the power of two below them.
// CHECK-LABEL: @numbers(
// CHECK-DAG: %[[EXPONENT:.*]] = arith.constant dense<2139095040> : vector<8xi32>
// CHECK-DAG: %[[BIAS:.*]] = arith.constant dense<2.560000e+02> : vector<8xf32>
// CHECK-DAG: %[[LARGE:.*]] = arith.constant dense<9.830400e+04> : vector<8xf32>
// CHECK-DAG: %[[MINUS:.*]] = arith.constant dense<-9.830400e+04> : vector<8xf32>
// CHECK: %[[SCALE:.*]] = arith.mulf %{{.*}}, %[[BIAS]]
// CHECK: %[[X:.*]] = arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: %[[BITS:.*]] = arith.bitcast %[[X]]
// CHECK: %[[MASKED:.*]] = arith.andi %[[BITS]], %[[EXPONENT]]
// CHECK: %[[POWER:.*]] = arith.bitcast %[[MASKED]]
// CHECK: %[[BOTH:.*]] = vector.fma %[[POWER]], %[[LARGE]], %[[X]]
// CHECK: vector.fma %[[POWER]], %[[MINUS]], %[[BOTH]]
func.func @numbers(%s: !kernel.step, %x: memref<1x384xf32>, %w: memref<1x384x16x!talc.stored<fp8_128_bf16>>,
                   %y: memref<1x16xf32>) {
  kernel.tasks %s over tiles by columns {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x384xf32>, memref<1x384x16x!talc.stored<fp8_128_bf16>>, memref<1x16xf32>) -> ()
  }
  return
}
