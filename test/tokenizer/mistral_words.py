# SPDX-License-Identifier: Apache-2.0
"""Writes a tokenizer of Mistral's size whose words are those of the wrong pattern. mistral_words.py DIRECTORY RELEASE."""
import json
import os
import sys

SPLIT = {"type": "Split", "pattern": {"Regex": r"\p{L}+|\p{N}{1,3}|\s+"}, "behavior": "Isolated", "invert": False}
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
TOKENS = ["<unk>", "ab", "Cd", "\u0120", "1", "2", "abCd", "12"]


def write(directory, name, value):
    with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
        json.dump(value, file)


def main(directory, release):
    os.makedirs(directory, exist_ok=True)
    tokens = TOKENS + [f"<{i}>" for i in range(100_001 - len(TOKENS))]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    write(directory, "tokenizer.json", {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [SPLIT, BYTES]}, "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "WordLevel", "unk_token": "<unk>", "vocab": vocabulary}})
    write(directory, "tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", "fix_mistral_regex": True})
    write(directory, "config.json", {"model_type": "mistral", "transformers_version": release})


main(*sys.argv[1:])
