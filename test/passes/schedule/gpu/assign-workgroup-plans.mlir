// SPDX-License-Identifier: Apache-2.0
// assign-workgroup-plans: the cost model's parameters for MMA and for fused multiply-adds; the program and the option
// override them; what does not fit an op is refused by name. Plans decide how tasks are cut.
// RUN: talc-opt %s -assign-workgroup-plans | FileCheck %s
// RUN: talc-opt %s -assign-workgroup-plans=gpu=vulkan | FileCheck %s --check-prefix=FMA
// RUN: talc-opt %s '-assign-workgroup-plans=plans={many: task_rows = 64, task_panels = 1; m*: unroll_steps = 3; one: stages = 0, stage_weights = 0}' --remarks-filter=schedule -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --check-prefix=OVERRIDE --input-file=%t.mlir
// RUN: talc-opt %t.mlir -assign-workgroup-plans | FileCheck %s --check-prefix=OVERRIDE
// RUN: talc-opt %t.mlir -expand-workgroups | FileCheck %s --check-prefix=TASKS
// RUN: not talc-opt %s '-assign-workgroup-plans=plans={many: task_rows = 40}' 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// RUN: not talc-opt %s '-assign-workgroup-plans=plans={many: task_panels = 3}' 2>&1 | FileCheck %s --check-prefix=PANELS
// RUN: not talc-opt %s '-assign-workgroup-plans=plans={many: stages = 4}' 2>&1 | FileCheck %s --check-prefix=COPY
// RUN: not talc-opt %s '-assign-workgroup-plans=plans={one: stages = 2}' 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not talc-opt %s '-assign-workgroup-plans=plans={one: stages = 0}' 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// RUN: not talc-opt %s '-assign-workgroup-plans=plans={one: task_rows = 32}' 2>&1 | FileCheck %s --check-prefix=SINGLE
// RUN: not talc-opt %s '-assign-workgroup-plans=plans={many: task_rows = 96, task_panels = 2}' 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: not talc-opt %s '-assign-workgroup-plans=plans={floats: thread_columns = 3}' 2>&1 | FileCheck %s --check-prefix=COLUMNS
// RUN: not talc-opt %s '-assign-workgroup-plans=plans={m*: tile_rows = 4}' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: sed 's/over tiles by adaptive {/over tiles by adaptive plan <task_rows = 40> {/' %s > %t.wrong.mlir
// RUN: not talc-opt %t.wrong.mlir -expand-workgroups 2>&1 | FileCheck %s --check-prefix=EXPAND

// REMARK-DAG: assign-workgroup-plans{{.*}}Function=many{{.*}}plan override: {{.*}}task_panels = 1, task_rows = 64, unroll_steps = 3
// REMARK-DAG: assign-workgroup-plans{{.*}}Function=floats{{.*}}cost model: resident_threads = 384, task_rows = 8, task_threads = 32, thread_columns = 4
// MULTIPLE: error: 'kernel.tasks' op of kernel {{.*}} cannot have this plan: task_rows is 40, expected a multiple of 16
// PANELS: error: 'kernel.tasks' op of kernel {{.*}} cannot have this plan: task_panels is 3, and a group of the weight has 2
// COPY: error: 'kernel.tasks' op of kernel {{.*}} cannot have this plan: stages is 4, expected 0: rows cannot be copied asynchronously
// STAGES: error: 'kernel.tasks' op of kernel {{.*}} cannot have this plan: stages is 2, expected 0, or 3 and more
// WEIGHTS: error: 'kernel.tasks' op of kernel {{.*}} cannot have this plan: stage_weights is 1, expected 0: stages is 0
// SINGLE: error: 'kernel.tasks' op of kernel {{.*}} cannot have this plan: task_rows is 32, expected 16 for a single row
// REGISTERS: error: 'kernel.tasks' op of kernel {{.*}} cannot have this plan: accumulators of task_rows = 96 and task_panels = 2 take {{[0-9]+}} of 255 registers
// COLUMNS: error: 'kernel.tasks' op of kernel {{.*}} cannot have this plan: thread_columns is 3, expected a power of two that divides the 64 columns of a panel
// NAME: error: plans: unknown tuning parameter 'tile_rows'
// EXPAND: error: 'kernel.matmul' op cannot have the plan of its tasks: task_rows is 40, expected a multiple of 16

