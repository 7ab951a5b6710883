// SPDX-License-Identifier: Apache-2.0
// convert-buffers-to-addresses: where in memory, and in StepTables, kernels look.
// RUN: talc-opt %s -split-input-file -verify-diagnostics -convert-buffers-to-addresses -canonicalize | FileCheck %s

// Places in a small buffer have 32 bits; of one whose size nobody knows 64. What a type does not tell is an argument.
// CHECK-LABEL: func.func @buffers(
// CHECK-SAME: %[[X:.*]]: i64, %[[Y:.*]]: i64, %[[ROWS:.*]]: i64, %[[STRIDE:.*]]: i64, %[[I:.*]]: i64)
// CHECK: %[[AT:.*]] = arith.muli %{{.*}}, %c4 : index
// CHECK: %[[BYTES:.*]] = arith.index_castui %[[AT]] : index to i64
// CHECK: %[[PLACE:.*]] = arith.addi %[[X]], %[[BYTES]] : i64
// CHECK: %[[P:.*]] = spirv.ConvertUToPtr %[[PLACE]] : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
// CHECK: %[[V:.*]] = spirv.Load "PhysicalStorageBuffer" %[[P]] ["Aligned", 4] : f32
// CHECK: arith.muli %{{.*}}, %[[STRIDE]] : i64
// CHECK: %[[Q:.*]] = spirv.ConvertUToPtr
// CHECK: spirv.Store "PhysicalStorageBuffer" %[[Q]], %[[V]] ["Aligned", 4] : f32
func.func @buffers(%x: memref<4x8xf32>, %y: memref<?x16xf32, strided<[?, 1]>>, %i: index) {
  %v = memref.load %x[%i, %i] : memref<4x8xf32>
  memref.store %v, %y[%i, %i] : memref<?x16xf32, strided<[?, 1]>>
  return
}

// -----

// 2 GiB and more, with an offset.
// CHECK-LABEL: func.func @large(
// CHECK-DAG: %[[OFFSET:.*]] = arith.constant 5 : i64
// CHECK-DAG: %[[WIDTH:.*]] = arith.constant 1024 : i64
// CHECK: arith.muli %{{.*}}, %[[WIDTH]] : i64
func.func @large(%x: memref<524288x1024xf32, strided<[1024, 1], offset: 5>>, %i: index, %v: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%i, %i] : memref<524288x1024xf32, strided<[1024, 1], offset: 5>>
  memref.store %a, %v[%c0] : memref<1xf32>
  return
}

// -----

// CHECK-LABEL: func.func @size(
// CHECK-SAME: %{{.*}}: i64, %[[N:.*]]: i64, %{{.*}}: i64)
// CHECK: arith.index_castui %[[N]] : i64 to index
func.func @size(%x: memref<?x8xf32>, %out: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %word = arith.index_cast %n : index to i32
  memref.store %word, %out[%c0] : memref<1xi32>
  return
}

// -----

// Vectors are loaded and stored whole.
// CHECK-LABEL: func.func @vectors(
// CHECK: %[[B:.*]] = spirv.Load {{.*}} ["Aligned", 2] : vector<4xi16>
// CHECK: arith.extui %[[B]] : vector<4xi16> to vector<4xi32>
// CHECK: spirv.Store {{.*}} ["Aligned", 4] : vector<4xf32>
// CHECK-NOT: bf16
func.func @vectors(%x: memref<8xbf16>, %i: index, %out: memref<8xf32>) {
  %a = vector.load %x[%i] : memref<8xbf16>, vector<4xbf16>
  %b = arith.extf %a : vector<4xbf16> to vector<4xf32>
  vector.store %b, %out[%i] : memref<8xf32>, vector<4xf32>
  return
}

// -----

// bf16 is the upper half of an f32.
// CHECK-LABEL: func.func @halves(
// CHECK: %[[A:.*]] = spirv.Load {{.*}} ["Aligned", 2] : f16
// CHECK: arith.extf %[[A]] : f16 to f32
// CHECK: %[[B:.*]] = spirv.Load {{.*}} ["Aligned", 2] : i16
// CHECK: %[[WORD:.*]] = arith.extui %[[B]] : i16 to i32
// CHECK: arith.shli %[[WORD]], %c16_i32 : i32
// CHECK: %[[ROUNDED:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i16
// CHECK: spirv.Store "PhysicalStorageBuffer" %{{.*}}, %[[ROUNDED]] ["Aligned", 2] : i16
// CHECK-NOT: bf16
func.func @halves(%x: memref<8xf16>, %y: memref<8xbf16>, %i: index, %out: memref<8xf32>) {
  %a = memref.load %x[%i] : memref<8xf16>
  %b = arith.extf %a : f16 to f32
  memref.store %b, %out[%i] : memref<8xf32>
  %c = memref.load %y[%i] : memref<8xbf16>
  %d = arith.extf %c : bf16 to f32
  memref.store %d, %out[%i] : memref<8xf32>
  %e = arith.truncf %b : f32 to bf16
  memref.store %e, %y[%i] : memref<8xbf16>
  return
}

