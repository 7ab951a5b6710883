// SPDX-License-Identifier: Apache-2.0
// expand-attention: tasks, key ranges and masks of causal, windowed and full attention; padded widths; shares.
// RUN: talc-opt %s '-assign-plans=plans={*: block_keys = 64}' -expand-attention -distribute-tasks -canonicalize -cse | FileCheck %s

// 2 of 4 heads share their keys: rows of a task are (token, head in group). Tasks of 48 rows are stolen, counted through the
// sequences; other tasks belong to another sequence, or do not exist.
// CHECK-LABEL: @causal(
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: !kernel.step, %[[Q:[a-z0-9]+]]: memref<?x64xf32>, %[[KV:[a-z0-9]+]]: !talc.kv_cache<2 x 16 x 128 in #kernel.kv_panels<16 x f32>>, %[[OUT:[a-z0-9]+]]: memref<?x64xf32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<-1.000000e+30> : vector<8xf32>
// CHECK-DAG: %[[STEEPNESS:.*]] = arith.constant dense<0.360673755> : vector<8xf32>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : vector<8xf32>
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<4x16x16xf32>
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<4x16x16xf32>
// CHECK: %[[FIRSTSEEN:.*]] = memref.alloca() : memref<48xindex>
// CHECK: %[[ENDSEEN:.*]] = memref.alloca() : memref<48xindex>
// CHECK: %[[SCORES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<48x80xf32>
// CHECK: %[[SUMS:.*]] = memref.alloca() {{.*}} : memref<48xf32>
// CHECK: %[[MAXIMA:.*]] = memref.alloca() {{.*}} : memref<48xf32>
// CHECK: %[[FACTORS:.*]] = memref.alloca() {{.*}} : memref<48xf32>
// CHECK: %[[GAINS:.*]] = memref.alloca() {{.*}} : memref<48xf32>
// CHECK: %[[BLOCKMAXIMA:.*]] = memref.alloca() {{.*}} : memref<48xf32>
// CHECK: %[[BLOCKSUMS:.*]] = memref.alloca() {{.*}} : memref<48xf32>
// CHECK: %[[P:.*]] = memref.alloca() {alignment = 64 : i64} : memref<48x16xf32>
// CHECK: %[[O:.*]] = memref.alloca() {alignment = 64 : i64} : memref<48x16xf32>
// CHECK: %[[N:.*]] = kernel.workers
// CHECK: %[[SPANS:.*]] = kernel.span_count
// CHECK: %[[TASKS:.*]] = scf.for %{{.*}} = %c0 to %[[SPANS]] step %c1 iter_args(%{{.*}} = %c0)
// CHECK: %[[PIECE:.*]] = kernel.begin_tasks %[[STEP]]
// CHECK: %[[FIRST:.*]] = kernel.next_task %[[STEP]], %[[PIECE]] of %[[TASKS]]
// CHECK: scf.while (%[[ANY:.*]] = %[[FIRST]])
// CHECK: %[[LEFT:.*]] = arith.cmpi ult, %[[ANY]], %[[TASKS]]
// CHECK: scf.condition(%[[LEFT]]) %[[ANY]]
// CHECK: ^bb0(%[[CLAIMED:.*]]: index):
// CHECK: scf.for %[[S:.*]] = %c0 to %[[SPANS]] step %c1 iter_args(%[[BEFORE:.*]] = %c0, %[[NEXT:.*]] = %[[CLAIMED]])
// CHECK: %first_token, %tokens, %[[POSITION:first_position]], %[[SLOT:slot]], %prefix, %source_slot, %source_length, %[[HISTORY:history]] = kernel.span %[[STEP]][%[[S]]]
// CHECK: %[[ROWBLOCKS:.*]] = arith.divui %{{.*}}, %c48
// The heads are tasks, unless the sequence has one row, all its keys in one slot, and there are four sequences or more
// for every worker.
// CHECK: %[[SEVERALROWS:.*]] = arith.cmpi sgt, %tokens, %c1
// CHECK: %[[FEW:.*]] = arith.cmpi slt, %[[SPANS]], %{{.*}}
// CHECK: %[[EITHER:.*]] = arith.ori %[[SEVERALROWS]], %[[FEW]]
// CHECK: %[[SHARED:.*]] = arith.cmpi sge, %[[HISTORY]], %c0
// CHECK: %[[BYHEADS:.*]] = arith.ori %[[EITHER]], %[[SHARED]]
// CHECK: %[[HEADTASKS:.*]] = arith.muli %[[ROWBLOCKS]], %c2
// CHECK: %[[ITSTASKS:.*]] = arith.select %[[BYHEADS]], %[[HEADTASKS]], %c1
// CHECK: scf.while (%[[NOW:.*]] = %[[NEXT]])
// CHECK: %[[PLACE:.*]] = arith.subi %[[NOW]], %[[BEFORE]]
// CHECK: %[[ITS:.*]] = arith.cmpi ult, %[[PLACE]], %[[ITSTASKS]]
// CHECK: scf.condition(%[[ITS]]) %[[NOW]]
// CHECK: ^bb0(%[[TASK:.*]]: index):
// CHECK: arith.subi %[[TASK]], %[[BEFORE]]
// CHECK: %[[ROW:.*]] = arith.muli %{{.*}}, %c48
// CHECK: %[[BLOCKROWS:.*]] = arith.minsi %{{.*}}, %c48
// CHECK: %[[HEADS:.*]] = arith.select %[[BYHEADS]], %c1, %c2
// CHECK: %[[ROW0:.*]] = arith.select %[[BYHEADS]], %[[ROW]], %c0
// CHECK: %[[ROWS:.*]] = arith.select %[[BYHEADS]], %[[BLOCKROWS]], %c4
// CHECK: %[[ONEHEAD:.*]] = arith.cmpi slt, %[[HEADS]], %c2
// CHECK: scf.if %[[ONEHEAD]]
// A row sees keys up to its position. Nothing is cleared: a tile's first keys begin P.
// CHECK: scf.for %[[R:.*]] = %c0 to %[[ROWS]] step %c1
// CHECK-NOT: vector.store
// CHECK: %[[AT:.*]] = arith.addi %[[POSITION]], %{{.*}}
// CHECK: %[[UPTO:.*]] = arith.addi %[[AT]], %c1
// CHECK: memref.store %[[UPTO]], %[[ENDSEEN]][%[[R]]]
// Keys up to those that the last row sees, in blocks of 64. The result of an earlier block is merged with the
// blocks before it, of which there are none before the second.
// CHECK: %[[BEGIN:.*]] = arith.muli %{{.*}}, %c64
// CHECK: %[[ENDKEY:.*]] = memref.load %[[ENDSEEN]]
// CHECK: %[[SECOND:.*]] = arith.addi %[[BEGIN]], %c64
// CHECK: %[[SEVERAL:.*]] = arith.cmpi slt, %[[SECOND]], %[[ENDKEY]]
// CHECK: %[[ONLY:.*]] = arith.cmpi sge, %[[SECOND]], %[[ENDKEY]]
// CHECK: scf.for %[[KEY:.*]] = %[[BEGIN]] to %[[ENDKEY]] step %c64
// CHECK: %[[LATER:.*]] = arith.cmpi slt, %[[BEGIN]], %[[KEY]]
// CHECK: scf.if %[[LATER]]
// CHECK: %[[ISTHIRD:.*]] = arith.cmpi slt, %[[SECOND]], %[[KEY]]
// CHECK: %[[OLD:.*]] = vector.load %[[O]]
// CHECK: %[[PART:.*]] = vector.load %[[P]]
// CHECK: memref.load %[[FACTORS]]
// CHECK: memref.load %[[GAINS]]
// CHECK: %[[KEPT:.*]] = arith.mulf %[[OLD]], %{{.*}} : vector
// CHECK: %[[BOTH:.*]] = vector.fma %[[PART]], %{{.*}}, %[[KEPT]]
// CHECK: %[[NOW:.*]] = arith.select %[[ISTHIRD]], %[[BOTH]], %[[PART]]
// CHECK: vector.store %[[NOW]], %[[O]]
// CHECK: vector.store %[[ZERO]], %[[P]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[ENDKEY]], %[[KEY]]
// CHECK: %[[COUNT:.*]] = arith.minsi %[[LEFT]], %c64
// CHECK: %[[K:.*]] = kernel.keys %[[STEP]], %[[KV]][%[[SLOT]]] : {{.*}} -> memref<8x2x16x16xf32>
// CHECK: %[[V:.*]] = kernel.values %[[STEP]], %[[KV]][%[[SLOT]]] : {{.*}} -> memref<8x2x16x16xf32>
// CHECK: %[[OWNK:.*]] = memref.reinterpret_cast %[[K]] to offset: [%{{.*}}], sizes: [4, 16, 16], strides: [512, 16, 1]
// CHECK: %[[OWNV:.*]] = memref.reinterpret_cast %[[V]] to offset: [%{{.*}}], sizes: [4, 16, 16], strides: [512, 16, 1]
// If some of the block's keys lie in other slots, they are gathered, each from its own.
// CHECK: %[[PAST:.*]] = arith.cmpi slt, %[[KEY]], %[[POSITION]]
// CHECK: %[[GATHERED:.*]] = arith.andi %[[SHARED]], %[[PAST]]
// CHECK: scf.if %[[GATHERED]]
// CHECK: %[[WHERE:.*]] = kernel.history %[[STEP]]
// CHECK: %[[FROM:.*]] = arith.select %{{.*}}, %[[WHERE]], %[[SLOT]]
// CHECK: kernel.keys %[[STEP]], %[[KV]][%[[FROM]]]
// CHECK: kernel.values %[[STEP]], %[[KV]][%[[FROM]]]
// CHECK: %[[KEYS:.*]] = arith.select %[[GATHERED]], %{{.*}}, %{{.*}} : memref<4x16x16xf32
// CHECK: %[[VALUES:.*]] = arith.select %[[GATHERED]], %{{.*}}, %{{.*}} : memref<4x16x16xf32
// Tiles of 6 rows, then a rest; a tile whose last row sees no key of the block is passed over, and leaves these.
// CHECK: vector.store %[[LOW]], %[[BLOCKMAXIMA]]
// CHECK: vector.store %[[ZERO]], %[[BLOCKSUMS]]
// CHECK: scf.for %[[CHUNK:.*]] = %c0 to %[[COUNT]] step %c64
// CHECK: scf.for %[[TILE:.*]] = %c0 to %{{.*}} step %c6 {{[{]}}
// CHECK: %[[LASTROW:.*]] = arith.addi %[[TILE]], %c5
// CHECK: %[[TILEEND:.*]] = memref.load %[[ENDSEEN]][%[[LASTROW]]]
// CHECK: %[[BEYOND:.*]] = arith.subi %[[TILEEND]], %[[KEY]]
// CHECK: %[[TO:.*]] = arith.minsi %{{.*}}, %[[BEYOND]]
// CHECK: %[[SEES:.*]] = arith.cmpi slt, %[[CHUNK]], %[[TO]]
// CHECK: scf.if %[[SEES]]
// Row m is head m % 2 of token m / 2. A tile of six rows takes one panel of 16 keys at a time.
// CHECK: %[[M:.*]] = arith.addi %[[ROW0]], %[[TILE]]
// CHECK: %[[TOKEN:.*]] = arith.divui %[[M]], %c2
// CHECK: %[[SOURCE:.*]] = arith.addi %{{.*}}, %[[TOKEN]]
// CHECK: %[[HEAD:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[QUERY:.*]] = memref.subview %[[Q]][%[[SOURCE]], %{{.*}}] [1, 16] [1, 1]
// CHECK-COUNT-5: memref.subview %[[Q]]
// CHECK: scf.index_switch
// CHECK-NEXT: case 0 {
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: case 1
// CHECK: vector.load %[[KEYS]][%{{.*}},
// CHECK: memref.load %[[QUERY]]
// CHECK: vector.store %{{.*}}, %[[SCORES]]
// CHECK: scf.index_switch
// Vectors of keys that the first row of a tile sees are not masked; of those behind, scores that a row does not see are
// the lowest, and weigh nothing. The rows of a tile go side by side.
// CHECK: scf.for %[[TILE:.*]] = %c0 to %{{.*}} step %c6 {{[{]}}
// CHECK: %[[SEENBYFIRST:.*]] = memref.load %[[ENDSEEN]][%[[TILE]]]
// CHECK: %[[VECTORS:.*]] = arith.divui %{{.*}}, %c8
// CHECK: %[[WHOLE:.*]] = arith.muli %[[VECTORS]], %c8
// CHECK: %[[LARGEST:.*]]:6 = scf.for %{{.*}} = %c0 to %[[WHOLE]] step %c8
// CHECK-NOT: vector.create_mask
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %[[WHOLE]] to %{{.*}} step %c8 iter_args(%{{.*}} = %[[LARGEST]]#0
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: arith.select %[[MASK]], %{{.*}}, %[[LOW]]
// CHECK: scf.yield
// The scale and log2 e are one factor of what is an exponent of two.
// CHECK: arith.mulf %{{.*}}, %[[STEEPNESS]]
// CHECK: %[[SUM:.*]]:6 = scf.for %{{.*}} = %c0 to %[[WHOLE]] step %c8
// CHECK: vector.fma %{{.*}}, %[[STEEPNESS]], %{{.*}}
// CHECK-NOT: arith.cmpf ugt
// CHECK-COUNT-6: math.exp2
// CHECK-NOT: math.exp
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %[[WHOLE]] to %{{.*}} step %c8 iter_args(%{{.*}} = %[[SUM]]#0
// CHECK: %[[WEIGHT:.*]] = math.exp2
// CHECK: %[[SEEN:.*]] = arith.cmpf ugt, %{{.*}}, %[[LOW]]
// CHECK: arith.select %[[SEEN]], %[[WEIGHT]], %[[ZERO]]
// CHECK: memref.store %{{.*}}, %[[BLOCKSUMS]]
// CHECK: memref.store %{{.*}}, %[[BLOCKMAXIMA]]
// CHECK: scf.index_switch
// Maxima and sums of 8 rows at a time take in those of the block.
// CHECK: scf.for %[[R:.*]] = %c0 to %[[ROWS]] step %c8 {{[{]}}
// CHECK: vector.load %[[MAXIMA]][%[[R]]]
// CHECK: vector.load %[[SUMS]][%[[R]]]
// CHECK: vector.load %[[BLOCKMAXIMA]][%[[R]]]
// CHECK: %[[BLOCKSUM:.*]] = vector.load %[[BLOCKSUMS]][%[[R]]]
// CHECK: %[[FACTOR:.*]] = math.exp2
// CHECK: %[[GAIN:.*]] = math.exp2
// CHECK: %[[SCALED:.*]] = arith.mulf %[[BLOCKSUM]], %[[GAIN]]
// CHECK: vector.fma %{{.*}}, %[[FACTOR]], %[[SCALED]]
// CHECK: vector.store %[[FACTOR]], %[[FACTORS]]
// CHECK: vector.store %[[GAIN]], %[[GAINS]]
// If there is no other block, sums are known now. A row that saw nothing yields zero.
// CHECK: scf.if %[[ONLY]]
// CHECK: %[[ANY:.*]] = arith.cmpf une, %[[TOTAL:.*]], %[[ZERO]]
// CHECK: %[[INVERSE:.*]] = arith.divf %[[ONE]], %[[TOTAL]]
// CHECK: arith.select %[[ANY]], %[[INVERSE]], %[[ZERO]]
// The weighted values add up in P, from zero on, and the tile's last keys of the only block write the result.
// CHECK: scf.for %[[CHUNK:.*]] = %c0 to %[[COUNT]] step %c64
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c6 {{[{]}}
// CHECK: %[[BEGINS:.*]] = arith.cmpi slt, %[[CHUNK]], %c1
// CHECK: %[[ENDS:.*]] = arith.andi %[[ONLY]], %{{.*}}
// CHECK: %[[STARTED:.*]]:{{[0-9]+}} = scf.if %[[BEGINS]]
// CHECK: scf.yield %[[ZERO]],
// CHECK: vector.load %[[P]]
// CHECK: iter_args(%{{.*}} = %[[STARTED]]#0,
// CHECK: memref.load %[[SCORES]]
// CHECK: scf.if %[[ENDS]]
// CHECK: arith.mulf
// CHECK: vector.store %{{.*}}, %[[OUT]]
// CHECK: } else {
// CHECK-NEXT: vector.store %{{.*}}, %[[P]]
// CHECK: scf.index_switch
// The others' last block is taken in at the end.
// CHECK: scf.if %[[SEVERAL]]
// CHECK: arith.divf %[[ONE]]
// CHECK: vector.load %[[O]]
// CHECK: vector.fma
// CHECK: vector.store %{{.*}}, %[[OUT]]
// The heads of a single token are rows of one task: each head's scores, all rows' weights, each head's values. Nothing is
// gathered.
// CHECK: } else {
// CHECK: scf.for %[[R:.*]] = %c0 to %c4 step %c1
// CHECK-NOT: kernel.history
// CHECK: scf.for %[[KEY:.*]] = %{{.*}} to %{{.*}} step %c64
// CHECK: kernel.keys %[[STEP]], %[[KV]][%[[SLOT]]]
// CHECK: memref.subview %[[Q]][%first_token,
// CHECK: vector.store %{{.*}}, %[[SCORES]]
// CHECK-COUNT-2: math.exp2
// CHECK: memref.store %{{.*}}, %[[BLOCKSUMS]]
// CHECK: vector.store %{{.*}}, %[[P]]
// CHECK-NOT: scf.index_switch
// CHECK: vector.store %{{.*}}, %[[OUT]]
// CHECK: %[[OTHER:.*]] = kernel.next_task %[[STEP]], %[[PIECE]] of %[[TASKS]]
// CHECK: scf.yield %[[OTHER]]
// CHECK: %[[BEHIND:.*]] = arith.addi %[[BEFORE]], %[[ITSTASKS]]
// CHECK: scf.yield %[[BEHIND]]
func.func @causal(%s: !kernel.step, %q: memref<?x64xf32>, %kv: !talc.kv_cache<2 x 16 x 128 in #kernel.kv_panels<16 x f32>>, %out: memref<?x64xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 4 scale 0.25 window 0 into %out : (!kernel.step, memref<?x64xf32>, !talc.kv_cache<2 x 16 x 128 in #kernel.kv_panels<16 x f32>>, memref<?x64xf32>) -> ()
  }
  return
}

// A window of 5: keys begin at the block of the first row's oldest key; every row masks keys on both sides. The first block
// may hold no key of a tile, so that P is cleared.
// CHECK-LABEL: @window(
// CHECK: vector.store %{{.*}} : memref<48x16xf32>
// CHECK: %[[OLDEST:.*]] = arith.subi %{{.*}}, %c4
// CHECK: %[[CLAMPED:.*]] = arith.maxsi %[[OLDEST]], %c0
// CHECK: memref.store %[[CLAMPED]], %[[FIRSTSEEN:.*]][
// CHECK: %[[OLDESTOFALL:.*]] = memref.load %[[FIRSTSEEN]][%c0]
// CHECK: %[[BLOCK:.*]] = arith.divui %[[OLDESTOFALL]], %c64
// CHECK: %[[BEGIN:.*]] = arith.muli %[[BLOCK]], %c64
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %{{.*}} step %c64
// CHECK: %[[UPTO:.*]] = vector.create_mask
// CHECK: %[[BEFORE:.*]] = vector.create_mask
// CHECK: %[[NOTBEFORE:.*]] = arith.xori %[[BEFORE]], %{{.*}}
// CHECK: %[[SEEN:.*]] = arith.andi %[[UPTO]], %[[NOTBEFORE]]
// CHECK: arith.select %[[SEEN]],
func.func @window(%s: !kernel.step, %q: memref<?x16xf32>, %kv: !talc.kv_cache<1 x 16 x 128 in #kernel.kv_panels<16 x f32>>, %out: memref<?x16xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 1 scale 0.25 window 5 into %out : (!kernel.step, memref<?x16xf32>, !talc.kv_cache<1 x 16 x 128 in #kernel.kv_panels<16 x f32>>, memref<?x16xf32>) -> ()
  }
  return
}

// Without a mask all rows see all keys of the sequence. Two key-value heads of width 12, padded to 16: only
// results are masked.
// CHECK-LABEL: @full_odd_width(
// CHECK-DAG: %[[FOUR:.*]] = arith.constant dense<[true, true, true, true, false, false, false, false]>
// CHECK-DAG: %[[O:.*]] = memref.alloca() {{.*}} : memref<48x16xf32>
// CHECK: kernel.next_task
// CHECK: %first_token, %[[LENGTH:tokens]], %[[POSITION:first_position]], %slot, {{.*}} = kernel.span
// CHECK: %[[BLOCKS:.*]] = arith.divui %{{.*}}, %c48
// CHECK: %[[TASKS:.*]] = arith.muli %[[BLOCKS]], %c2
// CHECK: %[[TASK:.*]] = arith.subi
// CHECK: %[[HEAD:.*]] = arith.divui %[[TASK]], %[[BLOCKS]]
// CHECK: %[[ALL:.*]] = arith.addi %[[POSITION]], %[[LENGTH]]
// CHECK: scf.if
// CHECK: memref.store %[[ALL]],
// CHECK: memref<8x2x12x16xf32>
// CHECK: memref<8x2x16x16xf32>
// CHECK-NOT: vector.maskedload
// CHECK-NOT: arith.xori
// CHECK: vector.maskedstore %{{.*}}, %[[FOUR]]
// CHECK: return
func.func @full_odd_width(%s: !kernel.step, %q: memref<?x24xf32>, %kv: !talc.kv_cache<2 x 12 x 128 in #kernel.kv_panels<16 x f32>>, %out: memref<?x24xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention full %s, %q, %kv heads 2 scale 0.25 window 0 into %out : (!kernel.step, memref<?x24xf32>, !talc.kv_cache<2 x 12 x 128 in #kernel.kv_panels<16 x f32>>, memref<?x24xf32>) -> ()
  }
  return
}

