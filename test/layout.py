# SPDX-License-Identifier: Apache-2.0
# Checks the rules of the source tree that docs/architecture.md states: layout, directions of includes, names, error codes.
#
# usage: layout.py [RULE...]   checks the named rules, by default all of RULES; prints one line per violation
import os
import re
import subprocess
import sys

from dead_code import deadDeclarations, deadFiles, smallHeaders
from wording import fragments, identifiers, longParagraphs, retiredWords, words

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
IGNORED = {"build", ".git", ".cache", "__pycache__", "models"}
SOURCES = (".cpp", ".h", ".c", ".def", ".td", ".py", ".cmake", ".mlir", ".py.in", "CMakeLists.txt")
CPP = (".cpp", ".h", ".c")
MAX_LINES, MAX_FUNCTION_LINES = 450, 60
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "manager"}
# Each folder and what its files may include of the others; contracts are headers of the runtime that say so.
DIRECTIONS = {
    "dialects": {"dialects"},
    "frontends": {"frontends", "dialects", "contracts"},
    "compiler": {"compiler", "dialects", "contracts"},
    "runtime": {"runtime"},
    "tools": {"tools", "frontends", "compiler", "dialects", "runtime"},
    "test": {"test", "tools", "frontends", "compiler", "dialects", "runtime"},
    "examples": {"examples", "frontends", "compiler", "dialects", "runtime"},
}
PUBLIC_HEADERS = {"runtime/talc.h", "runtime/talc_device.h", "runtime/talc_embedding.h", "runtime/talc_generation.h", "runtime/talc_manifest.h", "runtime/talc_sampling.h", "runtime/talc_scoring.h",
                  "runtime/talc_text.h", "runtime/talc_training.h"}
FAMILY_MAY_INCLUDE = {"frontends/GraphBuilder.h", "frontends/ModelConfig.h", "frontends/families/Families.h"}
# What only code for one kind of machine may speak of, which stands in folders of that kind: compiler/targets/cpu, ...
MACHINE_FACTS = re.compile(r"vectorLanes|cacheBytes|CpuLevel|CpuFacts|[xX]86|[aA]arch64|avx|AVX")
MACHINE_KINDS = {"cpu"}
# The tables of kinds of machines.
MACHINE_TABLES = {"compiler/targets/Target.cpp", "runtime/device/Devices.cpp"}
# Where error codes have names: file -> pattern of an enumerator, and how code refers to it.
CODE_ENUMS = {
    "compiler/Error.h": (r"^\s+(\w+) = (\d{3}),", "ErrorCode::"),
    "frontends/Diagnostics.h": (r"^\s+(\w+) = (\d{3}),", "ImportError::"),
    "frontends/tokenizer/CompileContext.h": (r"^\s+(\w+) = (\d{3}),", "TokenizerError::"),
    "runtime/talc.h": (r"^\s+(TALC_ERROR_\w+) = (\d{3})", ""),
}
# Folders of tests are called as what they test, some without the folder above it; these test everything together.
MIRRORED = ("", "compiler/", "frontends/", "runtime/")
NOT_MIRRORED = {"amx", "fuzz", "ptx", "numerics", "oracle", "performance", "models"}
# The page of an error code, and what it tells.
ERROR_PAGE = "docs/errors/{code}.md"
ERROR_PARTS = ("cause", "example", "remedy")
# Defects of talc and refusals of the system, which no test can cause.
UNTESTABLE = {"T0413", "T0900"}


def readTree():
    files = {}
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if name not in IGNORED)
        for name in sorted(set(names) - IGNORED):  # .git is a file in a worktree
            path = os.path.join(folder, name)
            try:
                with open(path, encoding="utf-8") as file:
                    files[os.path.relpath(path, ROOT)] = file.read()
            except (UnicodeDecodeError, FileNotFoundError):
                pass
    return files


def comment(line):
    match = re.match(r"\s*(?://|#|/\*|\"\"\")\s*(.*)", line)
    return match.group(1) if match else None


def heads(files):
    """Line 1 is the licence, line 2 a sentence that says what the file is for."""
    for path, text in files.items():
        if not path.endswith(SOURCES):
            continue
        lines = text.split("\n") + ["", ""]
        if not (comment(lines[0]) or "").startswith("SPDX-License-Identifier: Apache-2.0"):
            yield path, 1, "does not begin with SPDX-License-Identifier: Apache-2.0"
        elif len((comment(lines[1]) or "").split()) < 3:
            yield path, 2, "is no comment that says what the file is for"


