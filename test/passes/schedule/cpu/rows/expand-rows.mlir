// SPDX-License-Identifier: Apache-2.0
// expand-rows: the loops of gather, norm, softmax, rope, append, combine, elementwise operations and copies; masks only in the
// last columns.
// RUN: talc-opt %s -expand-rows -distribute-tasks -canonicalize -cse | FileCheck %s
// RUN: talc-opt %s -expand-rows="lanes=16" -distribute-tasks -canonicalize -cse | FileCheck %s --check-prefix=WIDE

#all = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// This thread's rows; 13 columns are a whole vector and 5 lanes of another.
// CHECK-LABEL: @copy(
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: !kernel.step, %[[X:[a-z0-9]+]]: memref<?x13xf32>, %[[Y:[a-z0-9]+]]: memref<?x13xf32>
// CHECK-DAG: %[[MASK:.*]] = arith.constant dense<[true, true, true, true, true, false, false, false]>
// CHECK: %[[T:.*]] = memref.dim %[[Y]], %c0
// CHECK-DAG: %[[I:.*]] = kernel.worker %[[STEP]]
// CHECK-DAG: %[[N:.*]] = kernel.workers %[[STEP]]
// CHECK: %[[TI:.*]] = arith.muli %[[T]], %[[I]]
// CHECK: %[[FIRST:.*]] = arith.divui %[[TI]], %[[N]]
// CHECK: %[[J:.*]] = arith.addi %[[I]], %c1
// CHECK: %[[TJ:.*]] = arith.muli %[[T]], %[[J]]
// CHECK: %[[END:.*]] = arith.divui %[[TJ]], %[[N]]
// CHECK: scf.for %[[R:.*]] = %[[FIRST]] to %[[END]] step %c1 {
// CHECK-NEXT: %[[V:.*]] = vector.load %[[X]][%[[R]], %c0]
// CHECK-NEXT: vector.store %[[V]], %[[Y]][%[[R]], %c0]
// CHECK-NEXT: %[[M:.*]] = vector.maskedload %[[X]][%[[R]], %c8], %[[MASK]],
// CHECK-NEXT: vector.maskedstore %[[Y]][%[[R]], %c8], %[[MASK]], %[[M]]
// CHECK-NEXT: }
func.func @copy(%s: !kernel.step, %x: memref<?x13xf32>, %y: memref<?x13xf32>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    memref.copy %x, %y : memref<?x13xf32> to memref<?x13xf32>
  }
  return
}

// A copy for itself takes every row; fewer columns than a vector need no loop.
// CHECK-LABEL: @copy_all(
// CHECK-NOT: kernel.worker
// CHECK: vector.maskedload %{{.*}}[%c0, %c0]
// CHECK-NEXT: vector.maskedstore %{{.*}}[%c0, %c0]
func.func @copy_all(%s: !kernel.step, %x: memref<1x3xf32>, %y: memref<1x3xf32>) {
  kernel.tasks %s over rows by all {
  ^bb0(%p0: index, %p1: index):
    memref.copy %x, %y : memref<1x3xf32> to memref<1x3xf32>
  }
  return
}

// Five whole vectors, of which a plan takes two at a time: one is left.
// CHECK-LABEL: @copy_unrolled(
// CHECK: scf.for %[[C:.*]] = %c0 to %c32 step %c16 {
// CHECK-NEXT: %[[V:.*]] = vector.load %{{.*}}[%c0, %[[C]]]
// CHECK-NEXT: vector.store %[[V]], %{{.*}}[%c0, %[[C]]]
// CHECK-NEXT: %[[D:.*]] = arith.addi %[[C]], %c8
// CHECK-NEXT: %[[W:.*]] = vector.load %{{.*}}[%c0, %[[D]]]
// CHECK-NEXT: vector.store %[[W]], %{{.*}}[%c0, %[[D]]]
// CHECK-NEXT: }
// CHECK-NEXT: vector.load %{{.*}}[%c0, %c32]
// CHECK-NEXT: vector.store %{{.*}}[%c0, %c32]
// CHECK-NEXT: return
func.func @copy_unrolled(%s: !kernel.step, %x: memref<1x40xf32>, %y: memref<1x40xf32>) {
  kernel.tasks %s over rows by all plan <unroll = 2> {
  ^bb0(%p0: index, %p1: index):
    memref.copy %x, %y : memref<1x40xf32> to memref<1x40xf32>
  }
  return
}

