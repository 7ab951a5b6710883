// SPDX-License-Identifier: Apache-2.0
// In how many launches steps run on a GPU say a remark, the manifest, the page of all passes and --memory.
// 256 features of a weight of 16 bits are a single part of k: workgroups of 32 threads, of which a persistent kernel of 256
// has five teams, since eight would need more shared memory than GPUs have.
// RUN: rm -rf %t && mkdir %t
// RUN: %talc compile %s --target=nvptx,vulkan -o %t/app --remarks=package --inspect=%t/page.html 2>&1 | FileCheck %s
// CHECK: remark: package: link: module: encode: a step is one launch of workgroups of 256 threads for up to 16 tokens, else [[ALL:[0-9]+]] launches
// CHECK: remark: package: link: module: encode: a step is [[ALL]] launches{{$}}
// RUN: FileCheck %s --check-prefix=PAGE --input-file=%t/page.html
// PAGE: package: link: module: encode: a step is one launch
// RUN: grep -a -A4 '"steps": {' %t/app | FileCheck %s --check-prefix=MANIFEST
// MANIFEST: "nvptx:sm_80": {
// MANIFEST-NEXT: "encode": "one launch of workgroups
// RUN: env LD_LIBRARY_PATH=%cuda-driver %t/app --memory | FileCheck %s --check-prefix=MEMORY
// MEMORY: {{^}}launches of a step {{ *}}encode: 1 for up to 16 tokens, else {{[1-9]}}{{$}}
// RUN: env LD_LIBRARY_PATH=%cuda-driver FAKE_CUDA_PROCESSORS=0 %t/app --memory | FileCheck %s --check-prefix=NONE
// NONE: {{^}}launches of a step {{ *}}encode: {{[1-9]}}{{$}}

// RUN: %talc compile %s --target=nvptx --weights=bf16 -o %t/wide --remarks=package 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: remark: package: link: module: encode: a step is one launch of workgroups of 256 threads for up to 16 tokens, else {{[1-9]}} launches
// RUN: env LD_LIBRARY_PATH=%cuda-driver %t/wide --memory | FileCheck %s --check-prefix=MEMORY
module attributes {talc.max_sequence = 32 : i64} {
  talc.weight @table : tensor<1024x256xf32> = #talc.random<seed = 1, mean = 0.0, deviation = 0.1>
  talc.weight @w : tensor<1024x256xf32> = #talc.random<seed = 2, mean = 0.0, deviation = 0.1>
  func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x1024xf32> attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<1024x256xf32>
    %w = talc.get_weight @w : tensor<1024x256xf32>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<1024x256xf32>) -> tensor<?x256xf32>
    %y = talc.linear %x, %w : (tensor<?x256xf32>, tensor<1024x256xf32>) -> tensor<?x1024xf32>
    return %y : tensor<?x1024xf32>
  }
}