def lengths(files):
    """Files and functions stay short enough to be read."""
    for path, text in files.items():
        lines = text.count("\n")
        if path.endswith(SOURCES) and lines > MAX_LINES:
            yield path, lines, f"more than {MAX_LINES} lines"
        if path.endswith(CPP):
            for first, count in allFunctions(text.split("\n")):
                if count > MAX_FUNCTION_LINES:
                    yield path, first, f"a function of {count} lines, expected at most {MAX_FUNCTION_LINES}"


FUNCTION_HEAD = re.compile(r"(?! |namespace|class|struct|enum|union|extern|public:|private:|#|//|/\*|\*|\}).*[({,]$")


def functions(lines):
    """(first line, number of lines) of functions; relies on the format of clang-format: the body ends where it began."""
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and FUNCTION_HEAD.match(line) and "= {" not in line:
            start = number
        elif start is not None and line.startswith("}"):
            yield start, number - start + 1
            start = None
        elif start is not None and line and not line.startswith((" ", "#", "//")) and not line.endswith((",", "{", "(")):
            start = None


def allFunctions(lines):
    """Those at the top level, then those in classes."""
    lines = list(lines)
    for first, count in list(functions(lines)):
        yield first, count
        lines[first - 1:first - 1 + count] = [""] * count
    yield from functions([line[2:] if line.startswith("  ") else "#" + line for line in lines])


def names(files):
    """No file or folder is named after nothing."""
    for path in files:
        for part in re.split(r"[/.\-_]|(?<=[a-z])(?=[A-Z])", path):
            if part.lower() in FORBIDDEN_NAMES:
                yield path, 1, f"the name '{part}' says nothing"


def includes(files):
    """Yields (path, line number, included file of ours or of MLIR and LLVM) for all C and C++ files."""
    for path, text in files.items():
        if path.endswith(CPP):
            for number, line in enumerate(text.split("\n"), 1):
                match = re.match(r'#include "([^"]+)"', line)
                if match:
                    yield path, number, match.group(1)


def directions(files):
    """Include paths start at the root, and folders know only what is below them. Headers that are installed find each
    other beside themselves."""
    contracts = {path for path, text in files.items() if path.startswith("runtime/") and "// CONTRACT" in text[:200]}
    for path, number, included in includes(files):
        folder, target = path.split("/")[0], included.split("/")[0]
        if {path, "runtime/" + included} <= PUBLIC_HEADERS:
            continue
        if target not in DIRECTIONS:
            if folder != "examples" and ("/" not in included or target in (".", "..")):
                yield path, number, f"'{included}' does not start at the root of the repository"
            elif folder == "runtime":
                yield path, number, f"the runtime includes '{included}', expected the standard library only"
            continue
        allowed = DIRECTIONS.get(folder, {target})
        if target not in allowed and not ("contracts" in allowed and included in contracts):
            yield path, number, f"{folder} must not include '{included}'"


def families(files):
    """A model family is written in the vocabulary of GraphBuilder.h alone, or varies a model that others vary."""
    for path, number, included in includes(files):
        if path.startswith("frontends/families/") and not path.endswith(("/Families.cpp", "/Families.h")):
            shared = re.fullmatch(r"frontends/families/(?:\w+Model|decoder/\w+|encoder/\w+Model)\.h", included)
            if included not in FAMILY_MAY_INCLUDE and not shared:
                yield path, number, f"a family must not include '{included}'"


def frontends(files):
    """What frontends share knows no format; the formats know nothing of each other. Their table alone names them."""
    shared = ("families", "tokenizer")
    for path, number, included in includes(files):
        if not path.startswith("frontends/") or not included.startswith("frontends/") or path == "frontends/Frontends.cpp":
            continue
        own, other = (name.split("/")[1] if name.count("/") > 1 else "" for name in (path, included))
        if other and other not in shared and other != own:
            yield path, number, f"must not include '{included}'"


def spelledOnce(files):
    """Settings of generation and keys of a module's dictionaries are spelled in their tables, nowhere else."""
    tables = ("runtime/artifact/GenerationSettings.def", "dialects/talc/ModuleKeys.h")
    words = {word for table in tables for word in re.findall(r'"(--[\w-]+|[a-z]+_\w+)"', files[table])}
    words |= {word for word in re.findall(r"^TALC_\w+\(\w+, \w+, (\w+),", files[tables[0]], re.MULTILINE) if "_" in word}
    for path, text in files.items():
        if path.startswith(("frontends/", "compiler/", "dialects/", "runtime/", "tools/")) and path.endswith(CPP):
            for number, line in enumerate(text.split("\n"), 1):
                for word in re.findall(r'"([^"]*)"', line):
                    if word in words and path not in tables:
                        yield path, number, f"spells '{word}' again"


