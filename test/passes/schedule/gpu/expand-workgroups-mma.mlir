// SPDX-License-Identifier: Apache-2.0
// expand-workgroups: matmuls of 16-bit weights with MMA instructions, others as ever.
// RUN: talc-opt %s -split-input-file -expand-workgroups -canonicalize | FileCheck %s

// The weights of a step are loaded while the one before is multiplied, those of the first before all. Two steps are a turn
// of the loop; of six steps one is left behind it, and the last.
// A subgroup has 32 rows, which come from memory and take registers on their way, and one panel as wide as this. Of its 64
// lanes a thread loads 8 at once, of 4 lines: 8 instructions for each tile of 16 rows. 32 rows of 64 sums and 8 that are
// empty.
// CHECK-LABEL: func.func private @matmul(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 32
// CHECK: memref.view %{{.*}} : memref<9216xi8, #gpu.address_space<workgroup>> to memref<2304xf32, #gpu.address_space<workgroup>>
// CHECK: kernel.tasks %{{.*}} over tiles by adaptive of(%{{.*}}, %c2) grain [32, 1]
// CHECK: %[[WEIGHT:.*]] = memref.collapse_shape %arg2
// CHECK-NOT: arith.select
// CHECK-COUNT-4: vector.load %[[WEIGHT]][%{{.*}}] {alignment = 16 : i64} : memref<12288xbf16>, vector<8xbf16>
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK-COUNT-4: vector.load %[[WEIGHT]][%{{.*}}] {alignment = 16 : i64} : memref<12288xbf16>, vector<8xbf16>
// CHECK: arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
// CHECK-COUNT-16: nvgpu.mma.sync
// CHECK-COUNT-4: vector.load %[[WEIGHT]]
// CHECK-COUNT-16: nvgpu.mma.sync
// CHECK: scf.yield
// CHECK-COUNT-4: vector.load %[[WEIGHT]]
// CHECK-COUNT-16: nvgpu.mma.sync
// CHECK-NOT: vector.load %[[WEIGHT]]
// CHECK-COUNT-16: nvgpu.mma.sync
// CHECK-NOT: nvgpu.mma.sync
// CHECK: gpu.barrier
// CHECK: arith.addf
func.func private @matmul(%s: !kernel.step, %x: memref<?x96xf32>, %w: memref<2x96x64xbf16>, %bias: memref<128xf32>, %y: memref<?x128xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w inputs(%bias) into %y {
    ^bb0(%sum: f32, %b: f32):
      %r = arith.addf %sum, %b : f32
      kernel.yield %r : f32
    } : (!kernel.step, memref<?x96xf32>, memref<2x96x64xbf16>, memref<128xf32>, memref<?x128xf32>) -> ()
  }
  return
}

// -----

// One row is a tile of 16, of which one is stored. Gates and ups of a column are sums of the same thread.
// CHECK-LABEL: func.func private @gated(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 32
// CHECK: kernel.tasks %{{.*}} over tiles by columns of(%c1, %c6) grain [16, 1]
// CHECK-COUNT-4: vector.load %collapse_shape[%{{.*}}] {alignment = 4 : i64} : memref<3072xf16>, vector<2xf16>
// CHECK-COUNT-4: nvgpu.mma.sync
// CHECK-NOT: nvgpu.mma.sync
func.func private @gated(%s: !kernel.step, %x: memref<1x16xf32>, %w: memref<6x16x32xf16>, %y: memref<1x96xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y gated {
    ^bb0(%gate: f32, %up: f32):
      %r = arith.mulf %gate, %up : f32
      kernel.yield %r : f32
    } : (!kernel.step, memref<1x16xf32>, memref<6x16x32xf16>, memref<1x96xf32>) -> ()
  }
  return
}

// -----

