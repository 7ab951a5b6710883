// SPDX-License-Identifier: Apache-2.0
// Pieces that only processors run, and what helps.
// RUN: talc-opt %s -expand-workgroups -verify-diagnostics

func.func private @words(%s: !kernel.step, %x: memref<?x33xf32>, %y: memref<?x32xf32>) attributes {kernel.piece = "log_softmax"} {
  kernel.tasks %s over rows by rows {
  ^bb0(%p0: index, %p1: index):
    // expected-error@+1 {{has no code for graphics cards; --target=native makes code for processors}}
    kernel.log_softmax %s, %x tails [9] into %y : (!kernel.step, memref<?x33xf32>, memref<?x32xf32>) -> ()
  }
  return
}
