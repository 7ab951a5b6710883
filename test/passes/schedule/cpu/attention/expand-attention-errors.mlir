// SPDX-License-Identifier: Apache-2.0
// expand-attention: programs that it cannot treat.
// RUN: talc-opt %s -split-input-file -assign-plans -expand-attention -verify-diagnostics

func.func @split_group(%s: !kernel.step, %q: memref<1x392xf32>, %kv: !talc.kv_cache<1 x 8 x 200 in #kernel.kv_panels<16 x f32>>, %out: memref<4x912xf32>) {
  // expected-error@+1 {{cannot have this plan: task_rows is less than the number of heads that share keys}}
  kernel.tasks %s over keys by heads {
  ^bb0(%block: index, %head: index):
    kernel.attention causal %s, %q, %kv heads 49 scale 0.2 window 0 block 64 into %out : (!kernel.step, memref<1x392xf32>, !talc.kv_cache<1 x 8 x 200 in #kernel.kv_panels<16 x f32>>, memref<4x912xf32>) -> ()
  }
  return
}

// -----

func.func @no_tasks(%s: !kernel.step, %q: memref<?x16xf32>, %kv: !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %out: memref<?x16xf32>) {
  // expected-error@+1 {{is not in tasks of its own; divide-work creates them}}
  kernel.attention causal %s, %q, %kv heads 1 scale 0.25 window 0 into %out : (!kernel.step, memref<?x16xf32>, !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, memref<?x16xf32>) -> ()
  return
}
