// SPDX-License-Identifier: Apache-2.0
// A node's row is one below the lowest of its inputs. Nodes of a row stand side by side; an edge over several rows,
// such as that of a residual, goes around them: on the left if it begins there, else on the right.
#include "tools/talc/inspect/GraphDrawing.h"

#include "tools/talc/inspect/Html.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace talc::tools {

constexpr int boxWidth = 178, boxHeight = 38, columnGap = 18, rowGap = 26, laneGap = 12, margin = 8;

namespace {

class Drawing {
public:
  explicit Drawing(const GraphFunction &graph) : graph(graph) { place(); }

  std::string draw(const std::function<std::string(const GraphNode &)> &target) {
    std::string edges, boxes;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (int input : graph.nodes[i].inputs)
        edges += edge(input, static_cast<int>(i));
      boxes += box(graph.nodes[i], static_cast<int>(i), target);
    }
    int left = leftLanes * laneGap, width = 2 * margin + left + columnsWidth + rightLanes * laneGap;
    int height = 2 * margin + static_cast<int>(rows.size()) * (boxHeight + rowGap) - rowGap;
    return fmt::format("<svg class=\"graph\" width=\"{0}\" height=\"{1}\" viewBox=\"{2} 0 {0} {1}\" role=\"img\" "
                       "aria-label=\"{3}\">\n{4}{5}</svg>\n",
                       width, height, -left, escapeHtml(graph.name), edges, boxes);
  }

private:
  void place() {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      size_t row = 0;
      for (int input : graph.nodes[i].inputs)
        row = std::max(row, rowOf[input] + 1);
      rowOf.push_back(row);
      rows.resize(std::max(rows.size(), row + 1));
      rows[row].push_back(static_cast<int>(i));
    }
    size_t widest = 1;
    for (const auto &row : rows)
      widest = std::max(widest, row.size());
    columnsWidth = static_cast<int>(widest) * (boxWidth + columnGap) - columnGap;
  }

  int left(int node) const {
    const std::vector<int> &row = rows[rowOf[node]];
    int place = static_cast<int>(std::find(row.begin(), row.end(), node) - row.begin());
    int width = static_cast<int>(row.size()) * (boxWidth + columnGap) - columnGap;
    return margin + (columnsWidth - width) / 2 + place * (boxWidth + columnGap);
  }
  int top(int node) const { return margin + static_cast<int>(rowOf[node]) * (boxHeight + rowGap); }

  std::string edge(int from, int to) {
    int x1 = left(from) + boxWidth / 2, y1 = top(from) + boxHeight, x2 = left(to) + boxWidth / 2, y2 = top(to);
    if (rowOf[to] == rowOf[from] + 1)
      return fmt::format("<path d=\"M{} {}C{} {} {} {} {} {}\"/>\n", x1, y1, x1, y1 + rowGap / 2, x2, y2 - rowGap / 2,
                         x2, y2 - 1);
    return around(from, to);
  }

  // From one side of the box to a lane of its own, and back to the same side of the other box.
  std::string around(int from, int to) {
    bool onLeft = left(from) + boxWidth / 2 < margin + columnsWidth / 2;
    int lane = onLeft ? margin - laneGap * ++leftLanes + laneGap / 2
                      : margin + columnsWidth + laneGap * ++rightLanes - laneGap / 2;
    int side = onLeft ? 0 : boxWidth, turn = onLeft ? 6 : -6;
    int y1 = top(from) + boxHeight / 2, y2 = top(to) + boxHeight / 2;
    return fmt::format("<path d=\"M{} {}H{}Q{} {} {} {}V{}Q{} {} {} {}H{}\"/>\n", left(from) + side, y1, lane + turn,
                       lane, y1, lane, y1 + 6, y2 - 6, lane, y2, lane + turn, y2, left(to) + side);
  }

  std::string box(const GraphNode &node, int at, const std::function<std::string(const GraphNode &)> &target) const {
    std::string link = target(node), stored;
    for (const std::string &name : node.stored)
      stored += "\n" + name;
    std::string shapes = fmt::format("<title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
                                     "rx=\"5\"/><text x=\"{}\" y=\"{}\">{}</text>"
                                     "<text class=\"dim\" x=\"{}\" y=\"{}\">{}</text>",
                                     escapeHtml(node.title + " " + node.detail + stored), left(at), top(at), boxWidth,
                                     boxHeight, left(at) + boxWidth / 2, top(at) + 16, escapeHtml(shorten(node.title)),
                                     left(at) + boxWidth / 2, top(at) + 31, escapeHtml(shorten(detailOf(node))));
    std::string kind = node.origin.empty()    ? "input"
                       : !node.callee.empty() ? "call"
                       : node.stored.empty()  ? "op"
                                              : "weighted";
    return link.empty() ? fmt::format("<g class=\"{}\">{}</g>\n", kind, shapes)
                        : fmt::format("<a class=\"{}\" href=\"{}\">{}</a>\n", kind, escapeHtml(link), shapes);
  }

  // Sizes, and the last part of the name of what is stored.
  static std::string detailOf(const GraphNode &node) {
    if (!node.callee.empty())
      return node.count == 1 ? node.detail : fmt::format("{} times", node.count);
    if (node.stored.empty())
      return node.detail;
    std::string name = node.stored.front();
    if (size_t end = name.rfind(".weight"); end != std::string::npos && end + 7 == name.size())
      name.resize(end);
    return name.substr(name.rfind('.') + 1) + (node.detail.empty() ? "" : "  " + node.detail);
  }

  static std::string shorten(const std::string &text) {
    constexpr size_t most = 28;
    return text.size() <= most ? text : "…" + text.substr(text.size() - most + 1);
  }

  const GraphFunction &graph;
  std::vector<size_t> rowOf;
  std::vector<std::vector<int>> rows;
  int columnsWidth = 0, leftLanes = 0, rightLanes = 0;
};

}  // namespace

std::string drawGraph(const GraphFunction &graph, const std::function<std::string(const GraphNode &)> &target) {
  return Drawing(graph).draw(target);
}

}  // namespace talc::tools
