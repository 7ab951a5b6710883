// The page: passes on the left; on the right the overview, or what a pass changed, function by function. The address says
// which:
//   #overview, #kernel-NAME, #op-NAME   parts of the overview
//   #NUMBER/FUNCTION                    what a pass made of a function
//   #search/TEXT                        places that have a text
//   #loops/FUNCTION                     its loops, at the end of stage schedule
//   #last/FUNCTION, #llvm-ir/FUNCTION, #assembly/FUNCTION
const data = {passes: [], uses: [], ...JSON.parse(document.getElementById("data").textContent)};
const byId = id => document.getElementById(id);
let pass = 0, shown = "", wanted = "";  // wanted: a text to scroll to

const time = s => !s ? "" : s >= 1 ? s.toFixed(2) + " s" : (1000 * s).toFixed(s < 0.01 ? 2 : 0) + " ms";
const address = (index, name) => "#" + index + (name ? "/" + encodeURIComponent(name) : "");
const changesOf = p => p.changes.filter(c => !byId("function").value || partsOf(byId("function").value).has(c.function));

async function unpack(index) {
  if (index < 0) return [];
  const bytes = Uint8Array.from(atob(data.texts[index]), c => c.charCodeAt(0));
  let stream = new Blob([bytes]).stream();
  if (data.compressed) stream = stream.pipeThrough(new DecompressionStream("deflate"));
  return (await new Response(stream).text()).replace(/\n$/, "").split("\n");
}

// ---- Functions and who calls them

// The last version of every function that a pass left behind: name -> text.
function versionsAfter(index) {
  const versions = new Map();
  for (const p of data.passes.slice(0, index + 1)) {
    if (isListingPass(p)) continue;
    for (const c of p.changes) c.after < 0 ? versions.delete(c.function) : versions.set(c.function, c.after);
  }
  return versions;
}
const names = new Set(data.passes.flatMap(p => p.changes.map(c => c.function)));
const usesBy = key => data.uses.reduce((map, use) => map.set(use[key], [...map.get(use[key]) || [], use]), new Map());
const usesOfKernel = usesBy("kernel"), usesInFunction = usesBy("function");

// A function and what passes split it into: its entries (model.decode), what the runtime calls (talc_decode), and the
// kernels of all of these.
function partsOf(name) {
  const parts = new Set([name]);
  for (const part of parts) {
    for (const other of names) if (other.startsWith(part + ".") || other === "talc_" + part) parts.add(other);
    for (const use of usesInFunction.get(part) || []) parts.add(use.kernel);
  }
  return parts;
}

const linkTo = (name, text) => element("a", {href: address(pass, name)}, text || name);
const separated = (items, make) => [...items].flatMap((item, i) => i ? [", ", make(item)] : [make(item)]);

// Describes the callers, callees and weights of a function.
function aboutFunction(name) {
  const callers = usesOfKernel.get(name) || [], lines = [];
  const kernels = usesInFunction.get(name) || usesInFunction.get(name.replace(/^talc_/, "")) || [];
  if (callers.length) {
    const calls = new Map();
    for (const use of callers) calls.set(use.function, (calls.get(use.function) || 0) + use.calls);
    lines.push(element("div", {}, element("a", {href: "#kernel-" + name}, "kernel"), ", called by ",
      ...separated(calls, ([caller, count]) => element("span", {}, linkTo(caller), ` ${count} × a step`))));
    const stored = new Set(callers.flatMap(use => use.stored));
    if (stored.size) lines.push(element("div", {}, "with ", [...stored].join(", ")));
  }
  if (kernels.length)
    lines.push(element("div", {}, "calls ", ...separated(new Set(kernels.map(use => use.kernel)), kernel => linkTo(kernel))));
  return lines.length ? [element("div", {class: "about"}, ...lines)] : [];
}

// ---- Lines

