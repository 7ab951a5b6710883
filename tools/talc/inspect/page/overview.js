// The overview: what was compiled, the model as a graph, what a step costs most for, and how long compiling took.
// Operations link to their kernels and kernels to their operations, weights and code.
const link = (target, text) => element("a", {href: target}, text);
const joined = (items, separator = () => ", ") => items.flatMap((item, i) => i ? [separator(), item] : [item]);
const heading = (id, text) => element("h2", {id}, text);

// Titles that begin with '>' belong to columns that are aligned to the right. A row: {id, cells}, or its cells.
function makeTable(titles, rows) {
  const attributes = titles.map(title => title.startsWith(">") ? {class: "right"} : {});
  const row = ({id, cells}) => element("tr", id ? {id} : {}, ...cells.map((cell, i) => element("td", attributes[i], ...[cell].flat())));
  return element("div", {class: "wide"}, element("table", {},
    element("thead", {}, element("tr", {}, ...titles.map((title, i) => element("th", attributes[i], title.replace(/^>/, ""))))),
    element("tbody", {}, ...rows.map(entry => row(Array.isArray(entry) ? {cells: entry} : entry)))));
}

function bar(share) {
  return [element("span", {class: "bar"}, element("i", {style: `width: ${(100 * share).toFixed(1)}%`})), " " + formatShare(share)];
}

function showFacts({model, measured}) {
  const list = element("dl", {class: "facts"});
  const add = (name, text) => text && list.append(element("div", {}, element("dt", {}, name), element("dd", {}, text)));
  add("model", model.name || model.path);
  add("target", model.target);
  add("product", model.product);
  add("parameters", formatCount(model.parameters));
  add("weights", (model.weights === "checkpoint" ? "as in the checkpoint" : model.weights) +
    (model.chosenFormats && ", ") + model.chosenFormats);
  add("sequences", model.maxSequence && `up to ${model.maxSequence} tokens`);
  if (model.memory) {
    add("packed weights", formatBytes(model.memory.weightBytes));
    add("KV cache", formatBytes(model.memory.kvBytesPerToken) + " per token of a sequence");
    add("temporaries", formatBytes(model.memory.arenaBytesPerToken) + " per token of a step");
  }
  if (measured?.perplexity !== undefined)
    add("perplexity", `${measured.perplexity.toFixed(4)} of ${measured.text}, ${measured.predictions} tokens`);
  if (measured?.divergence !== undefined)
    add("KL divergence", `${measured.divergence.toFixed(6)}, at most ${measured.maxDivergence.toFixed(6)}, from the model ` +
      `as its files are; ${(100 * measured.sameTop).toFixed(3)} % same top tokens`);
  add("compiled in", formatSeconds(model.seconds));
  return list;
}

// Shows the error of each layer's output against the model as its files are.
function showLayerErrors({measured}) {
  return measured?.layerErrors?.length ? [heading("rounding", "What quantization changes in layers"),
    makeTable(["layer", ">relative error", ">at most"],
      measured.layerErrors.map(({mean, max}, i) => [String(i), mean.toFixed(6), max.toFixed(6)]))] : [];
}

function showGraph(graph) {
  const layers = !graph.layers ? "" : graph.layers === 1 ? ", one layer" : `, ${graph.layers} layers`;
  return element("figure", {id: "graph-" + graph.name},
    element("figcaption", {}, element("b", {}, graph.name), layers), new GraphDrawing(graph).draw());
}

// The kernels that a step spends most on: reading if it has one token, else computing.
function showStepCosts(step) {
  const cost = ({operations, bytes}) => step.entry === "decode" ? bytes : operations, maxRows = 8;
  const rows = [...step.kernels].sort((a, b) => cost(b) - cost(a)).slice(0, maxRows).map(kernel =>
    [link("#kernel-" + kernel.kernel, kernel.kernel), formatCount(kernel.operations), formatBytes(kernel.bytes),
      bar(cost(step) > 0 ? cost(kernel) / cost(step) : 0)]);
  rows.push(["the whole step", formatCount(step.operations), formatBytes(step.bytes), ""]);
  return element("div", {}, element("h3", {}, step.title),
    makeTable(["kernel", ">operations", ">read and written", step.entry === "decode" ? "of the bytes" : "of the operations"], rows));
}

const showStored = names => joined(names, () => element("br", {}));

function showCode(name) {
  return element("span", {class: "code"}, ...joined([link("#loops/" + name, "MLIR"), link("#llvm-ir/" + name, "LLVM"),
    link("#assembly/" + name, "assembly")]));
}

function showKernels({kernels, graph}) {
  const titles = new Map(graph.flatMap(({nodes}) => nodes.map(node => [node.origin, node.title])));
  return makeTable(["kernel", "what", "divided by", "calls in a step", "operations of the model", "weights and KV cache", "code"],
    kernels.map(kernel => ({id: "kernel-" + kernel.name, cells: [element("b", {}, kernel.name),
      kernel.shapes + (kernel.fused && " + ") + kernel.fused, kernel.share,
      Object.entries(kernel.calls).map(([phase, count]) => `${phase} ${count}`).join(", "),
      joined(kernel.origins.filter(origin => titles.has(origin)).map(origin => link("#op-" + origin, titles.get(origin)))),
      showStored(kernel.stored), showCode(kernel.name)]})));
}

function showOperations({name, nodes}, kernels) {
  const rows = nodes.filter(node => node.origin && !node.callee).map(node => ({id: "op-" + node.origin, cells: [node.title,
    node.detail, showStored(node.stored),
    joined(kernels.filter(kernel => kernel.origins.includes(node.origin)).map(kernel => link("#kernel-" + kernel.name, kernel.name)))]}));
  return rows.length ? [element("h3", {}, link("#graph-" + name, name)),
    makeTable(["operation", "features", "weights and KV cache", "kernels"], rows)] : [];
}

// The stages, and the passes that took longest.
function showTimes(passes) {
  const stages = new Map(), maxRows = 8, total = passes.reduce((sum, {seconds}) => sum + seconds, 0);
  for (const {stage, seconds} of passes) stages.set(stage, (stages.get(stage) || 0) + seconds);
  const slowest = passes.map(({name, seconds}, i) => [link("#" + i, name), seconds]).sort((a, b) => b[1] - a[1]).slice(0, maxRows);
  const table = (title, entries) => element("div", {}, makeTable([title, ">time", "share"],
    entries.map(([name, seconds]) => [name, formatSeconds(seconds), bar(total > 0 ? seconds / total : 0)])));
  return element("div", {class: "columns"}, table("stage", [...stages]), table("pass", slowest));
}

function showOverview(article, data) {
  article.append(showFacts(data), ...showLayerErrors(data), heading("model", "The model"),
    element("div", {class: "graphs"}, ...data.graph.map(showGraph)));
  if (data.kernels.length)
    article.append(heading("costs", "What a step does most"), element("div", {class: "columns"}, ...data.steps.map(showStepCosts)),
      heading("kernels", "Kernels"), showKernels(data));
  article.append(heading("operations", "Operations of the model"),
    ...data.graph.flatMap(graph => showOperations(graph, data.kernels)), heading("times", "What compiling took"),
    showTimes(data.passes));
}
