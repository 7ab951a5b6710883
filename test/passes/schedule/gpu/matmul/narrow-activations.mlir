// SPDX-License-Identifier: Apache-2.0
// Rows that only matmuls with MMA instructions read are noted as stored in 16 bits; whatever else reads them leaves
// them. Two buffers at the same place, one after the other, stay two.
// RUN: talc-opt %s -cse -narrow-activations --remarks-filter=schedule 2> %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARKS < %t
// RUN: talc-opt %s -narrow-activations | talc-opt -narrow-activations | FileCheck %s

// CHECK: func.func @step(
// CHECK: kernel.arena {{.*}} at 0 {{.*}}kernel.narrowed = bf16
// CHECK: kernel.arena {{.*}} at 0
// CHECK-NOT: kernel.narrowed
// CHECK: func.func private @norm_0({{.*}}memref<?x64xf32>, {{.*}}memref<64xf32>, {{.*}}memref<?x64xf32> {kernel.narrowed = bf16})
// CHECK: func.func private @matmul_1({{.*}}memref<?x64xf32> {kernel.narrowed = bf16}, %{{.*}}: memref<1x64x64xbf16>, %{{.*}}: memref<?x64xf32>)
// CHECK: func.func private @norm_2(
// CHECK-NOT: kernel.narrowed
// REMARKS: narrow-activations{{.*}}Function=norm_0{{.*}}argument 3 is read by tensor cores only: stored as bf16
// REMARKS: narrow-activations{{.*}}Function=matmul_1{{.*}}argument 1
// REMARKS-NOT: Function=norm_2
// REMARKS-NOT: Function=matmul_3
module {
  func.func @step(%s: !kernel.step, %x: memref<?x64xf32>, %scale: memref<64xf32>, %w: memref<1x64x64xbf16>, %wide: memref<1x64x64xf32>, %y: memref<?x64xf32>, %z: memref<?x64xf32>) {
    %rows = kernel.token_count %s
    %read = kernel.arena %s rows %rows at 0 plus 0 by_worker 0 : memref<?x64xf32>
    %other = kernel.arena %s rows %rows at 0 plus 0 by_worker 0 : memref<?x64xf32>
    call @norm_0(%s, %x, %scale, %read) : (!kernel.step, memref<?x64xf32>, memref<64xf32>, memref<?x64xf32>) -> ()
    call @matmul_1(%s, %read, %w, %y) : (!kernel.step, memref<?x64xf32>, memref<1x64x64xbf16>, memref<?x64xf32>) -> ()
    call @norm_2(%s, %x, %scale, %other) : (!kernel.step, memref<?x64xf32>, memref<64xf32>, memref<?x64xf32>) -> ()
    call @matmul_3(%s, %other, %wide, %z) : (!kernel.step, memref<?x64xf32>, memref<1x64x64xf32>, memref<?x64xf32>) -> ()
    return
  }
  func.func private @norm_0(%s: !kernel.step, %x: memref<?x64xf32>, %scale: memref<64xf32>, %y: memref<?x64xf32>) attributes {kernel.op = "norm"} {
    kernel.norm rms %s, %x, %scale epsilon 1.000000e-05 groups 1 into %y : (!kernel.step, memref<?x64xf32>, memref<64xf32>, memref<?x64xf32>) -> ()
    return
  }
  func.func private @matmul_1(%s: !kernel.step, %x: memref<?x64xf32>, %w: memref<1x64x64xbf16>, %y: memref<?x64xf32>) attributes {kernel.op = "matmul"} {
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x64xf32>, memref<1x64x64xbf16>, memref<?x64xf32>) -> ()
    return
  }
  func.func private @norm_2(%s: !kernel.step, %x: memref<?x64xf32>, %scale: memref<64xf32>, %y: memref<?x64xf32>) attributes {kernel.op = "norm"} {
    kernel.norm rms %s, %x, %scale epsilon 1.000000e-05 groups 1 into %y : (!kernel.step, memref<?x64xf32>, memref<64xf32>, memref<?x64xf32>) -> ()
    return
  }
  func.func private @matmul_3(%s: !kernel.step, %x: memref<?x64xf32>, %w: memref<1x64x64xf32>, %y: memref<?x64xf32>) attributes {kernel.op = "matmul"} {
    kernel.matmul %s, %x, %w into %y {
    ^bb0(%sum: f32):
      kernel.yield %sum : f32
    } : (!kernel.step, memref<?x64xf32>, memref<1x64x64xf32>, memref<?x64xf32>) -> ()
    return
  }
}