def declaredPasses(files):
    """(file, name of the definition, name on the command line, line number)"""
    for path in files:
        if path.startswith("compiler/passes/") and path.endswith(".td"):
            for number, line in enumerate(files[path].split("\n"), 1):
                if match := re.match(r'def (\w+) : Pass<"([\w-]+)"', line):
                    yield path, match.group(1), match.group(2), number


def passes(files):
    """One name for a pass, its file and its test; no pass includes another."""
    stages = {os.path.basename(path)[:-4]: os.path.dirname(path)[len("compiler/passes/"):]
              for path in files if path.startswith("compiler/passes/") and path.endswith(".cpp")}
    definitions = set()
    for table, name, flag, number in declaredPasses(files):
        definitions.add(name)
        if "".join(word.capitalize() for word in flag.split("-")).lower() != name.lower():
            yield table, number, f"{name} is called {flag}"
        if name not in stages:
            yield table, number, f"no folder has {name}.cpp"
        else:
            test = os.path.join("test/passes", stages[name], flag + ".mlir")
            if test not in files:
                yield table, number, f"the pass has no test {test}"
    for path, number, included in includes(files):
        if included.startswith("compiler/passes/") and os.path.basename(included)[:-2] in definitions:
            yield path, number, f"includes the pass '{included}'"


def mirror(files):
    """A folder of tests belongs to a folder of the tree."""
    folders = {os.path.dirname(path) + "/" for path in files if not path.startswith("test/")}
    for path in files:
        if path.startswith("test/") and path.count("/") > 1:
            folder = os.path.dirname(path)[len("test/"):].removesuffix("/Inputs")
            tested = [prefix + folder + "/" for prefix in MIRRORED]
            if folder.split("/")[0] not in NOT_MIRRORED and not any(f.startswith(tuple(tested)) for f in folders):
                yield path, 1, f"no folder of the tree is called {folder}"


def machines(files):
    """Facts of a kind of machine stay in its folders; in the compiler only the table of targets includes their headers."""
    def isOfKind(path):
        return bool(MACHINE_KINDS & set(path.split("/")))

    for path, text in files.items():
        shared = path.split("/")[0] in ("compiler", "dialects", "frontends", "runtime") and not isOfKind(path)
        if not shared or path in MACHINE_TABLES or not path.endswith(CPP + (".td",)):
            continue
        code = re.sub(r"//[^\n]*|/\*.*?\*/", lambda match: "\n" * match.group().count("\n"), text, flags=re.DOTALL)
        for number, line in enumerate(code.split("\n"), 1):
            if match := MACHINE_FACTS.search(line):
                yield path, number, f"speaks of '{match.group()}', which is a matter of one kind of machine"
            match = re.match(r'#include "(compiler/[^"]+)"', line)
            if match and isOfKind(match.group(1)):
                yield path, number, f"includes '{match.group(1)}', which is of one kind of machine"


def paths(files):
    """Nothing depends on the machine that it was written on."""
    pattern = re.compile(r"(?<![\w.}$*/-])/(?:work|root|farm|home)/")
    for path, text in files.items():
        for number, line in enumerate(text.split("\n"), 1):
            if path != "test/layout.py" and pattern.search(line):
                yield path, number, "a path of one machine"


# Who may look at the bits of an element type: the formats themselves, and the interpreter, which shares no code with them.
FORMAT_FOLDERS = ("dialects/talc/formats/", "compiler/reference/StoredValues.")
FORMAT_TESTS = re.compile(r"get(?:ElementType|IntOrFloat)BitWidth|\bis(?:F16|BF16)\(")


def formats(files):
    """Sizes in bytes come from storage formats, and nobody tells one from another."""
    for path, text in files.items():
        if path.split("/")[0] in ("dialects", "frontends", "compiler", "tools") and path.endswith(CPP + (".td",)):
            for number, line in enumerate(text.split("\n"), 1):
                if FORMAT_TESTS.search(line) and not path.startswith(FORMAT_FOLDERS):
                    yield path, number, "looks at the bits of an element type, expected the storage format to be asked"


