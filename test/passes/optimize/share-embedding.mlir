// SPDX-License-Identifier: Apache-2.0
// share-embedding: a tied table is read in its packed form, any other one is stored in its format.
// RUN: talc-opt %s -share-embedding | FileCheck %s
// RUN: talc-opt %s -assign-formats=weights=f32 -share-embedding | FileCheck %s --check-prefix=F32

talc.weight @wte : tensor<80x32xf32> = #talc.file<"m", 0, bf16>
talc.weight @head : tensor<80x32xf32> = #talc.file<"m", 8192, bf16>
talc.weight @other : tensor<80x32xf32> = #talc.file<"m", 32768, bf16>
talc.weight @full : tensor<80x32xf32> = #talc.file<"m", 16384, f32>

// CHECK-LABEL: @tied
// CHECK: %[[WTE:.*]] = talc.get_weight @wte
// CHECK: %[[P:.*]] = talc.derive #talc.pack of(%[[WTE]]) : (tensor<80x32xf32>) -> tensor<5x32x16xbf16>
// CHECK: talc.embedding %arg0, %[[P]]
// F32-LABEL: @tied
// F32: talc.embedding {{.*}} tensor<5x32x16xbf16>
func.func @tied(%ids: tensor<?xi32>) -> tensor<?x80xf32> {
  %wte = talc.get_weight @wte : tensor<80x32xf32>
  %x = talc.embedding %ids, %wte : (tensor<?xi32>, tensor<80x32xf32>) -> tensor<?x32xf32>
  %again = talc.get_weight @wte : tensor<80x32xf32>
  %p = talc.derive #talc.pack of (%again) : (tensor<80x32xf32>) -> tensor<5x32x16xbf16>
  %y = talc.linear %x, %p : (tensor<?x32xf32>, tensor<5x32x16xbf16>) -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>
}

// CHECK-LABEL: @untied
// CHECK: %[[C:.*]] = talc.derive #talc.convert of(%{{.*}}) : (tensor<80x32xf32>) -> tensor<80x32xbf16>
// CHECK: talc.embedding %arg0, %[[C]]
// F32-LABEL: @untied
// F32-NOT: convert
func.func @untied(%ids: tensor<?xi32>) -> tensor<?x80xf32> {
  %wte = talc.get_weight @other : tensor<80x32xf32>
  %x = talc.embedding %ids, %wte : (tensor<?xi32>, tensor<80x32xf32>) -> tensor<?x32xf32>
  %head = talc.get_weight @head : tensor<80x32xf32>
  %p = talc.derive #talc.pack of (%head) : (tensor<80x32xf32>) -> tensor<5x32x16xbf16>
  %y = talc.linear %x, %p : (tensor<?x32xf32>, tensor<5x32x16xbf16>) -> tensor<?x80xf32>
  return %y : tensor<?x80xf32>
}

// CHECK-LABEL: @wide
// CHECK-NOT: talc.derive
func.func @wide(%ids: tensor<?xi32>) -> tensor<?x32xf32> {
  %wide = talc.get_weight @full : tensor<80x32xf32>
  %x = talc.embedding %ids, %wide : (tensor<?xi32>, tensor<80x32xf32>) -> tensor<?x32xf32>
  return %x : tensor<?x32xf32>
}

// CHECK-LABEL: @packed_already
// CHECK-NOT: talc.derive
func.func @packed_already(%ids: tensor<?xi32>, %table: tensor<5x32x16xbf16>) -> tensor<?x32xf32> {
  %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<5x32x16xbf16>) -> tensor<?x32xf32>
  return %x : tensor<?x32xf32>
}

// An encoder embeds with the table that its decoder projects with.
// CHECK-LABEL: @encoder
// CHECK: talc.embedding {{.*}} tensor<5x32x16xbf16>
func.func @encoder(%ids: tensor<?xi32>) -> tensor<?x32xf32> {
  %wte = talc.get_weight @wte : tensor<80x32xf32>
  %x = talc.embedding %ids, %wte : (tensor<?xi32>, tensor<80x32xf32>) -> tensor<?x32xf32>
  return %x : tensor<?x32xf32>
}
