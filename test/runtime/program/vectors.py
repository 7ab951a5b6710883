# SPDX-License-Identifier: Apache-2.0
"""vectors.py PROGRAM FOLDER: compares embeddings in .npy and .safetensors files with those that the program prints, and
poolings with their definitions."""
import json
import math
import os
import struct
import subprocess
import sys

PROGRAM, FOLDER = sys.argv[1:]
TEXTS = ["abc", "", "b", "hello"]


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments, "-q"], check=True, capture_output=True, text=True).stdout


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<H", data[8:10])[0]
    assert data[:8] == b"\x93NUMPY\1\0" and (10 + size) % 64 == 0 and data[9 + size:10 + size] == b"\n"
    header = eval(data[10:10 + size])  # a dictionary of Python, as the format says
    assert header["descr"] == "<f4" and not header["fortran_order"]
    return header["shape"], struct.unpack(f"<{len(data[10 + size:]) // 4}f", data[10 + size:])


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8:8 + size])["embeddings"]
    return tuple(entry["shape"]), struct.unpack(f"<{len(data[8 + size:]) // 4}f", data[8 + size:])


def same(a, b):
    return len(a) == len(b) and all(abs(x - y) < 1e-6 for x, y in zip(a, b))


def main():
    lines, npy, tensors = (os.path.join(FOLDER, name) for name in ("lines.txt", "vectors.npy", "vectors.safetensors"))
    with open(lines, "w", encoding="utf-8") as file:
        file.write("".join(text + "\n" for text in TEXTS))
    run("--input", lines, "--output", npy)
    run("--input", lines, "--output", tensors)
    printed = [json.loads(line).get("embedding") for line in run("--input", lines, "--json").splitlines()]
    for shape, values in (read_npy(npy), read_safetensors(tensors)):
        assert shape == (4, 4), shape
        for row, expected in enumerate(printed):
            found = values[4 * row:4 * row + 4]
            assert all(map(math.isnan, found)) if expected is None else same(found, expected), row
    run("--text", "abc", "--output", npy)
    assert same(read_npy(npy)[1], printed[0])

    rows = [list(map(float, line.split())) for line in run("--text", "abc", "--pool", "none").splitlines()]
    columns = list(zip(*rows))
    poolings = {"cls": rows[0], "lasttoken": rows[2], "max": list(map(max, columns)),
                "mean": [sum(c) / 3 for c in columns], "mean_sqrt_len_tokens": [sum(c) / math.sqrt(3) for c in columns],
                "weightedmean": [(c[0] + 2 * c[1] + 3 * c[2]) / 6 for c in columns]}
    for name, expected in poolings.items():
        assert same(list(map(float, run("--text", "abc", "--pool", name).split())), expected), name
    length = math.sqrt(sum(x * x for x in poolings["max"]))
    normalized = list(map(float, run("--text", "abc", "--pool", "max", "--normalize").split()))
    assert same(normalized, [x / length for x in poolings["max"]])


main()