// Operations are bold. Symbols are links: to functions, and of weights and KV caches to where the module defines them.
function appendCode(target, text) {
  const isCode = /^(llvm-ir|assembly)$/.test(data.passes[pass].name), toModule = name =>
    element("a", {href: address(pass, "module"), onclick: () => { wanted = name + " "; }}, name);
  let at = 0;
  for (const match of text.matchAll(/@"?([\w$.]+)|(?<![\w@%!#".])[a-z_]+\.[a-z_.]+[a-z]|(?<=\bcall[q]?\s+)[\w.]+/g)) {
    const name = match[1] || match[0], isFunction = names.has(name);
    if (match[1] && !isFunction && isCode) continue;
    target.append(text.slice(at, match.index), isFunction ? linkTo(name, match[0])
      : match[1] ? toModule(match[0]) : element("b", {}, match[0]));
    at = match.index + match[0].length;
  }
  target.append(text.slice(at));
}

function lineElement({kind, text, words}) {
  const spill = /\b(Spill|Reload)\b/.test(text) ? " spill" : "", result = element("div", {class: kind + spill});
  if (wanted && text.includes(wanted)) result.classList.add("hit");
  if (words)
    for (const [same, part] of words) same ? appendCode(result, part) : result.append(element(kind === "add" ? "ins" : "del", {}, part));
  else
    appendCode(result, text || " ");
  return result;
}

