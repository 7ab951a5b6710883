# SPDX-License-Identifier: Apache-2.0
"""Writes directories of sentence-transformers, as several of its releases save them, without weights."""
import json
import os
import shutil
import sys

WORK = sys.argv[1]
OLD, BASE, SENTENCE = ("sentence_transformers.models", "sentence_transformers.base.modules",
                       "sentence_transformers.sentence_transformer.modules")
BERT = {"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 16, "intermediate_size": 20,
        "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 40, "max_position_embeddings": 24}
CLASSES = {**BERT, "architectures": ["BertForSequenceClassification"]}
ONE = {**CLASSES, "id2label": {"0": "LABEL_0"}}
DECODER = {"hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 2, "num_attention_heads": 2,
           "num_key_value_heads": 1, "head_dim": 8, "vocab_size": 40, "max_position_embeddings": 64}
IDENTITY = "torch.nn.modules.linear.Identity"
FIRST = (f"{OLD}.Transformer", "")
CLS = {"word_embedding_dimension": 16, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
TANH = {"in_features": 16, "out_features": 8, "bias": True, "activation_function": "torch.nn.modules.activation.Tanh"}


def write(directory, config, modules=(), **files):
    """`modules`: pairs of type and path, with a configuration as the third. `files`: names with __ for the dot."""
    shutil.rmtree(os.path.join(WORK, directory), ignore_errors=True)
    contents = {"config.json": config}
    if modules:
        contents["modules.json"] = [{"idx": i, "type": module[0], "path": module[1]} for i, module in enumerate(modules)]
    contents.update({f"{module[1]}/config.json": module[2] for module in modules if len(module) > 2})
    contents.update({name.replace("__", "."): value for name, value in files.items()})
    for file, value in contents.items():
        path = os.path.join(WORK, directory, file)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as target:
            json.dump(value, target)


def pooling(config, kind=OLD):
    return (f"{OLD}.Pooling" if kind == OLD else f"{kind}.pooling.Pooling", "1_Pooling", config)


write("decoder", {**DECODER, "model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"]},
      [FIRST, pooling({"word_embedding_dimension": 16, "pooling_mode_lasttoken": True, "pooling_mode_mean_tokens": False}),
       (f"{OLD}.Normalize", "2_Normalize")],
      config_sentence_transformers__json={"prompts": {"query": "find: ", "document": ""}, "default_prompt_name": None})
write("both-ways", {**DECODER, "model_type": "gemma3_text", "architectures": ["Gemma3TextModel"], "sliding_window": 6,
                    "use_bidirectional_attention": True, "layer_types": ["sliding_attention", "full_attention"]},
      [FIRST, pooling({"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True})])
write("new", BERT,
      [(f"{BASE}.transformer.Transformer", ""),
       pooling({"embedding_dimension": 16, "pooling_mode": ["mean", "cls"], "include_prompt": False}, SENTENCE),
       (f"{BASE}.dense.Dense", "2_Dense", {**TANH, "in_features": 32})],
      config_sentence_transformers__json={"prompts": {"a": "x", "b": "y"}, "default_prompt_name": "b"},
      tokenizer_config__json={"model_max_length": 10, "truncation_side": "left"})
write("old", BERT, [FIRST, pooling({**CLS, "pooling_mode_max_tokens": True})],
      sentence_bert_config__json={"max_seq_length": 12, "do_lower_case": False},
      tokenizer_config__json={"model_max_length": 10})
write("identity", {**ONE, "sentence_transformers": {"activation_fn": IDENTITY, "version": "4.1.0"}})
write("identity-3", {**ONE, "sbert_ce_default_activation_function": IDENTITY})
write("identity-5", ONE, [(f"{BASE}.transformer.Transformer", "")],
      config_sentence_transformers__json={"model_type": "CrossEncoder", "activation_fn": IDENTITY})
write("one-class", {**ONE, "sentence_transformers": {"version": "4.1.0"}})
write("classes", {**CLASSES, "sentence_transformers": {"version": "4.1.0"}})
write("plain-classes", CLASSES)
write("no-mode", BERT, [FIRST, pooling({"embedding_dimension": 16, "pooling_mode": "median"})])
write("no-flag", BERT, [FIRST, pooling({**CLS, "pooling_mode_median_tokens": True})])
write("no-module", BERT, [FIRST, (f"{OLD}.WordWeights", "1_WordWeights"), pooling(CLS)])
write("own-module", BERT, [FIRST, ("custom.Pooling", "1_Pooling")])
write("no-activation", BERT, [FIRST, pooling(CLS), (f"{OLD}.Dense", "2_Dense", {
    **TANH, "activation_function": "torch.nn.modules.activation.Softplus"})])
write("early-dense", BERT, [FIRST, (f"{OLD}.Dense", "1_Dense", TANH), ])
write("wrong-width", BERT, [FIRST, pooling(CLS), (f"{OLD}.Dense", "2_Dense", {**TANH, "in_features": 17})])
write("no-folder", BERT, [(f"{OLD}.Transformer", "0_Transformer"), pooling(CLS)])
write("deep-folder", BERT, [(f"{OLD}.Transformer", "a/0_Transformer"), pooling(CLS)])
write("folder", {"model_type": "other"},
      [(f"{OLD}.Transformer", "0_Transformer", BERT), pooling({**CLS, "pooling_mode_max_tokens": True})],
      **{"0_Transformer/sentence_bert_config__json": {"max_seq_length": 12}})
write("no-prompt", BERT, [FIRST, pooling(CLS)],
      config_sentence_transformers__json={"prompts": {"query": "q: "}, "default_prompt_name": "search"})
write("no-scores", {**ONE, "sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Softmax"}})
write("no-embedder", {"model_type": "marian", "d_model": 16, "encoder_layers": 1, "decoder_layers": 1,
                      "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 20,
                      "decoder_ffn_dim": 20, "vocab_size": 40, "max_position_embeddings": 24, "pad_token_id": 39},
      [FIRST, pooling(CLS)])
