// SPDX-License-Identifier: Apache-2.0
// insert-barriers: which neighbors need a barrier, which need one only when the step is not divided by rows, and which
// need none.
// RUN: talc-opt %s -outline-kernels -insert-barriers | FileCheck %s
// RUN: sed -E 's/^( *kernel.tasks .* by [a-z]+)/\1 dynamic/' %s > %t.mlir
// RUN: talc-opt %t.mlir -outline-kernels -insert-barriers | FileCheck %s --check-prefix=DYNAMIC

// If any worker does any task, every compute op waits for what it reads, divided by rows or not.
// DYNAMIC-LABEL: func.func @prefill(
// DYNAMIC-SAME: kernel.dynamic_schedule
// DYNAMIC-NOT: kernel.barrier
// DYNAMIC: call @gather
// DYNAMIC-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// DYNAMIC-NEXT: call @norm
// DYNAMIC-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// DYNAMIC-NEXT: call @matmul
// DYNAMIC-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// DYNAMIC-NEXT: call @rope
// DYNAMIC-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// DYNAMIC-NEXT: call @kv_append
// DYNAMIC-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// DYNAMIC-NEXT: call @attention

// An entry function starts on all threads at once. Neighbors by rows need nothing; by rows and adaptive one unless
// the step is divided by rows; attention meets the rows of other threads in the state.
// CHECK-LABEL: func.func @prefill(
// CHECK-NOT: kernel.barrier
// CHECK: call @gather
// CHECK-NOT: kernel.barrier
// CHECK: call @norm
// CHECK-NEXT: kernel.barrier %{{.*}} unless_token_parallel
// CHECK-NEXT: call @matmul
// CHECK-NEXT: kernel.barrier %{{.*}} unless_token_parallel
// CHECK-NEXT: call @rope
// CHECK-NEXT: call @kv_append
// CHECK-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// CHECK-NEXT: call @attention
// CHECK-NEXT: kernel.barrier %{{.*}} unless_token_parallel
// CHECK-NEXT: call @matmul
// CHECK-NEXT: return
func.func @prefill(%s: !kernel.step, %rows: index, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %table: memref<80x32xf32>, %angles: memref<64x16xf32>, %scale: memref<32xf32>, %w: memref<2x32x16xf32>, %out: memref<?x32xf32>) attributes {talc.entry} {
  %x = memref.alloc(%rows) : memref<?x32xf32>
  %y = memref.alloc(%rows) : memref<?x32xf32>
  %q = memref.alloc(%rows) : memref<?x32xf32>
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.gather ids %s, %table plus 0 into %x : (!kernel.step, memref<80x32xf32>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %x, %scale epsilon 0.5 groups 1 into %y : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %y, %w into %x {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf32>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.rope %s, %x, %angles heads 2 into %q : (!kernel.step, memref<?x32xf32>, memref<64x16xf32>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.kv_append %s, %kv, %q, %q : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>, memref<?x32xf32>
  }
  kernel.tasks %s over queries by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 2 scale 0.25 window 0 into %y : (!kernel.step, memref<?x32xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %y, %w into %out {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x32xf32>, memref<2x32x16xf32>, memref<?x32xf32>) -> ()
  }
  return
}

// One row: memory of a thread's own, and append and attention by heads, need none. A block begins with a barrier.
// CHECK-LABEL: func.func @decode_block(
// CHECK: kernel.barrier %{{[a-z0-9]+$}}
// CHECK-NEXT: call @norm
// CHECK-NEXT: call @matmul
// CHECK-NEXT: memref.subview
// CHECK-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// CHECK-NEXT: call @rope
// CHECK-NEXT: call @kv_append
// CHECK-NEXT: call @attention
// CHECK-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// CHECK-NEXT: call @matmul
// CHECK-NEXT: return
func.func @decode_block(%s: !kernel.step, %x: memref<1x32xf32>, %kv: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %angles: memref<64x16xf32>, %scale: memref<32xf32>, %w: memref<4x32x16xf32>, %v: memref<2x32x16xf32>, %out: memref<1x32xf32>) {
  %a = memref.alloc() {kernel.per_worker} : memref<1x32xf32>
  %b = memref.alloc() : memref<1x64xf32>
  %c = memref.alloc() {kernel.per_worker} : memref<1x32xf32>
  %d = memref.alloc() : memref<1x32xf32>
  kernel.tasks %s over rows by all {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %x, %scale epsilon 0.5 groups 1 into %a : (!kernel.step, memref<1x32xf32>, memref<32xf32>, memref<1x32xf32>) -> ()
  }
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %a, %w into %b {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x32xf32>, memref<4x32x16xf32>, memref<1x64xf32>) -> ()
  }
  %q = memref.subview %b[0, 0] [1, 32] [1, 1] : memref<1x64xf32> to memref<1x32xf32, strided<[64, 1]>>
  kernel.tasks %s over rows by all {
  ^bb0(%p0: index, %p1: index):
    kernel.rope %s, %q, %angles heads 2 into %c : (!kernel.step, memref<1x32xf32, strided<[64, 1]>>, memref<64x16xf32>, memref<1x32xf32>) -> ()
  }
  kernel.tasks %s over heads by heads {
  ^bb0(%p0: index):
    kernel.kv_append %s, %kv, %c, %c : !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<1x32xf32>, memref<1x32xf32>
  }
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %c, %kv heads 2 scale 0.25 window 0 into %d : (!kernel.step, memref<1x32xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<1x32xf32>) -> ()
  }
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %d, %v inputs(%x) into %out {
    ^bb0(%sum: f32, %r: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x32xf32>, memref<2x32x16xf32>, memref<1x32xf32>, memref<1x32xf32>) -> ()
  }
  return
}

