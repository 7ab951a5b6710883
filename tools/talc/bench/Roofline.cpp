// SPDX-License-Identifier: Apache-2.0
// Both axes are logarithmic: operations per byte, and operations per second. Points carry numbers, which a list beside
// them explains, since names at the points would lie over each other.
#include "tools/talc/bench/Reports.h"

#include "tools/talc/bench/Table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace talc::bench {

namespace {

constexpr double letterWidth = 6.6;  // at most, on average
constexpr double plotLeft = 70, plotTop = 50, plotWidth = 620, plotHeight = 420, listLeft = 720;
constexpr double lineHeight = 16;
constexpr double leastShare = 0.01;  // of a step, to be drawn
const char *const colors[] = {"#1f6fb4", "#c8501e", "#2c8a4b", "#7d4fa6", "#8a6d1c", "#b03060"};  // of tests

// Values on a logarithmic axis, with some room around them.
struct Axis {
  double low = 0, high = 0;  // decimal exponents
  bool empty = true;

  void show(double value) {
    if (!(value > 0) || !std::isfinite(value))
      return;
    constexpr double room = 0.2;
    double exponent = std::log10(value);
    low = empty ? exponent - room : std::min(low, exponent - room);
    high = empty ? exponent + room : std::max(high, exponent + room);
    empty = false;
  }
  double place(double value) const { return std::clamp((std::log10(value) - low) / (high - low), 0.0, 1.0); }
  // Powers of ten, and if they are few, also 2 and 5 times them.
  std::vector<double> ticks() const {
    std::vector<double> result;
    for (double e = std::floor(low); e <= high; ++e)
      for (double factor : {1.0, 2.0, 5.0})
        if (double value = factor * std::pow(10, e);
            (factor == 1 || high - low < 2.5) && std::log10(value) >= low && std::log10(value) <= high)
          result.push_back(value);
    return result;
  }
};

struct Point {
  double intensity, rate;  // operations per byte; operations per second
  double radius;
  std::string label, color;
};

// Places for the names of roofs and the numbers of points: beside them, and where that is taken, further away.
class Labels {
public:
  void avoid(double x, double y, double radius) { taken.push_back({x - radius, y - radius, 2 * radius, 2 * radius}); }
  // A text that begins at a point and goes in a direction; false if something is there.
  bool takeSlanted(double x, double y, double angle, size_t letters) {
    constexpr double size = 13;
    std::vector<Box> boxes;
    for (double at = 0; at < letterWidth * static_cast<double>(letters); at += size / 2)
      boxes.push_back({x + at * std::cos(angle) - size / 2, y + at * std::sin(angle) - size, size, size});
    if (std::any_of(boxes.begin(), boxes.end(), [&](const Box &box) { return isTaken(box); }))
      return false;
    taken.insert(taken.end(), boxes.begin(), boxes.end());
    return true;
  }
  // Where the text begins.
  std::pair<double, double> place(double x, double y, double radius) {
    constexpr double width = 15, height = 12;
    for (double distance = 0; distance < 20; ++distance)
      for (double side : {1.0, -1.0}) {
        Box box = {x + radius + 2 + 5 * distance, y - height / 2 + side * height * distance, width, height};
        if (isTaken(box))
          continue;
        taken.push_back(box);
        return {box.x, box.y + height - 2};
      }
    return {x, y};
  }

private:
  struct Box {
    double x, y, width, height;
  };
  static bool overlap(const Box &a, const Box &b) {
    return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
  }
  bool isTaken(const Box &box) const {
    return std::any_of(taken.begin(), taken.end(), [&](const Box &other) { return overlap(box, other); });
  }

  std::vector<Box> taken;
};

class Panel {
public:
  Panel(const KernelTable &rows, double top);
  std::string draw();
  double width() const;
  double height() const;

private:
  double x(double intensity) const { return plotLeft + plotWidth * xAxis.place(intensity); }
  double y(double rate) const { return top + plotTop + plotHeight * (1 - yAxis.place(rate)); }
  std::string drawGrid() const;
  void showPeak(const MatmulPeak &peak);
  std::string drawRoof(const MemoryLevel &level);
  std::string drawPeak(const MatmulPeak &peak);
  std::string drawRoofs();
  std::string drawPoints();

  const KernelTable &rows;
  double top;
  std::vector<MatmulPeak> peaks;  // of f32, and of what else the points multiply; ascending
  std::vector<Point> points;
  Axis xAxis, yAxis;
  Labels labels;
};

}  // namespace

static std::string escape(const std::string &text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return escaped;
}

static std::string textAt(double x, double y, const std::string &text, const std::string &attributes = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escape(text));
}

