// SPDX-License-Identifier: Apache-2.0
// The interpreter on models whose values can be computed by hand.
// RUN: split-file %s %t
// RUN: talc-interpret %t/mean.mlir --ids 0,1,2 --ids 2 | FileCheck %t/mean.mlir
// RUN: talc-interpret %t/mean.mlir --ids 0,1,2 --ids 2 --split 1 | FileCheck %t/mean.mlir
// RUN: talc-interpret %t/mean.mlir --ids 0,1,2 --ids 2 --split 2,1 | FileCheck %t/mean.mlir
// RUN: talc-interpret %t/mean.mlir --ids 1 --ids 0,2 -n 3 | FileCheck %t/mean.mlir --check-prefix=GREEDY
// RUN: talc-interpret %t/last.mlir --ids 0,1,2 | FileCheck %t/last.mlir
// RUN: talc-interpret %t/heads.mlir --ids 0,1 | FileCheck %t/heads.mlir
// RUN: talc-interpret %t/turn.mlir --ids 0,0 | FileCheck %t/turn.mlir
// RUN: talc-interpret %t/norm.mlir --ids 0 | FileCheck %t/norm.mlir
// RUN: talc-interpret %t/phases.mlir --ids 0,0 --split 1 | FileCheck %t/phases.mlir --check-prefix=SINGLE
// RUN: talc-interpret %t/phases.mlir --ids 0,0 | FileCheck %t/phases.mlir --check-prefix=MANY
// RUN: talc-interpret %t/masks.mlir --ids 0,1,2,3 --prefix 2 | FileCheck %t/masks.mlir
// RUN: talc-interpret %t/masks.mlir --ids 0,1,2,3 --prefix 2 --split 1 | FileCheck %t/masks.mlir
// RUN: talc-interpret %t/masks.mlir --ids 0,1,2,3 | FileCheck %t/masks.mlir --check-prefix=CAUSAL
// RUN: talc-interpret %t/around.mlir --ids 0,1,2,3 | FileCheck %t/around.mlir
// RUN: talc-interpret %t/distances.mlir --ids 0,1,2 | FileCheck %t/distances.mlir
// RUN: talc-interpret %t/source.mlir --source-ids 0,1 --source-ids 2 --ids 0,0 --ids 1 | FileCheck %t/source.mlir
// RUN: talc-interpret %t/source.mlir --source-ids 0,1 --source-ids 2 --ids 0,0 --ids 1 --split 1 | FileCheck %t/source.mlir
// RUN: talc-interpret %t/results.mlir --ids 0,1,2 --types 0,1,1 | FileCheck %t/results.mlir
// RUN: talc-interpret %t/results.mlir --ids 0,1,2 --types 0,1,1 --rows even,last | FileCheck %t/results.mlir --check-prefix=ROWS
// RUN: talc-interpret %t/results.mlir --ids 0,1,2 --types 0,1,1 --result 1 | FileCheck %t/results.mlir --check-prefix=SECOND
// RUN: talc-interpret %t/tables.mlir --ids 0,0 | FileCheck %t/tables.mlir

//--- mean.mlir
// Attention with scale 0 is the mean of the values up to the query. The most likely token repeats.
// CHECK: prompt 0
// CHECK-NEXT: 4.000000 0.000000
// CHECK-NEXT: 2.000000 1.000000
// CHECK-NEXT: 2.666667 2.666667
// CHECK-NEXT: prompt 1
// CHECK-NEXT: 4.000000 6.000000
// GREEDY: 1,1,1
// GREEDY-NEXT: 0,0,0
module {
  talc.weight @table : tensor<3x2xf32> = #talc.values<dense<[[4.0, 0.0], [0.0, 2.0], [4.0, 6.0]]> : tensor<3x2xf32>>
  talc.kv_cache @state : !talc.kv_cache<1 x 2 x 8>
  func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x2xf32> attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<3x2xf32>
    %state = talc.get_kv_cache @state : !talc.kv_cache<1 x 2 x 8>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<3x2xf32>) -> tensor<?x2xf32>
    talc.kv_append %state, %x, %x, %s : !talc.kv_cache<1 x 2 x 8>, tensor<?x2xf32>
    %keys, %values = talc.kv_read %state, %s : !talc.kv_cache<1 x 2 x 8> -> tensor<?x2xf32>, tensor<?x2xf32>
    %y = talc.attention causal %x, %keys, %values, %s heads 1, 1 scale 0.0 : tensor<?x2xf32>, tensor<?x2xf32>
    %z = talc.select %y, %s : tensor<?x2xf32> -> tensor<?x2xf32>
    return %z : tensor<?x2xf32>
  }
}

