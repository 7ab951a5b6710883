# SPDX-License-Identifier: Apache-2.0
"""Counts how the tree reads: words of the field, words of its own, hidden attributes, sizes of folders, headers and pages.

usage: counts.py [--list NAME]   prints every count beside its bound, and fails where one is beyond; with --list what is
counted under a name
"""
import os
import re
import sys

import dead_code
import layout
import wording

AT_LEAST, AT_MOST = "at least", "at most"
# What is counted -> the bound that the tree keeps.
BOUNDS = {
    "field terms in code": (AT_LEAST, 70),
    "field terms in docs": (AT_LEAST, 60),
    "forbidden words": (AT_MOST, 0),
    "fragments for sentences": (AT_MOST, 0),
    "adjectives and Of-chains as names": (AT_MOST, 0),
    "attributes": (AT_MOST, 29),
    "attributes without verifier": (AT_MOST, 0),
    "lanes compared with numbers": (AT_MOST, 0),
    "files in a folder": (AT_MOST, 40),
    "files of talc bench": (AT_MOST, 35),
    "headers under 30 lines": (AT_MOST, 70),
    "small headers with one includer": (AT_MOST, 0),
    "dead files": (AT_MOST, 0),
    "dead declarations": (AT_MOST, 0),
    "words of the longest paragraph": (AT_MOST, wording.MAX_WORDS),
    "words of the docs": (AT_MOST, 12300),  # a page of 100 words for each new command
    "lines of README.md": (AT_MOST, 130),
    "lines of architecture.md": (AT_MOST, 250),
    "lines of performance.md": (AT_MOST, 200),
    "error codes without a page": (AT_MOST, 0),
}
# Pages that are rendered from code, and references that have a line for each thing.
RENDERED = re.compile(r"docs/(?:families|generation|cli)\.md$|docs/(?:errors|dialects)/")
# A term counts as present in that many files of code; in docs one page is enough.
FILES_OF_A_TERM = 2
# Words of the field for what talc has; spaces also stand for hyphens, underscores and capitals.
TERMS = [
    "KV cache", "token", "sequence", "step", "prefill", "decode", "encode", "entry", "sliding window", "sink token",
    "mask range", "GQA", "RoPE", "MoE", "router", "expert", "logits", "hidden states",
    "quant block", "scale", "zero point", "code", "k quants", "quantize", "dequantize", "importance matrix", "packed weight",
    "panel", "dequantized panel",
    "compute op", "row wise op", "matmul", "epilogue", "fusion", "lowering", "outlining", "task", "grain", "worker",
    "work stealing", "dynamic schedule", "barrier", "memory plan", "arena", "tuning parameter", "plan override",
    "tuning record", "cost model", "roofline", "listing", "launcher stub",
    "microkernel", "register tile", "accumulator", "dot product", "prefetch", "cache line", "online softmax",
    "flash decoding", "split KV", "split K", "partial sums",
    "workgroup", "subgroup", "warp", "multiprocessor", "occupancy", "bank conflict", "tensor core", "MMA", "fragment",
    "split precision", "multi stage", "shared memory", "persistent kernel", "launch",
    "continuous batching", "scheduler", "prefix sharing", "beam search", "sampler", "logits processor",
]
TERMS_SPELLED = {"MMA": r"\b[mM][mM][aA](?![a-z])|Mma", "code": r"\b[cC]odes?\b", "RoPE": r"\b[rR]o[pP][eE]\b|Rope",
                 "MoE": r"\bM[oO]E\b|Moe", "GQA": r"\bGQA\b|\bgqa", "warp": r"\b[wW]arps?\b|Warp"}
# Where lanes may be compared with numbers: what says what an instruction set has, what selects instructions of one, and what
# checks what a user writes.
LANES = re.compile(r"\b[lL]anes(?:\(\))?\s*(?:==|!=|<=|>=|<|>)\s*(?:[48]|16|32|64)\b|\b(?:[48]|16|32|64)\s*(?:==|!=|<=|>=|<|>)\s*"
                   r"(?:\w+\.)?[lL]anes\b|\bvectorLanes\s*(?:==|!=|<=|>=|<|>)\s*\d")
TRAITS = re.compile(r"compiler/targets/|compiler/passes/codegen/cpu/|IsaTraits|TargetTraits|(?:Isa|Target)Attr|dialects/kernel/(?:ops|pieces)/|test/|tools/hgen/")
CODE = (".cpp", ".h", ".c", ".def", ".td", ".inc")


