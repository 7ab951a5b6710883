// SPDX-License-Identifier: Apache-2.0
// The verifiers refuse ops that pick rows or features which their operands do not have.
// RUN: talc-opt %s -split-input-file -verify-diagnostics

func.func @embedding_width(%ids: tensor<?xi32>, %table: tensor<10x4xf32>) {
  // expected-error @+1 {{'talc.embedding' op width of the result is 5, expected 4}}
  %0 = talc.embedding %ids, %table : (tensor<?xi32>, tensor<10x4xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @embedding_rank(%ids: tensor<?xi32>, %table: tensor<10xf32>) {
  // expected-error @+1 {{'talc.embedding' op has the table 'tensor<10xf32>', expected a matrix or panels}}
  %0 = talc.embedding %ids, %table : (tensor<?xi32>, tensor<10xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @embedding_rows(%ids: tensor<3xi32>, %table: tensor<10x4xf32>) {
  // expected-error @+1 {{'talc.embedding' op row count of the result is 2, expected 3}}
  %0 = talc.embedding %ids, %table : (tensor<3xi32>, tensor<10x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @position_offset(%s: !talc.sequences, %table: tensor<10x4xf32>) {
  // expected-error @+1 {{'talc.position' op has the negative offset -1}}
  %0 = talc.position %s, %table {offset = -1 : i64} : tensor<10x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @position_width(%s: !talc.sequences, %table: tensor<10x4xf32>) {
  // expected-error @+1 {{'talc.position' op width of the result is 5, expected 4}}
  %0 = talc.position %s, %table : tensor<10x4xf32> -> tensor<?x5xf32>
  return
}

// -----

func.func @token_type_width(%s: !talc.sequences, %table: tensor<2x4xf32>) {
  // expected-error @+1 {{'talc.token_type' op width of the result is 5, expected 4}}
  %0 = talc.token_type %s, %table : tensor<2x4xf32> -> tensor<?x5xf32>
  return
}

// -----

func.func @token_type_table(%s: !talc.sequences, %table: tensor<4xf32>) {
  // expected-error @+1 {{'talc.token_type' op operand #1 must be a matrix of known size}}
  %0 = talc.token_type %s, %table : tensor<4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @select_output(%x: tensor<?x4xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.select' op is for the negative output -1}}
  %0 = talc.select %x, %s {output = -1 : i64} : tensor<?x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @select_width(%x: tensor<?x4xf32>, %s: !talc.sequences) {
  // expected-error @+1 {{'talc.select' op width of the result is 5, expected 4}}
  %0 = talc.select %x, %s : tensor<?x4xf32> -> tensor<?x5xf32>
  return
}

// -----

func.func @slice_end(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.slice' op takes 4 features from 5 on, of 8}}
  %0 = talc.slice %x at 5 : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @slice_begin(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.slice' op takes 4 features from -1 on, of 8}}
  %0 = talc.slice %x at -1 : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @slice_rows(%x: tensor<3x8xf32>) {
  // expected-error @+1 {{'talc.slice' op row count of the result is 2, expected 3}}
  %0 = talc.slice %x at 0 : tensor<3x8xf32> -> tensor<2x8xf32>
  return
}

// -----

// The sum of offset and width must not wrap around.
func.func @slice_far(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.slice' op takes 4 features from 9223372036854775807 on, of 8}}
  %0 = talc.slice %x at 9223372036854775807 : tensor<?x8xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @unknown_width(%x: tensor<?x?xf32>) {
  // expected-error @+1 {{'talc.add' op operand #0 must be activations [tokens, features] of f32 with a known number of features}}
  %0 = talc.add %x, %x : tensor<?x?xf32>
  return
}

// -----

func.func @position_padding(%s: !talc.sequences, %table: tensor<10x4xf32>, %ids: tensor<?xi32>) {
  // expected-error @+1 {{'talc.position' op has padding, expected an offset of at least 1 and as many token ids as rows}}
  %0 = talc.position %s, %table of %ids : tensor<?xi32> without 1 : tensor<10x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @position_padding_alone(%s: !talc.sequences, %table: tensor<10x4xf32>) {
  // expected-error @+1 {{'talc.position' op has token ids or the id of padding, expected both or neither}}
  %0 = talc.position %s, %table {offset = 2 : i64, padding = 1 : i64} : tensor<10x4xf32> -> tensor<?x4xf32>
  return
}

// -----

func.func @clusters(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.log_softmax' op has a cluster from 3 on, expected ascending numbers between 0 and 6}}
  %0 = talc.log_softmax %x tails [4, 3] : tensor<?x8xf32> -> tensor<?x6xf32>
  return
}

// -----

func.func @cluster_scores(%x: tensor<?x8xf32>) {
  // expected-error @+1 {{'talc.log_softmax' op width of x is 8, expected 9}}
  %0 = talc.log_softmax %x tails [4] : tensor<?x8xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @part_of_a_table(%ids: tensor<?xi32>, %table: tensor<5x8xf32>) {
  // expected-error @+1 {{'talc.embedding' op has a table of ids from -2 on}}
  %0 = talc.embedding %ids, %table from -2 : (tensor<?xi32>, tensor<5x8xf32>) -> tensor<?x8xf32>
  return
}
