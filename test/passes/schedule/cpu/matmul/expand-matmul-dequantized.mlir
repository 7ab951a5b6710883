// SPDX-License-Identifier: Apache-2.0
// expand-matmul: many rows pass panels that are dequantized once for all of them, if that takes longer than loading.
// RUN: talc-opt %s -assign-plans="lanes=16 cache-bytes=1048576" -expand-matmul="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s --implicit-check-not=kernel.keeps_source_order
// RUN: talc-opt %s -assign-plans="lanes=16" | FileCheck %s --check-prefix=PLAN
// RUN: talc-opt %s -assign-plans="lanes=8" | FileCheck %s --check-prefix=NARROW
// RUN: talc-opt %s -assign-plans="lanes=8" -expand-matmul="lanes=8" -distribute-tasks -canonicalize -cse | FileCheck %s --check-prefix=SUPER
// RUN: talc-opt %s -assign-plans="lanes=8" -expand-matmul="lanes=8" | FileCheck %s --check-prefix=ORDER
// RUN: talc-opt %s -assign-plans="lanes=4" | FileCheck %s --check-prefix=NEON
// RUN: talc-opt %s -assign-plans="lanes=16 plans='*: layout_rows = 0'" -expand-matmul="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s --check-prefix=OFF
// RUN: not talc-opt %s -assign-plans="lanes=16 plans='shallow: layout_rows = 48'" 2>&1 | FileCheck %s --check-prefix=DEPTH
// RUN: talc-opt %s -symbol-privatize=exclude=fifth -symbol-dce -assign-plans="lanes=16 plans='fifth: layout_rows = 9'" -expand-matmul="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s --check-prefix=SIZES
// RUN: talc-opt %s -assign-plans="lanes=16 plans='dequantized: block_rows = 1024'" | FileCheck %s --check-prefix=LARGER
// Tiles of 8 lanes have no more than four rows for a vector of levels: even a shift and a mask, or a permutation, are
// worth it.
// NARROW: layout_rows = 8,
// NARROW-COUNT-2: layout_rows = 16,
// NARROW: layout_rows = 0,
// NARROW: layout_rows = 7,
// NARROW-COUNT-2: layout_rows = 0,
// NARROW-COUNT-2: layout_rows = 8,
// NARROW: layout_rows = 16,
// NARROW: layout_rows = 8,
// NEON-COUNT-4: layout_rows = 0,
// NEON: layout_rows = 7,
// NEON-COUNT-6: layout_rows = 0,
// Products of levels of up to five bits fill the registers there, and stay in order.
// ORDER: @fifth{{.*}} attributes {kernel.keeps_source_order}
// ORDER: @powers{{.*}} attributes {kernel.keeps_source_order}
// ORDER: @halves{{.*}} attributes {kernel.keeps_source_order}
// ORDER: @shallow
// ORDER-NOT: kernel.keeps_source_order
// ORDER: @sixteens{{.*}} attributes {kernel.keeps_source_order}
// ORDER: @super{{.*}} attributes {kernel.keeps_source_order}
// ORDER: @plain{{.*}} attributes {kernel.keeps_source_order}
// ORDER-NOT: kernel.keeps_source_order
// ORDER: @six(
// ORDER-NOT: kernel.keeps_source_order
// OFF-NOT: x64xi32>
// DEPTH: cannot have this plan: layout_rows must be 0: panels with K = 96 cannot be dequantized ahead

// 256 k are 64 words of codes, and a scale for every 32. Below 16 rows tiles dequantize; else each block is dequantized by
// vectors, and tiles of five or six rows by two vectors load words, whose sums wait on the stack.
//
// PLAN-LABEL: @fifth
// PLAN: layout_rows = 16,
// CHECK-LABEL: @fifth
// CHECK-DAG: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<192x64xf32>
// CHECK-DAG: %[[WORDS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<72x64xi32>
// CHECK: vector.store %{{.*}}, %[[WORDS]][{{.*}}] : memref<72x64xi32>, vector<16xi32>
// CHECK-COUNT-8: vector.store %{{.*}}, %[[WORDS]]
// CHECK-NOT: vector.store %{{.*}}, %[[WORDS]]
// CHECK: case 5
// CHECK: vector.load %[[WORDS]]
// CHECK-NOT: arith.muli %{{.*}} : vector<16xi32>
// CHECK-COUNT-80: kernel.dot
// CHECK-NOT: kernel.dot
// CHECK: vector.store %{{.*}}, %[[SUMS]]
// CHECK: case 6
// CHECK: vector.load %[[WORDS]]
// CHECK-NOT: arith.muli %{{.*}} : vector<16xi32>
// CHECK-COUNT-96: kernel.dot
// CHECK-NOT: kernel.dot
// CHECK: vector.store %{{.*}}, %[[SUMS]]
// CHECK: return
//
// From nine rows on they fall into tiles of four to six.
// SIZES-LABEL: @fifth
// SIZES: vector.store %{{.*}} : memref<72x64xi32>, vector<16xi32>
// SIZES: scf.index_switch
// SIZES-NEXT: case 0 {
// SIZES-NEXT: scf.yield
// SIZES-NEXT: }
// SIZES-NEXT: case 4
// SIZES: case 5
// SIZES: case 6
// SIZES: return
func.func @fifth(%s: !kernel.step, %x: memref<?x512x!talc.stored<q8_256_sums>>, %w: memref<2x512x64x!talc.stored<q5_0>>,
                 %y: memref<?x128xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x512x!talc.stored<q8_256_sums>>, memref<2x512x64x!talc.stored<q5_0>>, memref<?x128xf32>) -> ()
  }
  return
}