// A source: its own slot and length, all keys for every row, nothing gathered. Where it has no keys, the result is cleared.
// CHECK-LABEL: @source(
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?x16xf32>) {
// CHECK-NOT: memref<4x16x16xf32>
// CHECK: {{.*}}, %[[SLOT:source_slot]], %[[LENGTH:source_length]], %history = kernel.span
// CHECK: memref.store %[[LENGTH]], %[[ENDSEEN:.*]][
// CHECK: %[[FIRSTEND:.*]] = memref.load %[[ENDSEEN]][%c0]
// CHECK: %[[NONE:.*]] = arith.cmpi slt, %[[FIRSTEND]], %c1
// CHECK: scf.if %[[NONE]]
// CHECK: vector.store %{{.*}}, %[[OUT]]
// CHECK: kernel.keys %{{.*}}, %{{.*}}[%[[SLOT]]]
// CHECK-NOT: kernel.history
// CHECK: return
func.func @source(%s: !kernel.step, %q: memref<?x16xf32>, %kv: !talc.kv_cache<1 x 16 x 128, source in #kernel.kv_panels<16 x f32>>, %out: memref<?x16xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention full %s, %q, %kv heads 1 scale 0.25 window 0 into %out : (!kernel.step, memref<?x16xf32>, !talc.kv_cache<1 x 16 x 128, source in #kernel.kv_panels<16 x f32>>, memref<?x16xf32>) -> ()
  }
  return
}

