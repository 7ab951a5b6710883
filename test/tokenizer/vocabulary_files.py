# SPDX-License-Identifier: Apache-2.0
# Writes tokenizers of the test models in the forms that models without a tokenizer.json have: vocab.txt, vocab.json with
# merges.txt, SentencePiece models.
#
# usage: vocabulary_files.py MODELS INPUTS OUTPUT   makes one folder per form in OUTPUT
import base64
import json
import os
import struct
import sys

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
UNIGRAM, BPE = 1, 2


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def real(field, value):
    return varint(field << 3 | 5) + struct.pack("<f", value)


def sentencePiece(pieces, kind, charsmap=b"", byteFallback=False, removeExtraWhitespaces=True):
    """pieces: (text, score, type); the bytes of a ModelProto."""
    out = b"".join(text(1, text(1, piece) + real(2, score) + number(3, type)) for piece, score, type in pieces)
    unknown = [type for _, _, type in pieces].index(UNKNOWN)
    trainer = number(3, kind) + number(35, byteFallback) + number(40, unknown)
    normalizer = text(1, "test") + text(2, charsmap) + number(3, 1) + number(4, removeExtraWhitespaces) + number(5, 1)
    return out + text(2, trainer) + text(3, normalizer)


def write(folder, files):
    os.makedirs(folder, exist_ok=True)
    for name, content in files.items():
        if not isinstance(content, (bytes, str)):
            content = json.dumps(content, ensure_ascii=False)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)


def toBytes(token):
    """The bytes of a token of a byte-level vocabulary."""
    visible = [byte for byte in range(256) if 32 < byte < 127 or byte > 160 and byte != 173]
    others = [byte for byte in range(256) if byte not in visible]
    return bytes(ord(char) if ord(char) < 256 else others[ord(char) - 256] for char in token)


def byId(vocabulary):
    return sorted(vocabulary, key=vocabulary.get)


def controls(piece):
    return {"<unk>": UNKNOWN, "<s>": CONTROL, "</s>": CONTROL, "<pad>": CONTROL}.get(piece, NORMAL)