def errorCodes(files):
    """Every code is in the table of docs/errors.md and in a test, and the table has no others."""
    documented = set(re.findall(r"^\| (T\d{4})", files.get("docs/errors.md", ""), re.MULTILINE))
    tests = "\n".join(text for path, text in files.items() if path.startswith("test/"))
    codes = {}  # code -> (path, line number, how tests may refer to it)
    for path, text in files.items():
        if path.split("/")[0] in ("frontends", "compiler", "runtime", "tools") and path.endswith(CPP):
            for number, line in enumerate(text.split("\n"), 1):
                for code in re.findall(r"\bT\d{4}\b", line):
                    codes.setdefault(code, (path, number, code))
    for path, (pattern, prefix) in CODE_ENUMS.items():
        for match in re.finditer(pattern, files[path], re.MULTILINE):
            number = files[path].count("\n", 0, match.start(1)) + 1
            codes[f"T0{match.group(2)}"] = (path, number, prefix + match.group(1))
    for code, (path, number, name) in sorted(codes.items()):
        if code not in documented:
            yield path, number, f"{code} is not in docs/errors.md"
        if code not in UNTESTABLE and code not in tests and name not in tests:
            yield path, number, f"{code} is in no test"
    for code in sorted(documented - codes.keys()):
        yield "docs/errors.md", 1, f"{code} is nowhere in the code"


def errorPages(files):
    """Every code has a page, which says what to do."""
    codes = set(re.findall(r"\bT0\d{3}\b", "\n".join(text for path, text in files.items() if path.endswith(CPP))))
    codes |= {f"T0{match[1]}" for path, (pattern, _) in CODE_ENUMS.items()
              for match in re.findall(pattern, files[path], re.MULTILINE)}
    for code in sorted(codes):
        page = ERROR_PAGE.format(code=code)
        if page not in files:
            yield page, 1, f"{code} has no page"
        elif missing := [part for part in ERROR_PARTS if part not in files[page].lower()]:
            yield page, 1, f"does not tell its {' and '.join(missing)}"


def attributes(files):
    """(path, line number, C++ name or None, spelling) of discardable attributes of our dialects"""
    for path, text in files.items():
        if path.startswith(("compiler/", "dialects/")) and path.endswith((".h", ".cpp")):
            for match in re.finditer(r'\b(\w+Attr)(?:\[\])?\s*=\s*"((?:talc|kernel)\.\w+)"|'
                                     r'[sg]et(?:Discardable)?Attr(?:OfType<[\w:]+>)?\("((?:talc|kernel)\.\w+)"', text):
                yield path, text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2) or match.group(3)


def unverifiedAttributes(files):
    """Their dialect verifies what ops may carry: by its name in a file that verifies, or in its table of attributes."""
    verifiers = "\n".join(text for path, text in files.items() if path.startswith("dialects/") and
                          re.search(r"::verify(?:Operation|RegionArg|RegionResult)Attribute|discardableAttrs", text))
    seen = set()
    for path, number, name, spelling in attributes(files):
        used = re.search(rf"\b{name}\b", verifiers) if name else None
        if spelling not in seen and not used and f'"{spelling}"' not in verifiers:
            yield path, number, f"the dialect does not verify '{spelling}'"
        seen.add(spelling)


def binaries(files):
    """What is committed can be read, but for models. Products that lie about in a working tree are nobody's matter."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True)
    for path in listed.stdout.decode().split("\0") if listed.returncode == 0 else []:
        if path and path not in files and not IGNORED & set(path.split("/")) and os.path.isfile(os.path.join(ROOT, path)):
            yield path, 1, "is no text; binary files belong to folders called models"


def boundary(files):
    """What implements talc.h lets no exception out: the standard library throws when memory is refused."""
    for path, text in files.items():
        if not path.startswith("runtime/") or not path.endswith(".cpp"):
            continue
        for match in re.finditer(r"^talc_status (talc_\w+)\([^{]*talc_error \*error\) (try )?\{", text, re.MULTILINE):
            if not match.group(2):
                number = text.count("\n", 0, match.start()) + 1
                yield path, number, f"{match.group(1)} does not catch what the standard library throws"


RULES = {rule.__name__: rule
         for rule in (heads, lengths, names, directions, families, frontends, spelledOnce, passes, mirror, machines,
                      formats, paths, words, errorCodes, binaries, boundary, deadFiles, smallHeaders, errorPages,
                      unverifiedAttributes, deadDeclarations, longParagraphs, retiredWords, fragments,
                      identifiers)}


def main(chosen):
    files = readTree()
    violations = [violation for name in chosen or RULES for violation in RULES[name](files)]
    for path, number, text in violations:
        print(f"{path}:{number}: {text}")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