// A prefix of the sequence sees itself whole; a window of 3 ends on both sides.
// CHECK-LABEL: @prefix_window(
// CHECK: %first_token, %tokens, %[[POSITION:first_position]], %slot, %[[PREFIX:prefix]], {{.*}} = kernel.span
// CHECK: %[[ALL:.*]] = arith.addi %[[POSITION]], %tokens
// CHECK: %[[UPTO:.*]] = arith.addi %[[LAST:.*]], %c1
// CHECK: %[[WHOLE:.*]] = arith.maxsi %[[UPTO]], %[[PREFIX]]
// CHECK: %[[SEEN:.*]] = arith.minsi %[[ALL]], %[[WHOLE]]
// CHECK: %[[AHEAD:.*]] = arith.addi %[[LAST]], %c3
// CHECK: %[[END:.*]] = arith.minsi %[[SEEN]], %[[AHEAD]]
// CHECK: memref.store %[[END]],
func.func @prefix_window(%s: !kernel.step, %q: memref<?x16xf32>, %kv: !talc.kv_cache<1 x 16 x 128 in #kernel.kv_panels<16 x f32>>, %out: memref<?x16xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention prefix %s, %q, %kv heads 1 scale 0.25 window 3 into %out : (!kernel.step, memref<?x16xf32>, !talc.kv_cache<1 x 16 x 128 in #kernel.kv_panels<16 x f32>>, memref<?x16xf32>) -> ()
  }
  return
}