def has(text, lower, term):
    """Whether a term stands in a text, as prose or in an identifier."""
    if term in TERMS_SPELLED:
        return re.search(TERMS_SPELLED[term], text) is not None
    return any(term.lower().replace(" ", between) in lower for between in (" ", "-", "_", ""))


def termsIn(texts, least):
    """(present, absent) of the terms: in at least so many of the texts."""
    texts = [(text, text.lower()) for text in texts]
    present, absent = [], []
    for term in TERMS:
        count = 0
        for text, lower in texts:
            count += has(text, lower, term)
            if count == least:
                break
        (present if count == least else absent).append(term)
    return present, absent


def explanations(files):
    """Pages that use the words that docs/glossary.md lists."""
    return [text for path, text in wording.pages(files).items() if path != "docs/glossary.md"]


def folders(files):
    """folder -> number of its files"""
    result = {}
    for path in files:
        folder = os.path.dirname(path)
        if folder and not path.startswith(("test/", "docs/")):
            result[folder] = result.get(folder, 0) + 1
    return result


def lanesCompared(files):
    for path, text in files.items():
        if path.startswith(("compiler/", "dialects/")) and path.endswith(CODE) and not TRAITS.search(path):
            for number, line in enumerate(text.split("\n"), 1):
                if LANES.search(line):
                    yield path, number, line.strip()


def attributes(files):
    return list({spelling: (path, number, spelling) for path, number, _, spelling in layout.attributes(files)}.values())


def measure(files):
    """name -> a number, or a list of what is counted"""
    code = [text for path, text in files.items() if path.endswith(CODE) and not path.startswith("test/")]
    pages = wording.pages(files)
    prose = explanations(files)
    lengths = [(path, number, count) for path, text in pages.items() for number, count in wording.paragraphs(text)]
    crowded = folders(files)
    small = [(path, 1, f"{text.count(chr(10))} lines") for path, text in files.items()
             if path.endswith(".h") and text.count("\n") < dead_code.SMALL_HEADER and not path.startswith(("examples/", "test/"))]
    docs = [path for path in pages if path.startswith("docs/") and not RENDERED.match(path)]
    height = {path: text.count("\n") for path, text in files.items() if path.endswith(".md")}
    return {
        "field terms in code": termsIn(code, FILES_OF_A_TERM)[0],
        "field terms in docs": termsIn(prose, 1)[0],
        "forbidden words": [*wording.words(files), *wording.retiredWords(files)],
        "fragments for sentences": list(wording.fragments(files)),
        "adjectives and Of-chains as names": list(wording.identifiers(files)),
        "attributes": attributes(files),
        "attributes without verifier": list(layout.unverifiedAttributes(files)),
        "lanes compared with numbers": list(lanesCompared(files)),
        "files in a folder": max(crowded.values()),
        "files of talc bench": crowded.get("tools/talc/bench", 0),
        "headers under 30 lines": small,
        "small headers with one includer": list(dead_code.smallHeaders(files)),
        "dead files": list(dead_code.deadFiles(files)),
        "dead declarations": list(dead_code.deadDeclarations(files)),
        "words of the longest paragraph": max(count for _, _, count in lengths),
        "words of the docs": sum(len(files[path].split()) for path in docs),
        "lines of README.md": height["README.md"],
        "lines of architecture.md": height["docs/architecture.md"],
        "lines of performance.md": height["docs/performance.md"],
        "error codes without a page": list(layout.errorPages(files)),
    }


def main(arguments):
    files = layout.readTree()
    counted = measure(files)
    if arguments[:1] == ["--list"]:
        for entry in counted[arguments[1]] if isinstance(counted[arguments[1]], list) else []:
            print(*entry if isinstance(entry, tuple) else [entry])
        return 0
    failures = 0
    for name, (direction, bound) in BOUNDS.items():
        count = counted[name] if isinstance(counted[name], int) else len(counted[name])
        good = count >= bound if direction == AT_LEAST else count <= bound
        failures += not good
        print(f"{name:34} {count:6}  {direction} {bound}" + ("" if good else "  FAILS"))
    code = [text for path, text in files.items() if path.endswith(CODE) and not path.startswith("test/")]
    for where, absent in (("code", termsIn(code, FILES_OF_A_TERM)[1]),
                          ("docs", termsIn(explanations(files), 1)[1])):
        print(f"not in {where}: {', '.join(absent)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
