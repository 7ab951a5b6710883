"use strict";
// Elements of HTML and SVG and formats of numbers, which drawings and tables share.
function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes))
    key.startsWith("on") ? node[key] = value : node.setAttribute(key, value);
  node.append(...children);
  return node;
}
const element = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const shape = (name, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

// With the largest unit in which the value is at least 1, or else the smallest one.
function scaled(value, units) {
  const [size, unit, digits] = units.find(([size]) => value >= size) || units.at(-1);
  return (value / size).toFixed(digits) + " " + unit;
}
const formatBytes = bytes => scaled(bytes, [[2 ** 30, "GiB", 2], [2 ** 20, "MiB", 2], [2 ** 10, "KiB", 2]]);
const formatCount = count => scaled(count, [[1e9, "G", 2], [1e6, "M", 2], [1e3, "K", 2]]);
const formatSeconds = seconds => scaled(seconds, [[1, "s", 3], [1e-3, "ms", 2], [1e-6, "us", 1], [1e-9, "ns", 0]]);
const formatShare = share => Number.isFinite(share) ? (100 * share).toFixed(0) + " %" : "-";
