# SPDX-License-Identifier: Apache-2.0
"""Wrong and damaged tokenizer files get a code, never a crash. hostile_files.py TALC_TOKENIZE OUTPUT."""
import json
import os
import random
import re
import subprocess
import sys

from vocabulary_files import BPE, BYTE, CONTROL, NORMAL, UNIGRAM, UNKNOWN, number, sentencePiece, text, varint, write

PIECES = [("<unk>", 0.0, UNKNOWN), ("<s>", 0.0, CONTROL), ("</s>", 0.0, CONTROL), ("<pad>", 0.0, CONTROL),
          ("\u2581a", -1.0, NORMAL), ("a", -2.0, NORMAL), ("\u2581", -3.0, NORMAL)]
GOOD = sentencePiece(PIECES, UNIGRAM)
MERGES = "#version: 0.2\na b\n"


def model(data, **files):
    return {"spiece.model": data, **{name.replace("_json", ".json"): content for name, content in files.items()}}


def pieces(*more, kind=UNIGRAM):
    return model(sentencePiece(PIECES + list(more), kind))


def settings(**values):
    return model(GOOD, tokenizer_config_json=values)


def marian(vocabulary, source=GOOD, **config):
    return {"source.spm": source, "vocab.json": vocabulary, "tokenizer_config.json": config}


MARIAN = {"</s>": 0, "<unk>": 1, "a": 2, "<pad>": 3}
CASES = [
    ("empty", model(b""), "T0320", "has 0 pieces of type unknown"),
    ("text", model("no protocol buffer"), "T0320", "no SentencePiece model"),
    ("cut", model(GOOD[:-3]), "T0320", "cut"),
    ("group", model(GOOD + varint(9 << 3 | 3)), "T0320", "no SentencePiece model"),
    ("field-0", model(GOOD + number(0, 1)), "T0320", "no SentencePiece model"),
    ("varint", model(GOOD + b"\x08" + b"\xff" * 12), "T0320", "no SentencePiece model"),
    ("varint-bits", model(GOOD + b"\x48" + b"\xff" * 9 + b"\x02"), "T0320", "no SentencePiece model"),
    ("length", model(GOOD + varint(1 << 3 | 2) + varint(1 << 63)), "T0320", "no SentencePiece model"),
    ("wire-type", model(GOOD + number(1, 7)), "T0320", "pieces has wire type 0, expected 2"),
    ("score-type", model(GOOD + text(1, text(1, "b") + number(2, 1))), "T0320", "score has wire type 0, expected 5"),
    ("nan", pieces(("b", float("nan"), NORMAL)), "T0320", "piece 7 has a score that is not a finite number"),
    ("infinite", pieces(("b", float("inf"), NORMAL)), "T0320", "not a finite number"),
    ("piece-type", pieces(("b", 0.0, 9)), "T0320", "piece 7 has type 9, expected 1 to 6"),
    ("utf8", pieces((b"\xff", 0.0, NORMAL)), "T0320", "piece 7 is not UTF-8"),
    ("no-text", pieces(("", 0.0, NORMAL)), "T0320", "piece 7 is empty"),
    ("twice", pieces(("a", 0.0, NORMAL)), "T0315", "piece 7, 'a', occurs twice"),
    ("unknowns", pieces(("<u>", 0.0, UNKNOWN)), "T0320", "has 2 pieces of type unknown, expected 1"),
    ("long", pieces(("a" * 65537, 0.0, NORMAL)), "T0318", "longer than 65536 bytes"),
    ("word", model(GOOD + text(2, number(3, 3))), "T0314", "model_type is 3"),
    ("suffix", model(GOOD + text(2, number(24, 1))), "T0314", "treat_whitespace_as_suffix is set"),
    ("escape", model(GOOD + text(3, number(5, 0))), "T0314", "escape_whitespaces is off"),
    ("denormalizer", model(GOOD + text(5, text(2, "abcd"))), "T0314", "denormalizer_spec has rules"),
    ("charsmap", model(sentencePiece(PIECES, UNIGRAM, b"\xff\xff\xff\xff....")), "T0319", "damaged"),
    ("merges", model(sentencePiece(PIECES[:1] + [("a" * i + "b" * j, 0.0, NORMAL) for i in range(170)
                                                 for j in range(170) if i + j], BPE)), "T0318", "4194304 merges"),
    ("extra-ids", settings(extra_ids=1 << 20), "T0318", "extra_ids"),
    ("end", model(sentencePiece([p for p in PIECES if p[0] != "</s>"], UNIGRAM)), "T0315", "has no '</s>'"),
    ("class", settings(tokenizer_class="AlbertTokenizer"), "T0314", "'AlbertTokenizer' without a tokenizer.json"),
    ("class-type", settings(tokenizer_class=3), "T0313", "tokenizer_class: expected a string, found the number 3"),
    ("other-file", {"vocab.txt": "a\n", "tokenizer_config.json": {"tokenizer_class": "T5Tokenizer"}}, "T0311",
     "expected tokenizer.model"),
    ("flag", settings(legacy="no"), "T0313", "legacy: expected true or false"),
    ("config", model(GOOD, tokenizer_config_json="["), "T0312", "tokenizer_config.json: the file is not JSON"),
    ("list", model(GOOD, special_tokens_map_json="[]"), "T0313", "special_tokens_map.json: expected an object"),
    ("added", model(GOOD, added_tokens_json={"<x>": -1}), "T0313", "expected a token id"),
    ("decoder-id", settings(added_tokens_decoder={"x": {"content": "<x>"}}), "T0313", "expected a token id"),
    ("words", {"vocab.txt": b"[UNK]\n\xff\n"}, "T0315", "vocab.txt: is not UTF-8"),
    ("no-cls", {"vocab.txt": "[UNK]\na\n"}, "T0315", "the vocabulary has no '[CLS]'"),
    ("merge", {"vocab.json": {"a": 0, "b": 1}, "merges.txt": MERGES}, "T0316", "'ab' is not in the vocabulary"),
    ("merge-line", {"vocab.json": {"a": 0}, "merges.txt": "a b c\n"}, "T0313", 'expected ["a", "b"] or "a b"'),
    ("no-merges", {"vocab.json": {}, "vocab.txt": "", "tokenizer_config.json": {"tokenizer_class": "GPT2Tokenizer"}},
     "T0201", "merges.txt: cannot be opened"),
    ("same-id", {"vocab.json": {"a": 0, "b": 0}, "merges.txt": ""}, "T0315", "id 0 belongs to two tokens"),
    ("marian-gap", marian({"a": 0, "<unk>": 5}), "T0315", "occurs twice or leaves a gap"),
    ("marian-twice", marian({"a": 0, "<unk>": 0}), "T0315", "occurs twice or leaves a gap"),
    ("marian-unknown", marian({"</s>": 0, "a": 1}), "T0315", "has no unknown token"),
    ("marian-bpe", marian(MARIAN, sentencePiece(PIECES, BPE)), "T0314", "expected a unigram model"),
    ("marian-two", marian(MARIAN, separate_vocabs=True), "T0201", "target_vocab.json: cannot be opened"),
    ("marian-end", marian({"<unk>": 0, "a": 1}), "T0315", "has no '</s>'"),
    ("marian-target", {**marian(MARIAN), "target.spm": b"\x08"}, "T0320", "target.spm"),
]


