// SPDX-License-Identifier: Apache-2.0
// check-dialects names the first operation that no stage converted, and changes nothing otherwise.
// RUN: talc-opt %s -check-dialects="dialects=builtin,func,arith" | FileCheck %s
// RUN: not talc-opt %s -check-dialects="dialects=builtin,func" 2>&1 | FileCheck %s --check-prefix=LEFT

// CHECK: arith.addi
// LEFT: check-dialects.mlir:[[#@LINE+2]]:{{.*}}: error: 'arith.addi' op is not allowed at the end of the stage
func.func @sum(%x: index, %y: index) -> index {
  %z = arith.addi %x, %y : index
  return %z : index
}
