// SPDX-License-Identifier: Apache-2.0
// expand-workgroups: what the threads of a workgroup do of each compute op; tasks stay, with their extents.
// RUN: talc-opt %s -split-input-file -expand-workgroups=mma=false -canonicalize | FileCheck %s

// A row's columns are the lanes of 64 threads; sums go through a subgroup by shuffles, then through shared memory.
// CHECK-LABEL: func.func private @norm(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 64
// CHECK: memref.alloca() : memref<32xf32, #gpu.address_space<workgroup>>
// CHECK: kernel.tasks %{{.*}} over rows by rows of(%{{.*}})
// CHECK: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK: math.sqrt
// CHECK-NOT: kernel.norm
func.func private @norm(%s: !kernel.step, %x: memref<?x64xf32>, %scale: memref<64xf32>, %y: memref<?x64xf32>) attributes {kernel.op = "norm"} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %x, %scale epsilon 0.5 groups 1 into %y : (!kernel.step, memref<?x64xf32>, memref<64xf32>, memref<?x64xf32>) -> ()
  }
  return
}

// -----

// Masked lanes where a row ends within a vector of threads.
// CHECK-LABEL: func.func private @narrow(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 32
// CHECK: %[[MASK:.*]] = arith.cmpi slt, %thread_id_x, %c17
// CHECK: scf.if %[[MASK]] -> (f32)
func.func private @narrow(%s: !kernel.step, %x: memref<?x17xf32>, %y: memref<?x17xf32>) attributes {kernel.op = "softmax"} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.softmax %s, %x into %y : (!kernel.step, memref<?x17xf32>, memref<?x17xf32>) -> ()
  }
  return
}

// -----

// 8 rows share every value of the weight: a chain for each row and each of a thread's four columns, with k ascending. Four
// features of a row are loaded together, and four columns.
// CHECK-LABEL: func.func private @matmul(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 32
// CHECK-SAME: max_registers = 168
// CHECK: kernel.tasks %{{.*}} over tiles by adaptive of(%{{.*}}, %c2) grain [8, 8]
// CHECK: %[[SUMS:.*]]:32 = scf.for %[[K:.*]] = %c0 to %c32 step %c4
// CHECK-COUNT-8: vector.load %arg1{{.*}} {alignment = 16 : i64} : memref<?x32xf32>, vector<4xf32>
// CHECK: %[[W:.*]] = vector.load %arg2[%{{.*}}, %[[K]], %{{.*}}] {alignment = 8 : i64} : memref<2x32x16xf16>, vector<4xf16>
// CHECK: arith.extf %[[W]]
// CHECK-COUNT-128: math.fma
// CHECK: scf.yield
// CHECK-COUNT-8: vector.store %{{.*}}, %arg4{{.*}} {alignment = 16 : i64} : memref<?x32xf32>, vector<4xf32>
func.func private @matmul(%s: !kernel.step, %x: memref<?x32xf32>, %w: memref<2x32x16xf16>, %bias: memref<32xf32>, %y: memref<?x32xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w inputs(%bias) into %y {
    ^bb0(%sum: f32, %b: f32):
      %r = arith.addf %sum, %b : f32
      kernel.yield %r : f32
    } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf16>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  return
}

// -----

// A single row with gates has two chains for each of a thread's two columns.
// CHECK-LABEL: func.func private @gated(
// CHECK: kernel.tasks %{{.*}} over tiles by columns of(%c1, %c4) grain [1, 8]
// CHECK: %{{.*}}:4 = scf.for
// CHECK-COUNT-16: math.fma
func.func private @gated(%s: !kernel.step, %x: memref<1x32xf32>, %w: memref<4x32x16xf32>, %y: memref<1x32xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y gated {
    ^bb0(%gate: f32, %up: f32):
      %r = arith.mulf %gate, %up : f32
      kernel.yield %r : f32
    } : (!kernel.step, memref<1x32xf32>, memref<4x32x16xf32>, memref<1x32xf32>) -> ()
  }
  return
}