// Powers of two lie beside steps, and multiply sums where nothing is unpacked.
// PLAN-LABEL: @powers
// PLAN: layout_rows = 64,
// CHECK-LABEL: @powers
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<80x64xi32>
// CHECK: kernel.ldexp %{{.*}} : vector<16xf32>, vector<16xi32>
func.func @powers(%s: !kernel.step, %x: memref<?x512x!talc.stored<q8_256_sums>>, %w: memref<2x512x64x!talc.stored<mxfp4>>,
                  %y: memref<?x128xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x512x!talc.stored<q8_256_sums>>, memref<2x512x64x!talc.stored<mxfp4>>, memref<?x128xf32>) -> ()
  }
  return
}

// A shift and a mask take no longer than loading.
// PLAN-LABEL: @halves
// PLAN: layout_rows = 0,
// CHECK-LABEL: @halves
// CHECK-NOT: x64xi32>
// CHECK: kernel.dot
func.func @halves(%s: !kernel.step, %x: memref<?x512x!talc.stored<q8_256_sums>>, %w: memref<2x512x64x!talc.stored<q4_0>>,
                  %y: memref<?x128xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x512x!talc.stored<q8_256_sums>>, memref<2x512x64x!talc.stored<q4_0>>, memref<?x128xf32>) -> ()
  }
  return
}

// No block of 128 to 256 k divides the depth.
// PLAN-LABEL: @shallow
// PLAN: layout_rows = 0,
func.func @shallow(%s: !kernel.step, %x: memref<?x96x!talc.stored<q8_sums>>, %w: memref<2x96x64x!talc.stored<q5_0>>,
                   %y: memref<?x128xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x96x!talc.stored<q8_sums>>, memref<2x96x64x!talc.stored<q5_0>>, memref<?x128xf32>) -> ()
  }
  return
}

// Blocks that are dequantized take a dozen instructions for each vector, with vectors of any width: 256 k are as many words
// of f32, which tiles multiply as they are.
// That is worth it from more rows on than a tile has. The choice goes with numbers that are given: the stack has no
// room for the sums of 1024.
// LARGER-LABEL: @dequantized
// LARGER: layout_rows = 0,
// PLAN-LABEL: @dequantized
// PLAN: layout_rows = 7, {{.*}} tall_rows = 0,
// CHECK-LABEL: @dequantized
// CHECK: %[[WORDS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<256x64xi32>
// CHECK: vector.store %{{.*}}, %[[WORDS]]
// CHECK: case 6
// CHECK: memref.prefetch %{{.*}}, read, locality<2>
// CHECK-NEXT: }
// CHECK-NOT: memref.prefetch
// CHECK: vector.load %[[WORDS]]
// CHECK-NOT: arith.mulf
// CHECK-COUNT-96: vector.fma
// CHECK-NOT: vector.fma
// CHECK: scf.yield
// CHECK: return
func.func @dequantized(%s: !kernel.step, %x: memref<?x1024xf32>, %w: memref<2x1024x64x!talc.stored<int4_128_bf16>>,
                   %y: memref<?x128xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x1024xf32>, memref<2x1024x64x!talc.stored<int4_128_bf16>>, memref<?x128xf32>) -> ()
  }
  return
}

// Numbers are loaded as they are.
// PLAN-LABEL: @numbers
// PLAN: layout_rows = 0,
// CHECK-LABEL: @numbers
// CHECK-NOT: x64xi32>
// CHECK: return
func.func @numbers(%s: !kernel.step, %x: memref<?x512xf32>, %w: memref<2x512x64xbf16>, %y: memref<?x128xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x512xf32>, memref<2x512x64xbf16>, memref<?x128xf32>) -> ()
  }
  return
}