// If a task has no second panel, all threads load the same lanes instead, which are one sector of a cache line.
// CHECK-LABEL: func.func private @odd(
// CHECK: %[[SECOND:.*]] = arith.addi %{{.*}}, %c1
// CHECK: %[[HAS:.*]] = arith.cmpi slt, %[[SECOND]], %c3
// CHECK: arith.select %[[HAS]], %{{.*}}, %c0 : index
// CHECK-NOT: arith.select
// CHECK: scf.for
func.func private @odd(%s: !kernel.step, %x: memref<?x32xbf16>, %w: memref<3x32x64xbf16>, %y: memref<?x192xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x32xbf16>, memref<3x32x64xbf16>, memref<?x192xf32>) -> ()
  }
  return
}

// -----

// A depth of 1024 is divided among 4 subgroups, whose sums become one in two rounds: 2 and 3 leave theirs, then 1.
// CHECK-LABEL: func.func private @deep(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 128
// CHECK: %[[BEGIN:.*]] = arith.muli %{{.*}}, %c256
// CHECK: arith.addi %[[BEGIN]],
// CHECK: scf.for %{{.*}} = %c0 to %c240 step %c16
// CHECK: vector.store %{{.*}} {alignment = 16 : i64} : memref<{{.*}}, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK: gpu.barrier
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<{{.*}}, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK: gpu.barrier
// CHECK: vector.store
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
func.func private @deep(%s: !kernel.step, %x: memref<1x1024xf32>, %w: memref<2x1024x64xf16>, %y: memref<1x128xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x1024xf32>, memref<2x1024x64xf16>, memref<1x128xf32>) -> ()
  }
  return
}

// -----

// A depth that no instruction divides, and f32.
// CHECK-LABEL: func.func private @uneven(
// CHECK-NOT: nvgpu.mma.sync
// CHECK: math.fma
func.func private @uneven(%s: !kernel.step, %x: memref<?x24xf32>, %w: memref<2x24x16xf16>, %y: memref<?x32xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x24xf32>, memref<2x24x16xf16>, memref<?x32xf32>) -> ()
  }
  return
}

// -----

// CHECK-LABEL: func.func private @f32(
// CHECK-NOT: nvgpu.mma.sync
// CHECK: math.fma
func.func private @f32(%s: !kernel.step, %x: memref<?x16xf32>, %w: memref<2x16x16xf32>, %y: memref<?x32xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x16xf32>, memref<2x16x16xf32>, memref<?x32xf32>) -> ()
  }
  return
}

// -----

// Keys and values in f16: four subgroups of 16 queries. A thread loads two tokens of a panel at four features, for two
// instructions, each with the higher and the lower halves of queries: 16 for 64 keys. A query's scores are those of four
// threads. Values of 32 features are 4 instructions for each of 4 panels, with both halves of weights. Nobody waits.
// CHECK-LABEL: func.func private @attention(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 128
// CHECK-SAME: max_registers = 255
// CHECK: memref.alloca() : memref<16x128xf32, #gpu.address_space<workgroup>>
// CHECK: kernel.tasks %{{.*}} over queries by heads of(%{{.*}}, %c2, %c2) grain [64, 1]
// CHECK-NOT: gpu.barrier
// CHECK: gpu.shuffle xor
// CHECK: arith.truncf %[[SCALED:.*]] : f32 to f16
// CHECK: %[[REST:.*]] = arith.subf %[[SCALED]], %{{.*}} : f32
// CHECK: arith.truncf %[[REST]] : f32 to f16
// CHECK: vector.store %{{.*}}, %alloca{{.*}} {alignment = 16 : i64}
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c64 iter_args
// CHECK: scf.for
// CHECK-COUNT-4: vector.load %{{.*}} {alignment = 4 : i64} : memref<8x2x32x16xf16>, vector<2xf16>
// CHECK-COUNT-4: nvgpu.mma.sync
// CHECK: gpu.shuffle xor
// CHECK: math.exp2
// CHECK: vector.load %{{.*}} {alignment = 8 : i64} : memref<8x2x16x32xf16>, vector<4xf16>
// CHECK-COUNT-32: nvgpu.mma.sync
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func private @attention(%s: !kernel.step, %q: memref<?x128xf32>, %kv: !talc.kv_cache<2 x 32 x 128, source in #kernel.kv_panels<16 x f16>>, %y: memref<?x128xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention full %s, %q, %kv heads 4 scale 0.25 window 0 into %y : (!kernel.step, memref<?x128xf32>, !talc.kv_cache<2 x 32 x 128, source in #kernel.kv_panels<16 x f16>>, memref<?x128xf32>) -> ()
  }
  return
}