// -----

// With a longer K, other warps have other parts of it, and the first adds all partial sums in order.
// CHECK-LABEL: func.func private @gated_parts(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 128
// CHECK: %[[SUMS:.*]] = memref.alloc{{.*}} : memref<4x4x32xf32
// CHECK: kernel.tasks %{{.*}} over tiles by columns of(%c1, %c4) grain [1, 8]
// CHECK: %[[PART:.*]] = arith.divui %{{.*}}, %c32
// CHECK: arith.muli %[[PART]], %c32
// CHECK: %{{.*}}:4 = scf.for
// CHECK: memref.store %{{.*}}, %[[SUMS]][%[[PART]], %c0, %{{.*}}]
// CHECK: gpu.barrier
// CHECK-COUNT-16: memref.load %[[SUMS]]
// CHECK: scf.if
// CHECK: arith.mulf
func.func private @gated_parts(%s: !kernel.step, %x: memref<1x128xf32>, %w: memref<4x128x16xf32>, %y: memref<1x32xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y gated {
    ^bb0(%gate: f32, %up: f32):
      %r = arith.mulf %gate, %up : f32
      kernel.yield %r : f32
    } : (!kernel.step, memref<1x128xf32>, memref<4x128x16xf32>, memref<1x32xf32>) -> ()
  }
  return
}

// -----

// Weights in blocks are read one by one.
// CHECK-LABEL: func.func private @block_weight(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 64
// CHECK: kernel.tasks %{{.*}} of(%c1, %c1) grain [1, 1]
// CHECK: %{{.*}} = scf.for {{.*}} -> (f32)
// CHECK: memref.store %{{.*}}, %arg3{{.*}} : memref<1x64xf32>
func.func private @block_weight(%s: !kernel.step, %x: memref<1x32xf32>, %w: memref<1x32x64x!talc.stored<q8_0>>, %y: memref<1x64xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x32xf32>, memref<1x32x64x!talc.stored<q8_0>>, memref<1x64xf32>) -> ()
  }
  return
}

// -----

// Attention: tiles of 16 queries. A thread multiplies 8 of them with its key, whose slot is asked for where a sequence's
// keys may lie in several; then eight threads weigh a query's keys, each storing its weights into lines of 72; then a
// thread has two features of each query's values, of 4 keys at once where each asks for its slot, else of 8.
// CHECK-LABEL: func.func private @attention(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 128
// CHECK-DAG: memref.alloca() : memref<16x16xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[SCORES:.*]] = memref.alloca() : memref<16x72xf32, #gpu.address_space<workgroup>>
// CHECK: kernel.tasks %{{.*}} over queries by heads of(%{{.*}}, %c2, %c2) grain [16, 1]
// CHECK: kernel.span
// CHECK: gpu.barrier
// CHECK: memref.load %arg1
// CHECK: scf.for %[[FIRST:.*]] = %c0 to %{{.*}} step %c64 iter_args
// CHECK: gpu.barrier
// CHECK: kernel.history
// CHECK: kernel.keys
// CHECK: %[[PRODUCTS:.*]]:8 = scf.for %{{.*}} = %c0 to %c16 step %c4
// CHECK-COUNT-4: memref.load %{{.*}} : memref<4x2x16x16xf32>
// CHECK-COUNT-32: math.fma
// CHECK: memref.store %[[PRODUCTS]]#7, %[[SCORES]]
// CHECK: gpu.barrier
// CHECK-COUNT-8: memref.load %[[SCORES]]
// CHECK: gpu.barrier
// CHECK-COUNT-8: math.exp2
// CHECK: gpu.barrier
// CHECK: %[[SCATTERED:.*]] = arith.cmpi sge, %history, %c0
// CHECK: scf.if %[[SCATTERED]]
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c4
// CHECK-COUNT-4: kernel.history
// CHECK: vector.load %[[SCORES]]
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c8
// CHECK-NOT: kernel.history
// CHECK: kernel.values %{{.*}}[%slot]
// CHECK-COUNT-8: vector.load %[[SCORES]]
// CHECK: gpu.barrier
// CHECK: memref.store %{{.*}}, %arg3
func.func private @attention(%s: !kernel.step, %q: memref<?x64xf32>, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %y: memref<?x64xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 into %y : (!kernel.step, memref<?x64xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x64xf32>) -> ()
  }
  return
}

