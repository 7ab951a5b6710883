// SPDX-License-Identifier: Apache-2.0
// convert-workgroups-to-spirv: a module with one entry point, whose arguments lie where its push constant says.
// RUN: talc-opt %s -split-input-file -verify-diagnostics -convert-workgroups-to-spirv | FileCheck %s

// Only what is used is loaded; the workgroup's memory is a variable; sums and products stay as they are.
// CHECK: spirv.module @sum PhysicalStorageBuffer64 GLSL450 attributes {kernel.launch = #kernel.launch<threads = 64, grid = <plus = 1>, argument_count = 2>
// CHECK-DAG: spirv.GlobalVariable @[[BLOCK:.*]] built_in("WorkgroupId")
// CHECK-DAG: spirv.GlobalVariable @[[THREAD:.*]] built_in("LocalInvocationId")
// CHECK-DAG: spirv.GlobalVariable @arguments : !spirv.ptr<!spirv.struct<(i64 [0])>, PushConstant>
// CHECK-DAG: spirv.GlobalVariable @shared_0 : !spirv.ptr<!spirv.array<64 x f32>, Workgroup>
// CHECK: spirv.func @sum() "None" {
// CHECK: %[[BEGIN:.*]] = spirv.Load "PushConstant"
// CHECK-COUNT-1: spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 8] : i64
// CHECK-NOT: ["Aligned", 8]
// CHECK: spirv.mlir.loop
// CHECK: spirv.FMul %{{.*}} {no_contraction} : f32
// CHECK-NOT: spirv.Select
// CHECK: spirv.Store "Workgroup"
// CHECK: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory>
// CHECK: spirv.EntryPoint "GLCompute" @sum, @[[BLOCK]], @[[THREAD]]
// CHECK: spirv.ExecutionMode @sum "LocalSize", 64, 1, 1
func.func @sum(%x: i64, %unused: i64) attributes {kernel.launch = #kernel.launch<threads = 64, grid = <plus = 1>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %t = gpu.thread_id x
  %b = gpu.block_id x
  %shared = memref.alloca() : memref<64xf32, #gpu.address_space<workgroup>>
  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero) -> f32 {
    %p = arith.mulf %s, %s : f32
    scf.yield %p : f32
  }
  memref.store %sum, %shared[%t] : memref<64xf32, #gpu.address_space<workgroup>>
  gpu.barrier
  %v = memref.load %shared[%b] : memref<64xf32, #gpu.address_space<workgroup>>
  %to = spirv.ConvertUToPtr %x : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
  spirv.Store "PhysicalStorageBuffer" %to, %v ["Aligned", 4] : f32
  return
}

// -----

// A loop may have no rounds: its results are then what they began as.
// CHECK: spirv.module @rounds
// CHECK: spirv.mlir.loop
// CHECK: %[[FOUND:.*]] = spirv.Load "Function"
// CHECK: %[[SOME:.*]] = spirv.SGreaterThan
// CHECK: spirv.Select %[[SOME]], %[[FOUND]], %{{.*}} : i1, f32
func.func @rounds(%x: i64, %n: i64) attributes {kernel.launch = #kernel.launch<threads = 64, grid = <plus = 1>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %end = arith.index_castui %n : i64 to index
  %sum = scf.for %i = %c0 to %end step %c1 iter_args(%s = %zero) -> f32 {
    %p = arith.addf %s, %s : f32
    scf.yield %p : f32
  }
  %to = spirv.ConvertUToPtr %x : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
  spirv.Store "PhysicalStorageBuffer" %to, %sum ["Aligned", 4] : f32
  return
}

// -----

// expected-error @+1 {{has no workgroups}}
func.func @host(%x: i64) {
  return
}

// -----

// CHECK: func.func private @declared(i64)
func.func private @declared(i64)