//--- last.mlir
// A window of two tokens.
// CHECK: 4.000000
// CHECK-NEXT: 3.000000
// CHECK-NEXT: 7.000000
module {
  talc.weight @table : tensor<3x1xf32> = #talc.values<dense<[[4.0], [2.0], [12.0]]> : tensor<3x1xf32>>
  func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x1xf32> attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<3x1xf32>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<3x1xf32>) -> tensor<?x1xf32>
    %y = talc.attention causal %x, %x, %x, %s heads 1, 1 scale 0.0 {window = 2 : i64} : tensor<?x1xf32>, tensor<?x1xf32>
    return %y : tensor<?x1xf32>
  }
}

//--- heads.mlir
// Four heads of width 1 share two key-value heads. The scores of the second token are ln 3 times its query and the keys
// 0 and 1, so that query 1 weighs the values 1 : 3 and query 0 weighs them equally.
// CHECK: 8.000000 8.000000 4.000000 4.000000
// CHECK-NEXT: 2.000000 4.000000 7.000000 6.000000
module {
  talc.weight @queries : tensor<2x4xf32> = #talc.values<dense<[[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]]> : tensor<2x4xf32>>
  talc.weight @keys : tensor<2x2xf32> = #talc.values<dense<[[0.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32>>
  talc.weight @values : tensor<2x2xf32> = #talc.values<dense<[[8.0, 4.0], [0.0, 8.0]]> : tensor<2x2xf32>>
  func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x4xf32> attributes {talc.entry} {
    %queries = talc.get_weight @queries : tensor<2x4xf32>
    %keys = talc.get_weight @keys : tensor<2x2xf32>
    %values = talc.get_weight @values : tensor<2x2xf32>
    %q = talc.embedding %ids, %queries : (tensor<?xi32>, tensor<2x4xf32>) -> tensor<?x4xf32>
    %k = talc.embedding %ids, %keys : (tensor<?xi32>, tensor<2x2xf32>) -> tensor<?x2xf32>
    %v = talc.embedding %ids, %values : (tensor<?xi32>, tensor<2x2xf32>) -> tensor<?x2xf32>
    %y = talc.attention causal %q, %k, %v, %s heads 4, 2 scale 1.0986122886681098 : tensor<?x4xf32>, tensor<?x2xf32>
    return %y : tensor<?x4xf32>
  }
}

//--- turn.mlir
// The second token is turned by 1 and by 1/100; the fifth feature passes through. cos 1 = 0.540302, sin 1 = 0.841471.
// CHECK: 1.000000 2.000000 0.000000 0.000000 7.000000
// CHECK-NEXT: 0.540302 1.999900 0.841471 0.020000 7.000000
module {
  talc.weight @table : tensor<1x5xf32> = #talc.values<dense<[[1.0, 2.0, 0.0, 0.0, 7.0]]> : tensor<1x5xf32>>
  func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x5xf32> attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<1x5xf32>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<1x5xf32>) -> tensor<?x5xf32>
    %y = talc.rope %x, %s heads 1 rotary 4 base 10000.0 : tensor<?x5xf32>
    return %y : tensor<?x5xf32>
  }
}