// -----

// Two neighboring tokens of a sequence may lie in different slots, so that there is code for both cases.
// CHECK-LABEL: func.func private @history(
// CHECK: scf.if
// CHECK: kernel.history
// CHECK: memref.load %{{.*}} : memref<8x2x32x16xf16>
// CHECK: nvgpu.mma.sync
// CHECK: } else {
// CHECK: vector.load %{{.*}} {alignment = 4 : i64} : memref<8x2x32x16xf16>, vector<2xf16>
func.func private @history(%s: !kernel.step, %q: memref<?x128xf32>, %kv: !talc.kv_cache<2 x 32 x 128 in #kernel.kv_panels<16 x f16>>, %y: memref<?x128xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 into %y : (!kernel.step, memref<?x128xf32>, !talc.kv_cache<2 x 32 x 128 in #kernel.kv_panels<16 x f16>>, memref<?x128xf32>) -> ()
  }
  return
}

// -----

// Heads wider than 64: two subgroups have the same 16 queries and 40 features each. They share fragments of queries, five
// steps of 16 features, of which each stores every other; 32 queries a task.
// CHECK-LABEL: func.func private @wide(
// CHECK-NOT: keep_loops
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 128
// CHECK-SAME: tile = "32 queries of a key-value head a task, by MMA m16n8k16 of f16 in split precision; blocks of 64 keys in registers; a warp has 16 queries and 40 features"
// CHECK: memref.alloca() : memref<20x128xf32, #gpu.address_space<workgroup>>
// CHECK: kernel.tasks %{{.*}} over queries by heads of(%{{.*}}, %c1, %c1) grain [32, 1]
// CHECK: gpu.barrier
// CHECK: scf.for %{{.*}} = %{{.*}} to %c5 step %c2
// CHECK: vector.store
// CHECK: gpu.barrier
// CHECK: scf.for {{.*}} step %c64 iter_args
// CHECK: nvgpu.mma.sync
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func private @wide(%s: !kernel.step, %q: memref<?x80xf32>, %kv: !talc.kv_cache<1 x 80 x 128, source in #kernel.kv_panels<16 x f16>>, %y: memref<?x80xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention full %s, %q, %kv heads 1 scale 0.25 window 0 into %y : (!kernel.step, memref<?x80xf32>, !talc.kv_cache<1 x 80 x 128, source in #kernel.kv_panels<16 x f16>>, memref<?x80xf32>) -> ()
  }
  return
}

// -----

// For the widest heads all four subgroups have the same queries, and ptxas is told to leave loops as they are.
// CHECK-LABEL: func.func private @widest(
// CHECK-SAME: keep_loops = true
// CHECK-SAME: tile = "16 queries of a key-value head a task, {{.*}} and 64 features"
// CHECK: scf.for %{{.*}} = %{{.*}} to %c16 step %c4
// CHECK: nvgpu.mma.sync
func.func private @widest(%s: !kernel.step, %q: memref<?x256xf32>, %kv: !talc.kv_cache<1 x 256 x 128, source in #kernel.kv_panels<16 x f16>>, %y: memref<?x256xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention full %s, %q, %kv heads 1 scale 0.25 window 0 into %y : (!kernel.step, memref<?x256xf32>, !talc.kv_cache<1 x 256 x 128, source in #kernel.kv_panels<16 x f16>>, memref<?x256xf32>) -> ()
  }
  return
}

// -----

// 160 features are not divisible among three subgroups by whole MMAs, but among four.
// CHECK-LABEL: func.func private @four_for_three(
// CHECK-SAME: tile = "16 queries of a key-value head a task, {{.*}} and 40 features"
// CHECK: scf.for %{{.*}} = %{{.*}} to %c10 step %c4
// CHECK: nvgpu.mma.sync
func.func private @four_for_three(%s: !kernel.step, %q: memref<?x160xf32>, %kv: !talc.kv_cache<1 x 160 x 128, source in #kernel.kv_panels<16 x f16>>, %y: memref<?x160xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention full %s, %q, %kv heads 1 scale 0.25 window 0 into %y : (!kernel.step, memref<?x160xf32>, !talc.kv_cache<1 x 160 x 128, source in #kernel.kv_panels<16 x f16>>, memref<?x160xf32>) -> ()
  }
  return
}