const tokens = line => line.match(/[\w$.]+|[%@#!^][\w$.]*|\s+|./g) || [];

// The longest common subsequence of two lines' words marks what stayed. Null: the lines have little in common.
function compareWords(a, b) {
  const x = tokens(a), y = tokens(b), width = y.length + 1;
  if (x.length * y.length > 40000) return null;
  const best = new Uint16Array((x.length + 1) * width);
  for (let i = x.length - 1; i >= 0; --i)
    for (let j = y.length - 1; j >= 0; --j)
      best[i * width + j] = x[i] === y[j] ? best[(i + 1) * width + j + 1] + 1
        : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
  const before = [], after = [];
  const push = (list, same, word) => list.length && list.at(-1)[0] === same ? list.at(-1)[1] += word : list.push([same, word]);
  let i = 0, j = 0, letters = 0;
  while (i < x.length || j < y.length)
    if (i < x.length && j < y.length && x[i] === y[j]) {
      letters += x[i].trim().length;
      push(before, true, x[i++]);
      push(after, true, y[j++]);
    } else if (j === y.length || (i < x.length && best[(i + 1) * width + j] >= best[i * width + j + 1]))
      push(before, false, x[i++]);
    else
      push(after, false, y[j++]);
  return 2 * letters > Math.max(a.trim().length, b.trim().length) ? {before, after} : null;
}

const operation = line => (line.match(/^\s*(?:%[^=]*= )?([\w.]+)/) || [])[1];

// Lines that took the place of others: those of one operation that are alike stand together, with their words compared.
function replaced(removed, added) {
  const lines = [], compared = removed.length * added.length <= 40000;
  let from = 0, to = 0;
  const flush = (end, until) => {
    for (; from < end; ++from) lines.push({kind: "del", text: removed[from]});
    for (; to < until; ++to) lines.push({kind: "add", text: added[to]});
  };
  removed.forEach((line, i) => {
    const k = compared ? added.findIndex((other, at) => at >= to && operation(other) === operation(line)) : -1;
    const words = k >= 0 && compareWords(line, added[k]);
    if (!words) return;
    flush(i, k);
    lines.push({kind: "del", text: line, words: words.before}, {kind: "add", text: added[k], words: words.after});
    from = i + 1;
    to = k + 1;
  });
  flush(removed.length, added.length);
  return lines;
}

// `same`: runs of lines that are equal but for names.
function difference(before, after, same) {
  const lines = [];
  let i = 0, j = 0;
  for (const [a, b, count] of [...same, [before.length, after.length, 0]]) {
    lines.push(...replaced(before.slice(i, a), after.slice(j, b)));
    for (let k = 0; k < count; ++k)
      before[a + k] === after[b + k] ? lines.push({kind: "", text: after[b + k]})
        : lines.push(...replaced([before[a + k]], [after[b + k]]));
    i = a + count;
    j = b + count;
  }
  return lines;
}

const longestRun = 80;

// Lines that stay are folded but for three beside every change, and long runs of one kind but for their beginning.
function appendLines(pre, lines) {
  const near = lines.map(() => false), folds = lines.some(line => line.kind);
  lines.forEach(({kind}, i) => { if (kind) near.fill(true, Math.max(i - 3, 0), i + 4); });
  const fold = (from, end, what) => {
    const folded = lines.slice(from, end);
    pre.append(element("button", {onclick: e => e.target.replaceWith(...folded.map(lineElement))}, `${folded.length} ${what}`));
  };
  const limit = folds ? longestRun : 2000;
  for (let i = 0, end; i < lines.length; i = end) {
    const inFold = index => folds && !near[index], kind = lines[i].kind;
    for (end = i + 1; end < lines.length && inFold(end) === inFold(i) && lines[end].kind === kind;) ++end;
    if (inFold(i) && end - i > 3) {
      fold(i, end, "lines that stay");
      continue;
    }
    const head = end - i > limit + 20 ? i + limit : end;
    for (let k = i; k < head; ++k) pre.append(lineElement(lines[k]));
    if (head < end) fold(head, end, {add: "more lines that are new", del: "more lines that are gone", "": "more lines"}[kind]);
  }
}

// ---- What is shown

async function showFunction(change) {
  shown = change.function;
  for (const chip of document.querySelectorAll(".chip"))
    chip.setAttribute("aria-current", chip.dataset.name === shown);
  const [before, after] = await Promise.all([unpack(change.before), unpack(change.after)]);
  const view = byId("view").value, pre = element("pre", {});
  const lines = view === "changes" && change.before >= 0 && change.after >= 0 ? difference(before, after, change.same)
    : (view === "before" || change.after < 0 ? before : after).map(text => ({kind: "", text}));
  appendLines(pre, lines);
  byId("text")?.replaceChildren(...aboutFunction(shown), pre);
  pre.querySelector(".hit")?.scrollIntoView({block: "center"});
}

// `whole`: shows all of the function, not what the pass changed.
function showPass(name, whole = false) {
  const p = data.passes[pass], changes = changesOf(p);
  for (const link of document.querySelectorAll(".passlink"))
    link.setAttribute("aria-current", Number(link.dataset.index) === pass);
  const chips = changes.map(c => element("a", {class: "chip", "data-name": c.function, href: address(pass, c.function)},
    c.function, element("span", {class: "dim"}, ` ${c.before < 0 ? "new" : c.linesBefore} → ` +
      `${c.after < 0 ? "gone" : c.linesAfter}`)));
  byId("pass").replaceChildren(element("h2", {}, p.name), element("div", {class: "dim"},
    `${p.summary}${p.seconds ? " · " + time(p.seconds) : ""} · ${changes.length ? "lines of what it changed:" : "changed nothing"}`),
    ...(p.failed ? [element("div", {class: "failed"}, "failed")] : []),
    remarkList(p.remarks), element("div", {class: "chips"}, ...chips), element("div", {id: "text"}));
  if (getComputedStyle(document.body).display === "grid")  // else the list is above, and the page would scroll
    document.querySelector('.passlink[aria-current="true"]').scrollIntoView({block: "nearest"});
  const chosen = changes.find(c => c.function === (name || shown)), version = versionsAfter(pass).get(name);
  if (chosen && !whole) showFunction(chosen);
  else if (version !== undefined)  // left alone: as it is then
    showFunction({function: name, before: -1, after: version, same: []});
  else if (changes.length) showFunction(changes[0]);
}

// "stage: pass: function: text": the first two are known here, and the function is a link.
function remarkList(remarks) {
  const item = remark => {
    const [, , name, ...text] = remark.split(": ");
    return element("li", {}, names.has(name) ? linkTo(name) : name, ": ", text.join(": "));
  };
  const list = element("ul", {}, ...remarks.slice(0, 12).map(item));
  if (remarks.length > 12)
    list.append(element("details", {}, element("summary", {}, `${remarks.length - 12} more`), ...remarks.slice(12).map(item)));
  return list;
}

// The pass that an address names; -1: none.
function passOf(word, name) {
  if (word === "last")
    return data.passes.findLastIndex(p => !isListingPass(p) && p.changes.some(c => c.function === name && c.after >= 0));
  if (word === "loops")
    return data.passes.findLastIndex(p => p.stage === "schedule" && p.changes.some(c => c.function === name && c.after >= 0));
  const named = data.passes.findIndex(p => p.name === word);
  return named >= 0 ? named : /^\d+$/.test(word) && data.passes[Number(word)] ? Number(word) : -1;
}

// The places that lead to the entry functions are called after their phases; their code after what the runtime calls.
const inCode = (index, name) => data.passes[index]?.changes.some(c => c.function === name) ? name : "talc_" + name;

function route() {
  const [word, rest] = location.hash.slice(1).split("/"), name = rest ? decodeURIComponent(rest) : "";
  if (word === "search") {
    byId("search").value = name;
    return search(name);
  }
  const index = word ? passOf(word, name) : -1;
  byId("overview").hidden = index >= 0;
  byId("pass").hidden = index < 0;
  if (index < 0) {
    for (const link of document.querySelectorAll(".passlink")) link.setAttribute("aria-current", link.hash === "#overview");
    const target = word && word !== "overview" && byId(decodeURIComponent(word));
    if (target) return target.scrollIntoView();
    byId("main").scrollTop = 0;
    return scrollTo(0, 0);
  }
  if (index !== pass || byId("pass").childElementCount === 0) byId("main").scrollTop = 0;
  pass = index;
  showPass(name && (word === "llvm-ir" || word === "assembly") ? inCode(index, name) : name, word === "loops");
}

function showList() {
  const list = byId("list");
  list.replaceChildren(element("a", {class: "passlink", href: "#overview"}, "overview", "", ""));
  let stage = "";
  data.passes.forEach((p, index) => {
    if (p.stage !== stage) {
      stage = p.stage;
      const seconds = data.passes.filter(q => q.stage === stage).reduce((sum, q) => sum + q.seconds, 0);
      list.append(element("div", {class: "stage"}, stage, element("span", {class: "dim"}, time(seconds))));
    }
    const count = changesOf(p).length;
    list.append(element("a", {class: "passlink" + (p.failed ? " failed" : count ? "" : " dim"), title: p.summary,
      "data-index": index, href: address(index, byId("function").value)}, element("span", {}, p.name),
      element("span", {class: "dim"}, (p.remarks.length ? "✎ " : "") + (count || "")),
      element("span", {class: "dim"}, time(p.seconds))));
  });
}

function start() {
  if (data.model) showOverview(byId("overview"), data);
  if (data.roofline) {
    const svg = shape("svg", {id: "roofline", "font-family": "sans-serif", "font-size": 12});
    drawRoofline(svg, data.roofline);
    byId("overview").append(svg);
  }
  if (!data.passes.length) return;
  document.body.className = "script";
  byId("tools").hidden = byId("list").hidden = false;
  byId("function").append(element("option", {value: ""}, "all"),
    ...[...names].sort().map(name => element("option", {value: name}, name)));
  byId("function").onchange = () => {
    shown = byId("function").value;
    showList();
    if (!byId("pass").hidden) showPass(shown);
  };
  byId("view").onchange = () => byId("pass").hidden || showPass(shown);
  byId("search").oninput = event => search(event.target.value.trim());
  byId("tools").onsubmit = event => event.preventDefault();
  document.onkeydown = event => {
    const typing = /^(INPUT|SELECT)$/.test(event.target.tagName);
    if (event.key === "/" && !typing) {
      event.preventDefault();
      byId("search").focus();
    }
    const step = {j: 1, k: -1}[event.key];
    if (!step || typing) return;
    let next = byId("pass").hidden ? (step > 0 ? 0 : -1) : pass + step;
    while (data.passes[next] && !changesOf(data.passes[next]).length) next += step;
    if (data.passes[next]) location.hash = address(next, byId("function").value);
  };
  window.onhashchange = () => { route(); wanted = ""; };
  showList();
  route();
}
start();
