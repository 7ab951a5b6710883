// SPDX-License-Identifier: Apache-2.0
// convert-workgroups-to-nvvm: registers, barriers, shuffles, shared memory and functions of math.
// RUN: talc-opt %s -split-input-file -verify-diagnostics -convert-workgroups-to-nvvm | FileCheck %s

// CHECK: memref.global "private" @sum_shared_0 : memref<32xf32, 3> = uninitialized {alignment = 16 : i64}
// CHECK-LABEL: func.func @sum(
// CHECK: nvvm.read.ptx.sreg.tid.x : i32
// CHECK: memref.get_global @sum_shared_0 : memref<32xf32, 3>
// CHECK: nvvm.shfl.sync bfly %c-1_i32, %{{.*}}, %{{.*}}, %c31_i32 : f32 -> f32
// CHECK: nvvm.barrier0
// CHECK-NOT: gpu.
func.func @sum(%x: f32) -> f32 {
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %t = gpu.thread_id x
  %buffer = memref.alloca() : memref<32xf32, #gpu.address_space<workgroup>>
  %other, %valid = gpu.shuffle xor %x, %c16, %c32 : f32
  memref.store %other, %buffer[%t] : memref<32xf32, #gpu.address_space<workgroup>>
  gpu.barrier
  %y = memref.load %buffer[%t] : memref<32xf32, #gpu.address_space<workgroup>>
  return %y : f32
}

// -----

// CHECK-LABEL: func.func @math(
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.nvvm.ex2.approx.f32"
// CHECK-NOT: math.exp
// CHECK-NOT: math.tanh
// CHECK: llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"
// CHECK-NOT: math.erf
// CHECK-NOT: math.log
func.func @math(%x: f32) -> (f32, f32, f32, f32, f32) {
  %a = math.exp2 %x : f32
  %b = math.exp %x : f32
  %c = math.tanh %x : f32
  %d = math.erf %x : f32
  %f = math.log %x : f32
  return %a, %b, %c, %d, %f : f32, f32, f32, f32, f32
}

// -----

func.func @unknown(%x: f32) -> f32 {
  // expected-error @+1 {{has no instructions on NVIDIA GPUs}}
  %y = math.atan %x : f32
  return %y : f32
}

// -----

// A register holds a pair: two f16, or the 32 bits of two bf16.
// CHECK-LABEL: func.func @f16(
// CHECK: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[{{.*}}] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, f32)
func.func @f16(%a: vector<4x2xf16>, %b: vector<2x2xf16>, %c: vector<2x2xf32>) -> vector<2x2xf32> {
  %d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
  return %d : vector<2x2xf32>
}

// CHECK-LABEL: func.func @bf16(
// CHECK-COUNT-6: llvm.bitcast %{{.*}} : vector<2xbf16> to i32
// CHECK: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[{{.*}}] {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>{{.*}} : (i32, i32, f32)
func.func @bf16(%a: vector<4x2xbf16>, %b: vector<2x2xbf16>, %c: vector<2x2xf32>) -> vector<2x2xf32> {
  %d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
  return %d : vector<2x2xf32>
}

// -----

// Copies through L1 have 4, 8 or 16 bytes, from the number of their values.
// CHECK-LABEL: func.func @copies(
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 8, cache = ca
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = ca
func.func @copies(%x: memref<?x32xbf16>, %i: index) {
  %c0 = arith.constant 0 : index
  %bytes = memref.alloca() : memref<2048xi8, #gpu.address_space<workgroup>>
  %to = memref.view %bytes[%c0][] : memref<2048xi8, #gpu.address_space<workgroup>> to memref<64x16xbf16, #gpu.address_space<workgroup>>
  %two = nvgpu.device_async_copy %x[%i, %c0], %to[%i, %c0], 2 : memref<?x32xbf16> to memref<64x16xbf16, #gpu.address_space<workgroup>>
  %four = nvgpu.device_async_copy %x[%i, %c0], %to[%i, %c0], 4 : memref<?x32xbf16> to memref<64x16xbf16, #gpu.address_space<workgroup>>
  %eight = nvgpu.device_async_copy %x[%i, %c0], %to[%i, %c0], 8 : memref<?x32xbf16> to memref<64x16xbf16, #gpu.address_space<workgroup>>
  return
}

// -----

// A wait for copies is followed by a warp barrier. Buffers are views of the same bytes.
// CHECK: memref.global "private" @staged_shared_0 : memref<4096xi8, 3> = uninitialized {alignment = 16 : i64}
// CHECK-LABEL: func.func @staged(
// CHECK: memref.view %{{.*}} : memref<4096xi8, 3> to memref<64x16xbf16, 3>
// CHECK: llvm.inttoptr %{{.*}} : i64 to !llvm.ptr<3>
// CHECK: %[[TO:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, bf16
// CHECK: llvm.addrspacecast %{{.*}} : !llvm.ptr to !llvm.ptr<1>
// CHECK: %[[FROM:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
// CHECK: nvvm.cp.async.shared.global %[[TO]], %[[FROM]], 16, cache = cg
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 2
// CHECK: nvvm.bar.warp.sync %c-1_i32
// CHECK: nvvm.ldmatrix %{{.*}} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
// CHECK-NOT: nvgpu.
func.func @staged(%x: memref<?x32xbf16>, %i: index) -> vector<4x2xbf16> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %bytes = memref.alloca() : memref<4096xi8, #gpu.address_space<workgroup>>
  %stages = memref.view %bytes[%c0][] : memref<4096xi8, #gpu.address_space<workgroup>> to memref<64x16xbf16, #gpu.address_space<workgroup>>
  %copy = nvgpu.device_async_copy %x[%i, %c8], %stages[%i, %c8], 8 {bypassL1} : memref<?x32xbf16> to memref<64x16xbf16, #gpu.address_space<workgroup>>
  %group = nvgpu.device_async_create_group
  nvgpu.device_async_wait %group {numGroups = 2 : i32}
  %a = nvgpu.ldmatrix %stages[%i, %c0] {numTiles = 4 : i32, transpose = false} : memref<64x16xbf16, #gpu.address_space<workgroup>> -> vector<4x2xbf16>
  return %a : vector<4x2xbf16>
}