//--- norm.mlir
// Two groups, (7, 1) and (0, 2): layer gives (1, -1) and (-1, 1); rms divides by 5 and sqrt 2.
// CHECK: 17.000000 80.000000 -3.000000 120.000000 14.000000 2.000000 0.000000 14.142136
module {
  talc.weight @table : tensor<1x4xf32> = #talc.values<dense<[[7.0, 1.0, 0.0, 2.0]]> : tensor<1x4xf32>>
  talc.weight @scale : tensor<2xf32> = #talc.values<dense<[10.0, 20.0]> : tensor<2xf32>>
  talc.weight @scale2 : tensor<2xf32> = #talc.values<dense<[10.0, 10.0]> : tensor<2xf32>>
  talc.weight @bias : tensor<2xf32> = #talc.values<dense<[7.0, 100.0]> : tensor<2xf32>>
  talc.weight @first : tensor<8x4xf32> = #talc.values<dense<[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<8x4xf32>>
  talc.weight @second : tensor<8x4xf32> = #talc.values<dense<[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<8x4xf32>>
  func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x8xf32> attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<1x4xf32>
    %scale = talc.get_weight @scale : tensor<2xf32>
    %scale2 = talc.get_weight @scale2 : tensor<2xf32>
    %bias = talc.get_weight @bias : tensor<2xf32>
    %first = talc.get_weight @first : tensor<8x4xf32>
    %second = talc.get_weight @second : tensor<8x4xf32>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<1x4xf32>) -> tensor<?x4xf32>
    %a = talc.norm layer %x, %scale bias %bias epsilon 0.0 {groups = 2 : i64} : (tensor<?x4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x4xf32>
    %b = talc.norm rms %x, %scale2 epsilon 0.0 {groups = 2 : i64} : (tensor<?x4xf32>, tensor<2xf32>) -> tensor<?x4xf32>
    %c = talc.linear %a, %first : (tensor<?x4xf32>, tensor<8x4xf32>) -> tensor<?x8xf32>
    %d = talc.linear %b, %second : (tensor<?x4xf32>, tensor<8x4xf32>) -> tensor<?x8xf32>
    %y = talc.add %c, %d : tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

//--- phases.mlir
// A step of one token runs the function of the phase `decode`.
// SINGLE: 2.000000
// SINGLE-NEXT: 2.000000
// MANY: 1.000000
// MANY-NEXT: 1.000000
module {
  talc.weight @one : tensor<1x1xf32> = #talc.fill<1.0>
  talc.weight @two : tensor<1x1xf32> = #talc.fill<2.0>
  func.func @prefill(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x1xf32> attributes {talc.entry, talc.entry_name = "prefill"} {
    %table = talc.get_weight @one : tensor<1x1xf32>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<1x1xf32>) -> tensor<?x1xf32>
    return %x : tensor<?x1xf32>
  }
  func.func @decode(%ids: tensor<1xi32>, %s: !talc.sequences) -> tensor<1x1xf32> attributes {talc.entry, talc.entry_name = "decode"} {
    %table = talc.get_weight @two : tensor<1x1xf32>
    %x = talc.embedding %ids, %table : (tensor<1xi32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    return %x : tensor<1x1xf32>
  }
}

//--- masks.mlir
// Scale 0 gives means. Two tokens see each other, the others what was before them.
// CHECK: prompt 0
// CHECK-NEXT: 3.000000
// CHECK-NEXT: 3.000000
// CHECK-NEXT: 6.000000
// CHECK-NEXT: 10.000000
// CAUSAL: 4.000000
// CAUSAL-NEXT: 3.000000
// CAUSAL-NEXT: 6.000000
// CAUSAL-NEXT: 10.000000
module {
  talc.weight @table : tensor<4x1xf32> = #talc.values<dense<[[4.0], [2.0], [12.0], [22.0]]> : tensor<4x1xf32>>
  talc.kv_cache @state : !talc.kv_cache<1 x 1 x 8>
  func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x1xf32> attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<4x1xf32>
    %state = talc.get_kv_cache @state : !talc.kv_cache<1 x 1 x 8>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<4x1xf32>) -> tensor<?x1xf32>
    talc.kv_append %state, %x, %x, %s : !talc.kv_cache<1 x 1 x 8>, tensor<?x1xf32>
    %keys, %values = talc.kv_read %state, %s : !talc.kv_cache<1 x 1 x 8> -> tensor<?x1xf32>, tensor<?x1xf32>
    %y = talc.attention prefix %x, %keys, %values, %s heads 1, 1 scale 0.0 : tensor<?x1xf32>, tensor<?x1xf32>
    return %y : tensor<?x1xf32>
  }
}