// -----

// 176 features are divisible among neither three nor four.
// CHECK-LABEL: func.func private @undivided(
// CHECK-SAME: by FMA, since heads are 176 wide, which is not divisible among MMAs of 16 features and up to 4 warps"
// CHECK-NOT: nvgpu.mma.sync
// CHECK: math.fma
func.func private @undivided(%s: !kernel.step, %q: memref<?x176xf32>, %kv: !talc.kv_cache<1 x 176 x 128, source in #kernel.kv_panels<16 x f16>>, %y: memref<?x176xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention full %s, %q, %kv heads 1 scale 0.25 window 0 into %y : (!kernel.step, memref<?x176xf32>, !talc.kv_cache<1 x 176 x 128, source in #kernel.kv_panels<16 x f16>>, memref<?x176xf32>) -> ()
  }
  return
}

// -----

// Subgroups of a single row are few: weights come through stages beside it, six steps ahead, and the row by L1.
// CHECK-LABEL: func.func private @staged(
// CHECK: %[[BYTES:.*]] = memref.alloc{{.*}} : memref<20480xi8
// CHECK-DAG: memref.view %[[BYTES]][%c4096][] : {{.*}} to memref<8192xbf16
// CHECK-DAG: memref.view %[[BYTES]][%c0][] : {{.*}} to memref<2048xbf16
// CHECK: nvgpu.device_async_copy %arg1{{.*}}, 8 : memref<1x1024xbf16> to
// CHECK-COUNT-4: nvgpu.device_async_copy %collapse_shape{{.*}}, 8 {bypassL1} : memref<262144xbf16> to
// CHECK: nvgpu.device_async_create_group
// CHECK: scf.for %{{.*}} = %c0 to %c256 step %c16
// CHECK: nvgpu.device_async_wait %{{.*}} {numGroups = 6 : i32}
// CHECK: nvgpu.ldmatrix
// CHECK-COUNT-4: vector.load {{.*}} : memref<8192xbf16, {{.*}}>, vector<8xbf16>
// CHECK-COUNT-8: nvgpu.mma.sync
// CHECK-NOT: nvgpu.mma.sync
func.func private @staged(%s: !kernel.step, %x: memref<1x1024xbf16>, %w: memref<4x1024x64xbf16>, %y: memref<4x256xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y split_k 4 {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x1024xbf16>, memref<4x1024x64xbf16>, memref<4x256xf32>) -> ()
  }
  return
}

// -----

// Four subgroups of a workgroup split K: as many stages as its shared memory holds.
// CHECK-LABEL: func.func private @gated_stages(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 128
// CHECK: memref.alloc{{.*}} : memref<40960xi8
// CHECK: kernel.tasks %{{.*}} over tiles by columns of(%c1, %c4) grain [16, 1]
// CHECK: nvgpu.device_async_copy %collapse_shape{{.*}}, 4 : memref<393216xbf16> to
// CHECK: nvgpu.device_async_wait %{{.*}} {numGroups = 2 : i32}
// CHECK-COUNT-8: nvgpu.mma.sync
// CHECK-NOT: nvgpu.mma.sync
func.func private @gated_stages(%s: !kernel.step, %x: memref<1x1536xbf16>, %w: memref<4x1536x64xbf16>, %y: memref<1x128xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y gated {
    ^bb0(%gate: f32, %up: f32):
      %r = arith.mulf %gate, %up : f32
      kernel.yield %r : f32
    } : (!kernel.step, memref<1x1536xbf16>, memref<4x1536x64xbf16>, memref<1x128xf32>) -> ()
  }
  return
}

// -----

