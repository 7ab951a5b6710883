# SPDX-License-Identifier: Apache-2.0
"""The words of docs/glossary.md, those that they replace, and how long the docs' paragraphs are; rules of layout.py."""
import re

# What is written by hand and read by people: code with its comments, dialects, passes, tests and docs.
READ = (".cpp", ".h", ".c", ".def", ".td", ".py", ".cmake", ".mlir", ".test", ".md", ".js", "CMakeLists.txt", "dev")
CODE = (".cpp", ".h", ".c", ".def", ".td")
# The lists of words themselves, and pages that explain what a word replaces.
LISTS = ("test/wording.py", "test/layout.py", "test/counts.py", "docs/glossary.md", "test/performance/results/")
MAX_WORDS = 120  # of a paragraph of the docs

# Words that the field has others for. Everywhere:
WORDS = {
    r"\b(?:first|second|third) caches?\b": "L1, L2, L3",
    r"so-manieth": "n-th",
    r"\bby whomever\b": "whichever ... did it",
    r"(?://|#) Hears\b": "a verb that says what happens",
}
# Words that WORDS gets when nobody uses them any more, by what they mean. In code, tests and docs:
RETIRED = {
    "compute op": [r"\bKernel_(?:Row)?Pieces?\b", r"\bRowPieces?\b", r"\bPieceOp\b", r"\bPieceInterface\b",
        r"\bKernelPieces\b", r"\brow pieces?\b", r"\bkernel\.piece\b"],
    "matmul": [r"\bkernel\.contract\b", r"\b(?:Expand)?Contract(?:Op|Plan|ion|ions|Tile|Loops|Panels)\b",
        r"(?<!English )\bcontractions?\b", r"\bcontract_\d"],
    "KV cache": [r"!talc\.state\b", r"\btalc\.(?:state|get_state|append|read)\b", r"\bkernel\.(?:append|state)\b",
        r"\bState(?:Layout|Part|Panels|Blocks|Storage|Formats?|Op|Type|Role)\b", r"\bLayOutStates\b",
        r"\blay-out-states\b"],
    "split-K": [r"\b[sS]plit-?[dD]epth\b", r"\bSplitDepth\b", r"\bparts of (?:the )?(?:k|depth)\b",
        r"\bDepthParts\b", r"\bpartial_sums\b", r"\bPartialSums\b"],
    "split-KV, flash decoding": [r"\b[sS]plit-keys\b", r"\bSplitKeys\b"],
    "quantized activations": [r"\b[rR]ounded (?:rows|activations)\b", r"\bRoundedRows?\b", r"\bRoundRows\b",
        r"\bround-rows\b", r"\bactivations rounded\b"],
    "dequantize": [r"\b(?:un)?widen(?:s|ed|ing)?\b", r"\bWiden(?:ed|ing)?[A-Z]?\w*", r"\bunpacked levels\b"],
    "dequantized panel": [r"\b(?:laid[ -]out|unpacked) panels?\b", r"\blaidOut\b", r"\bLaidOut\w*"],
    "k-quants": [r"\b[sS]uper[ -]?[bB]locks?\b", r"\bSuper(?:Blocks|Products|Streams)\b"],
    "code (of a quantized value)": [r"\blevels of (?:a )?(?:weights?|formats?|blocks?|q\d)\b",
        r"\b(?:small|greatest|great) levels?\b", r"\bhasSmallLevels\b"],
    "MMA, tensor core": [r"\b[bB]y matri(?:ces|x instructions)\b", r"\bByMatrices\b",
        r"\binstructions of matrices\b", r"\bmatrix instructions?\b", r"\bMatrixSizes\b", r"\bMatrixFactors\b",
        r"\bMatrixRows\b", r"\bMatrixSums\b", r"\bStagedWeights\b"],
    "microkernel": [r"\b(?:Tile|Widened|Integer|Super|Pair)Products\b", r"\btile products\b"],
    "prefetch": [r"\bfetch(?:es|ed|ing)? ahead\b", r"\bfetchAhead\b", r"\bfetchesNext\b", r"\bPanelsAhead\b",
        r"\bfollowed streams?\b", r"\b\w*Followed\b"],
    "GPU": [r"\b[cC]ards?\b", r"\b\w*Card(?:s|Memory|Launch)?\b"],
    "CPU": [r"\bon processors\b", r"\bthe processors take\b"],
    "launcher stub": [r"\b(?:[tT]he|[aA]|prebuilt|both|kinds of) carriers?\b", r"\bCarrier\w*"],
    "dynamic schedule, work stealing": [r"\bclaim(?:s|ed|ing)? (?:of )?tasks?\b", r"\bClaimTasks\b",
        r"\bclaim-tasks\b", r"\bkernel\.claims\b"],
    "plan override": [r"\b[wW]ish(?:es|ed)?\b", r"\bGivenPlans?\b", r"\bgiven plans?\b"],
    "tuning parameter": [r"\bnumbers? of (?:a|its|their) plans?\b"],
    "merge": [r"\b[bB]rought together\b", r"\bBroughtTogether\b"],
    "sink tokens": [r"\bkept (?:tokens|keys|queries)\b", r"\bKeptQueries\b", r"\bkeptPanels\b"],
    "mask range": [r"\bseen keys\b", r"\bSeenKeys\b"],
    "entry": [r"\bsplit-phases\b", r"\bSplitPhases\b", r"\btalc\.phase\b"],
    "row-wise op": [r"\bLineCode\b", r"\bLinesBy\w+\b"],
    "offset, address, index, slot": [r"\bplaceOf\b", r"\bplacesOf\b"],
    "adaptive, steal": [r"\bdealt out\b"],
    "C API": [r"\bInterface\.cpp\b"],
    "MoE, router": [r"\bMixture\w*\b"],
}
# Fragments that hang on the line above, in comments, and phrases that English has others for.
FRAGMENTS = {
    "a sentence with a subject": r"^[ \t]*(?://|#)[ \t]+(?:Of|Whose|By whom|Nor|Those)[ \t][^\n]*",
    "a sentence with subject and verb": r"^[ \t]*(?://|#)[ \t]+(?:What|How|Where)[ \t][^.?\n]*\.[ \t]*$",
    "is not a": r"(?<![tT]here )\b(?:is|are) no (?!longer|more|less|one|other|better|worse|slower|faster|larger|smaller|need|such)\w+",
}
# Adjectives that are whole identifiers: what is most, found, whole?
BARE = r"most|least|few|found|own|known|whole|made|many|together|left|behind|seen|kept|wanted|given|taken|needed|said|told"
IDENTIFIERS = {
    "a noun": rf"\b(?:auto|bool|u?int\w*|size_t|float|double|Value|unsigned|llvm::\w+|std::\w+(?:<[^;()]*>)?)\s*[&*]?\s*"
              rf"(?:{BARE})\b(?=\s*(?:[=;,)({{]|$))",
    "a verb phrase or noun, not ...Of": r"^(?!\s).*?\b(\w+Of)\((?=[^;]*\)\s*(?:const\s*)?\{)",
}