//--- around.mlir
// A window of two without a direction: the token itself and its neighbours.
// CHECK: prompt 0
// CHECK-NEXT: 3.000000
// CHECK-NEXT: 6.000000
// CHECK-NEXT: 12.000000
// CHECK-NEXT: 17.000000
module {
  talc.weight @table : tensor<4x1xf32> = #talc.values<dense<[[4.0], [2.0], [12.0], [22.0]]> : tensor<4x1xf32>>
  func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x1xf32> attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<4x1xf32>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<4x1xf32>) -> tensor<?x1xf32>
    %y = talc.attention full %x, %x, %x, %s heads 1, 1 scale 0.0 {window = 2 : i64} : tensor<?x1xf32>, tensor<?x1xf32>
    return %y : tensor<?x1xf32>
  }
}

//--- distances.mlir
// Head 0: a key two tokens after the query weighs three times as much (ln 3). Head 1: the token before it does.
// CHECK: prompt 0
// CHECK-NEXT: 8.400000 6.000000
// CHECK-NEXT: 6.000000 5.200000
// CHECK-NEXT: 6.000000 4.400000
module {
  talc.weight @table : tensor<3x2xf32> = #talc.values<dense<[[4.0, 4.0], [2.0, 2.0], [12.0, 12.0]]> : tensor<3x2xf32>>
  talc.weight @bias : tensor<2x5xf32> = #talc.values<dense<[[0.0, 0.0, 0.0, 0.0, 1.0986123], [0.0, 1.0986123, 0.0, 0.0, 0.0]]> : tensor<2x5xf32>>
  func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x2xf32> attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<3x2xf32>
    %bias = talc.get_weight @bias : tensor<2x5xf32>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<3x2xf32>) -> tensor<?x2xf32>
    %y = talc.attention full %x, %x, %x, %s heads 2, 2 scale 0.0 bias %bias : tensor<2x5xf32> : tensor<?x2xf32>, tensor<?x2xf32>
    return %y : tensor<?x2xf32>
  }
}

//--- source.mlir
// Each token plus the mean of its source.
// CHECK: prompt 0
// CHECK-NEXT: 7.000000
// CHECK-NEXT: 7.000000
// CHECK-NEXT: prompt 1
// CHECK-NEXT: 14.000000
module {
  talc.weight @table : tensor<3x1xf32> = #talc.values<dense<[[4.0], [2.0], [12.0]]> : tensor<3x1xf32>>
  talc.kv_cache @source : !talc.kv_cache<1 x 1 x 8, source>
  func.func @encoder(%ids: tensor<?xi32>, %s: !talc.sequences) attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<3x1xf32>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<3x1xf32>) -> tensor<?x1xf32>
    %state = talc.get_kv_cache @source : !talc.kv_cache<1 x 1 x 8, source>
    talc.kv_append %state, %x, %x, %s : !talc.kv_cache<1 x 1 x 8, source>, tensor<?x1xf32>
    return
  }
  func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x1xf32> attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<3x1xf32>
    %x = talc.embedding %ids, %table : (tensor<?xi32>, tensor<3x1xf32>) -> tensor<?x1xf32>
    %state = talc.get_kv_cache @source : !talc.kv_cache<1 x 1 x 8, source>
    %keys, %values = talc.kv_read %state, %s : !talc.kv_cache<1 x 1 x 8, source> -> tensor<?x1xf32>, tensor<?x1xf32>
    %y = talc.attention full %x, %keys, %values, %s heads 1, 1 scale 0.0 : tensor<?x1xf32>, tensor<?x1xf32>
    %z = talc.add %x, %y : tensor<?x1xf32>
    return %z : tensor<?x1xf32>
  }
}

