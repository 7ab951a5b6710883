// SPDX-License-Identifier: Apache-2.0
// expand-math: exp, exp2, tanh and erf of f32 vectors of any length become polynomials; other functions and types stay. How
// precise they are is checked in test/numerics.
// RUN: talc-opt %s -expand-math | FileCheck %s
// RUN: talc-opt %s -expand-math=scalars=true | FileCheck %s --check-prefix=SCALARS

// exp: clamp (NaN passes), split into n and r, six coefficients, n into the exponent.
// CHECK-LABEL: @exp(
// CHECK-SAME: %[[X:.*]]: vector<16xf32>
// CHECK-DAG: %[[MIN:.*]] = arith.constant dense<-87.3365{{.*}}> : vector<16xf32>
// CHECK-DAG: %[[MAX:.*]] = arith.constant dense<88.3762{{.*}}> : vector<16xf32>
// CHECK-DAG: %[[SHIFT:.*]] = arith.constant dense<0x4B400000> : vector<16xf32>
// CHECK-DAG: %[[PLACES:.*]] = arith.constant dense<23> : vector<16xi32>
// CHECK: arith.cmpf olt, %[[X]], %[[MIN]]
// CHECK: %[[A:.*]] = arith.select %{{.*}}, %[[MIN]], %[[X]]
// CHECK: arith.cmpf ogt, %[[A]], %[[MAX]]
// CHECK: %[[B:.*]] = arith.select %{{.*}}, %[[MAX]], %[[A]]
// CHECK: %[[N:.*]] = vector.fma %[[B]], %{{.*}}, %[[SHIFT]]
// CHECK-COUNT-8: vector.fma
// CHECK-NOT: vector.fma
// CHECK: arith.bitcast %[[N]] : vector<16xf32> to vector<16xi32>
// CHECK: arith.shli %{{.*}}, %[[PLACES]]
// CHECK: arith.addi
// CHECK: %[[Y:.*]] = arith.bitcast %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK: return %[[Y]]
func.func @exp(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x : vector<16xf32>
  return %y : vector<16xf32>
}

// exp2: the same around powers of two, where r needs no multiplication.
// CHECK-LABEL: @exp2(
// CHECK-SAME: %[[X:.*]]: vector<8xf32>
// CHECK-DAG: %[[MIN:.*]] = arith.constant dense<-1.260000e+02> : vector<8xf32>
// CHECK-DAG: %[[MAX:.*]] = arith.constant dense<1.275000e+02> : vector<8xf32>
// CHECK-DAG: %[[SHIFT:.*]] = arith.constant dense<0x4B400000> : vector<8xf32>
// CHECK: %[[A:.*]] = arith.select %{{.*}}, %[[MIN]], %[[X]]
// CHECK: %[[B:.*]] = arith.select %{{.*}}, %[[MAX]], %[[A]]
// CHECK: %[[SHIFTED:.*]] = arith.addf %[[B]], %[[SHIFT]]
// CHECK: %[[N:.*]] = arith.subf %[[SHIFTED]], %[[SHIFT]]
// CHECK: %[[R:.*]] = arith.subf %[[B]], %[[N]]
// CHECK-COUNT-6: vector.fma %{{.*}}, %[[R]]
// CHECK-NOT: vector.fma
// CHECK: arith.bitcast %[[SHIFTED]]
// CHECK: return
func.func @exp2(%x: vector<8xf32>) -> vector<8xf32> {
  %y = math.exp2 %x : vector<8xf32>
  return %y : vector<8xf32>
}

// CHECK-LABEL: @tanh_erf(
// CHECK-NOT: math.tanh
// CHECK-NOT: math.erf
// CHECK: return
func.func @tanh_erf(%x: vector<8xf32>) -> (vector<8xf32>, vector<8xf32>) {
  %y = math.tanh %x : vector<8xf32>
  %z = math.erf %x : vector<8xf32>
  return %y, %z : vector<8xf32>, vector<8xf32>
}

// CHECK-LABEL: @others(
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: math.exp %{{.*}} : f32
// CHECK-NEXT: math.exp %{{.*}} : vector<4xf64>
// CHECK-NEXT: math.exp %{{.*}} : vector<2x4xf32>
// CHECK-NEXT: return
func.func @others(%x: vector<8xf32>, %y: f32, %z: vector<4xf64>, %w: vector<2x4xf32>) -> (vector<8xf32>, f32, vector<4xf64>, vector<2x4xf32>) {
  %0 = math.sqrt %x : vector<8xf32>
  %1 = math.exp %y : f32
  %2 = math.exp %z : vector<4xf64>
  %3 = math.exp %w : vector<2x4xf32>
  return %0, %1, %2, %3 : vector<8xf32>, f32, vector<4xf64>, vector<2x4xf32>
}

// The threads of a workgroup have scalars.
// CHECK-LABEL: @thread(
// CHECK: math.exp %
// SCALARS-LABEL: @thread(
// SCALARS-NOT: math.exp
// SCALARS-NOT: vector
// SCALARS: arith.shli %{{.*}}, %c23_i32 : i32
func.func @thread(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// Rounding to bf16 is done by integers, whether of vectors or scalars; conversion to f32 is left to LLVM, and so is f16.
// CHECK-LABEL: @round(
// CHECK-SAME: %[[X:.*]]: vector<8xf32>, %[[Y:.*]]: f32
// CHECK: %[[BITS:.*]] = arith.bitcast %[[X]] : vector<8xf32> to vector<8xi32>
// CHECK: arith.bitcast %{{.*}} : vector<8xi16> to vector<8xbf16>
// CHECK: arith.bitcast %[[Y]] : f32 to i32
// CHECK: arith.bitcast %{{.*}} : i16 to bf16
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
// CHECK: arith.extf %{{.*}} : vector<8xbf16> to vector<8xf32>
func.func @round(%x: vector<8xf32>, %y: f32) -> (vector<8xbf16>, bf16, vector<8xf16>, vector<8xf32>) {
  %0 = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  %1 = arith.truncf %y : f32 to bf16
  %2 = arith.truncf %x : vector<8xf32> to vector<8xf16>
  %3 = arith.extf %0 : vector<8xbf16> to vector<8xf32>
  return %0, %1, %2, %3 : vector<8xbf16>, bf16, vector<8xf16>, vector<8xf32>
}
