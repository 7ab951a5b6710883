// SPDX-License-Identifier: Apache-2.0
// expand-matmul: vectors that do not divide a panel are refused.
// RUN: not talc-opt %s -expand-matmul="lanes=0" 2>&1 | FileCheck %s
// RUN: not talc-opt %s -expand-matmul="lanes=6" 2>&1 | FileCheck %s
// RUN: not talc-opt %s -expand-attention="lanes=32" 2>&1 | FileCheck %s
// RUN: not talc-opt %s -expand-rows="lanes=3" 2>&1 | FileCheck %s

// CHECK: error: vectors of {{[0-9]+}} lanes, expected 4, 8 or 16
module {}
