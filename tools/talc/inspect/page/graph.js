// The imported model as a graph: boxes from top to bottom in the order of the data. A node's row is one below the
// lowest of its inputs, and nodes of a row stand side by side. An edge over several rows, such as that of a residual,
// goes around them: on the left if it begins there, else on the right.
const boxSize = {width: 178, height: 38, columnGap: 18, rowGap: 26, laneGap: 12, margin: 8};

class GraphDrawing {
  leftLanes = 0;
  rightLanes = 0;

  constructor(graph) {
    this.nodes = graph.nodes;
    this.name = graph.name;
    this.rowOfNode = [];
    this.rows = [];
    this.nodes.forEach((node, i) => {
      const row = Math.max(0, ...node.inputs.map(input => this.rowOfNode[input] + 1));
      this.rowOfNode.push(row);
      (this.rows[row] ||= []).push(i);
    });
    this.columnsWidth = this.widthOfRow(this.rows.reduce((widest, row) => row.length > widest.length ? row : widest, [0]));
  }
  widthOfRow(row) { return row.length * (boxSize.width + boxSize.columnGap) - boxSize.columnGap; }
  left(node) {
    const row = this.rows[this.rowOfNode[node]];
    return boxSize.margin + Math.trunc((this.columnsWidth - this.widthOfRow(row)) / 2) +
      row.indexOf(node) * (boxSize.width + boxSize.columnGap);
  }
  top(node) { return boxSize.margin + this.rowOfNode[node] * (boxSize.height + boxSize.rowGap); }

  edge(from, to) {
    const half = boxSize.width / 2, bend = boxSize.rowGap / 2;
    if (this.rowOfNode[to] !== this.rowOfNode[from] + 1) return this.edgeAround(from, to);
    const x1 = this.left(from) + half, y1 = this.top(from) + boxSize.height, x2 = this.left(to) + half, y2 = this.top(to);
    return shape("path", {d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2 - 1}`});
  }

  // From one side of the box to a lane of its own, and back to the same side of the other box.
  edgeAround(from, to) {
    const {width, height, laneGap, margin} = boxSize;
    const onLeft = this.left(from) + width / 2 < margin + Math.trunc(this.columnsWidth / 2);
    const lane = onLeft ? margin - laneGap * ++this.leftLanes + laneGap / 2
      : margin + this.columnsWidth + laneGap * ++this.rightLanes - laneGap / 2;
    const side = onLeft ? 0 : width, turn = lane + (onLeft ? 6 : -6);
    const y1 = this.top(from) + height / 2, y2 = this.top(to) + height / 2;
    return shape("path", {d: `M${this.left(from) + side} ${y1}H${turn}Q${lane} ${y1} ${lane} ${y1 + 6}` +
      `V${y2 - 6}Q${lane} ${y2} ${turn} ${y2}H${this.left(to) + side}`});
  }

  box(node, i) {
    const x = this.left(i), y = this.top(i), middle = x + boxSize.width / 2;
    const shapes = [shape("title", {}, [`${node.title} ${node.detail}`, ...node.stored].join("\n")),
      shape("rect", {x, y, width: boxSize.width, height: boxSize.height, rx: 5}),
      shape("text", {x: middle, y: y + 16}, shorten(node.title)),
      shape("text", {class: "dim", x: middle, y: y + 31}, shorten(nodeDetail(node)))];
    const kind = !node.origin ? "input" : node.callee ? "call" : node.stored.length ? "weighted" : "op";
    const target = node.callee ? "#graph-" + node.callee : node.origin && "#op-" + node.origin;
    return target ? shape("a", {class: kind, href: target}, ...shapes) : shape("g", {class: kind}, ...shapes);
  }

  draw() {
    const edges = this.nodes.flatMap((node, i) => node.inputs.map(input => this.edge(input, i)));
    const left = this.leftLanes * boxSize.laneGap;
    const width = 2 * boxSize.margin + left + this.columnsWidth + this.rightLanes * boxSize.laneGap;
    const height = 2 * boxSize.margin + this.rows.length * (boxSize.height + boxSize.rowGap) - boxSize.rowGap;
    return shape("svg", {class: "graph", width, height, viewBox: `${-left} 0 ${width} ${height}`, role: "img",
      "aria-label": this.name}, ...edges, ...this.nodes.map((node, i) => this.box(node, i)));
  }
}

// Sizes, and the last part of the name of what is stored.
function nodeDetail(node) {
  if (node.callee) return node.count === 1 ? node.detail : node.count + " times";
  if (!node.stored.length) return node.detail;
  const name = node.stored[0].replace(/\.weight$/, "").split(".").at(-1);
  return name + (node.detail && "  ") + node.detail;
}

function shorten(text) {
  const maxLetters = 28;
  return text.length <= maxLetters ? text : "…" + text.slice(1 - maxLetters);
}
