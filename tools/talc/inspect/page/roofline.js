// The roofline: kernels below the measured roofs of the machine. Source: Williams, Waterman, Patterson 2009, "Roofline".
// Both axes are logarithmic: operations per byte, and operations per second. Points carry numbers, which a list beside
// them explains, since names at the points would overlap.
const plot = {left: 70, top: 50, width: 620, height: 420, list: 720, letter: 6.6, line: 16};
const stepColors = ["#1f6fb4", "#c8501e", "#2c8a4b", "#7d4fa6", "#8a6d1c", "#b03060"];
const minStepShare = 0.01;  // kernels with less of their step are not drawn

const textAt = (x, y, text, attributes = {}) => shape("text", {x, y, ...attributes}, text);
const line = (x1, y1, x2, y2, attributes) => shape("line", {x1, y1, x2, y2, ...attributes});

// A logarithmic axis that has some room around its values.
function makeAxis(values) {
  const exponents = values.filter(value => value > 0 && Number.isFinite(value)).map(Math.log10), room = 0.2;
  const low = Math.min(...exponents) - room, high = Math.max(...exponents) + room;
  const position = value => Math.min(Math.max((Math.log10(value) - low) / (high - low), 0), 1);
  // Powers of ten, and if they are few, also 2 and 5 times them.
  const ticks = [];
  for (let exponent = Math.floor(low); exponent <= high; ++exponent)
    for (const factor of high - low < 2.5 ? [1, 2, 5] : [1]) {
      const value = factor * 10 ** exponent;
      if (Math.log10(value) >= low && Math.log10(value) <= high) ticks.push(value);
    }
  return {min: 10 ** low, max: 10 ** high, position, ticks};
}

// Finds free places for the names of roofs and the numbers of points.
class Labels {
  boxes = [];
  isTaken(box) {
    return this.boxes.some(other => box.x < other.x + other.width && other.x < box.x + box.width &&
      box.y < other.y + other.height && other.y < box.y + box.height);
  }
  avoid(x, y, radius) { this.boxes.push({x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius}); }
  // A text that begins at a point and runs at an angle; false if something is there.
  takeSlanted(x, y, angle, text) {
    const size = 13, boxes = [];
    for (let at = 0; at < plot.letter * text.length; at += size / 2)
      boxes.push({x: x + at * Math.cos(angle) - size / 2, y: y + at * Math.sin(angle) - size, width: size, height: size});
    if (boxes.some(box => this.isTaken(box))) return false;
    this.boxes.push(...boxes);
    return true;
  }
  // Returns the start of a point's number: beside the point, or further away if that place is taken.
  place(x, y, radius) {
    const width = 15, height = 12;
    for (let distance = 0; distance < 20; ++distance)
      for (const side of [1, -1]) {
        const box = {x: x + radius + 2 + 5 * distance, y: y - height / 2 + side * height * distance, width, height};
        if (this.isTaken(box)) continue;
        this.boxes.push(box);
        return [box.x, box.y + height - 2];
      }
    return [x, y];
  }
}

function collectPoints(panel) {
  return panel.steps.flatMap((step, index) => step.kernels
    .filter(kernel => kernel.operations > 0 && kernel.bytes > 0 && kernel.seconds > 0 &&
      kernel.seconds >= minStepShare * step.seconds)
    .map(kernel => ({
      intensity: kernel.operations / kernel.bytes, rate: kernel.operations / kernel.seconds, step: index,
      radius: 2.5 + 10 * Math.sqrt(Math.min(kernel.seconds / step.seconds, 1)), color: stepColors[index % stepColors.length],
      label: `${kernel.name} ${kernel.shapes}${kernel.fused && " + "}${kernel.fused}: ` +
        `${formatShare(kernel.roofSeconds / kernel.seconds)} of roof, ${formatSeconds(kernel.seconds)}`})));
}

// One number of threads, or one device.
class RooflinePanel {
  constructor(panel, top) {
    this.panel = panel;
    this.top = top;
    this.labels = new Labels();
    this.points = collectPoints(panel);
    this.peaks = [...panel.peaks].sort((a, b) => a.operationsPerSecond - b.operationsPerSecond);
    const memory = panel.levels.at(-1).bytesPerSecond;
    // The axes also show every peak, and where the lowest roof meets it.
    this.xAxis = makeAxis([...this.points.map(point => point.intensity), ...this.peaks.map(peak => peak.operationsPerSecond / memory)]);
    this.yAxis = makeAxis([...this.points.map(point => point.rate), ...this.peaks.map(peak => peak.operationsPerSecond)]);
  }
  x(intensity) { return plot.left + plot.width * this.xAxis.position(intensity); }
  y(rate) { return this.top + plot.top + plot.height * (1 - this.yAxis.position(rate)); }
  get width() { return plot.list + plot.letter * Math.max(0, ...this.points.map(point => point.label.length + 4)); }
  get height() {
    return plot.top + Math.max(plot.height + 76, (this.points.length + this.panel.steps.length) * plot.line + 30);
  }

