// SPDX-License-Identifier: Apache-2.0
// Parts of logits: what callers must know of them, and which do not make the words of the logits.
// RUN: talc-opt %s -split-input-file -verify-diagnostics -convert-talc-to-kernel | FileCheck %s

// CHECK: talc.interface = {kind = "encoder", outputs = [{kind = "logits", width = 6 : i64}, {kind = "hidden", width = 9 : i64}, {kind = "head", width = 4 : i64}, {kind = "tail", width = 1 : i64}, {kind = "tail", width = 3 : i64}]
module attributes {talc.outputs = ["logits", "hidden", "head", "tail", "tail"]} {
  talc.weight @table : tensor<6x9xf32> = #talc.fill<1.0>
  // CHECK: kernel.output %{{.*}} 4 : memref<?x3xf32>
  func.func @encode(%ids: tensor<?xi32>, %s: !talc.sequences) -> (tensor<?x6xf32>, tensor<?x9xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x3xf32>) attributes {talc.entry, talc.entry_name = "encode"} {
    %table = talc.get_weight @table : tensor<6x9xf32>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<6x9xf32>) -> tensor<?x9xf32>
    %0 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x6xf32>
    %1 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x4xf32>
    %2 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x1xf32>
    %3 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x3xf32>
    return %0, %x, %1, %2, %3 : tensor<?x6xf32>, tensor<?x9xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x3xf32>
  }
}

// -----

module attributes {talc.outputs = ["logits", "head", "tail", "tail"]} {
  // expected-error@+1 {{has parts of logits with 5 words, expected 6}}
  func.func @encode(%x: tensor<?x9xf32>, %s: !talc.sequences) -> (tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x2xf32>) attributes {talc.entry, talc.entry_name = "encode"} {
    %0 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x6xf32>
    %1 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x4xf32>
    %2 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x1xf32>
    %3 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x2xf32>
    return %0, %1, %2, %3 : tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x2xf32>
  }
}

// -----

module attributes {talc.outputs = ["hidden", "head", "tail", "tail"]} {
  // expected-error@+1 {{has parts of logits, expected logits, and after the results one head and its tails}}
  func.func @encode(%x: tensor<?x9xf32>, %s: !talc.sequences) -> (tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x3xf32>) attributes {talc.entry, talc.entry_name = "encode"} {
    %0 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x6xf32>
    %1 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x4xf32>
    %2 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x1xf32>
    %3 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x3xf32>
    return %0, %1, %2, %3 : tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x3xf32>
  }
}

// -----

module attributes {talc.outputs = ["logits", "head"]} {
  // expected-error@+1 {{after the results one head and its tails}}
  func.func @encode(%x: tensor<?x9xf32>, %s: !talc.sequences) -> (tensor<?x6xf32>, tensor<?x6xf32>) attributes {talc.entry, talc.entry_name = "encode"} {
    %0 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x6xf32>
    %1 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x6xf32>
    return %0, %1 : tensor<?x6xf32>, tensor<?x6xf32>
  }
}

// -----

module attributes {talc.outputs = ["logits", "tail", "tail"]} {
  // expected-error@+1 {{after the results one head and its tails}}
  func.func @encode(%x: tensor<?x9xf32>, %s: !talc.sequences) -> (tensor<?x6xf32>, tensor<?x3xf32>, tensor<?x3xf32>) attributes {talc.entry, talc.entry_name = "encode"} {
    %0 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x6xf32>
    %1 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x3xf32>
    %2 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x3xf32>
    return %0, %1, %2 : tensor<?x6xf32>, tensor<?x3xf32>, tensor<?x3xf32>
  }
}

// -----

module attributes {talc.outputs = ["logits", "head", "head"]} {
  // expected-error@+1 {{after the results one head and its tails}}
  func.func @encode(%x: tensor<?x9xf32>, %s: !talc.sequences) -> (tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x4xf32>) attributes {talc.entry, talc.entry_name = "encode"} {
    %0 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x6xf32>
    %1 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x4xf32>
    %2 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x4xf32>
    return %0, %1, %2 : tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  }
}

// -----

module attributes {talc.outputs = ["logits", "head", "tail", "tail"]} {
  // expected-error@+1 {{has a head of 2 for 2 clusters, expected at least one more word}}
  func.func @encode(%x: tensor<?x9xf32>, %s: !talc.sequences) -> (tensor<?x6xf32>, tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x5xf32>) attributes {talc.entry, talc.entry_name = "encode"} {
    %0 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x6xf32>
    %1 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x2xf32>
    %2 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x1xf32>
    %3 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x5xf32>
    return %0, %1, %2, %3 : tensor<?x6xf32>, tensor<?x2xf32>, tensor<?x1xf32>, tensor<?x5xf32>
  }
}

// -----

module attributes {talc.outputs = ["head", "tail", "logits"]} {
  // expected-error@+1 {{has parts of logits before another result; they must follow all results}}
  func.func @encode(%x: tensor<?x9xf32>, %s: !talc.sequences) -> (tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x6xf32>) attributes {talc.entry, talc.entry_name = "encode"} {
    %0 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x4xf32>
    %1 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x3xf32>
    %2 = talc.slice %x at 0 : tensor<?x9xf32> -> tensor<?x6xf32>
    return %0, %1, %2 : tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x6xf32>
  }
}
