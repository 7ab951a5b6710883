// SPDX-License-Identifier: Apache-2.0
// The workers of a program take any task: barriers stand where a processor's threads, which find what they left, need none.
// RUN: talc-opt %s -claim-tasks | FileCheck %s
// RUN: talc-opt %s -claim-tasks | talc-opt -claim-tasks | FileCheck %s
// CHECK: module attributes {kernel.claims} {
// CHECK: func.func @step(
module {
  func.func @step(%s: !kernel.step) {
    return
  }
}
