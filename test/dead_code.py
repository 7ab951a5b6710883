# SPDX-License-Identifier: Apache-2.0
"""Rules of layout.py that find what nobody needs: files, declarations of functions, and headers of a few lines."""
import os
import re

CPP = (".cpp", ".h", ".c")
SMALL_HEADER = 30  # lines
# Files that something outside of the tree looks for, and those that lit and CMake find by their kind.
FOUND_BY_KIND = re.compile(r"(^|/)(CMakeLists\.txt|CMakePresets\.json|LICENSE|README\.md|CONTRIBUTING\.md|dev|lit\.[\w.]+)$"
                           r"|^\.|/\.|^docs/.*\.md$|\.(test|mlir)$|(^|/)models/|^examples/(configs|texts)/|/results/"
                           r"|^test/performance/\w+\.py$")  # people run these
# Names that MLIR, LLVM, C++ or libFuzzer call.
CALLED_ELSEWHERE = re.compile(
    r"operator|main$|hash_value$|LLVMFuzzer|get(?:Depend|Argument|Description|Name)\w*$|isEqual$|getHashValue$|getEmptyKey$|"
    r"getTombstoneKey$|fold$|print$|parse$|verify\w*$|match\w*$|build$|initialize$|classof$|begin$|end$|size$|empty$|swap$")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


def withoutComments(text):
    """The same lines without comments and the insides of strings that are not names."""
    pattern = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
    return pattern.sub(lambda match: "\n" * match.group().count("\n"), text)


def includers(files):
    """header -> the files that include it, by its path or, between neighbors, by its name"""
    result = {path: set() for path in files if path.endswith(".h")}
    for path, text in files.items():
        if not path.endswith(CPP + (".td", ".def", ".inc", ".in")):
            continue
        for included in re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', text, re.MULTILINE):
            for candidate in (included, os.path.normpath(os.path.join(os.path.dirname(path), included)), "runtime/" + included):
                if candidate in result:
                    result[candidate].add(path)
                    break
    return result


def smallHeaders(files):
    """A header of a few lines has two includers, or goes into the file that needs it."""
    for path, users in includers(files).items():
        lines = files[path].count("\n")
        if lines < SMALL_HEADER and len(users) < 2 and not path.startswith("cmake/"):
            yield path, 1, f"a header of {lines} lines with {len(users)} includer{'' if len(users) == 1 else 's'}"


def globbed(files):
    """Patterns of the files that CMake finds by GLOB or by a variable in their names."""
    result = []
    for path, text in files.items():
        if not path.endswith(("CMakeLists.txt", ".cmake")):
            continue
        for word in re.findall(r"[\w./*${}-]+", text):
            word = re.sub(r"^\$\{\w+\}/", "", word)
            word = re.sub(r"\$\{\w+\}", "*", word)
            if re.search(r"\*.*\.\w|\w/[\w/.]*\w\.\*", word):
                pattern = re.escape(os.path.join(os.path.dirname(path), word)).replace(r"\*", "[^/]*")
                result.append(re.compile(pattern + "$"))
    return result


def deadFiles(files):
    """Every file is named by another one, or is of a kind that lit, CMake or a person looks for."""
    globs = globbed(files)
    mentions = {}  # name -> files that have it
    for path, text in files.items():
        for name in set(re.findall(r"[\w+-]+(?:\.[\w+-]+)*", text)):
            mentions.setdefault(name, set()).add(path)
    for path in files:
        name, stem = os.path.basename(path), os.path.splitext(os.path.basename(path))[0]
        if FOUND_BY_KIND.search(path) or any(pattern.match(path) for pattern in globs):
            continue
        names = {name} | ({stem} if path.endswith((".py", ".cmake", ".in", ".c", ".cpp")) else set())
        if not any(mentions.get(each, set()) - {path} for each in names):
            yield path, 1, "no other file names it"


DECLARATION = re.compile(
    r"^[ ]*(?!return\b|else\b|using\b|typedef\b|throw\b|delete\b|case\b|goto\b|new\b|#)"
    r"(?:(?:static|virtual|inline|constexpr|explicit|extern|friend)\s+|TALC_API\s+)*"
    r"(?:[A-Za-z_][\w:]*(?:<[^;{}]*?>)?(?:::\w+)*[\s&*]+)+"  # the type of its result
    r"(?P<name>[A-Za-z_]\w*)\((?P<arguments>[^;{}]*)\)\s*(?:const\s*)?(?:noexcept\s*)?;", re.MULTILINE)

DEFINITION = re.compile(
    r"^[\w:<>,&*\s]*?\b(\w+)\((?:[^;{}()]|\([^()]*\)|\{[^{}]*\})*\)[\w\s&]*(?:try\s*)?(?::[^;{]*)?\{", re.MULTILINE)


def declarations(files):
    """(header, line number, name) of the functions that headers declare and do not define."""
    for path, text in files.items():
        if path.endswith(".h") and not path.startswith(("examples/", "test/")):
            code = withoutComments(text)
            for match in DECLARATION.finditer(code):
                if not CALLED_ELSEWHERE.match(match.group("name")):
                    yield path, code.count("\n", 0, match.start("name")) + 1, match.group("name")


def deadDeclarations(files):
    """A function that a header declares is defined somewhere and used somewhere else."""
    declared = list(declarations(files))
    wanted = {name for _, _, name in declared}
    total, defined = {}, {}
    for path, text in files.items():
        if path.startswith(("docs/", "examples/models/", "test/performance/results/")):
            continue
        isCpp = path.endswith(CPP + (".def", ".inc", ".in"))
        code = withoutComments(text) if isCpp else text
        for name in IDENTIFIER.findall(code):
            if name in wanted:
                total[name] = total.get(name, 0) + 1
        if isCpp:
            for match in DEFINITION.finditer(code):
                if match.group(1) in wanted:
                    defined[match.group(1)] = defined.get(match.group(1), 0) + 1
    count = {}
    for _, _, name in declared:
        count[name] = count.get(name, 0) + 1
    for path, number, name in declared:
        uses = total.get(name, 0) - count[name] - defined.get(name, 0)
        if not defined.get(name) and uses <= 0:
            yield path, number, f"{name} is declared and nothing else"
        elif uses <= 0:
            yield path, number, f"{name} is defined, but nobody calls it"
