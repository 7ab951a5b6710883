// SPDX-License-Identifier: Apache-2.0
// The interface through which the compiler asks for the layout of a KV cache, whichever target chose it.
#ifndef TALC_KV_LAYOUT
#define TALC_KV_LAYOUT

include "mlir/IR/OpBase.td"

def Talc_KvLayoutInterface : AttrInterface<"KvLayoutInterface"> {
  let cppNamespace = "::talc";
  let description = [{
    How keys and values lie in memory: the attribute that `layout-kv-cache` adds to `!talc.kv_cache`. Only passes of the
    target that chose a layout know more about it than these methods.
  }];
  let methods = [
    InterfaceMethod<"Bytes of one slot for `capacity` tokens.", "int64_t", "getSlotBytes",
                    (ins "int64_t":$heads, "int64_t":$width, "int64_t":$capacity)>,
    InterfaceMethod<"Bytes that each token touches.", "int64_t", "getTokenBytes",
                    (ins "int64_t":$heads, "int64_t":$width)>,
    InterfaceMethod<"Tokens that share memory pages: the first of a group touches the memory of all.", "int64_t",
                    "getTokenGroup">
  ];
}

#endif // TALC_KV_LAYOUT