// The four chains of a sum keep their order: two blocks of 32 columns at a time are all 64. Loops of fewer turns than that go.
// CHECK-LABEL: @norm_unrolled(
// CHECK-COUNT-8: vector.load %{{.*}} : memref<1x64xf32>
// CHECK-NOT: scf.for
// CHECK: math.sqrt
// CHECK-NOT: scf.for
// CHECK: return
func.func @norm_unrolled(%s: !kernel.step, %x: memref<1x64xf32>, %scale: memref<64xf32>, %y: memref<1x64xf32>) {
  kernel.tasks %s over rows by all plan <unroll = 16> {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %x, %scale epsilon 0.5 groups 1 into %y : (!kernel.step, memref<1x64xf32>, memref<64xf32>, memref<1x64xf32>) -> ()
  }
  return
}

// Rows of ids, converted to f32; of positions, offset; of outputs.
// CHECK-LABEL: @gather(
// CHECK: %[[ID:.*]] = kernel.id %{{.*}}[%[[R:.*]]]
// CHECK-NEXT: scf.for %[[C:.*]] = %c0 to %c32 step %c8
// CHECK-NEXT: %[[B:.*]] = vector.load %{{.*}}[%[[ID]], %[[C]]] : memref<80x32xbf16>, vector<8xbf16>
// CHECK-NEXT: %[[F:.*]] = arith.extf %[[B]]
// CHECK-NEXT: vector.store %[[F]], %{{.*}}[%[[R]], %[[C]]]
// CHECK: %[[P:.*]] = kernel.position %{{.*}}[%{{.*}}]
// CHECK: %[[PLUS:.*]] = arith.addi %[[P]], %c2
// CHECK: vector.load %{{.*}}[%[[PLUS]], %{{.*}}]
// CHECK: %[[O:.*]] = kernel.output_token %{{.*}} 0[%{{.*}}]
// CHECK: vector.load %{{.*}}[%[[O]], %{{.*}}]
func.func @gather(%s: !kernel.step, %ids: memref<80x32xbf16>, %positions: memref<66x32xf32>, %x: memref<?x32xf32>, %y: memref<?x32xf32>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.gather ids %s, %ids plus 0 into %x : (!kernel.step, memref<80x32xbf16>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.gather positions %s, %positions plus 2 into %x : (!kernel.step, memref<66x32xf32>, memref<?x32xf32>) -> ()
  }
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.gather outputs %s, %x plus 0 into %y : (!kernel.step, memref<?x32xf32>, memref<?x32xf32>) -> ()
  }
  return
}

// A packed table is read element by element: row i is lane i % 16 of panel i / 16.
// CHECK-LABEL: @gather_packed(
// CHECK: %[[ID:.*]] = kernel.id %{{.*}}[%[[R:.*]]]
// CHECK-NEXT: %[[PANEL:.*]] = arith.divui %[[ID]], %c16
// CHECK-NEXT: %[[LANE:.*]] = arith.remui %[[ID]], %c16
// CHECK-NEXT: scf.for %[[C:.*]] = %c0 to %c32 step %c1
// CHECK-NEXT: %[[V:.*]] = memref.load %{{.*}}[%[[PANEL]], %[[C]], %[[LANE]]] : memref<5x32x16xf16>
// CHECK-NEXT: %[[F:.*]] = arith.extf %[[V]] : f16 to f32
// CHECK-NEXT: memref.store %[[F]], %{{.*}}[%[[R]], %[[C]]]
func.func @gather_packed(%s: !kernel.step, %table: memref<5x32x16xf16>, %x: memref<?x32xf32>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.gather ids %s, %table plus 0 into %x : (!kernel.step, memref<5x32x16xf16>, memref<?x32xf32>) -> ()
  }
  return
}