// -----

// The block of a single row's keys: its two queries are a tile, and what they find is left for kernel.combine.
// CHECK-LABEL: func.func private @block(
// CHECK-SAME: max_registers = 168
// CHECK: memref.alloca() : memref<2x72xf32, #gpu.address_space<workgroup>>
// CHECK: kernel.tasks %{{.*}} over keys by heads of(%{{.*}}, %{{.*}}, %c2)
// CHECK-NOT: arith.divf
// CHECK: memref.store %{{.*}}, %arg3
func.func private @block(%s: !kernel.step, %q: memref<1x64xf32>, %kv: !talc.kv_cache<2 x 16 x 128 in #kernel.kv_panels<16 x f32>>, %y: memref<2x96xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over keys by heads {
  ^bb0(%p0: index, %p1: index):
    kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 block 64 into %y : (!kernel.step, memref<1x64xf32>, !talc.kv_cache<2 x 16 x 128 in #kernel.kv_panels<16 x f32>>, memref<2x96xf32>) -> ()
  }
  return
}

// -----

// Blocks of processors, which are larger: the first task goes through all keys, 64 by 64, the others through none.
// CHECK-LABEL: func.func private @larger(
// CHECK: %[[END:.*]] = arith.addi %first_position, %c1
// CHECK: kernel.tasks %{{.*}} over keys
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi slt, %arg{{[0-9]+}}, %c1
// CHECK: %[[FROM:.*]] = arith.select %[[IS_FIRST]], %c0, %[[END]]
// CHECK: scf.for %{{.*}} = %[[FROM]] to %[[END]] step %c64
func.func private @larger(%s: !kernel.step, %q: memref<1x64xf32>, %kv: !talc.kv_cache<2 x 16 x 512 in #kernel.kv_panels<16 x f32>>, %y: memref<2x96xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over keys by heads {
  ^bb0(%p0: index, %p1: index):
    kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 block 256 into %y : (!kernel.step, memref<1x64xf32>, !talc.kv_cache<2 x 16 x 512 in #kernel.kv_panels<16 x f32>>, memref<2x96xf32>) -> ()
  }
  return
}

// -----

// CHECK-LABEL: func.func private @append(
// CHECK: kernel.tasks %{{.*}} over heads by heads of(%c2)
// CHECK: kernel.slot
// CHECK: memref.store %{{.*}} : memref<4x2x16x16xf32>
func.func private @append(%s: !kernel.step, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %k: memref<1x32xf32>, %v: memref<1x32xf32>) attributes {kernel.op = "append"} {
  kernel.tasks %s over heads by heads {
  ^bb0(%p0: index):
    kernel.kv_append %s, %kv, %k, %v : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<1x32xf32>, memref<1x32xf32>
  }
  return
}

// -----

// The panels of a group meet its features: panel p begins at 40 * (p / 2). A group's second panel has 4 columns of 16.
// CHECK-LABEL: func.func private @groups(
// CHECK: arith.divui %{{.*}}, %c2
// CHECK: arith.muli %{{.*}}, %c40
// CHECK: %[[COLUMN:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK: arith.cmpi slt, %{{.*}}, %c20
func.func private @groups(%s: !kernel.step, %x: memref<?x80xf32>, %w: memref<4x32x16xf32>, %y: memref<?x40xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y groups 2 {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x80xf32>, memref<4x32x16xf32>, memref<?x40xf32>) -> ()
  }
  return
}

