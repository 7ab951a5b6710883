// Search: names and remarks at once, then every line of every function in every pass. A line is found once for as long
// as passes leave it as it is, but for the names of values, and the place says from which pass to which:
//
//   prefill, plan-memory to expand-math: %7 = kernel.arena %arg0 at 0 ...
//
// So results are the same whichever pass is shown.
const isListingPass = p => p.name === "llvm-ir" || p.name === "assembly";

// The versions of every function, and of its listings, which have lives of their own:
// [{name, versions: [{index, text}]}], in the order of passes.
function histories() {
  const all = new Map();
  data.passes.forEach((p, index) => p.changes.forEach(change => {
    const name = change.function, key = isListingPass(p) ? p.name + " " + name : name;
    if (!all.has(key)) all.set(key, {name, isListing: isListingPass(p), versions: []});
    all.get(key).versions.push({index, text: change.after});
  }));
  return [...all.values()];
}

const anonymous = line => line.trim().replace(/[%^][\w$.]+/g, "%");

// The lives of the lines of a function that have the text: [{line, from, to}], indices of passes.
async function livesOfLines({versions, isListing}, has, isCurrent) {
  const lives = [], last = isListing ? versions.at(-1).index : data.passes.findLastIndex(p => !isListingPass(p));
  let alive = new Map();  // by line without names: those that the version before had
  for (const {index, text} of versions) {
    const lines = (await unpack(text)).filter(has), next = new Map();
    if (!isCurrent()) return [];
    for (const line of lines) {
      const key = anonymous(line), before = alive.get(key);
      const life = before?.length ? before.shift() : {line: line.trim(), from: index, to: last};
      if (life.from === index) lives.push(life);
      next.set(key, [...next.get(key) || [], life]);
    }
    for (const ended of [...alive.values()].flat()) ended.to = index - 1;
    alive = next;
  }
  return lives;
}

const passName = index => data.passes[index].name;
const describeLife = ({from, to}) => from === to ? passName(from) : `${passName(from)} to ${passName(to)}`;

function hitsInNames(has, add) {
  data.passes.forEach((p, i) => {
    if (has(p.name) || has(p.summary)) add(address(i), "pass ", p.name);
    for (const remark of p.remarks) if (has(remark)) add(address(i, remark.split(": ")[2]), remark);
  });
  for (const name of names) if (has(name)) add(address("last", name), "function ", name);
  for (const [kernel, uses] of usesOfKernel)
    for (const stored of new Set(uses.flatMap(use => use.stored))) if (has(stored)) add("#kernel-" + kernel, stored, " in ", kernel);
}

let searches = 0;
async function search(text) {
  const mine = ++searches, isCurrent = () => mine === searches, list = byId("found"), maxShown = 60, hits = [];
  list.hidden = text.length < 2;
  if (list.hidden) return;
  const has = value => value.toLowerCase().includes(text.toLowerCase());
  const show = state => list.replaceChildren(element("h3", {}, `${hits.length} places` +
    (hits.length > maxShown ? `, the first ${maxShown} of them` : "") + state), ...hits.slice(0, maxShown));
  hitsInNames(has, (href, ...children) => hits.push(element("div", {}, element("a", {href}, ...children))));
  show(", searching …");
  for (const history of histories())
    for (const life of await livesOfLines(history, has, isCurrent))
      hits.push(element("div", {}, element("a", {href: address(life.from, history.name), onclick: () => { wanted = text; }},
        `${history.name}, ${describeLife(life)}: `), element("code", {}, life.line.slice(0, 160))));
  if (isCurrent()) show("");
}