static std::string line(double x1, double y1, double x2, double y2, const std::string &attributes) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                     attributes);
}

Panel::Panel(const KernelTable &rows, double top) : rows(rows), top(top) {
  showPeak(rows.machine.f32());
  size_t number = 0;
  for (const PhaseResult &phase : rows.phases) {
    std::string color = colors[number++ % std::size(colors)];
    for (const KernelResult &kernel : phase.kernels) {
      double seconds = kernel.time.total();
      if (kernel.costs.operations <= 0 || kernel.costs.bytes() <= 0 || seconds <= 0 ||
          seconds < leastShare * phase.stepSeconds)
        continue;
      std::string label = fmt::format("{} {}{}{}: {} of roof, {}", kernel.kernel->name, kernel.kernel->shapes,
                                      kernel.kernel->fused.empty() ? "" : " + ", kernel.kernel->fused,
                                      formatShare(kernel.share()), formatSeconds(seconds));
      double radius = 2.5 + 10 * std::sqrt(std::min(seconds / phase.stepSeconds, 1.0));
      showPeak(rows.machine.peakFor(*kernel.kernel));
      points.push_back(
          {kernel.costs.operations / kernel.costs.bytes(), kernel.costs.operations / seconds, radius, label, color});
    }
  }
  for (const Point &point : points) {
    xAxis.show(point.intensity);
    yAxis.show(point.rate);
  }
}

// And where the lowest roof bends.
void Panel::showPeak(const MatmulPeak &peak) {
  if (std::any_of(peaks.begin(), peaks.end(), [&](const MatmulPeak &other) { return other.roof == peak.roof; }))
    return;
  peaks.push_back(peak);
  std::sort(peaks.begin(), peaks.end(),
            [](const MatmulPeak &a, const MatmulPeak &b) { return a.operationsPerSecond < b.operationsPerSecond; });
  yAxis.show(peak.operationsPerSecond);
  xAxis.show(peak.operationsPerSecond / rows.machine.memory().bytesPerSecond);
}

double Panel::width() const {
  size_t longest = 0;
  for (const Point &point : points)
    longest = std::max(longest, point.label.size() + 4);
  return listLeft + letterWidth * static_cast<double>(longest);
}

double Panel::height() const {
  auto lines = static_cast<double>(points.size() + rows.phases.size());
  return plotTop + std::max(plotHeight + 76, lines * lineHeight + 30);
}

std::string Panel::drawGrid() const {
  std::string svg;
  double bottom = top + plotTop + plotHeight, right = plotLeft + plotWidth;
  for (double value : xAxis.ticks()) {
    svg += line(x(value), top + plotTop, x(value), bottom, "class=\"grid\"");
    svg += textAt(x(value), bottom + 18, fmt::format("{:g}", value), "text-anchor=\"middle\"");
  }
  for (double value : yAxis.ticks()) {
    svg += line(plotLeft, y(value), right, y(value), "class=\"grid\"");
    svg += textAt(plotLeft - 8, y(value) + 4, fmt::format("{:g}", 1e-9 * value), "text-anchor=\"end\"");
  }
  svg +=
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" class=\"grid\"/>\n",
                  plotLeft, top + plotTop, plotWidth, plotHeight);
  svg += textAt(plotLeft + plotWidth / 2, bottom + 36, "operations per byte", "text-anchor=\"middle\"");
  svg +=
      textAt(plotLeft, bottom + 54,
             "Larger points take more of their step. Not drawn: less than 1 % of a step, what no clock can tell from "
             "nothing, and kernels without operations.",
             "class=\"roofname\"");
  svg +=
      textAt(18, top + plotTop + plotHeight / 2, "GFLOP/s",
             fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 18 {:.1f})\"", top + plotTop + plotHeight / 2));
  return svg;
}

// A slanted roof ends where it meets the highest flat one. Its name stands on it where there is room.
std::string Panel::drawRoof(const MemoryLevel &level) {
  double peak = peaks.back().operationsPerSecond, bend = peak / level.bytesPerSecond;
  double start = std::max(std::pow(10, xAxis.low), std::pow(10, yAxis.low) / level.bytesPerSecond);
  if (start >= bend)
    return "";
  double x1 = x(start), y1 = y(start * level.bytesPerSecond), x2 = x(bend), y2 = y(peak);
  double angle = std::atan2(y2 - y1, x2 - x1), tx = x1, ty = y1;
  std::string name = fmt::format("{} {:.0f} GB/s", level.name, 1e-9 * level.bytesPerSecond);
  for (double part = 0.02; part < 0.9; part += 0.04) {
    tx = x1 + part * (x2 - x1);
    ty = y1 + part * (y2 - y1) - 5;
    if (labels.takeSlanted(tx, ty, angle, name.size()))
      break;
  }
  return line(x1, y1, x2, y2, "class=\"roof\"") +
         textAt(
             tx, ty, name,
             fmt::format("class=\"roofname\" transform=\"rotate({:.1f} {:.1f} {:.1f})\"", angle * 180 / M_PI, tx, ty));
}