// -----

// Features that are compared lie in memory of the workgroup, which one thread changes between two barriers.
// CHECK-LABEL: func.func private @route(
// CHECK: memref.alloca() : memref<1x12xf32, #gpu.address_space<workgroup>>
// CHECK: memref.store %{{.*}}, %alloca
// CHECK: gpu.barrier
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK: scf.for %{{.*}} = %thread_id_x{{.*}} to %c11 step %c32
// CHECK: gpu.shuffle xor
// CHECK: arith.fptosi
// CHECK: gpu.barrier
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: memref.store %{{.*}}, %alloca
// CHECK: gpu.barrier
func.func private @route(%s: !kernel.step, %x: memref<?x11xf32>, %bias: memref<11xf32>, %y: memref<?x11xf32>) attributes {kernel.op = "route"} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.route %s, %x plus %bias to 3 into %y : (!kernel.step, memref<?x11xf32>, memref<11xf32>, memref<?x11xf32>) -> ()
  }
  return
}

// -----

// A ring of 4 panels behind one that is kept: a token of that one is stored in both places.
// CHECK-LABEL: func.func private @ring(
// CHECK: %[[PANEL:.*]] = arith.divui
// CHECK: %[[IN:.*]] = arith.remui %[[PANEL]], %c4
// CHECK: arith.addi %[[IN]], %c1
// CHECK: arith.cmpi slt, %[[PANEL]], %c1
// CHECK: scf.if
func.func private @ring(%s: !kernel.step, %state: !talc.kv_cache<1 x 16 x 64 window 5 sink_tokens 3 in #kernel.kv_panels<16 x f32>>, %k: memref<?x16xf32>, %v: memref<?x16xf32>) attributes {kernel.op = "append"} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.kv_append %s, %state, %k, %v : !talc.kv_cache<1 x 16 x 64 window 5 sink_tokens 3 in #kernel.kv_panels<16 x f32>>, memref<?x16xf32>, memref<?x16xf32>
  }
  return
}

// -----

// Blocks of a single row's keys are counted from the first that the window reaches, which is known in front of the tasks.
// CHECK-LABEL: func.func private @window(
// CHECK: kernel.span
// CHECK: arith.maxsi
// CHECK: arith.divui
// CHECK: kernel.tasks %{{.*}} over keys by heads of(%{{.*}}, %{{.*}}, %c1)
func.func private @window(%s: !kernel.step, %state: !talc.kv_cache<1 x 16 x 256 in #kernel.kv_panels<16 x f32>>, %q: memref<1x16xf32>, %parts: memref<4x48xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over keys by heads {
  ^bb0(%p0: index, %p1: index):
    kernel.attention causal %s, %q, %state heads 1 scale 0.25 window 20 block 64 into %parts : (!kernel.step, memref<1x16xf32>, !talc.kv_cache<1 x 16 x 256 in #kernel.kv_panels<16 x f32>>, memref<4x48xf32>) -> ()
  }
  return
}

// -----

// A bias of each row: a key further away than it has columns for takes the first one. The keys of zeros in front of the
// first are weighed by the whole workgroup, query by query, before the blocks.
// CHECK-LABEL: func.func private @row_bias(
// CHECK: %[[ZEROS:.*]] = memref.alloca() : memref<2x16xf32, #gpu.address_space<workgroup>>
// CHECK: arith.cmpi slt, %thread_id_x
// CHECK: memref.load %arg2
// CHECK: gpu.shuffle xor
// CHECK: arith.sitofp
// CHECK: memref.store %{{.*}}, %[[ZEROS]]
// CHECK: math.fma
// CHECK: scf.if
// CHECK: %[[AT:.*]] = arith.maxsi %{{.*}}, %c0
// CHECK: %[[COLUMN:.*]] = arith.addi %{{.*}}, %[[AT]]
// CHECK: memref.load %arg2[%{{.*}}, %[[COLUMN]]] : memref<?x8xf32>
// CHECK: memref.load %[[ZEROS]]
// CHECK: memref.store %{{.*}}, %arg4
func.func private @row_bias(%s: !kernel.step, %q: memref<?x32xf32>, %bias: memref<?x8xf32>, %kv: !talc.kv_cache<2 x 16 x 64 window 9 in #kernel.kv_panels<16 x f32>>, %y: memref<?x32xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv row_bias %bias zero_start heads 2 scale 0.25 window 9 into %y : (!kernel.step, memref<?x32xf32>, !talc.kv_cache<2 x 16 x 64 window 9 in #kernel.kv_panels<16 x f32>>, memref<?x8xf32>, memref<?x32xf32>) -> ()
  }
  return
}

