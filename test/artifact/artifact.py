# SPDX-License-Identifier: Apache-2.0
# Reads artifacts as runtime/artifact/ArtifactFormat.h describes them, independently of the compiler and the runtime.
#
# usage: artifact.py FILE   checks the structure and all hashes, and prints one line per section
import json
import struct
import sys

KINDS = {1: "manifest", 2: "info", 3: "code", 4: "weights", 5: "tokenizer", 6: "labels"}
MASK = (1 << 64) - 1


def hash_bytes(data):
    p, q = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F

    def rotate(x, n):
        return ((x << n) | (x >> (64 - n))) & MASK

    lane = [p, q, p ^ q, (p + q) & MASK]
    tail = len(data) % 32
    words = struct.unpack(f"<{(len(data) - tail) // 8}Q", data[:len(data) - tail])
    for i, word in enumerate(words):
        lane[i % 4] = rotate((lane[i % 4] + word * q) & MASK, 31) * p & MASK
    value = len(data) * p & MASK
    for x in lane:
        value = (rotate(value ^ x, 27) * p + q) & MASK
    for byte in data[len(data) - tail:]:
        value = rotate(value ^ (byte * q & MASK), 11) * p & MASK
    value = (value ^ (value >> 33)) * q & MASK
    return value ^ (value >> 29)


def read_sections(path):
    """Kind -> bytes; fails if anything is not as it should be."""
    with open(path, "rb") as file:
        data = file.read()
    table, table_hash, size, count, version, magic = struct.unpack("<QQQII8s", data[-40:])
    assert magic == b"TALCART1" and version == 5 and size == len(data), "trailer"
    assert table + 32 * count + 40 == size and hash_bytes(data[table:-40]) == table_hash, "section table"
    sections, end = {}, 0
    for i in range(count):
        kind, level, offset, length, digest = struct.unpack_from("<IIQQQ", data, table + 32 * i)
        assert offset % 4096 == 0 and end <= offset and offset + length <= table, f"place of {KINDS[kind]}"
        assert not any(data[end:offset]) or i == 0, f"padding before {KINDS[kind]}"
        sections[KINDS[kind]] = data[offset:offset + length]
        assert hash_bytes(sections[KINDS[kind]]) == digest, f"hash of {KINDS[kind]}"
        end = offset + length
    return sections


def read_weights(path):
    """Name -> (element type, shape, bytes), as the manifest lists them."""
    sections = read_sections(path)
    result, end = {}, 0
    for weight in json.loads(sections["manifest"])["weights"]:
        begin = weight["offset"]
        assert begin % 64 == 0 and not any(sections["weights"][end:begin]), f"gap before {weight['name']}"
        end = begin + weight["bytes"]
        result[weight["name"]] = (weight["type"], weight["shape"], sections["weights"][begin:end])
    assert not any(sections["weights"][end:]), "gap at the end"
    return result


if __name__ == "__main__":
    for kind, content in read_sections(sys.argv[1]).items():
        print(f"{kind}: {len(content)} bytes")