// -----

// Bytes of a block that are bf16 are its bits.
// CHECK-LABEL: func.func @bytes(
// CHECK: %[[BYTES:.*]] = spirv.Load {{.*}} : vector<4xi8>
// CHECK: %[[B:.*]] = vector.bitcast %[[BYTES]] : vector<4xi8> to vector<2xi16>
// CHECK: arith.extui %[[B]] : vector<2xi16> to vector<2xi32>
// CHECK-NOT: bf16
func.func @bytes(%x: memref<66xi8>, %i: index, %out: memref<8xf32>) {
  %a = vector.load %x[%i] : memref<66xi8>, vector<4xi8>
  %b = vector.bitcast %a : vector<4xi8> to vector<2xbf16>
  %c = arith.extf %b : vector<2xbf16> to vector<2xf32>
  vector.store %c, %out[%i] : memref<8xf32>, vector<2xf32>
  return
}

// -----

// Memory of the workgroup has no address.
// CHECK-LABEL: func.func @shared(
// CHECK: memref.store %{{.*}} : memref<32xf32, #gpu.address_space<workgroup>>
// CHECK: memref.load %{{.*}} : memref<32xf32, #gpu.address_space<workgroup>>
func.func @shared(%i: index, %x: memref<8xf32>) {
  %v = memref.load %x[%i] : memref<8xf32>
  %b = memref.alloca() : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %v, %b[%i] : memref<32xf32, #gpu.address_space<workgroup>>
  %w = memref.load %b[%i] : memref<32xf32, #gpu.address_space<workgroup>>
  memref.store %w, %x[%i] : memref<8xf32>
  return
}

// -----

// Word 2 of the tables is the place of the ids.
// CHECK-LABEL: func.func @id(
// CHECK-SAME: %[[S:[a-z0-9]+]]: i64
// CHECK: %[[AT:.*]] = arith.addi %[[S]], %c8_i64 : i64
// CHECK: spirv.ConvertUToPtr %[[AT]] : i64 to !spirv.ptr<i32, PhysicalStorageBuffer>
// CHECK: spirv.Load
// CHECK: spirv.Load
func.func @id(%s: !kernel.step, %t: index, %out: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %id = kernel.id %s[%t]
  %word = arith.index_cast %id : index to i32
  memref.store %word, %out[%c0] : memref<1xi32>
  return
}

// -----

// Values lie behind the keys: 64 tokens of 16 f32. Slots are counted in 64 bits.
// CHECK-LABEL: func.func @state(
// CHECK-DAG: %[[SLOT:.*]] = arith.constant 12288 : i64
// CHECK-DAG: %[[KEYS:.*]] = arith.constant 4096 : i64
// CHECK: %[[MINE:.*]] = arith.muli %{{.*}}, %[[SLOT]] : i64
// CHECK: arith.addi %[[MINE]], %[[KEYS]] : i64
module attributes {talc.plan = {state_bytes_per_slot = 12288 : i64}} {
  func.func @state(%s: !kernel.step, %kv: !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %slot: index, %p: index, %out: memref<1xf32>) {
    %c0 = arith.constant 0 : index
    %values = kernel.values %s, %kv[%slot] : !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>> -> memref<4x1x16x16xf32>
    %v = memref.load %values[%p, %p, %p, %p] : memref<4x1x16x16xf32>
    memref.store %v, %out[%c0] : memref<1xf32>
    return
  }
}

// -----

func.func @thread(%s: !kernel.step) {
  // expected-error @+1 {{has no meaning in a workgroup}}
  %t = kernel.worker %s
  return
}

// -----

func.func @stack(%i: index, %v: f32) {
  %b = memref.alloca() : memref<32xf32>
  // expected-error @+1 {{reads or writes a buffer that is not passed to the kernel}}
  memref.store %v, %b[%i] : memref<32xf32>
  return
}