// Layer norm of 3 groups of 9: mean of 9 (the second vector has one lane that counts), deviations that count as zero
// beyond them, scale and bias by column of the group.
// CHECK-LABEL: @layer_norm(
// CHECK-SAME: %{{[a-z0-9]+}}: !kernel.step, %[[X:[a-z0-9]+]]: memref<?x27xf32>, %[[S:[a-z0-9]+]]: memref<9xf32>, %[[B:[a-z0-9]+]]: memref<9xf32>, %[[Y:[a-z0-9]+]]: memref<?x27xf32>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<[true, false, false, false, false, false, false, false]>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK-DAG: %[[NINTH:.*]] = arith.constant dense<0.11111{{.*}}> : vector<8xf32>
// CHECK-DAG: %[[EPS:.*]] = arith.constant dense<5.000000e-01> : vector<8xf32>
// CHECK: scf.for %[[R:.*]] = %{{.*}} to
// CHECK-NEXT: scf.for %[[G:.*]] = %c0 to %c3 step %c1
// CHECK: %[[BASE:.*]] = arith.muli %[[G]], %c9
// CHECK: vector.load %[[X]][%[[R]], %[[BASE]]]
// CHECK: %[[TAIL:.*]] = arith.addi %[[BASE]], %c8
// CHECK: vector.maskedload %[[X]][%[[R]], %[[TAIL]]], %[[ONE]], %[[ZERO]]
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK-COUNT-3: vector.shuffle
// CHECK: %[[MEAN:.*]] = arith.mulf %{{.*}}, %[[NINTH]]
// CHECK: arith.subf %{{.*}}, %[[MEAN]]
// CHECK: %[[D:.*]] = arith.subf %{{.*}}, %[[MEAN]]
// CHECK: %[[DD:.*]] = arith.mulf %[[D]], %[[D]]
// CHECK: arith.select %[[ONE]], %[[DD]], %[[ZERO]]
// CHECK: %[[VARIANCE:.*]] = arith.mulf %{{.*}}, %[[NINTH]]
// CHECK: %[[MORE:.*]] = arith.addf %[[VARIANCE]], %[[EPS]]
// CHECK: math.sqrt %[[MORE]]
// CHECK: arith.divf
// CHECK: vector.load %[[S]][%c0]
// CHECK: vector.load %[[B]][%c0]
// CHECK: vector.store %{{.*}}, %[[Y]][%[[R]], %[[BASE]]]
// CHECK: vector.maskedload %[[S]][%c8], %[[ONE]]
// CHECK: vector.maskedstore %[[Y]][%[[R]], %[[TAIL]]], %[[ONE]]
func.func @layer_norm(%s: !kernel.step, %x: memref<?x27xf32>, %scale: memref<9xf32>, %bias: memref<9xf32>, %y: memref<?x27xf32>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm layer %s, %x, %scale bias %bias epsilon 0.5 groups 3 into %y : (!kernel.step, memref<?x27xf32>, memref<9xf32>, memref<9xf32>, memref<?x27xf32>) -> ()
  }
  return
}

// The largest of 11 columns, where unused lanes are minus infinity; powers, whose sum they leave alone; and
// the powers over their sum.
// CHECK-LABEL: @softmax(
// CHECK-SAME: %{{.*}}: !kernel.step, %[[X:[a-z0-9]+]]: memref<?x11xf32>, %[[Y:[a-z0-9]+]]: memref<?x11xf32>
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0xFF800000>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00>
// CHECK-DAG: %[[MASK:.*]] = arith.constant dense<[true, true, true, false, false, false, false, false]>
// CHECK: scf.for %[[R:[a-z0-9]+]] =
// CHECK: %[[A:.*]] = vector.load %[[X]][%[[R]], %c0]
// CHECK: %[[B:.*]] = vector.maskedload %[[X]][%[[R]], %c8], %[[MASK]],
// CHECK: arith.select %[[MASK]], %[[B]], %[[NONE]]
// CHECK: %[[D:.*]] = arith.subf %[[A]], %[[HIGHEST:.*]] :
// CHECK: %[[P:.*]] = math.exp %[[D]]
// CHECK: vector.store %[[P]], %[[Y]][%[[R]], %c0]
// CHECK: %[[E:.*]] = arith.subf %{{.*}}, %[[HIGHEST]] :
// CHECK: %[[Q:.*]] = math.exp %[[E]]
// CHECK: vector.maskedstore %[[Y]][%[[R]], %c8], %[[MASK]], %[[Q]]
// CHECK: arith.select %[[MASK]], %[[Q]], %[[ZERO]]
// CHECK: %[[FACTOR:.*]] = arith.divf
// CHECK: %[[Z:.*]] = vector.load %[[Y]][%[[R]], %c0]
// CHECK: arith.mulf %[[Z]], %[[FACTOR]]
func.func @softmax(%s: !kernel.step, %x: memref<?x11xf32>, %y: memref<?x11xf32>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.softmax %s, %x into %y : (!kernel.step, memref<?x11xf32>, memref<?x11xf32>) -> ()
  }
  return
}

