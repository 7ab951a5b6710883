// SPDX-License-Identifier: Apache-2.0
// convert-step-to-llvm: where in struct StepContext each step op looks, and what addresses follow. The offsets below are
// those of runtime/device/cpu/StepContext.h.
// RUN: talc-opt %s -convert-step-to-llvm -canonicalize -cse | FileCheck %s

module attributes {talc.plan = {state_bytes_per_slot = 12288 : i64}} {
talc.weight @w : tensor<3x5xf32> = #talc.fill<1.0> {offset = 5368709120 : i64}
talc.kv_cache @kv : !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x f32>> {offset = 7168 : i64}

// CHECK-LABEL: func.func private @counts(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr)
// CHECK: llvm.load %[[STEP]] : !llvm.ptr -> i64
// CHECK: llvm.getelementptr %[[STEP]][8]
// CHECK: llvm.getelementptr %[[STEP]][16]
// CHECK: llvm.getelementptr %[[STEP]][24]
// CHECK: llvm.getelementptr %[[STEP]][88]
// CHECK: llvm.getelementptr %[[STEP]][112]
func.func @counts(%s: !kernel.step) -> (index, index, index, index, index, index) {
  %0 = kernel.worker %s
  %1 = kernel.workers %s
  %2 = kernel.token_count %s
  %3 = kernel.span_count %s
  %4 = kernel.output_count %s 0
  %5 = kernel.output_count %s 1
  return %0, %1, %2, %3, %4, %5 : index, index, index, index, index, index
}

// The bytes of a buffer lie where the buffer does.
// CHECK-LABEL: func.func private @bytes(
// CHECK-SAME: %[[X:.*]]: memref<3x5xf16>)
// CHECK: %[[BUFFER:.*]] = builtin.unrealized_conversion_cast %[[X]] : memref<3x5xf16> to !llvm.struct
// CHECK: %[[ADDRESS:.*]] = llvm.extractvalue %[[BUFFER]][1]
// CHECK: llvm.insertvalue %[[ADDRESS]], %{{.*}}[1]
// CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<30xi8>
func.func @bytes(%x: memref<3x5xf16>) -> memref<30xi8> {
  %0 = kernel.bytes %x : memref<3x5xf16> -> memref<30xi8>
  return %0 : memref<30xi8>
}

// At least 48 rows for every worker.
// CHECK-LABEL: func.func private @by_rows(
// CHECK: %[[MANY:.*]] = llvm.mlir.constant(48 : i64)
// CHECK: llvm.getelementptr %{{.*}}[16]
// CHECK: %[[ROWS:.*]] = llvm.load
// CHECK: llvm.getelementptr %{{.*}}[8]
// CHECK: %[[THREADS:.*]] = llvm.load
// CHECK: %[[ALL:.*]] = llvm.mul %[[THREADS]], %[[MANY]]
// CHECK: llvm.icmp "sge" %[[ROWS]], %[[ALL]]
func.func @by_rows(%s: !kernel.step) -> i1 {
  %0 = kernel.token_parallel %s
  return %0 : i1
}

// Pieces that are dealt are counted in the context; the next task is what a function says.
// CHECK-LABEL: func.func private @claim(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr, %[[COUNT:.*]]: index)
// CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[STEP]][168]
// CHECK: %[[PIECE:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> i64
// CHECK: %[[NEXT:.*]] = llvm.add %[[PIECE]], %[[ONE]]
// CHECK: llvm.store %[[NEXT]], %[[PLACE]]
// CHECK: llvm.getelementptr %[[STEP]][152]
// CHECK: %[[CLAIM:.*]] = llvm.load
// CHECK: llvm.getelementptr %[[STEP]][160]
// CHECK: %[[STATE:.*]] = llvm.load
// CHECK: %[[THREAD:.*]] = llvm.load %[[STEP]]
// CHECK: %[[TASKS:.*]] = arith.index_cast %[[COUNT]]
// CHECK: llvm.call %[[CLAIM]](%[[STATE]], %[[THREAD]], %[[PIECE]], %[[TASKS]]) : !llvm.ptr, (!llvm.ptr, i64, i64, i64) -> i64
func.func @claim(%s: !kernel.step, %tasks: index) -> index {
  %0 = kernel.begin_tasks %s
  %1 = kernel.next_task %s, %0 of %tasks
  return %1 : index
}

// Elements are signed 32-bit numbers: ids of 4 bytes, rows {position, slot, type} of 12.
// CHECK-LABEL: func.func private @elements(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr, %[[AT:.*]]: index
// CHECK-DAG: %[[FOUR:.*]] = llvm.mlir.constant(4 : i64)
// CHECK-DAG: %[[EIGHT:.*]] = llvm.mlir.constant(8 : i64)
// CHECK-DAG: %[[TWELVE:.*]] = llvm.mlir.constant(12 : i64)
// CHECK: %[[P:.*]] = llvm.getelementptr %[[STEP]][32]
// CHECK: %[[IDS:.*]] = llvm.load %[[P]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[I:.*]] = arith.index_cast %[[AT]] : index to i64
// CHECK: llvm.mul %[[I]], %[[FOUR]]
// CHECK: llvm.getelementptr %[[IDS]][
// CHECK: %[[ID:.*]] = llvm.load {{.*}} -> i32
// CHECK: llvm.sext %[[ID]] : i32 to i64
// CHECK: llvm.getelementptr %[[STEP]][40]
// CHECK: %[[POSITION:.*]] = llvm.mul %[[I]], %[[TWELVE]]
// CHECK: %[[SLOT:.*]] = llvm.add %[[POSITION]], %[[FOUR]]
// CHECK: llvm.getelementptr %{{.*}}[%[[SLOT]]]
// CHECK: %[[TYPE:.*]] = llvm.add %[[POSITION]], %[[EIGHT]]
// CHECK: llvm.getelementptr %{{.*}}[%[[TYPE]]]
// CHECK: llvm.getelementptr %[[STEP]][96]
// CHECK: llvm.getelementptr %[[STEP]][120]
// CHECK: llvm.getelementptr %[[STEP]][56]
func.func @elements(%s: !kernel.step, %at: index) -> (index, index, index, index, index, index, index) {
  %0 = kernel.id %s[%at]
  %1 = kernel.position %s[%at]
  %2 = kernel.slot %s[%at]
  %3 = kernel.token_type %s[%at]
  %4 = kernel.output_token %s 0[%at]
  %5 = kernel.output_token %s 1[%at]
  %6 = kernel.history %s[%at]
  return %0, %1, %2, %3, %4, %5, %6 : index, index, index, index, index, index, index
}

// A span is nine numbers in 36 bytes.
// CHECK-LABEL: func.func private @span(
// CHECK-DAG: %[[SIZE:.*]] = llvm.mlir.constant(36 : i64)
// CHECK-DAG: %[[LAST:.*]] = llvm.mlir.constant(28 : i64)
// CHECK: llvm.getelementptr %{{.*}}[48]
// CHECK: %[[AT:.*]] = llvm.mul %{{.*}}, %[[SIZE]]
// CHECK: llvm.add %[[AT]], %[[LAST]]
// CHECK: %[[HISTORY:.*]] = arith.index_cast
// CHECK: return %{{.*}}, %[[HISTORY]]
func.func @span(%s: !kernel.step, %at: index) -> (index, index) {
  %0, %1, %2, %3, %4, %5, %6, %7 = kernel.span %s[%at]
  return %0, %7 : index, index
}

// Beyond 4 GB of weights.
// CHECK-LABEL: func.func private @weight(
// CHECK: %[[OFFSET:.*]] = llvm.mlir.constant(5368709120 : i64)
// CHECK: %[[P:.*]] = llvm.getelementptr %{{.*}}[64]
// CHECK: %[[WEIGHTS:.*]] = llvm.load %[[P]] : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.getelementptr %[[WEIGHTS]][%[[OFFSET]]]
func.func @weight(%s: !kernel.step) -> memref<3x5xf32> {
  %w = kernel.weight %s @w : memref<3x5xf32>
  return %w : memref<3x5xf32>
}

// Bytes per token times rows of the step, plus fixed ones, plus those of the threads before.
// CHECK-LABEL: func.func private @arena(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr, %[[ROWS:.*]]: index
// CHECK-DAG: %[[PERTOKEN:.*]] = llvm.mlir.constant(128 : i64)
// CHECK-DAG: %[[FIXED:.*]] = llvm.mlir.constant(64 : i64)
// CHECK-DAG: %[[PERTHREAD:.*]] = llvm.mlir.constant(192 : i64)
// CHECK: %[[P:.*]] = llvm.getelementptr %[[STEP]][16]
// CHECK: %[[T:.*]] = llvm.load %[[P]]
// CHECK: %[[THREAD:.*]] = llvm.load %[[STEP]]
// CHECK: %[[TOKENS:.*]] = llvm.mul %[[T]], %[[PERTOKEN]]
// CHECK: %[[BEHIND:.*]] = llvm.add %[[TOKENS]], %[[FIXED]]
// CHECK: %[[OWN:.*]] = llvm.mul %[[THREAD]], %[[PERTHREAD]]
// CHECK: %[[OFFSET:.*]] = llvm.add %[[BEHIND]], %[[OWN]]
// CHECK: llvm.getelementptr %[[STEP]][80]
// CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}}[%[[OFFSET]]]
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[ROWS]]
// CHECK: llvm.insertvalue %[[AT]], %{{.*}}[1]
// CHECK: llvm.insertvalue %[[SIZE]], %{{.*}}[3, 0]
func.func @arena(%s: !kernel.step, %rows: index) -> memref<?x32xf32> {
  %a = kernel.arena %s rows %rows at 128 plus 64 by_worker 192 : memref<?x32xf32>
  return %a : memref<?x32xf32>
}

