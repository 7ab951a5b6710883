// SPDX-License-Identifier: Apache-2.0
// The loops of attention against plain double arithmetic, for every mask, window, bias and place of the keys, and bit for
// bit among all ways to divide the work, a single row's keys too; see attention_step.cpp. Blocks of 64 keys; in
// attention-step-whole.test a single block of all. Clang does not optimize and nothing is verified between passes, since
// that takes longer than it saves; the passes' own tests verify.
// REQUIRES: slow
// RUN: talc-opt %s '-assign-plans=lanes=8 plans={*: block_keys = 64}' -expand-attention=lanes=8 -expand-rows=lanes=8 -distribute-tasks -expand-math -talc-codegen -verify-each=0 -o %t.8.mlir
// RUN: mlir-translate -mlir-to-llvmir %t.8.mlir -o %t.8.ll
// RUN: %cc -O0 -march=x86-64-v3 -I%root -DSPLIT -Wno-override-module %t.8.ll %S/attention_step.cpp -lm -lstdc++ -o %t.8
// RUN: %t.8

!own = !talc.kv_cache<2 x 24 x 200 in #kernel.kv_panels<16 x f32>>
!source = !talc.kv_cache<2 x 24 x 200, source in #kernel.kv_panels<16 x f32>>
!rows = memref<?x96xf32>
!row = memref<1x96xf32>
!bias = memref<4x399xf32>
!parts = memref<4x160xf32>