def run(program, folder, mode="check"):
    done = subprocess.run([program, folder, mode], input=" a\u2581b <s> \u00e9\n", capture_output=True, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


def runCases(program, output):
    failures = 0
    for name, files, code, words in CASES:
        write(os.path.join(output, name), files)
        status, said = run(program, os.path.join(output, name))
        if status != 1 or not re.match(rf"error\[{code}\]: ", said) or words not in said or said.count("\n") != 1:
            print(f"{name}: expected {code} with '{words}', found {status}: {said}")
            failures += 1
    return failures


def runDamaged(program, output):
    """Flips, cuts and repeats bytes: a code, or ids for a text."""
    random.seed(5)
    failures = opened = 0
    models = {"spiece.model": GOOD, "tokenizer.model": sentencePiece(PIECES + [("<0x41>", 0.0, BYTE)], BPE),
              "source.spm": sentencePiece(PIECES, UNIGRAM, b"\x08\0\0\0" + b"\1" * 8 + b"x\0")}
    for round in range(200):
        name, data = random.choice(sorted(models.items()))
        data = bytearray(data)
        for _ in range(random.randint(1, 3)):
            at = random.randrange(len(data))
            data[at:at + random.choice([0, 1, 1, 1, 4])] = random.randbytes(random.choice([0, 1, 1, 2]))
        folder = os.path.join(output, "damaged-" + name.split(".")[0])
        write(folder, {name: bytes(data), **({"vocab.json": MARIAN} if name == "source.spm" else {})})
        status, said = run(program, folder, "encode")
        opened += status == 0
        if status not in (0, 1) or (status == 1 and not re.match(r"error\[T03\d\d\]: .*\n$", said)):
            print(f"round {round}, {name}: found {status}: {said}\n{json.dumps(data.hex())}")
            failures += 1
    print("opened some:", opened > 0)
    return failures


if __name__ == "__main__":
    wrong = runCases(*sys.argv[1:]) + runDamaged(*sys.argv[1:])
    print(f"{wrong} failures")
    sys.exit(wrong > 0)