// Subgroups that are many have two panels, and load a step ahead.
// CHECK-LABEL: func.func private @many(
// CHECK: kernel.tasks %{{.*}} over tiles by columns of(%c1, %c1024) grain [16, 2]
// CHECK-NOT: nvgpu.device_async_copy
func.func private @many(%s: !kernel.step, %x: memref<1x32xbf16>, %w: memref<1024x32x64xbf16>, %y: memref<1x65536xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x32xbf16>, memref<1024x32x64xbf16>, memref<1x65536xf32>) -> ()
  }
  return
}

// -----

// With split-K of a single row each task has one part, and is a subgroup.
// CHECK-LABEL: func.func private @part(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 32
// CHECK: kernel.tasks %{{.*}} over tiles by columns of(%c4, %c4) grain [1, 1]
// CHECK: ^bb0(%[[PART:[a-z0-9]+]]: index
// CHECK: %[[BEGIN:.*]] = arith.muli %[[PART]], %c256
// CHECK: arith.addi %[[BEGIN]],
// CHECK: scf.for %{{.*}} = %c0 to %c240 step %c16
func.func private @part(%s: !kernel.step, %x: memref<1x1024xf32>, %w: memref<4x1024x64xf16>, %y: memref<4x256xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y split_k 4 {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x1024xf32>, memref<4x1024x64xf16>, memref<4x256xf32>) -> ()
  }
  return
}

// -----

// Why no MMA instructions are used.
// CHECK-LABEL: func.func private @odd(
// CHECK-SAME: tile = "16 queries of a key-value head a task, blocks of 64 keys in shared memory; by FMA, since heads are 72 wide, which is not divisible among MMAs of 16 features and up to 4 warps"
// CHECK-NOT: nvgpu.mma.sync
// CHECK: math.fma
func.func private @odd(%s: !kernel.step, %q: memref<?x72xf32>, %kv: !talc.kv_cache<1 x 72 x 128, source in #kernel.kv_panels<16 x f16>>, %y: memref<?x72xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention full %s, %q, %kv heads 1 scale 0.25 window 0 into %y : (!kernel.step, memref<?x72xf32>, !talc.kv_cache<1 x 72 x 128, source in #kernel.kv_panels<16 x f16>>, memref<?x72xf32>) -> ()
  }
  return
}

// -----

// Keys and values in 16 bits of either kind: queries are split into numbers of that of keys, weights into those of values.
// CHECK-LABEL: func.func private @mixed(
// CHECK-SAME: by MMA m16n8k16 of bf16 and f16 in split precision
// CHECK: vector.load %{{.*}} {alignment = 4 : i64} : memref<8x2x32x16xbf16>, vector<2xbf16>
// CHECK: nvgpu.mma.sync{{.*}} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>)
// CHECK: vector.load %{{.*}} {alignment = 8 : i64} : memref<8x2x16x32xf16>, vector<4xf16>
// CHECK: nvgpu.mma.sync{{.*}} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>)
// CHECK: return
func.func private @mixed(%s: !kernel.step, %q: memref<?x128xf32>, %kv: !talc.kv_cache<2 x 32 x 128, source in #kernel.kv_panels<16 x bf16, f16>>, %y: memref<?x128xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention full %s, %q, %kv heads 4 scale 0.25 window 0 into %y : (!kernel.step, memref<?x128xf32>, !talc.kv_cache<2 x 32 x 128, source in #kernel.kv_panels<16 x bf16, f16>>, memref<?x128xf32>) -> ()
  }
  return
}

// -----

// CHECK-LABEL: func.func private @one_in_f32(
// CHECK-SAME: by FMA, since keys or values are f32
// CHECK-NOT: nvgpu.mma.sync
func.func private @one_in_f32(%s: !kernel.step, %q: memref<?x128xf32>, %kv: !talc.kv_cache<2 x 32 x 128, source in #kernel.kv_panels<16 x bf16, f32>>, %y: memref<?x128xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention full %s, %q, %kv heads 4 scale 0.25 window 0 into %y : (!kernel.step, memref<?x128xf32>, !talc.kv_cache<2 x 32 x 128, source in #kernel.kv_panels<16 x bf16, f32>>, memref<?x128xf32>) -> ()
  }
  return
}