// Root-mean-square norm subtracts nothing; 72 columns are four sums and a rest, without masks.
// CHECK-LABEL: @rms_norm(
// CHECK-NOT: mask
// CHECK-NOT: arith.subf
// CHECK: %[[SUMS:.*]]:4 = scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK-COUNT-4: vector.load
// CHECK: scf.yield
// CHECK: vector.load %{{.*}}[%{{.*}}, %c64]
// CHECK: arith.addf %[[SUMS]]#0,
// CHECK: math.sqrt
// CHECK: scf.for %{{.*}} = %c0 to %c72 step %c8
// CHECK-NOT: mask
// CHECK-NOT: arith.subf
// CHECK: return
func.func @rms_norm(%s: !kernel.step, %x: memref<?x72xf32>, %scale: memref<72xf32>, %y: memref<?x72xf32>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.norm rms %s, %x, %scale epsilon 0.5 groups 1 into %y : (!kernel.step, memref<?x72xf32>, memref<72xf32>, memref<?x72xf32>) -> ()
  }
  return
}

// Features i and i + 3 of every head of 7 turn by the table's columns i and i + 3; the seventh is copied.
// CHECK-LABEL: @rope(
// CHECK-SAME: %{{[a-z0-9]+}}: !kernel.step, %[[X:[a-z0-9]+]]: memref<?x14xf32>, %[[TABLE:[a-z0-9]+]]: memref<64x6xf32>, %[[Y:[a-z0-9]+]]: memref<?x14xf32>
// CHECK-DAG: %[[THREE:.*]] = arith.constant dense<[true, true, true, false, false, false, false, false]>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<[true, false, false, false, false, false, false, false]>
// CHECK: %[[P:.*]] = kernel.position %{{.*}}[%[[R:.*]]]
// CHECK: scf.for %[[H:.*]] = %c0 to %c2 step %c1
// CHECK: %[[LOW:.*]] = arith.muli %[[H]], %c7
// CHECK: %[[HIGH:.*]] = arith.addi %[[LOW]], %c3
// CHECK: %[[COS:.*]] = vector.maskedload %[[TABLE]][%[[P]], %c0], %[[THREE]]
// CHECK: %[[SIN:.*]] = vector.maskedload %[[TABLE]][%[[P]], %c3], %[[THREE]]
// CHECK: %[[A:.*]] = vector.maskedload %[[X]][%[[R]], %[[LOW]]], %[[THREE]]
// CHECK: %[[B:.*]] = vector.maskedload %[[X]][%[[R]], %[[HIGH]]], %[[THREE]]
// CHECK: %[[AC:.*]] = arith.mulf %[[A]], %[[COS]]
// CHECK: %[[BS:.*]] = arith.mulf %[[B]], %[[SIN]]
// CHECK: %[[L:.*]] = arith.subf %[[AC]], %[[BS]]
// CHECK: vector.maskedstore %[[Y]][%[[R]], %[[LOW]]], %[[THREE]], %[[L]]
// CHECK: %[[BC:.*]] = arith.mulf %[[B]], %[[COS]]
// CHECK: %[[AS:.*]] = arith.mulf %[[A]], %[[SIN]]
// CHECK: %[[U:.*]] = arith.addf %[[BC]], %[[AS]]
// CHECK: vector.maskedstore %[[Y]][%[[R]], %[[HIGH]]], %[[THREE]], %[[U]]
// CHECK: %[[REST:.*]] = arith.addi %[[LOW]], %c6
// CHECK: %[[V:.*]] = vector.maskedload %[[X]][%[[R]], %[[REST]]], %[[ONE]]
// CHECK: vector.maskedstore %[[Y]][%[[R]], %[[REST]]], %[[ONE]], %[[V]]
func.func @rope(%s: !kernel.step, %x: memref<?x14xf32>, %table: memref<64x6xf32>, %y: memref<?x14xf32>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.rope %s, %x, %table heads 2 into %y : (!kernel.step, memref<?x14xf32>, memref<64x6xf32>, memref<?x14xf32>) -> ()
  }
  return
}