  grid() {
    const {left, width, height} = plot, top = this.top + plot.top, bottom = top + height, middle = top + height / 2;
    const tick = value => String(Number(value.toPrecision(6)));
    return [
      ...this.xAxis.ticks.flatMap(value => [line(this.x(value), top, this.x(value), bottom, {class: "grid"}),
        textAt(this.x(value), bottom + 18, tick(value), {"text-anchor": "middle"})]),
      ...this.yAxis.ticks.flatMap(value => [line(left, this.y(value), left + width, this.y(value), {class: "grid"}),
        textAt(left - 8, this.y(value) + 4, tick(1e-9 * value), {"text-anchor": "end"})]),
      shape("rect", {x: left, y: top, width, height, fill: "none", class: "grid"}),
      textAt(left + width / 2, bottom + 36, "operations per byte", {"text-anchor": "middle"}),
      textAt(left, bottom + 54, "Larger points take more of their step. Not drawn: kernels below 1 % of a step, below the " +
        "resolution of the clock, or without operations.", {class: "roofname"}),
      textAt(18, middle, "GFLOP/s", {"text-anchor": "middle", transform: `rotate(-90 18 ${middle})`})];
  }

  // A flat roof begins at the highest slanted one.
  flatRoof(peak) {
    const bends = this.panel.levels.map(level => peak.operationsPerSecond / level.bytesPerSecond);
    const start = Math.max(Math.min(this.xAxis.max, ...bends), this.xAxis.min);
    const y = this.y(peak.operationsPerSecond), right = this.x(this.xAxis.max) - 4;
    this.labels.takeSlanted(right - plot.letter * peak.name.length, y - 8, 0, peak.name);
    return [line(this.x(start), y, this.x(this.xAxis.max), y, {class: "roof"}),
      textAt(right, y - 8, peak.name, {class: "roofname", "text-anchor": "end"})];
  }

  // A slanted roof ends where it meets the highest flat one. Its name stands on it where there is room.
  slantedRoof(level) {
    const peak = this.peaks.at(-1).operationsPerSecond, bend = peak / level.bytesPerSecond;
    const start = Math.max(this.xAxis.min, this.yAxis.min / level.bytesPerSecond);
    if (start >= bend) return [];
    const x1 = this.x(start), y1 = this.y(start * level.bytesPerSecond), x2 = this.x(bend), y2 = this.y(peak);
    const angle = Math.atan2(y2 - y1, x2 - x1), name = `${level.name} ${(1e-9 * level.bytesPerSecond).toFixed(0)} GB/s`;
    let x = x1, y = y1;
    for (let part = 0.02; part < 0.9; part += 0.04) {
      x = x1 + part * (x2 - x1);
      y = y1 + part * (y2 - y1) - 5;
      if (this.labels.takeSlanted(x, y, angle, name)) break;
    }
    const degrees = angle * 180 / Math.PI;
    return [line(x1, y1, x2, y2, {class: "roof"}),
      textAt(x, y, name, {class: "roofname", transform: `rotate(${degrees} ${x} ${y})`})];
  }

  drawPoint(point, number) {
    const x = this.x(point.intensity), y = this.y(point.rate), [labelX, labelY] = this.labels.place(x, y, point.radius);
    return [line(x, y, labelX, labelY - 4, {stroke: point.color, "stroke-width": 0.5}),
      shape("circle", {cx: x, cy: y, r: point.radius, fill: point.color}, shape("title", {}, point.label)),
      textAt(labelX, labelY, String(number), {class: "number", style: "fill: " + point.color})];
  }

  list() {
    let y = this.top + plot.top + 4, number = 0;
    const next = (text, attributes) => {
      const result = textAt(plot.list, y, text, attributes);
      y += plot.line;
      return result;
    };
    return this.panel.steps.flatMap((step, index) => [
      next(step.label, {class: "step", "font-weight": "bold", style: "fill: " + stepColors[index % stepColors.length]}),
      ...this.points.filter(point => point.step === index).map(point => next(`${++number}  ${point.label}`))]);
  }

  draw() {
    for (const point of this.points) this.labels.avoid(this.x(point.intensity), this.y(point.rate), point.radius);
    return [textAt(plot.left, this.top + 34, this.panel.machine, {"font-weight": "bold"}), ...this.grid(),
      ...this.peaks.flatMap(peak => this.flatRoof(peak)), ...this.panel.levels.flatMap(level => this.slantedRoof(level)),
      ...this.points.flatMap((point, i) => this.drawPoint(point, i + 1)), ...this.list()];
  }
}

// Fills an SVG element with one panel below the other.
function drawRoofline(svg, {title, panels}) {
  const contents = [textAt(plot.left, 26, title, {"font-size": 18, "font-weight": "bold"})];
  let top = 30, width = 0;
  for (const data of panels) {
    const panel = new RooflinePanel(data, top);
    contents.push(...panel.draw());
    top += panel.height;
    width = Math.max(width, panel.width);
  }
  fill(svg, {width: Math.ceil(width), height: top, viewBox: `0 0 ${Math.ceil(width)} ${top}`}, []);
  svg.append(shape("rect", {width: "100%", height: "100%", class: "paper"}), ...contents);
}
