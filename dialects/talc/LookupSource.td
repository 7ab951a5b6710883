// SPDX-License-Identifier: Apache-2.0
// A source of weights of its own file: only those who read weights know it.
#ifndef TALC_LOOKUP_SOURCE
#define TALC_LOOKUP_SOURCE

include "dialects/talc/TalcBase.td"

def Talc_LookupSource : Talc_Attr<"LookupSource", "lookup"> {
  let summary = "a matrix whose elements, one row after the other, have a scale for every run of them";
  let description = [{
    Element i = n * K + k of a matrix with K columns is, with every product rounded to f32 and the result to
    `elementType`, f32, f16 or bf16,

      number(i) * scale(i / run) * factor

      number(i) = codes(i), or table[codes(i)]; codes of 4 bits with a table lie upper half first in their bytes
      scale(r)  = scales(r), rounded to `scaleType`; or, if scales are codes themselves,
                  scaleTable(scales(r)) * scaleFactors(r / scaleRun) + scaleOffset, every step rounded to f32

    All tables are one row. Source: bitsandbytes (NF4 and FP4 of QLoRA, arXiv 2305.14314; LLM.int8, arXiv 2208.07339),
    and FP8 of ModelOpt, whose scales are rounded first.
  }];
  let parameters = (ins "::mlir::Type":$elementType, "::talc::CodesAttr":$codes, "int64_t":$run,
                        "::talc::CodesAttr":$scales, OptionalParameter<"::mlir::DenseElementsAttr">:$table,
                        OptionalParameter<"::mlir::Type">:$scaleType, OptionalParameter<"::talc::CodesAttr">:$scaleTable,
                        OptionalParameter<"::talc::CodesAttr">:$scaleFactors,
                        DefaultValuedParameter<"int64_t", "0">:$scaleRun,
                        OptionalParameter<"::mlir::FloatAttr">:$scaleOffset,
                        OptionalParameter<"::mlir::FloatAttr">:$factor);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif  // TALC_LOOKUP_SOURCE
