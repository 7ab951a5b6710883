// SPDX-License-Identifier: Apache-2.0
// What the compiler asks of the layout of a state, whichever target chose it.
#ifndef TALC_KV_LAYOUT
#define TALC_KV_LAYOUT

include "mlir/IR/OpBase.td"

def Talc_KvLayoutInterface : AttrInterface<"KvLayoutInterface"> {
  let cppNamespace = "::talc";
  let description = [{
    How keys and values of a state lie in memory: the attribute that `layout-kv-cache` adds to `!talc.kv_cache`. Only the
    passes of the target that chose a layout know more of it than this.
  }];
  let methods = [
    InterfaceMethod<"Bytes of one sequence that has `capacity` tokens.", "int64_t", "getSlotBytes",
                    (ins "int64_t":$heads, "int64_t":$width, "int64_t":$capacity)>,
    InterfaceMethod<"Bytes that are touched for each token.", "int64_t", "getTokenBytes",
                    (ins "int64_t":$heads, "int64_t":$width)>,
    InterfaceMethod<"Tokens that lie together, of which the first touches the memory of all.", "int64_t",
                    "getTokenGroup">
  ];
}

#endif // TALC_KV_LAYOUT