def main(models, inputs, output):
    def tokenizer(model):
        with open(os.path.join(models, model, "tokenizer.json"), encoding="utf-8") as file:
            return json.load(file)["model"]

    def folder(name, files):
        write(os.path.join(output, name), files)

    bert = tokenizer("tales-bert")
    words = "".join(token + "\n" for token in byId(bert["vocab"]))
    folder("bert", {"vocab.txt": words, "tokenizer_config.json": {"tokenizer_class": "BertTokenizer"}})
    folder("bert-cased", {"vocab.txt": words.replace("\n", "\r\n"), "config.json": {"model_type": "distilbert"},
                          "tokenizer_config.json": {"do_lower_case": False, "tokenize_chinese_chars": False}})

    gpt2 = tokenizer("tales-gpt2")
    merges = "#version: 0.2\n" + "".join((m if isinstance(m, str) else " ".join(m)) + "\n" for m in gpt2["merges"])
    folder("gpt2", {"vocab.json": gpt2["vocab"], "merges.txt": merges})
    tokens = [toBytes(token) for token in byId(gpt2["vocab"])[:-1]]
    ranks = "".join(f"{base64.b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens))
    folder("whisper", {"gpt2.tiktoken": ranks})
    folder("llama3", {"tokenizer.model": ranks})
    folder("llama3-named", {"tokenizer.model": ranks, "tokenizer_config.json": {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<b>", "added_tokens_decoder": {"800": {"content": "<b>"}}}})
    folder("qwen1", {"qwen.tiktoken": ranks})
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    folder("tekken", {"tekken.json": {
        "config": {"pattern": pattern, "default_vocab_size": len(tokens) + 10, "default_num_special_tokens": 10, "version": "v7"},
        "special_tokens": [{"rank": rank, "token_str": text, "is_control": True} for rank, text in enumerate(["<unk>", "<s>"])],
        "vocab": [{"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
                  for rank, token in enumerate(tokens + [b"unused token"])]}})
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    shifted = {token: id + len(special) for token, id in gpt2["vocab"].items()}
    shifted.update({token: id for id, token in enumerate(special)}, **{"<mask>": len(shifted) + len(special)})
    folder("roberta", {"vocab.json": shifted, "merges.txt": merges, "config.json": {"model_type": "roberta"}})
    folder("qwen2", {"vocab.json": gpt2["vocab"], "merges.txt": merges,
                     "tokenizer_config.json": {"tokenizer_class": "Qwen2TokenizerFast", "bos_token": None}})

    llama = tokenizer("tales-llama")
    tokens, rank = byId(llama["vocab"]), {}
    for merge in llama["merges"]:
        rank.setdefault("".join(merge if isinstance(merge, list) else merge.split(" ")), len(rank))
    types = [BYTE if len(t) == 6 and t.startswith("<0x") else controls(t) for t in tokens]
    pieces = [(t, -float(rank.get(t, len(rank) + i)) if type == NORMAL else 0.0, type)
              for i, (t, type) in enumerate(zip(tokens, types))]
    model = sentencePiece(pieces, BPE, byteFallback=True, removeExtraWhitespaces=False)
    folder("llama", {"tokenizer.model": model})
    folder("llama-new", {"tokenizer.model": model, "tokenizer_config.json": {
        "tokenizer_class": "LlamaTokenizer", "legacy": False, "add_eos_token": True}})

    with open(os.path.join(inputs, "bytes.golden"), encoding="utf-8") as file:
        rules = next(json.loads(line) for line in file if '"component":"precompiled"' in line)["patch"]["normalizer"]
    charsmap = base64.b64decode(rules["precompiled_charsmap"])
    t5 = [(piece, score, controls(piece)) for piece, score in tokenizer("es-en-t5")["vocab"]]
    folder("t5", {"spiece.model": sentencePiece(t5, UNIGRAM), "tokenizer_config.json": {"extra_ids": 0}})
    folder("t5-extra", {"spiece.model": sentencePiece(t5 + [("@@", 0.0, USER_DEFINED)], UNIGRAM, charsmap)})
    start = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL)]
    folder("xlm-roberta", {"sentencepiece.bpe.model": sentencePiece(start + t5[3:], UNIGRAM, charsmap)})
    folder("camembert", {"sentencepiece.bpe.model": sentencePiece(start + t5[3:], UNIGRAM, charsmap),
                         "config.json": {"model_type": "camembert"}})

    folder("mbart", {"sentencepiece.bpe.model": sentencePiece(start + t5[3:], UNIGRAM), "tokenizer_config.json": {
        "tokenizer_class": "MBartTokenizer", "src_lang": "de_DE"}})
    folder("mbart50", {"sentencepiece.bpe.model": sentencePiece(start + t5[3:], UNIGRAM, charsmap), "tokenizer_config.json": {
        "tokenizer_class": "MBart50Tokenizer"}})
    # Languages follow the tokens of vocab.json; some pieces have no id.
    words = [piece for piece in pieces if piece[2] == NORMAL]
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    known = special + [piece for piece, _, _ in words if len(piece) % 5]
    folder("m2m100", {"sentencepiece.bpe.model": sentencePiece(start + words, BPE), "config.json": {"model_type": "m2m_100"},
                      "vocab.json": {piece: id for id, piece in enumerate(special + [piece for piece, _, _ in words])},
                      "special_tokens_map.json": {"additional_special_tokens": ["__af__", "__am__"]}})
    folder("m2m100-few", {"sentencepiece.bpe.model": sentencePiece(start + words, BPE),
                          "vocab.json": {piece: id for id, piece in enumerate(known)}, "tokenizer_config.json": {
                              "tokenizer_class": "M2M100Tokenizer", "language_codes": "wmt21", "src_lang": "is"}})

    marian = [(piece, score, controls(piece)) for piece, score in tokenizer("es-en-marian")["vocab"]]
    ids = {piece: id for id, (piece, _, _) in enumerate(marian)}
    folder("marian", {"source.spm": sentencePiece(marian, UNIGRAM), "target.spm": sentencePiece(marian, UNIGRAM),
                      "vocab.json": ids})
    folder("marian-two", {"source.spm": sentencePiece(marian, UNIGRAM), "vocab.json": ids,
                          "target_vocab.json": {piece: len(ids) - 1 - id for piece, id in ids.items()},
                          "tokenizer_config.json": {"separate_vocabs": True}})
    # Some pieces have no id, some tokens are in no piece, and there are codes of languages.
    known = [piece for piece, _, type in marian if type != NORMAL or len(piece) % 5] + [">>eng<<", "\u2581objetivo"]
    folder("marian-codes", {"source.spm": sentencePiece(marian, UNIGRAM, charsmap),
                            "vocab.json": {piece: id for id, piece in enumerate(known)}})


if __name__ == "__main__":
    main(*sys.argv[1:])
