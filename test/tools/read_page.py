# SPDX-License-Identifier: Apache-2.0
"""read_page.py PAGE [FUNCTION | PASS FUNCTION]: reads a page of `talc compile --inspect` as a browser would: prints its passes, or the
last text of a function, or the lines of a function that a pass changed."""
import base64
import html
import json
import re
import sys
import zlib

page = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))


def unpack(index):
    if index < 0:
        return []
    packed = base64.b64decode(data["texts"][index])
    return (zlib.decompress(packed) if data["compressed"] else packed).decode().splitlines()


def plain(line):
    return re.sub(r"[%^][\w$.]+", "%", line)


def differences(change):
    """-line and +line; runs that are the same but for names must be."""
    before, after = unpack(change["before"]), unpack(change["after"])
    assert (len(before), len(after)) == (change["linesBefore"], change["linesAfter"])
    i = j = 0
    for a, b, count in change["same"] + [[len(before), len(after), 0]]:
        assert a >= i and b >= j
        yield from ["-" + line for line in before[i:a]] + ["+" + line for line in after[j:b]]
        for old, new in zip(before[a:a + count], after[b:b + count], strict=True):
            assert plain(old) == plain(new), (old, new)
            if old != new:
                yield from ["-" + old, "+" + new]
        i, j = a + count, b + count


def describe(change):
    list(differences(change))
    kind = "new" if change["before"] < 0 else "gone" if change["after"] < 0 else "changed"
    return f"{change['function']} {kind}"


if len(sys.argv) == 3:
    ends = [c["after"] for p in data["passes"] for c in p["changes"] if c["function"] == sys.argv[2]]
    print("\n".join(unpack(ends[-1])))
    sys.exit()
if len(sys.argv) == 4:
    for one in data["passes"]:
        for change in one["changes"]:
            if [one["name"], change["function"]] == sys.argv[2:]:
                print("\n".join(differences(change)))
    sys.exit()
print("title", html.unescape(re.search("<title>(.*?)</title>", page).group(1)))
for one in data["passes"]:
    assert one["seconds"] >= 0 and one["summary"]
    remarks = f"; {len(one['remarks'])} remarks: {one['remarks'][0]}" if one["remarks"] else ""
    changes = ", ".join(map(describe, one["changes"])) or "nothing"
    print(one["stage"], one["name"] + ":", changes + remarks + (" failed" if one["failed"] else ""))