// The rows of a panel pass head by head in each sequence. Keys that fill their panel are transposed, here a square of 8
// tokens and 8 features at a time, then one of which 4 features remain; others become columns of the panel one by one. A
// value is a row of its panel, which has room for whole vectors.
// CHECK-LABEL: @append(
// CHECK: scf.for %[[S:.*]] = %c0 to %{{.*}} step %c1
// CHECK: %{{.*}}, %[[SLOT:slot]], %{{.*}} = kernel.span %{{.*}}[%[[S]]]
// CHECK: %[[K:.*]] = kernel.keys %{{.*}}, %{{.*}}[%[[SLOT]]] : {{.*}} -> memref<5x2x12x16xf32>
// CHECK: %[[V:.*]] = kernel.values %{{.*}}, %{{.*}}[%[[SLOT]]] : {{.*}} -> memref<5x2x16x16xf32>
// CHECK: scf.for %[[PANEL:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK: %[[AT:.*]] = arith.muli %[[PANEL]], %c16
// CHECK: %[[LANE:.*]] = arith.subi %[[POSITION:.*]], %[[AT]]
// CHECK: %[[END:.*]] = arith.minsi
// CHECK: %[[COUNT:.*]] = arith.subi %[[END]], %[[POSITION]]
// CHECK: scf.for %[[H:.*]] = %c0 to %c2 step %c1
// CHECK: %[[PART:.*]] = arith.cmpi slt, %[[COUNT]], %c16
// CHECK: scf.if %[[PART]]
// CHECK: scf.for %[[R:.*]] = %c0 to %[[COUNT]] step %c1
// CHECK: %[[OWN:.*]] = arith.addi %[[LANE]], %[[R]]
// CHECK: scf.for %[[C:.*]] = %c0 to %c12 step %c1
// CHECK: memref.store %{{.*}}, %[[K]][%[[PANEL]], %[[H]], %[[C]], %[[OWN]]]
// CHECK: vector.store %{{.*}}, %[[V]][%[[PANEL]], %[[H]], %{{.*}}, %c0]
// CHECK: %[[REST:.*]] = vector.maskedload %arg3
// CHECK: vector.store %[[REST]], %[[V]][%[[PANEL]], %[[H]], %{{.*}}, %c8]
// CHECK: else
// CHECK-COUNT-8: vector.load %arg2
// CHECK-COUNT-24: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[K]][%[[PANEL]], %[[H]], %{{.*}}, %c0]
// CHECK-COUNT-8: vector.load %arg2
// CHECK: vector.store %{{.*}}, %[[K]][%[[PANEL]], %[[H]], %{{.*}}, %c8]
// CHECK-COUNT-8: vector.maskedload %arg2
// CHECK-COUNT-4: vector.store %{{.*}}, %[[K]][%[[PANEL]], %[[H]], %{{.*}}, %c0]
// CHECK-COUNT-8: vector.maskedload %arg2
// CHECK-COUNT-4: vector.store %{{.*}}, %[[K]][%[[PANEL]], %[[H]], %{{.*}}, %c8]
// CHECK-NOT: vector.{{.*}}store {{.*}}%[[K]]
// CHECK: return

// With vectors of 16 lanes four rows or more of a panel are transposed, too, and stored where they belong.
// WIDE-LABEL: @append(
// WIDE: %[[FEW:.*]] = arith.cmpi slt, %[[COUNT:.*]], %c4
// WIDE: scf.if %[[FEW]]
// WIDE: else
// WIDE-COUNT-16: vector.maskedload %arg2
// WIDE: %[[MASK:.*]] = arith.xori
// WIDE-COUNT-32: vector.shuffle
// WIDE-COUNT-12: vector.maskedstore {{.*}}], %[[MASK]],
func.func @append(%s: !kernel.step, %kv: !talc.kv_cache<2 x 12 x 70 in #kernel.kv_panels<16 x f32>>, %k: memref<?x24xf32>, %v: memref<?x24xf32>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.kv_append %s, %kv, %k, %v : !talc.kv_cache<2 x 12 x 70 in #kernel.kv_panels<16 x f32>>, memref<?x24xf32>, memref<?x24xf32>
  }
  return
}

// No single lanes of bf16 are stored: single values, except in panels that rows fill.
// WIDE-LABEL: @append_bf16(
// WIDE: arith.cmpi slt, %{{.*}}, %c16
// WIDE: arith.truncf %{{.*}} : f32 to bf16
// WIDE: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// WIDE: else
// WIDE-COUNT-12: vector.store %{{.*}} : memref<5x2x12x16xbf16>, vector<16xbf16>
// WIDE-NOT: vector.maskedstore
// WIDE: return
func.func @append_bf16(%s: !kernel.step, %kv: !talc.kv_cache<2 x 12 x 70 in #kernel.kv_panels<16 x bf16>>, %k: memref<?x24xf32>, %v: memref<?x24xf32>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    kernel.kv_append %s, %kv, %k, %v : !talc.kv_cache<2 x 12 x 70 in #kernel.kv_panels<16 x bf16>>, memref<?x24xf32>, memref<?x24xf32>
  }
  return
}