// Append by rows does not fit attention by heads.
// CHECK-LABEL: func.func @large_group(
// CHECK: call @kv_append
// CHECK-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// CHECK-NEXT: call @attention
func.func @large_group(%s: !kernel.step, %kv: !talc.kv_cache<1 x 8 x 64 in #kernel.kv_panels<16 x f32>>, %k: memref<1x8xf32>, %q: memref<1x200xf32>, %out: memref<1x200xf32>) attributes {talc.entry} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.kv_append %s, %kv, %k, %k : !talc.kv_cache<1 x 8 x 64 in #kernel.kv_panels<16 x f32>>, memref<1x8xf32>, memref<1x8xf32>
  }
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 25 scale 0.25 window 0 into %out : (!kernel.step, memref<1x200xf32>, !talc.kv_cache<1 x 8 x 64 in #kernel.kv_panels<16 x f32>>, memref<1x200xf32>) -> ()
  }
  return
}

// Matmuls that touch nothing of each other need none between them; overwriting what another division still reads
// needs one.
// CHECK-LABEL: func.func @overwrite(
// CHECK-NOT: kernel.barrier
// CHECK: call @matmul
// CHECK-NEXT: call @matmul
// CHECK-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// CHECK-NEXT: call @matmul
// CHECK-NEXT: return
func.func @overwrite(%s: !kernel.step, %x: memref<1x32xf32>, %y: memref<1x32xf32>, %z: memref<1x32xf32>, %v: memref<1x32xf32>, %w: memref<2x32x16xf32>) attributes {talc.entry} {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x32xf32>, memref<2x32x16xf32>, memref<1x32xf32>) -> ()
  }
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %z {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x32xf32>, memref<2x32x16xf32>, memref<1x32xf32>) -> ()
  }
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %v, %w into %x {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x32xf32>, memref<2x32x16xf32>, memref<1x32xf32>) -> ()
  }
  return
}

// The caller need not separate a block from what came before; what comes after it waits always. Rows of results are
// divided by themselves.
// CHECK-LABEL: func.func @calls(
// CHECK: call @copy
// CHECK-NEXT: call @block
// CHECK-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// CHECK-NEXT: call @norm
// CHECK-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// CHECK-NEXT: call @gather
// CHECK-NEXT: call @norm
// CHECK-NEXT: return
func.func @calls(%s: !kernel.step, %x: memref<?x32xf32>, %y: memref<?x32xf32>, %scale: memref<32xf32>) attributes {talc.entry} {
  %count = kernel.output_count %s 0
  %r = memref.alloc(%count) : memref<?x32xf32>
  %out = kernel.output %s 0 : memref<?x32xf32>
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    memref.copy %x, %y : memref<?x32xf32> to memref<?x32xf32>
  }
  call @block(%s, %y, %x) : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %x, %scale epsilon 0.5 groups 1 into %y : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.gather outputs %s, %y plus 0 into %r : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %r, %scale epsilon 0.5 groups 1 into %out : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  return
}
func.func private @block(%s: !kernel.step, %x: memref<?x32xf32>, %out: memref<?x32xf32>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    memref.copy %x, %out : memref<?x32xf32> to memref<?x32xf32>
  }
  return
}

// An attention over what another one wrote: the first deals 2 heads, the second 4, to other threads.
// CHECK-LABEL: @attention_twice
// CHECK: call @attention_
// CHECK-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// CHECK-NEXT: call @attention_
func.func @attention_twice(%s: !kernel.step, %q: memref<?x32xf32>, %two: !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %four: !talc.kv_cache<4 x 8 x 64, source in #kernel.kv_panels<16 x f32>>, %y: memref<?x32xf32>, %z: memref<?x32xf32>) attributes {talc.entry} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %two heads 2 scale 0.25 window 0 into %y : (!kernel.step, memref<?x32xf32>, !talc.kv_cache<2 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention full %s, %y, %four heads 4 scale 0.25 window 0 into %z : (!kernel.step, memref<?x32xf32>, !talc.kv_cache<4 x 8 x 64, source in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>) -> ()
  }
  return
}

// A declaration has no compute ops.
// CHECK-LABEL: func.func private @declared
func.func private @declared(memref<?x32xf32>)

// Rows of wanted tokens are divided among other workers than the tokens of the step, which are then divided alike.
// CHECK-LABEL: func.func @spread_rows(
// CHECK: call @norm
// CHECK-NEXT: kernel.barrier %{{[a-z0-9]+$}}
// CHECK-NEXT: call @spread
// CHECK-NEXT: call @norm
// CHECK-NEXT: return
func.func @spread_rows(%s: !kernel.step, %rows: index, %scale: memref<32xf32>, %out: memref<?x32xf32>) attributes {talc.entry} {
  %wanted = kernel.output_count %s 0
  %x = memref.alloc(%wanted) : memref<?x32xf32>
  %y = memref.alloc(%rows) : memref<?x32xf32>
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %x, %scale epsilon 0.5 groups 1 into %x : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.spread %s, %x output 0 into %y : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %y, %scale epsilon 0.5 groups 1 into %out : (!kernel.step, memref<?x32xf32>, memref<32xf32>, memref<?x32xf32>) -> ()
  }
  return
}