// The caller's buffer has as many rows as results are wanted.
// CHECK-LABEL: func.func private @output(
// CHECK: %[[P:.*]] = llvm.getelementptr %{{.*}}[88]
// CHECK: %[[COUNT:.*]] = llvm.load %[[P]]
// CHECK: llvm.getelementptr %{{.*}}[104]
// CHECK: llvm.insertvalue %[[COUNT]], %{{.*}}[3, 0]
func.func @output(%s: !kernel.step) -> memref<?x80xf32> {
  %o = kernel.output %s 0 : memref<?x80xf32>
  return %o : memref<?x80xf32>
}

// Results behind the first two stand at the end.
// CHECK-LABEL: func.func private @part(
// CHECK: llvm.getelementptr %{{.*}}[192]
// CHECK: llvm.getelementptr %{{.*}}[208]
func.func @part(%s: !kernel.step) -> memref<?x80xf32> {
  %o = kernel.output %s 2 : memref<?x80xf32>
  return %o : memref<?x80xf32>
}

// A state is its offset in a slot. Values lie behind 2 x 2 x 12 x 16 keys of 4 bytes.
// CHECK-LABEL: func.func private @state(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr, %[[KV:.*]]: i64, %[[SLOT:.*]]: index
// CHECK-DAG: %[[KEYBYTES:.*]] = llvm.mlir.constant(3072 : i64)
// CHECK-DAG: %[[SLOTBYTES:.*]] = llvm.mlir.constant(12288 : i64)
// CHECK: %[[S:.*]] = arith.index_cast %[[SLOT]]
// CHECK: %[[BEGIN:.*]] = llvm.mul %[[S]], %[[SLOTBYTES]]
// CHECK: %[[KEYS:.*]] = llvm.add %[[BEGIN]], %[[KV]]
// CHECK: llvm.getelementptr %[[STEP]][72]
// CHECK: %[[VALUES:.*]] = llvm.add %[[KEYS]], %[[KEYBYTES]]
// CHECK: llvm.getelementptr %{{.*}}[%[[VALUES]]]
func.func @state(%s: !kernel.step, %kv: !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x f32>>, %slot: index) -> (memref<2x2x12x16xf32>, memref<2x2x16x16xf32>) {
  %k = kernel.keys %s, %kv[%slot] : !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x f32>> -> memref<2x2x12x16xf32>
  %v = kernel.values %s, %kv[%slot] : !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x f32>> -> memref<2x2x16x16xf32>
  return %k, %v : memref<2x2x12x16xf32>, memref<2x2x16x16xf32>
}

