// SPDX-License-Identifier: Apache-2.0
// The workers of a program take any task: barriers stand where a processor's threads, which find what they left, need none.
// RUN: talc-opt %s -set-dynamic-schedule | FileCheck %s
// RUN: talc-opt %s -set-dynamic-schedule | talc-opt -set-dynamic-schedule | FileCheck %s
// CHECK: module attributes {kernel.dynamic_schedule} {
// CHECK: func.func @step(
module {
  func.func @step(%s: !kernel.step) {
    return
  }
}