// Bytes have their signs already.
// PLAN-LABEL: @bytes
// PLAN: layout_rows = 0,
func.func @bytes(%s: !kernel.step, %x: memref<?x512x!talc.stored<q8_sums>>, %w: memref<2x512x16x!talc.stored<q8_0>>,
                 %y: memref<?x32xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x512x!talc.stored<q8_sums>>, memref<2x512x16x!talc.stored<q8_0>>, memref<?x32xf32>) -> ()
  }
  return
}

// Steps for 16.
// PLAN-LABEL: @sixteens
// PLAN: layout_rows = 16,
func.func @sixteens(%s: !kernel.step, %x: memref<?x512x!talc.stored<q8_256_sums>>, %w: memref<2x512x16x!talc.stored<nvfp4>>,
                    %y: memref<?x32xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x512x!talc.stored<q8_256_sums>>, memref<2x512x16x!talc.stored<nvfp4>>, memref<?x32xf32>) -> ()
  }
  return
}

// Blocks of 256, with vectors of 8 lanes: of 512 k 128 words of levels, sixteen steps, four words of minima and their
// steps, which tiles of three rows or two by two vectors load. Such a tile fetches its share of what comes next, line by
// line, before its products, and nothing beside them.
// With vectors of 16 lanes an iteration has units to spare, and a share is many lines for few tiles: it fetches a part.
// PLAN-LABEL: @super
// PLAN: layout_rows = 16,
// CHECK-LABEL: @super
// CHECK: %[[WORDS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<{{.*}}xi32>
// CHECK: vector.store %{{.*}}, %[[WORDS]]
// CHECK: case {{[0-9]+}} {
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK-NOT: case
// CHECK: memref.prefetch %{{.*}}, read, locality<2>
// CHECK-NOT: case
// CHECK: vector.load %[[WORDS]]
// SUPER-LABEL: @super
// SUPER: %[[WORDS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<150x16xi32>
// SUPER: scf.for %{{.*}} = %c0 to %c16 step %c8
// SUPER: scf.for %{{.*}} = %c0 to %c4 step %c1
// SUPER-COUNT-16: vector.store %{{.*}}, %[[WORDS]]
// SUPER-NOT: vector.store %{{.*}}, %[[WORDS]]
// SUPER: }
// SUPER-COUNT-11: vector.store %{{.*}}, %[[WORDS]]
// SUPER-NOT: vector.store %{{.*}}, %[[WORDS]]
// SUPER: case 2
// SUPER: vector.load %[[WORDS]]
// SUPER: case 3
// SUPER: memref.prefetch %{{.*}}, read
// SUPER-NEXT: }
// SUPER-NOT: memref.prefetch
// SUPER: scf.for %{{.*}} = %c0 to %c4 step %c1
// SUPER-NOT: memref.prefetch
// SUPER-NOT: arith.shrui
// SUPER-COUNT-96: kernel.dot
// SUPER-NOT: kernel.dot
// SUPER: return
func.func @super(%s: !kernel.step, %x: memref<?x512x!talc.stored<q8_k_sums>>, %w: memref<2x512x16x!talc.stored<q5_k>>,
                 %y: memref<?x32xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x512x!talc.stored<q8_k_sums>>, memref<2x512x16x!talc.stored<q5_k>>, memref<?x32xf32>) -> ()
  }
  return
}

// A shift and a mask, as above.
// PLAN-LABEL: @plain
// PLAN: layout_rows = 0,
func.func @plain(%s: !kernel.step, %x: memref<?x512x!talc.stored<q8_k_sums>>, %w: memref<2x512x16x!talc.stored<q4_k>>,
                 %y: memref<?x32xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x512x!talc.stored<q8_k_sums>>, memref<2x512x16x!talc.stored<q4_k>>, memref<?x32xf32>) -> ()
  }
  return
}

// Levels of six bits: LLVM may order what tiles of few rows do.
// PLAN-LABEL: @six
// PLAN: layout_rows = 16,
func.func @six(%s: !kernel.step, %x: memref<?x512x!talc.stored<q8_k_sums>>, %w: memref<2x512x16x!talc.stored<q6_k>>,
               %y: memref<?x32xf32>) {
  kernel.tasks %s over tiles by rows {
  ^bb0(%r0: index, %r1: index, %p0: index, %p1: index, %next: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x512x!talc.stored<q8_k_sums>>, memref<2x512x16x!talc.stored<q6_k>>, memref<?x32xf32>) -> ()
  }
  return
}