// Entry functions are the ones that can be seen. Barriers and marks call what the context points to; a conditional
// barrier only in a step that is not divided by rows, a mark only if somebody measures.
// CHECK-LABEL: func.func @talc_prefill(
// CHECK-SAME: %[[STEP:.*]]: !llvm.ptr)
// CHECK: %[[KV:.*]] = llvm.mlir.constant(7168 : i64)
// CHECK: call @callee(%[[STEP]], %[[KV]]) : (!llvm.ptr, i64) -> ()
// CHECK: %[[P:.*]] = llvm.getelementptr %[[STEP]][136]
// CHECK: %[[BARRIER:.*]] = llvm.load %[[P]]
// CHECK: llvm.getelementptr %[[STEP]][144]
// CHECK: llvm.call %[[BARRIER]](%{{.*}}) : !llvm.ptr, (!llvm.ptr) -> ()
// CHECK: %[[BYROWS:.*]] = llvm.icmp "sge"
// CHECK: scf.if %[[BYROWS]] {
// CHECK-NEXT: } else {
// CHECK: llvm.call %{{.*}}(%{{.*}}) : !llvm.ptr, (!llvm.ptr) -> ()
// CHECK: llvm.getelementptr %[[STEP]][176]
// CHECK: %[[WANTED:.*]] = llvm.icmp "ne"
// CHECK: scf.if %[[WANTED]] {
// CHECK: llvm.getelementptr %[[STEP]][184]
// CHECK: llvm.call {{.*}} : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
func.func @prefill(%s: !kernel.step) attributes {talc.entry} {
  %kv = kernel.kv_cache @kv : !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x f32>>
  call @callee(%s, %kv) : (!kernel.step, !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x f32>>) -> ()
  kernel.barrier %s
  kernel.barrier %s unless_token_parallel
  kernel.mark %s 7
  return
}
// CHECK-LABEL: func.func private @callee(%{{.*}}: !llvm.ptr, %{{.*}}: i64)
func.func @callee(%s: !kernel.step, %kv: !talc.kv_cache<2 x 12 x 17 in #kernel.kv_panels<16 x f32>>) {
  return
}
}