// A bias for distances up to 127: column 127 + key - query of the row's head, read where the row sees a key.
// CHECK-LABEL: @bias(
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: memref<2x255xf32>
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<2.500000e-01> : vector<8xf32>
// CHECK-DAG: %[[LOG2E:.*]] = arith.constant dense<1.44269502> : vector<8xf32>
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: vector.create_mask
// CHECK: vector.load %[[BIAS]]
// CHECK: scf.yield
// CHECK: %[[SCORE:.*]] = vector.load
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: %[[MIDDLE:.*]] = arith.addi %{{.*}}, %c127
// CHECK: %[[COLUMN:.*]] = arith.subi %[[MIDDLE]],
// CHECK: %[[ADDED:.*]] = vector.maskedload %[[BIAS]][%{{.*}}, %[[COLUMN]]], %[[MASK]]
// CHECK: vector.fma %[[SCORE]], %[[SCALE]], %[[ADDED]]
// Scores are scaled where they get their bias, and not again.
// CHECK: arith.mulf %{{.*}}, %[[LOG2E]]
func.func @bias(%s: !kernel.step, %q: memref<?x32xf32>, %kv: !talc.kv_cache<1 x 16 x 128 in #kernel.kv_panels<16 x f32>>, %bias: memref<2x255xf32>, %out: memref<?x32xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv bias %bias heads 2 scale 0.25 window 0 into %out : (!kernel.step, memref<?x32xf32>, !talc.kv_cache<1 x 16 x 128 in #kernel.kv_panels<16 x f32>>, memref<2x255xf32>, memref<?x32xf32>) -> ()
  }
  return
}

// A scale that is not positive turns the largest score into the smallest: scores are scaled before that is looked for.
// CHECK-LABEL: @negative_scale(
// CHECK-DAG: %[[SCALE:.*]] = arith.constant dense<-2.500000e-01> : vector<8xf32>
// CHECK: scf.for {{.*}} iter_args
// CHECK: %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: vector.store %[[SCALED]]
// CHECK: arith.cmpf ogt, %[[SCALED]],
func.func @negative_scale(%s: !kernel.step, %q: memref<?x32xf32>, %kv: !talc.kv_cache<1 x 16 x 128 in #kernel.kv_panels<16 x f32>>, %out: memref<?x32xf32>) {
  kernel.tasks %s over queries by heads {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    kernel.attention causal %s, %q, %kv heads 2 scale -0.25 window 0 into %out : (!kernel.step, memref<?x32xf32>, !talc.kv_cache<1 x 16 x 128 in #kernel.kv_panels<16 x f32>>, memref<?x32xf32>) -> ()
  }
  return
}
