# SPDX-License-Identifier: Apache-2.0
# Reads artifacts as runtime/artifact/ArtifactFormat.h describes them, independently of the compiler and the runtime.
#
# usage: artifact.py FILE   checks the structure and all hashes, and prints one line per section
import json
import struct
import sys

KINDS = {1: "manifest", 2: "info", 3: "code", 4: "weights", 5: "tokenizer", 6: "labels", 7: "states"}
NAMED = {"code", "weights"}
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


def read_name(field):
    name, end, rest = field.partition(b"\0")
    assert end and not any(rest), "name without end"
    return name.decode()


def describe_code(section):
    """The head of a section of code: family, features, layout of the weights, entries."""
    family, layout, features, entries = struct.unpack_from("<32s32sII", section)
    family, layout, table = read_name(family), read_name(layout), 72 + 32 * 48
    names = [read_name(section[at:at + 32]) for at in range(72, 72 + 32 * features, 32)]
    calls = [(read_name(section[at:at + 32]), read_name(section[at + 32:at + 64]))
             for at in range(table, table + 64 * entries, 64)]
    assert family and layout and all(names) and all(symbol for _, symbol in calls), "head of code"
    assert {phase for phase, _ in calls} <= {"encode", "prefill", "decode"}, "phases of code"
    assert family != "x86-64" or section[4096:4100] == b"\x7fELF", "code is not an ELF file"
    return f"{family} with {' '.join(names)}; reads {layout}; " + ", ".join(f"{a} is {b}" for a, b in calls)


def find_artifact(file):
    """The section that begins as an artifact does, of an ELF file; a loaded segment is the same bytes."""
    if not file.startswith(b"\x7fELF"):
        return file
    kind, segments, table = struct.unpack_from("<H14xQQ", file, 16)
    segment_count, _, section_count = struct.unpack_from("<HHH", file, 56)
    found = [struct.unpack_from("<QQQQ", file, table + 64 * i + 8) for i in range(section_count)
             if struct.unpack_from("<I", file, table + 64 * i + 4)[0] == 1]
    flags, address, begin, size = next(s for s in found if file[s[2]:s[2] + 8] == b"TALCART2")
    assert flags & 2, "the section is not loaded"
    loaded = [struct.unpack_from("<IIQQQQQ", file, segments + 56 * i) for i in range(segment_count)]
    assert kind == 1 or (1, 4, begin, address, address, size, size) in loaded, "the segment of the artifact"
    return file[begin:begin + size]


def read_sections(path, names=None):
    """Kind -> bytes; fails if anything is not as it should be. Fills `names`: kind -> name."""
    with open(path, "rb") as file:
        data = file.read()
    data = find_artifact(data)
    magic, version, count, size, _, header_hash = struct.unpack_from("<8sIIQQQ", data)
    assert magic == b"TALCART2" and version == 20 and size == len(data), "header"
    assert hash_bytes(data[:32]) == header_hash, "hash of the header"
    table = size - 8 - 64 * count
    assert hash_bytes(data[table:-8]) == struct.unpack("<Q", data[-8:])[0], "section table"
    sections, end = {}, 40
    for i in range(count):
        kind, reserved, offset, length, digest, name = struct.unpack_from("<IIQQQ32s", data, table + 64 * i)
        assert reserved == 0 and bool(read_name(name)) == (KINDS[kind] in NAMED), f"name of {KINDS[kind]}"
        assert offset % 4096 == 0 and end <= offset and offset + length <= table, f"place of {KINDS[kind]}"
        assert not any(data[end:offset]), f"padding before {KINDS[kind]}"
        sections[KINDS[kind]] = data[offset:offset + length]
        assert hash_bytes(sections[KINDS[kind]]) == digest, f"hash of {KINDS[kind]}"
        end = offset + length
        if names is not None:
            names[KINDS[kind]] = read_name(name)
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
    names = {}
    for kind, content in read_sections(sys.argv[1], names).items():
        details = f", {names[kind]}" if names[kind] else ""
        if kind == "code":
            details += ": " + describe_code(content)
        print(f"{kind}: {len(content)} bytes{details}")
