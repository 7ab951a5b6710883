# SPDX-License-Identifier: Apache-2.0
"""Reads a page of `talc compile --inspect` as a browser would: prints its passes, or the last text of a function."""
import base64
import html
import json
import re
import sys
import zlib

page = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))


def unpack(index):
    packed = base64.b64decode(data["texts"][index])
    return (zlib.decompress(packed) if data["compressed"] else packed).decode()


def describe(change):
    for side in "before", "after":
        text = unpack(change[side]) if change[side] >= 0 else ""
        assert text.count("\n") == change["lines" + side.capitalize()]
    kind = "new" if change["before"] < 0 else "gone" if change["after"] < 0 else "changed"
    return f"{change['function']} {kind}"


if len(sys.argv) > 2:
    ends = [c["after"] for p in data["passes"] for c in p["changes"] if c["function"] == sys.argv[2]]
    print(unpack(ends[-1]))
    sys.exit()
print("title", html.unescape(re.search("<title>(.*?)</title>", page).group(1)))
for one in data["passes"]:
    assert one["seconds"] >= 0 and one["summary"]
    remarks = f"; {len(one['remarks'])} remarks: {one['remarks'][0]}" if one["remarks"] else ""
    changes = ", ".join(map(describe, one["changes"])) or "nothing"
    print(one["stage"], one["name"] + ":", changes + remarks + (" failed" if one["failed"] else ""))
