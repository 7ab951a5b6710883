# SPDX-License-Identifier: Apache-2.0
"""Compares embeddings of compiled directories of sentence-transformers with their formulas, over the hidden states that
the same program prints for each token. The second argument is a BERT, to which modules are added.
"""
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys

TALC, BERT, WORK = sys.argv[1:4]
WIDTH = 128
TEXT, LONG = "Once upon a time there was a big cat.", "The sun was warm and the cat was big. " * 12
PROMPTS = {"query": "Find the cat: ", "passage": "The text: ", "document": ""}


def write_tensors(path, tensors):
    header, offset = {}, 0
    for name, (shape, values) in tensors.items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + 4 * len(values)]}
        offset += 4 * len(values)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, values in tensors.values():
            file.write(struct.pack(f"<{len(values)}f", *values))


def module(kind, path="", place="sentence_transformers.models."):
    return {"type": place + kind, "path": path}


class Directory:
    def __init__(self, name, transformer=""):
        """`transformer`: the folder with the model itself."""
        self.path = os.path.join(WORK, name)
        shutil.copytree(BERT, os.path.join(self.path, transformer))
        self.modules = [module("Transformer", transformer)]
        self.random = random.Random(name)

    def add(self, kind, config=None, tensors=None):
        place = f"{len(self.modules)}_{kind}"
        self.modules.append(module(kind, place))
        os.mkdir(os.path.join(self.path, place))
        if config is not None:
            self.write(os.path.join(place, "config.json"), config)
        if tensors:
            write_tensors(os.path.join(self.path, place, "model.safetensors"), tensors)

    def values(self, *shape):
        return list(shape), [struct.unpack("f", struct.pack("f", self.random.uniform(-0.3, 0.3)))[0]
                             for _ in range(math.prod(shape))]

    def write(self, file, value):
        with open(os.path.join(self.path, file), "w", encoding="utf-8") as target:
            json.dump(value, target)

    def compile(self):
        self.write("modules.json", self.modules)
        self.program = os.path.join(WORK, os.path.basename(self.path) + ".app")
        subprocess.run([TALC, "compile", self.path, "-o", self.program, "--target=x86-64-v3"], check=True,
                       capture_output=True)

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments, "-q", "--json"], check=True, capture_output=True, text=True)
        return [json.loads(line) for line in done.stdout.splitlines()], done.stderr

    def embedding(self, text, *arguments):
        return self.run("--text", text, *arguments)[0][0]["embedding"]

    def tokens(self, text, *arguments):
        rows = self.run("--text", text, "--pool", "none", *arguments)[0][0]["tokens"]
        return [row["embedding"] for row in rows]


def pool(mode, rows, first=0):
    columns = list(zip(*rows[first:]))
    if mode in ("cls", "lasttoken"):
        return rows[first if mode == "cls" else -1]
    if mode == "max":
        return [max(column) for column in columns]
    weights = [i + 1 if mode == "weightedmean" else 1 for i in range(first, len(rows))]
    total = math.sqrt(sum(weights)) if mode == "mean_sqrt_len_tokens" else sum(weights)
    return [sum(w * x for w, x in zip(weights, column)) / total for column in columns]


def dense(x, weight, bias=None, activation=lambda x: x):
    (outputs, inputs), values = weight
    sums = [sum(values[row * inputs + i] * x[i] for i in range(inputs)) for row in range(outputs)]
    return [activation(s + (bias[1][row] if bias else 0)) for row, s in enumerate(sums)]


def norm(x, scale, bias):
    mean = sum(x) / len(x)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in x) / len(x) + 1e-5)
    return [(v - mean) / deviation * s + b for v, s, b in zip(x, scale[1], bias[1])]


def normalize(x):
    length = math.sqrt(sum(v * v for v in x))
    return [v / length for v in x]


