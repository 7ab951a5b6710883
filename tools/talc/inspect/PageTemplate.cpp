// SPDX-License-Identifier: Apache-2.0
// The page itself: passes on the left; on the right the functions that a pass changed, and their lines before and
// after.
#include "tools/talc/inspect/InspectPage.h"

namespace talc::tools {

const char *const pageTemplate = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>@TITLE@</title>
<style>
:root { color-scheme: light dark; --line: light-dark(#d8d8d8, #444); --soft: light-dark(#f4f4f2, #262626);
  --dim: light-dark(#6b6b6b, #a0a0a0); --mark: light-dark(#dbe8f6, #1f3a57); --link: light-dark(#1f5fa4, #7db4f0);
  --add: light-dark(#e2f4e4, #17391c); --del: light-dark(#fbe4e1, #45201c); }
* { box-sizing: border-box; }
body { margin: 0; font: 14px/1.45 system-ui, sans-serif; display: grid; height: 100vh;
  grid-template: auto 1fr / 21rem 1fr; grid-template-areas: "head head" "list main"; }
header { grid-area: head; display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; align-items: baseline; padding: .6rem 1rem;
  border-bottom: 1px solid var(--line); }
h1 { font-size: 1.05rem; margin: 0; }
nav { grid-area: list; overflow: auto; border-right: 1px solid var(--line); }
main { grid-area: main; overflow: auto; padding: .8rem 1rem; min-width: 0; }
h2 { font-size: 1.1rem; margin: 0 0 .2rem; }
.dim { color: var(--dim); }
.stage { display: flex; justify-content: space-between; font-weight: 600; padding: .5rem 1rem .15rem;
  position: sticky; top: 0; background: var(--soft); border-bottom: 1px solid var(--line); }
button { font: inherit; color: inherit; background: none; border: 0; cursor: pointer; text-align: left; }
.pass { display: grid; grid-template-columns: 1fr auto 4.5rem; gap: .6rem; width: 100%; padding: .12rem 1rem; }
.pass span:last-child { text-align: right; }
.pass:hover, .chip:hover { background: var(--soft); }
[aria-current="true"] { background: var(--mark) !important; }
.failed { color: #c0392b; font-weight: 600; }
.chips { display: flex; flex-wrap: wrap; gap: .3rem; margin: .7rem 0; }
.chip { border: 1px solid var(--line); border-radius: 4px; padding: .05rem .45rem; }
ul { margin: .5rem 0; padding-left: 1.2rem; }
pre { margin: 0; font: 12px/1.5 ui-monospace, monospace; overflow-x: auto; border: 1px solid var(--line);
  border-radius: 4px; }
pre div { padding: 0 .6rem; white-space: pre; width: max-content; min-width: 100%; }
pre .add { background: var(--add); } pre .del { background: var(--del); }
pre button { display: block; width: 100%; padding: 0 .6rem; color: var(--link); background: var(--soft); }
b.op { color: var(--link); font-weight: 500; }
@media (max-width: 800px) {
  body { display: block; height: auto; }
  nav { max-height: 40vh; border-right: 0; border-bottom: 1px solid var(--line); }
}
</style>
</head>
<body>
<header>
  <h1>@TITLE@</h1>
  <label>function <select id="function"></select></label>
  <label>show <select id="view"><option>changes</option><option>before</option><option>after</option></select></label>
  <span class="dim">keys: j and k</span>
</header>
<nav id="list"></nav>
<main id="main"></main>
<script type="application/json" id="data">@DATA@</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);
let pass = 0, shown = "";

function element(name, attributes, ...children) {
  const result = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    key === "onclick" ? result.onclick = value : result.setAttribute(key, value);
  result.append(...children);
  return result;
}
const time = s => s >= 1 ? s.toFixed(2) + " s" : (1000 * s).toFixed(s < 0.01 ? 2 : 0) + " ms";
const changesOf = p => p.changes.filter(c => !byId("function").value || c.function === byId("function").value);

async function unpack(index) {
  if (index < 0) return [];
  const bytes = Uint8Array.from(atob(data.texts[index]), c => c.charCodeAt(0));
  let stream = new Blob([bytes]).stream();
  if (data.compressed) stream = stream.pipeThrough(new DecompressionStream("deflate"));
  return (await new Response(stream).text()).replace(/\n$/, "").split("\n");
}

// Myers 1986. Lines are equal when they are but for the numbers of values. Too different ones are replaced as a whole.
function difference(a, b) {
  const plain = line => line.replace(/%[\w$.]+(#\d+)?/g, "%");
  const x = a.map(plain), y = b.map(plain), most = Math.min(x.length + y.length, 3000), zero = most + 1;
  const ends = new Int32Array(2 * most + 3), trace = [];  // of diagonals: how far a was taken
  for (let d = 0; d <= most; ++d) {
    trace.push(ends.slice(zero - d - 1, zero + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && ends[zero + k - 1] < ends[zero + k + 1]);
      let i = down ? ends[zero + k + 1] : ends[zero + k - 1] + 1;
      while (i < x.length && i - k < y.length && x[i] === y[i - k]) ++i;
      ends[zero + k] = i;
      if (i >= x.length && i - k >= y.length) return walkBack(trace, a, b);
    }
  }
  return [...a.map(line => ["del", line]), ...b.map(line => ["add", line])];
}
function walkBack(trace, a, b) {
  const lines = [];
  let i = a.length, j = b.length;
  for (let d = trace.length - 1; d >= 0; --d) {
    const end = k => trace[d][d + 1 + k], k = i - j;
    const down = k === -d || (k !== d && end(k - 1) < end(k + 1));
    const first = d === 0 ? 0 : down ? end(k + 1) : end(k - 1) + 1;
    for (; i > first; --i) lines.push(["", b[--j]]);
    if (d > 0) lines.push(down ? ["add", b[--j]] : ["del", a[--i]]);
  }
  return lines.reverse();
}

function lineElement([kind, text]) {
  const result = element("div", {class: kind});
  let at = 0;
  for (const match of text.matchAll(/(?<![\w@%!#".])[a-z_]+\.[a-z_.]+[a-z]/g)) {
    result.append(text.slice(at, match.index), element("b", {class: "op"}, match[0]));
    at = match.index + match[0].length;
  }
  result.append(text.slice(at) || (at ? "" : " "));
  return result;
}

// Lines that stay are folded, but for three beside every change.
function appendLines(pre, lines) {
  const near = lines.map(() => false);
  lines.forEach(([kind], i) => { if (kind) near.fill(true, Math.max(i - 3, 0), i + 4); });
  const fold = near.includes(true);
  for (let i = 0; i < lines.length;) {
    let end = i;
    while (end < lines.length && !near[end]) ++end;
    if (!fold || end - i < 4) {
      end = Math.max(end, i + 1);
      for (; i < end; ++i) pre.append(lineElement(lines[i]));
      continue;
    }
    const folded = lines.slice(i, end);
    pre.append(element("button", {onclick: e => e.target.replaceWith(...folded.map(lineElement))},
      `${folded.length} lines that stay`));
    i = end;
  }
}

async function showFunction(change) {
  shown = change.function;
  history.replaceState(null, "", `#${pass}/${shown}`);
  for (const chip of document.querySelectorAll(".chip"))
    chip.setAttribute("aria-current", chip.dataset.name === shown);
  const [before, after] = await Promise.all([unpack(change.before), unpack(change.after)]);
  const view = byId("view").value, pre = element("pre", {});
  const lines = view === "changes" && change.before >= 0 && change.after >= 0 ? difference(before, after)
    : (view === "before" || change.after < 0 ? before : after).map(line => ["", line]);
  appendLines(pre, lines);
  byId("text")?.replaceChildren(pre);
}

function showPass() {
  const p = data.passes[pass], changes = changesOf(p), main = byId("main");
  for (const button of document.querySelectorAll(".pass"))
    button.setAttribute("aria-current", Number(button.dataset.index) === pass);
  const chips = changes.map(c => element("button", {class: "chip", "data-name": c.function, onclick: () => showFunction(c)},
    c.function, element("span", {class: "dim"}, ` ${c.before < 0 ? "new" : c.linesBefore} → ` +
      `${c.after < 0 ? "gone" : c.linesAfter}`)));
  main.replaceChildren(element("h2", {}, p.name), element("div", {class: "dim"},
    `${p.summary} · ${time(p.seconds)} · ${changes.length ? "lines of what it changed:" : "changed nothing"}`),
    ...(p.failed ? [element("div", {class: "failed"}, "failed")] : []),
    element("ul", {}, ...p.remarks.map(text => element("li", {}, text))),
    element("div", {class: "chips"}, ...chips), element("div", {id: "text"}));
  main.scrollTop = 0;
  document.querySelector('.pass[aria-current="true"]').scrollIntoView({block: "nearest"});
  const chosen = changes.find(c => c.function === shown) || changes[0];
  if (chosen) showFunction(chosen);
}

function showList() {
  const list = byId("list");
  list.replaceChildren();
  let stage = "";
  data.passes.forEach((p, index) => {
    if (p.stage !== stage) {
      stage = p.stage;
      const seconds = data.passes.filter(q => q.stage === stage).reduce((sum, q) => sum + q.seconds, 0);
      list.append(element("div", {class: "stage"}, stage, element("span", {class: "dim"}, time(seconds))));
    }
    const count = changesOf(p).length;
    list.append(element("button", {class: "pass" + (p.failed ? " failed" : count ? "" : " dim"), title: p.summary,
      "data-index": index, onclick: () => { pass = index; showPass(); }}, element("span", {}, p.name),
      element("span", {class: "dim"}, (p.remarks.length ? "✎ " : "") + (count || "")),
      element("span", {class: "dim"}, time(p.seconds))));
  });
}

const names = [...new Set(data.passes.flatMap(p => p.changes.map(c => c.function)))].sort();
byId("function").append(element("option", {value: ""}, "all"), ...names.map(name => element("option", {value: name}, name)));
byId("function").onchange = () => { shown = byId("function").value; showList(); showPass(); };
byId("view").onchange = showPass;
document.onkeydown = event => {
  const step = {j: 1, k: -1}[event.key];
  if (!step || event.target.tagName === "SELECT") return;
  let next = pass + step;
  while (data.passes[next] && !changesOf(data.passes[next]).length) next += step;
  if (!data.passes[next]) return;
  pass = next;
  showPass();
};
const [wantedPass, wantedFunction] = decodeURIComponent(location.hash.slice(1)).split("/");
if (data.passes[Number(wantedPass)]) pass = Number(wantedPass);
shown = wantedFunction || "";
showList();
showPass();
</script>
</body>
</html>
)html";

}  // namespace talc::tools