// By heads a thread takes every row, and of it heads i, i + n, ...
// CHECK-LABEL: @append_heads(
// CHECK: %[[I:.*]] = kernel.worker
// CHECK: %[[N:.*]] = kernel.workers
// CHECK-NEXT: scf.for %[[H:.*]] = %[[I]] to %c2 step %[[N]]
// CHECK: %[[P:.*]] = kernel.position %{{.*}}[%c0]
// CHECK: %[[PANEL:.*]] = arith.divui %[[P]], %c16
// CHECK: memref.store {{.*}}[%[[PANEL]], %[[H]],
func.func @append_heads(%s: !kernel.step, %kv: !talc.kv_cache<2 x 16 x 70 in #kernel.kv_panels<16 x f32>>, %k: memref<1x32xf32>, %v: memref<1x32xf32>) {
  kernel.tasks %s over heads by heads {
  ^bb0(%p0: index):
    kernel.kv_append %s, %kv, %k, %v : !talc.kv_cache<2 x 16 x 70 in #kernel.kv_panels<16 x f32>>, memref<1x32xf32>, memref<1x32xf32>
  }
  return
}

// A vector operand is read by column; the body's constants become vectors; what the destination held is not read.
// CHECK-LABEL: @elementwise(
// CHECK-SAME: %{{[a-z0-9]+}}: !kernel.step, %[[X:[a-z0-9]+]]: memref<?x32xf32>, %[[B:[a-z0-9]+]]: memref<32xf32>, %[[Y:[a-z0-9]+]]: memref<?x32xf32>
// CHECK: %[[HALF:.*]] = arith.constant dense<5.000000e-01> : vector<8xf32>
// CHECK: scf.for %[[R:.*]] = %{{.*}} to
// CHECK: scf.for %[[C:.*]] = %c0 to %c32 step %c8
// CHECK-NEXT: %[[V:.*]] = vector.load %[[X]][%[[R]], %[[C]]]
// CHECK-NEXT: %[[W:.*]] = vector.load %[[B]][%[[C]]]
// CHECK-NEXT: %[[P:.*]] = arith.addf %[[V]], %[[W]]
// CHECK-NEXT: %[[Q:.*]] = arith.mulf %[[P]], %[[HALF]]
// CHECK-NEXT: %[[E:.*]] = math.exp %[[Q]] : vector<8xf32>
// CHECK-NEXT: vector.store %[[E]], %[[Y]][%[[R]], %[[C]]]
func.func @elementwise(%s: !kernel.step, %x: memref<?x32xf32>, %b: memref<32xf32>, %y: memref<?x32xf32>) {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %b : memref<?x32xf32>, memref<32xf32>) outs(%y : memref<?x32xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %half = arith.constant 0.5 : f32
      %p = arith.addf %v, %w : f32
      %q = arith.mulf %p, %half : f32
      %e = math.exp %q : f32
      linalg.yield %e : f32
    }
  }
  return
}

// The parts of 8 heads at a time, through the blocks that the row sees. The first block's part is the output.
// CHECK-LABEL: @combine(
// CHECK-SAME: %[[PARTS:[a-z0-9]+]]: memref<16x544xf32>
// CHECK: %[[SEEN:.*]] = arith.divui %{{.*}}, %c256
// CHECK: %[[END:.*]] = arith.divui %{{.*}}, %c256
// CHECK: scf.for %[[B:.*]] = %[[SEEN]] to %[[END]] step %c1 iter_args(%[[MAXIMUM:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}})
// CHECK: vector.load %[[PARTS]][%[[B]],
// CHECK: vector.load %[[PARTS]][%[[B]],
// CHECK: %[[FACTOR:.*]] = math.exp2
// CHECK: %[[GAIN:.*]] = math.exp2
// CHECK: %[[PART:.*]] = vector.load %[[PARTS]][%[[B]],
// CHECK: %[[BOTH:.*]] = vector.fma %[[PART]],
// CHECK: arith.select %{{.*}}, %[[PART]], %[[BOTH]]
// CHECK: arith.divf
// CHECK: vector.store
// CHECK: return
func.func @combine(%s: !kernel.step, %parts: memref<16x544xf32>, %out: memref<1x512xf32>) {
  kernel.tasks %s over rows by all {
  ^bb0(%p0: index, %p1: index):
    kernel.combine %s, %parts heads 8 window 100 block 256 into %out : (!kernel.step, memref<16x544xf32>, memref<1x512xf32>) -> ()
  }
  return
}