def expect(what, found, expected):
    assert len(found) == len(expected), f"{what}: {len(found)} floats, expected {len(expected)}"
    error = max(abs(a - b) for a, b in zip(found, expected))
    scale = max(map(abs, expected))
    assert error < 1e-5 * max(scale, 1), f"{what}: differs by {error} of {scale}"


def check_layers():
    d = Directory("layers", "0_Transformer")
    d.add("Pooling", {"word_embedding_dimension": WIDTH, "pooling_mode_cls_token": True,
                      "pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True})
    first, bias, second = d.values(20, 3 * WIDTH), d.values(20), d.values(24, 20)
    third, projection, scale, shift = d.values(8, 24), d.values(8, 24), d.values(8), d.values(8)
    d.add("Dense", {"in_features": 3 * WIDTH, "out_features": 20, "bias": True,
                    "activation_function": "torch.nn.modules.activation.Tanh"},
          {"linear.weight": first, "linear.bias": bias})
    d.add("Dropout", {"dropout": 0.2})
    d.add("Dense", {"in_features": 20, "out_features": 24, "bias": False,
                    "activation_function": "torch.nn.modules.linear.Identity"}, {"linear.weight": second})
    d.add("Dense", {"in_features": 24, "out_features": 8, "bias": False, "use_residual": True,
                    "activation_function": "torch.nn.modules.activation.GELU"},
          {"linear.weight": third, "residual.weight": projection})
    d.add("LayerNorm", {"dimension": 8}, {"norm.weight": scale, "norm.bias": shift})
    d.add("Normalize")
    d.compile()
    rows = d.tokens(TEXT)
    x = dense(pool("cls", rows) + pool("max", rows) + pool("mean", rows), first, bias, math.tanh)
    x = dense(x, second)
    gelu = dense(x, third, None, lambda v: v * 0.5 * (1 + math.erf(v * math.sqrt(0.5))))
    x = [a + b for a, b in zip(gelu, dense(x, projection))]
    expect("layers", d.embedding(TEXT), normalize(norm(x, scale, shift)))
    for mode in ("cls", "mean", "max", "lasttoken", "weightedmean", "mean_sqrt_len_tokens"):
        expect(mode, d.embedding(TEXT, "--pool", mode), pool(mode, rows))
    expect("--normalize", d.embedding(TEXT, "--pool", "max", "--normalize"), normalize(pool("max", rows)))


def check_texts():
    d = Directory("texts")
    d.add("Pooling", {"embedding_dimension": WIDTH, "pooling_mode": ["weightedmean", "lasttoken"],
                      "include_prompt": False})
    d.write("config_sentence_transformers.json", {"prompts": PROMPTS, "default_prompt_name": "query"})
    d.write("sentence_bert_config.json", {"max_seq_length": 40, "do_lower_case": False})
    d.compile()
    for name in (None, "query", "passage", "document", ""):
        prompt = PROMPTS.get("query" if name is None else name, "")
        rows = d.tokens(prompt + TEXT, "--prompt-name", "")
        # The prompt ends before the special token at its end.
        first = len(d.tokens(prompt, "--prompt-name", "")) - 1 if prompt else 0
        chosen = [] if name is None else ["--prompt-name", name]
        expect(f"prompt {name}", d.embedding(TEXT, *chosen),
               pool("weightedmean", rows, first) + pool("lasttoken", rows, first))
    results, errors = d.run("--text", LONG, "--text", LONG, "--pool", "none", "--prompt-name", "")
    assert [len(result["tokens"]) for result in results] == [40, 40], "texts are not cut to 40 tokens"
    assert errors.count("texts are cut to 40 tokens") == 1, errors
    failed = subprocess.run([d.program, "--text", "a", "--prompt-name", "pasage"], capture_output=True, text=True)
    assert failed.returncode == 2 and "(did you mean passage?)" in failed.stderr.replace("'", ""), failed.stderr


shutil.rmtree(WORK, ignore_errors=True)
os.makedirs(WORK)
check_layers()
check_texts()
