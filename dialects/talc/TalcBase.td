// SPDX-License-Identifier: Apache-2.0
// The talc dialect itself, and what definitions of attributes have in common.
#ifndef TALC_BASE
#define TALC_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"

def Talc_Dialect : Dialect {
  let name = "talc";
  let cppNamespace = "::talc";
  let summary = "what a transformer model computes";
  let description = [{
    A model is a module of weights (`talc.weight`), KV caches (`talc.kv_cache`) and functions. Activations are
    `tensor<T x N x f32>`: T tokens of any number of sequences laid end to end, N features. T is the only dynamic
    dimension, and nothing is padded. Heads are adjacent in the features: head h of width d covers features
    [h*d, (h+1)*d).

    Only attention, KV caches and positions depend on the borders between sequences; they take the `!talc.sequences`
    operand.

    Weights never appear as constants: an activation op takes the value of a `talc.get_weight`, so that a repeated block
    can be one function that is called once per layer with that layer's weights.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = [];
}

class Talc_Attr<string attrName, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Talc_Dialect, attrName, traits> {
  let mnemonic = attrMnemonic;
}

// A double that reads back as it was written.
def Talc_Real : APFloatParameter<"a number"> {
  let parser = [{ [&]() -> ::mlir::FailureOr<::llvm::APFloat> {
    double value;
    if (failed($_parser.parseFloat(value)))
      return ::mlir::failure();
    return ::llvm::APFloat(value);
  }() }];
  let printer = "$_printer.printFloat($_self)";
}

#endif  // TALC_BASE