//--- results.mlir
// Classes of the first token; hidden states of all. Type 1 adds 100.
// CHECK: prompt 0 classes
// CHECK-NEXT: 4.000000
// CHECK-NEXT: prompt 0 hidden
// CHECK-NEXT: 8.000000
// CHECK-NEXT: 204.000000
// CHECK-NEXT: 224.000000
// ROWS: prompt 0 classes
// ROWS-NEXT: 4.000000
// ROWS-NEXT: 112.000000
// ROWS-NEXT: prompt 0 hidden
// ROWS-NEXT: 224.000000
// ROWS-NOT: 8.000000
// SECOND: prompt 0{{$}}
// SECOND-NEXT: 8.000000
// SECOND-NEXT: 204.000000
module attributes {talc.outputs = ["classes", "hidden"]} {
  talc.weight @table : tensor<3x1xf32> = #talc.values<dense<[[4.0], [2.0], [12.0]]> : tensor<3x1xf32>>
  talc.weight @types : tensor<2x1xf32> = #talc.values<dense<[[0.0], [100.0]]> : tensor<2x1xf32>>
  func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> (tensor<?x1xf32>, tensor<?x1xf32>) attributes {talc.entry} {
    %table = talc.get_weight @table : tensor<3x1xf32>
    %types = talc.get_weight @types : tensor<2x1xf32>
    %word = talc.embedding %ids, %table : (tensor<?xi32>, tensor<3x1xf32>) -> tensor<?x1xf32>
    %type = talc.token_type %s, %types : tensor<2x1xf32> -> tensor<?x1xf32>
    %x = talc.add %word, %type : tensor<?x1xf32>
    %first = talc.select %x, %s : tensor<?x1xf32> -> tensor<?x1xf32>
    %twice = talc.scale %x by 2.0 : tensor<?x1xf32>
    %second = talc.select %twice, %s {output = 1 : i64} : tensor<?x1xf32> -> tensor<?x1xf32>
    return %first, %second : tensor<?x1xf32>, tensor<?x1xf32>
  }
}

//--- tables.mlir
// The sines of 1 and 1/100 and then their cosines, plus each sine beside its cosine.
// CHECK: prompt 0
// CHECK-NEXT: 0.000000 1.000000 1.000000 2.000000
// CHECK-NEXT: 1.682942 0.550302 0.550302 1.999900
module {
  talc.weight @zero : tensor<1x4xf32> = #talc.fill<0.0>
  talc.weight @halves : tensor<2x4xf32> = #talc.sinusoid_table<halves>
  talc.weight @pairs : tensor<2x4xf32> = #talc.sinusoid_table<interleaved>
  func.func @model(%ids: tensor<?xi32>, %s: !talc.sequences) -> tensor<?x4xf32> attributes {talc.entry} {
    %zero = talc.get_weight @zero : tensor<1x4xf32>
    %halves = talc.get_weight @halves : tensor<2x4xf32>
    %pairs = talc.get_weight @pairs : tensor<2x4xf32>
    %x = talc.embedding %ids, %zero : (tensor<?xi32>, tensor<1x4xf32>) -> tensor<?x4xf32>
    %a = talc.position %s, %halves : tensor<2x4xf32> -> tensor<?x4xf32>
    %b = talc.position %s, %pairs : tensor<2x4xf32> -> tensor<?x4xf32>
    %c = talc.add %x, %a : tensor<?x4xf32>
    %d = talc.add %c, %b : tensor<?x4xf32>
    return %d : tensor<?x4xf32>
  }
}