// A flat roof begins at the highest slanted one.
std::string Panel::drawPeak(const MatmulPeak &peak) {
  double least = std::pow(10, xAxis.low), most = std::pow(10, xAxis.high), firstBend = most;
  for (const MemoryLevel &level : rows.machine.levels)
    firstBend = std::min(firstBend, peak.operationsPerSecond / level.bytesPerSecond);
  double height = y(peak.operationsPerSecond), right = x(most) - 4;
  std::string name = fmt::format("{} {} {:.0f} {}/s", peak.instructions, peak.roof, 1e-9 * peak.operationsPerSecond,
                                 peak.rounded.empty() ? "GFLOP" : "GOP");
  labels.takeSlanted(right - letterWidth * static_cast<double>(name.size()), height - 8, 0, name.size());
  return line(x(std::max(firstBend, least)), height, x(most), height, "class=\"roof\"") +
         textAt(right, height - 8, name, "class=\"roofname\" text-anchor=\"end\"");
}

std::string Panel::drawRoofs() {
  std::string svg;
  for (const MatmulPeak &peak : peaks)
    svg += drawPeak(peak);
  for (const MemoryLevel &level : rows.machine.levels)
    svg += drawRoof(level);
  return svg;
}

std::string Panel::drawPoints() {
  std::string svg;
  for (size_t i = 0; i < points.size(); ++i) {
    const Point &point = points[i];
    double px = x(point.intensity), py = y(point.rate);
    auto [lx, ly] = labels.place(px, py, point.radius);
    svg += line(px, py, lx, ly - 4, fmt::format("stroke=\"{}\" stroke-width=\"0.5\"", point.color));
    svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\"><title>{}</title></circle>\n", px,
                       py, point.radius, point.color, escape(point.label));
    svg += textAt(lx, ly, std::to_string(i + 1), fmt::format("class=\"number\" style=\"fill: {}\"", point.color));
  }
  double at = top + plotTop + 4;
  size_t next = 0;
  for (size_t phase = 0; phase < rows.phases.size(); ++phase) {
    std::string color = colors[phase % std::size(colors)];
    svg += textAt(listLeft, at, rows.phases[phase].label(),
                  fmt::format("class=\"phase\" font-weight=\"bold\" style=\"fill: {}\"", color));
    at += lineHeight;
    for (; next < points.size() && points[next].color == color; ++next, at += lineHeight)
      svg += textAt(listLeft, at, fmt::format("{}  {}", next + 1, points[next].label));
  }
  return svg;
}

std::string Panel::draw() {
  for (const Point &point : points)
    labels.avoid(x(point.intensity), y(point.rate), point.radius);
  std::string heading = fmt::format("{}, {} thread{}", rows.machine.processor, rows.machine.threads,
                                    rows.machine.threads == 1 ? "" : "s");
  return textAt(plotLeft, top + 34, heading, "font-weight=\"bold\"") + drawGrid() + drawRoofs() + drawPoints();
}

// In the dark where the page around it is.
static const char *const style =
    "<style>.paper { fill: #fff; } text { fill: #222; } .grid { stroke: #ddd; } .roof { stroke: #555; stroke-width: "
    "1.5; }\n"
    ".number, .roofname { paint-order: stroke; stroke: #fff; stroke-width: 3px; } .roofname { fill: #555; }\n"
    ".number { font-size: 11px; font-weight: bold; } circle { fill-opacity: 0.75; }\n"
    "@media (prefers-color-scheme: dark) { .paper { fill: #181a1e; } text { fill: #e3e6ea; } .grid { stroke: #363b43; "
    "}\n"
    "  .roof { stroke: #aab2bd; } .roofname { fill: #aab2bd; } .number, .roofname { stroke: #181a1e; }\n"
    "  circle, .number, .phase { filter: brightness(1.5); } }</style>\n";

std::string drawRoofline(const std::vector<KernelTable> &rows, const std::string &title) {
  std::string body = textAt(plotLeft, 26, title, "font-size=\"18\" font-weight=\"bold\"");
  double top = 30, width = 0;
  for (const KernelTable &row : rows) {
    Panel panel(row, top);
    body += panel.draw();
    top += panel.height();
    width = std::max(width, panel.width());
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n{2}"
      "<rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n{3}</svg>\n",
      width, top, style, body);
}

}  // namespace talc::bench