module attributes {talc.plan = {state_bytes_per_slot = 94208 : i64}} {
  func.func @causal(%s: !kernel.step, %state: !own, %q: !rows, %bias: !bias, %out: !rows) attributes {talc.entry} {
    kernel.tasks %s over queries by heads {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
      kernel.attention causal %s, %q, %state heads 4 scale 0.2 window 0 into %out : (!kernel.step, !rows, !own, !rows) -> ()
    }
    return
  }
  func.func @causal_one(%s: !kernel.step, %state: !own, %q: !row, %bias: !bias, %out: !row) attributes {talc.entry} {
    kernel.tasks %s over queries by heads {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
      kernel.attention causal %s, %q, %state heads 4 scale 0.2 window 0 into %out : (!kernel.step, !row, !own, !row) -> ()
    }
    return
  }
  func.func @causal_window(%s: !kernel.step, %state: !own, %q: !rows, %bias: !bias, %out: !rows) attributes {talc.entry} {
    kernel.tasks %s over queries by adaptive {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
      kernel.attention causal %s, %q, %state heads 4 scale 0.2 window 70 into %out : (!kernel.step, !rows, !own, !rows) -> ()
    }
    return
  }
  func.func @causal_window_one(%s: !kernel.step, %state: !own, %q: !row, %bias: !bias, %out: !row) attributes {talc.entry} {
    kernel.tasks %s over queries by heads {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
      kernel.attention causal %s, %q, %state heads 4 scale 0.2 window 70 into %out : (!kernel.step, !row, !own, !row) -> ()
    }
    return
  }
  func.func @causal_bias(%s: !kernel.step, %state: !own, %q: !rows, %bias: !bias, %out: !rows) attributes {talc.entry} {
    kernel.tasks %s over queries by heads {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
      kernel.attention causal %s, %q, %state bias %bias heads 4 scale 0.2 window 0 into %out : (!kernel.step, !rows, !own, !bias, !rows) -> ()
    }
    return
  }
  func.func @causal_bias_one(%s: !kernel.step, %state: !own, %q: !row, %bias: !bias, %out: !row) attributes {talc.entry} {
    kernel.tasks %s over queries by heads {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
      kernel.attention causal %s, %q, %state bias %bias heads 4 scale 0.2 window 0 into %out : (!kernel.step, !row, !own, !bias, !row) -> ()
    }
    return
  }
  func.func @full(%s: !kernel.step, %state: !own, %q: !rows, %bias: !bias, %out: !rows) attributes {talc.entry} {
    kernel.tasks %s over queries by heads {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
      kernel.attention full %s, %q, %state heads 4 scale 0.2 window 0 into %out : (!kernel.step, !rows, !own, !rows) -> ()
    }
    return
  }
  func.func @full_window_bias(%s: !kernel.step, %state: !own, %q: !rows, %bias: !bias, %out: !rows) attributes {talc.entry} {
    kernel.tasks %s over queries by heads {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
      kernel.attention full %s, %q, %state bias %bias heads 4 scale 0.2 window 20 into %out : (!kernel.step, !rows, !own, !bias, !rows) -> ()
    }
    return
  }
  func.func @prefix(%s: !kernel.step, %state: !own, %q: !rows, %bias: !bias, %out: !rows) attributes {talc.entry} {
    kernel.tasks %s over queries by heads {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
      kernel.attention prefix %s, %q, %state heads 4 scale 0.2 window 0 into %out : (!kernel.step, !rows, !own, !rows) -> ()
    }
    return
  }
  func.func @prefix_window(%s: !kernel.step, %state: !own, %q: !rows, %bias: !bias, %out: !rows) attributes {talc.entry} {
    kernel.tasks %s over queries by heads {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
      kernel.attention prefix %s, %q, %state heads 4 scale 0.2 window 33 into %out : (!kernel.step, !rows, !own, !rows) -> ()
    }
    return
  }
  func.func @source(%s: !kernel.step, %state: !source, %q: !rows, %bias: !bias, %out: !rows) attributes {talc.entry} {
    kernel.tasks %s over queries by heads {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
      kernel.attention full %s, %q, %state heads 4 scale 0.2 window 0 into %out : (!kernel.step, !rows, !source, !rows) -> ()
    }
    return
  }
  func.func @source_one(%s: !kernel.step, %state: !source, %q: !row, %bias: !bias, %out: !row) attributes {talc.entry} {
    kernel.tasks %s over queries by heads {
    ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
      kernel.attention full %s, %q, %state heads 4 scale 0.2 window 0 into %out : (!kernel.step, !row, !source, !row) -> ()
    }
    return
  }
  func.func @causal_split(%s: !kernel.step, %state: !own, %q: !row, %bias: !bias, %out: !row) attributes {talc.entry} {
    %parts = kernel.arena %s at 0 plus 0 by_worker 0 : !parts
    kernel.tasks %s over keys by heads {
    ^bb0(%p0: index, %p1: index):
      kernel.attention causal %s, %q, %state heads 4 scale 0.2 window 0 block 64 into %parts : (!kernel.step, !row, !own, !parts) -> ()
    }
    kernel.barrier %s
    kernel.tasks %s over rows by rows {
    ^bb0(%p0: index, %p1: index):
      kernel.combine %s, %parts heads 4 window 0 block 64 into %out : (!kernel.step, !parts, !row) -> ()
    }
    return
  }
  func.func @causal_window_split(%s: !kernel.step, %state: !own, %q: !row, %bias: !bias, %out: !row) attributes {talc.entry} {
    %parts = kernel.arena %s at 0 plus 0 by_worker 0 : !parts
    kernel.tasks %s over keys by heads {
    ^bb0(%p0: index, %p1: index):
      kernel.attention causal %s, %q, %state heads 4 scale 0.2 window 70 block 64 into %parts : (!kernel.step, !row, !own, !parts) -> ()
    }
    kernel.barrier %s
    kernel.tasks %s over rows by rows {
    ^bb0(%p0: index, %p1: index):
      kernel.combine %s, %parts heads 4 window 70 block 64 into %out : (!kernel.step, !parts, !row) -> ()
    }
    return
  }
  func.func @causal_bias_split(%s: !kernel.step, %state: !own, %q: !row, %bias: !bias, %out: !row) attributes {talc.entry} {
    %parts = kernel.arena %s at 0 plus 0 by_worker 0 : !parts
    kernel.tasks %s over keys by heads {
    ^bb0(%p0: index, %p1: index):
      kernel.attention causal %s, %q, %state bias %bias heads 4 scale 0.2 window 0 block 64 into %parts : (!kernel.step, !row, !own, !bias, !parts) -> ()
    }
    kernel.barrier %s
    kernel.tasks %s over rows by rows {
    ^bb0(%p0: index, %p1: index):
      kernel.combine %s, %parts heads 4 window 0 block 64 into %out : (!kernel.step, !parts, !row) -> ()
    }
    return
  }
  func.func @source_split(%s: !kernel.step, %state: !source, %q: !row, %bias: !bias, %out: !row) attributes {talc.entry} {
    %parts = kernel.arena %s at 0 plus 0 by_worker 0 : !parts
    kernel.tasks %s over keys by heads {
    ^bb0(%p0: index, %p1: index):
      kernel.attention full %s, %q, %state heads 4 scale 0.2 window 0 block 64 into %parts : (!kernel.step, !row, !source, !parts) -> ()
    }
    kernel.barrier %s
    kernel.tasks %s over rows by rows {
    ^bb0(%p0: index, %p1: index):
      kernel.combine %s, %parts heads 4 window 0 block 64 source into %out : (!kernel.step, !parts, !row) -> ()
    }
    return
  }
}
