# SPDX-License-Identifier: Apache-2.0
"""Tokenizers that ask for endless work, depth or text end soon, with a code. limits.py TALC_TOKENIZE OUTPUT."""
import json
import os
import resource
import subprocess
import sys

SECONDS, MEMORY = 10, 3 << 30  # seconds of a processor: the machine may be busy


def tokenizer(**parts):
    return {"model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0}}, **parts}


def split(*patterns):
    splits = [{"type": "Split", "pattern": {"Regex": p}, "behavior": "Isolated", "invert": False} for p in patterns]
    return tokenizer(pre_tokenizer={"type": "Sequence", "pretokenizers": splits})


def normalizers(*list):
    return tokenizer(normalizer={"type": "Sequence", "normalizers": list})


def replace(old, new):
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


def decoders(*list):
    return tokenizer(decoder={"type": "Sequence", "decoders": list})


def added(count, **parts):
    tokens = [{"id": i + 1, "content": f"a{i}", "normalized": True} for i in range(count)]
    return tokenizer(added_tokens=tokens, **parts)


DOUBLE = [replace("a", "aa")] * 40
CASES = [
    # name, tokenizer, text, what must be said
    ("empty-loops", split("(?:(?:){99999}){99999}"), "a", "0\n"),
    ("empty-choices", split("(?:(?:|){250}){250}"), "a", "T0317"),
    ("empty-groups", split("(?:" + "(?:)" * 15000 + "a){60000}"), "a", "more than 1000000 steps to translate"),
    ("nested-loops", split("(?:" * 50 + "a" + "){2}" * 50), "a", "T0317"),
    ("suffixes", split("a" + "{1}" * 20000), "a", "more than 8 repetitions of one thing"),
    ("plusses", split("a" + "+" * 60000), "a", "more than 8 repetitions"),
    ("options", split("(?i)" * 16000), "a", "groups nested deeper than 60"),
    ("case-sets", split("(?i)" + r"[\p{L}]" * 2000), "a", "0\n"),
    ("case-letters", split("(?i)" + "ab" * 30000), "a", "0\n"),
    ("large-set", split("[" + r"\w" * 8000 + "]"), "a", "0\n"),
    ("mixed-set", split("[" + r"\w~" * 5000 + "]"), "a", "0\n"),
    ("intersections", split("[" + r"\w&&" * 4000 + r"\w]"), "a", "0\n"),
    ("negations", split("[^" * 59 + r"\w" * 5000 + "]" * 59), "a", "0\n"),
    ("scripts", split("(?i)" + r"[\p{Greek}\p{Han}]" * 3500), "a", "0\n"),
    ("long-pattern", split("a" * 70000), "a", "T0318"),
    ("many-patterns", split(*["(?:ab){30000}"] * 100), "a", "T0318"),
    ("many-characters", split(*["[" + "a" * 60000 + "]"] * 30), "a", "T0318"),
    ("long-literal", normalizers(replace("ab" * 50000, "a")), "a", "T0318"),
    ("many-normalizers", normalizers(*[{"type": "Lowercase"}] * 1000), "a", "more than 256 normalizers"),
    ("many-cleanings", normalizers(*[{"type": "BertNormalizer"}] * 50), "a", "0\n"),
    ("many-splits", split(*["a"] * 1000), "a", "more than 256 pre-tokenizers"),
    ("many-decoders", decoders(*[{"type": "Fuse"}] * 1000), "a", "more than 256 decoders"),
    ("doubling", normalizers(*DOUBLE), "a", "T0326"),
    ("doubling-long", normalizers(*DOUBLE), "a" * 100000, "T0326"),
    ("prepending", normalizers(*[{"type": "Prepend", "prepend": "a" * 30000}] * 250), "a", "T0326"),
    ("replacement", normalizers(replace("a", "b" * 1000000)), "a" * 10000, "T0326"),
    ("doubling-added", added(2000, normalizer={"type": "Sequence", "normalizers": DOUBLE[:12]}), "a", "T0326"),
    ("slow-added", added(2000, normalizer={"type": "Sequence", "normalizers": [
        {"type": "Replace", "pattern": {"Regex": "(?:(?:a|a)?){12}b"}, "content": ""}] * 50}), "a", "T0323"),
    ("slow-pieces", split(".", "(?:(?:a|a)?){14}b"), "a" * 3000, "T0323"),
    ("alternatives", split("(?:a|b)*c"), "ab" * 40000, "T0323"),
    ("doubling-decoder", decoders(*DOUBLE), "a", "0\n"),
]


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def main():
    program, output = sys.argv[1:]
    os.makedirs(output, exist_ok=True)
    failures = 0
    for name, tree, text, wanted in CASES:
        path = os.path.join(output, name + ".json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(tree, file)
        mode = "roundtrip" if "decoder" in name else "encode"
        done = subprocess.run([program, path, mode], input=text + "\n", capture_output=True, text=True,
                              preexec_fn=limit, check=False)
        status, said = done.returncode, done.stdout + done.stderr
        refused = wanted.startswith("T0") or " " in wanted
        good = status == 1 and wanted in said and said.startswith("error[T03") if refused else status == 0
        if not good or said.count("\n") != 1:
            print(f"{name}: expected {wanted!r}, found {status}: {said[-300:]!r}")
            failures += 1
    print(f"{failures} failures")


main()