// -----

// The words of a cluster have a sum of their own.
// CHECK-LABEL: func.func private @words(
// CHECK-COUNT-2: math.log
// CHECK-NOT: kernel.log_softmax
func.func private @words(%s: !kernel.step, %x: memref<?x33xf32>, %y: memref<?x32xf32>) attributes {kernel.op = "log_softmax"} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.log_softmax %s, %x tails [9] into %y : (!kernel.step, memref<?x33xf32>, memref<?x32xf32>) -> ()
  }
  return
}

// -----

// A thread stores a block of 32 features into a quantized KV cache: it finds the largest, and stores the two bytes of
// the scale at once and a code for each feature.
// CHECK-LABEL: func.func private @blocks(
// CHECK: kernel.bytes
// CHECK: scf.for {{.*}} to %c32 step %c1 iter_args
// CHECK: math.absf
// CHECK: arith.divf
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: vector.store %{{.*}} {alignment = 2 : i64} : memref<{{.*}}xi8>, vector<2xi8>
// CHECK: scf.for
// CHECK: arith.fptosi
// CHECK: memref.store %{{.*}} : memref<{{.*}}xi8>
func.func private @blocks(%s: !kernel.step, %kv: !talc.kv_cache<2 x 32 x 64 in #kernel.kv_panels<16 x !talc.stored<q8_0>>>, %k: memref<1x64xf32>, %v: memref<1x64xf32>) attributes {kernel.op = "append"} {
  kernel.tasks %s over heads by heads {
  ^bb0(%p0: index):
    kernel.kv_append %s, %kv, %k, %v : !talc.kv_cache<2 x 32 x 64 in #kernel.kv_panels<16 x !talc.stored<q8_0>>>, memref<1x64xf32>, memref<1x64xf32>
  }
  return
}

// -----

// A thread quantizes a block to a scale, stored as bytes, and codes. The sums that integer products on CPUs read are
// not written.
// CHECK-LABEL: func.func private @rounded(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 32
// CHECK: scf.for
// CHECK: arith.maximumf
// CHECK-COUNT-4: memref.store %{{.*}} : memref<?x96xi8>
// CHECK: scf.for
// CHECK: arith.fptosi
// CHECK: memref.store %{{.*}} : memref<?x96xi8>
// CHECK-NOT: memref.store
// CHECK: return
func.func private @rounded(%s: !kernel.step, %x: memref<?x64xf32>, %y: memref<?x64x!talc.stored<q8_sums>>) attributes {kernel.op = "quantize"} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.quantize %s, %x into %y : (!kernel.step, memref<?x64xf32>, memref<?x64x!talc.stored<q8_sums>>) -> ()
  }
  return
}

// -----

// Numbers are narrowed.
// CHECK-LABEL: func.func private @narrowed(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 64
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func private @narrowed(%s: !kernel.step, %x: memref<?x64xf32>, %y: memref<?x64xbf16>) attributes {kernel.op = "quantize"} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.quantize %s, %x into %y : (!kernel.step, memref<?x64xf32>, memref<?x64xbf16>) -> ()
  }
  return
}
