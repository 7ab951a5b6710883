// SPDX-License-Identifier: Apache-2.0
// The dialect verifies its discardable attributes: their names, their types, and the operations that may carry them.
// RUN: talc-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{has the attribute talc.entry = "yes", expected unit}}
func.func private @wrong_type() attributes {talc.entry = "yes"}

// -----

// expected-error @+1 {{has talc.entry on an argument, which no argument may carry}}
func.func private @argument(i32 {talc.entry})

// -----

// expected-error @+1 {{has the attribute talc.colour, which is not an attribute of the dialect}}
module attributes {talc.colour = "red"} {
}

// -----

// expected-error @+1 {{has the attribute talc.max_sequence, which only modules may carry}}
func.func private @carrier() attributes {talc.max_sequence = 8 : i64}

// -----

// expected-error @+1 {{has the attribute talc.outputs = [1], expected an array of strings}}
module attributes {talc.outputs = [1]} {
}