def letters(pattern):
    """Some that all matches of a pattern have: looking for these is much faster."""
    for optional in (r"\\.", r"\[[^]]*\]", r"\([^()]*\)[?*]?", r"\([^()]*\)[?*]?", r".[?*]"):
        pattern = re.sub(optional, " ", pattern)
    return max(re.findall(r"[A-Za-z_]*", pattern), key=len)


def found(files, patterns, suffixes=READ):
    """Yields (path, line number, message) for what matches one of the patterns, which stay within a line."""
    compiled = [(better, letters(pattern), re.compile(pattern, re.MULTILINE)) for better, pattern in patterns]
    for path, text in files.items():
        if not path.endswith(suffixes) or path.startswith(LISTS):
            continue
        for better, part, pattern in compiled:
            for match in pattern.finditer(text) if part in text else ():
                number = text.count("\n", 0, match.start()) + 1
                yield path, number, f"expected {better} instead of '{match[0].strip()}'"


def words(files):
    """What has a name is called by it."""
    yield from found(files, [(better, pattern) for pattern, better in WORDS.items()])


def retiredWords(files):
    """Nobody goes back to a word that the glossary has replaced."""
    yield from found(files, [(better, pattern) for better, patterns in RETIRED.items() for pattern in patterns])


def fragments(files):
    """Comments are sentences that can stand alone."""
    yield from found(files, FRAGMENTS.items())


def identifiers(files):
    """An identifier is a noun or a verb phrase."""
    yield from found(files, IDENTIFIERS.items(), (".cpp", ".h"))


def paragraphs(text):
    """(line number, number of words) of the paragraphs and list items of a page, without tables and code."""
    first, count, isCode = 1, 0, False
    for number, line in enumerate(text.split("\n") + [""], 1):
        fence = line.strip().startswith("```")
        isCode ^= fence
        begins = re.match(r"\s*(?:[-*+]|\d+\.)\s", line)
        if fence or isCode or not line.strip() or begins or line.startswith(("#", "|", "    ")):
            if count:
                yield first, count
            count = 0
        if fence or isCode or line.startswith(("#", "|", "    ")) and not begins:
            continue
        if not count:
            first = number
        count += len(line.split())


def pages(files):
    """Pages that are written for users and developers, not the tables of measurements that a script renders."""
    return {path: text for path, text in files.items()
            if path.endswith(".md") and not path.startswith(("docs/dialects/", "test/"))}


def longParagraphs(files):
    """A paragraph that is read to its end."""
    for path, text in pages(files).items():
        for number, count in paragraphs(text):
            if count > MAX_WORDS:
                yield path, number, f"a paragraph of {count} words, expected at most {MAX_WORDS}"