// CHECK-LABEL: @many(
// CHECK: kernel.tasks %{{.*}} over tiles by adaptive plan <resident_threads = 256, stage_weights = 0, stages = 0, task_panels = 1, task_rows = 32, unroll_steps = 2>
// FMA-LABEL: @many(
// FMA: kernel.tasks %{{.*}} over tiles by adaptive plan <resident_threads = 384, task_rows = 8, task_threads = 32, thread_columns = 4>
// OVERRIDE-LABEL: @many(
// OVERRIDE: plan <resident_threads = 256, stage_weights = 0, stages = 0, task_panels = 1, task_rows = 64, unroll_steps = 3>
// TASKS-LABEL: @many(
// TASKS: kernel.tasks %{{.*}} over tiles by adaptive plan <{{.*}}> of(%{{.*}}, %c2) grain [64, 1]
func.func private @many(%s: !kernel.step, %x: memref<?x96xf32>, %w: memref<2x96x64xbf16>, %y: memref<?x128xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by adaptive {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x96xf32>, memref<2x96x64xbf16>, memref<?x128xf32>) -> ()
  }
  return
}

// A single row of 16 bits goes through shared memory, and so do its weights.
// CHECK-LABEL: @one(
// CHECK: plan <resident_threads = 256, stage_weights = 1, stages = 8, task_panels = 1, task_rows = 16, unroll_steps = 1>
// OVERRIDE-LABEL: @one(
// OVERRIDE: plan <resident_threads = 256, stage_weights = 0, stages = 0, task_panels = 1, task_rows = 16, unroll_steps = 1>
func.func private @one(%s: !kernel.step, %x: memref<1x96xf32> {kernel.narrowed = bf16}, %w: memref<2x96x64xbf16>, %y: memref<1x128xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by columns {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<1x96xf32>, memref<2x96x64xbf16>, memref<1x128xf32>) -> ()
  }
  return
}

// CHECK-LABEL: @floats(
// CHECK: plan <resident_threads = 384, task_rows = 8, task_threads = 32, thread_columns = 4>
func.func private @floats(%s: !kernel.step, %x: memref<?x96xf32>, %w: memref<2x96x64xf32>, %y: memref<?x128xf32>) attributes {kernel.op = "matmul"} {
  kernel.tasks %s over tiles by rows {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x96xf32>, memref<2x96x64xf32>, memref<?x128xf32>) -> ()
  }
  return
}

// Attention: MMA reads keys and values of 16 bits only.
// CHECK-LABEL: @attend(
// CHECK: plan <resident_threads = 384, task_queries = 16>
func.func private @attend(%s: !kernel.step, %q: memref<?x128xf32>, %kv: !talc.kv_cache<2 x 32 x 128 in #kernel.kv_panels<16 x f32>>, %y: memref<?x128xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 into %y : (!kernel.step, memref<?x128xf32>, !talc.kv_cache<2 x 32 x 128 in #kernel.kv_panels<16 x f32>>, memref<?x128xf32>) -> ()
  }
  return
}
// CHECK-LABEL: @attend_halves(
// CHECK: plan <resident_threads = 256, warps = 4>
func.func private @attend_halves(%s: !kernel.step, %q: memref<?x128xf32>, %kv: !talc.kv_cache<2 x 32 x 128 in #kernel.kv_panels<16 x f16>>, %y: memref<?x128xf32>) attributes {kernel.op = "attention"} {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 into %y : (!kernel.step, memref<?x128xf32>, !talc.kv_cache<2 x 32 x 128 in #kernel.kv_panels<16 x f16>>, memref<?x128xf32>) -> ()
  }
  return
}
