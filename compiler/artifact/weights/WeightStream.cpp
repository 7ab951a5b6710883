// SPDX-License-Identifier: Apache-2.0
// Evaluates weights in bands of about two MiB. All threads compute the bands of one wave while the bands of the wave
// before it are written, in order.
#include "compiler/artifact/weights/WeightStream.h"

#include "compiler/Error.h"
#include "compiler/artifact/weights/WeightRange.h"

#include "mlir/IR/Threading.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

static llvm::Error checkPlace(const PlacedWeight &placed, int64_t end, int64_t sectionBytes) {
  std::string name = WeightOp(placed.weight).getSymName().str();
  if (placed.offset < end || placed.offset % weightAlignment != 0)
    return makeError(ErrorCode::Program,
                     "weight '{}' has offset = {}, which is unaligned or overlaps the weight "
                     "before it; leave it as talc printed it",
                     name, placed.offset);
  if (placed.offset > sectionBytes || placed.bytes > sectionBytes - placed.offset)
    return makeError(ErrorCode::Program,
                     "weight '{}' has offset = {}, so that it ends beyond the {} bytes of all "
                     "weights; leave it as talc printed it",
                     name, placed.offset, sectionBytes);
  return llvm::Error::success();
}

llvm::Expected<std::vector<PlacedWeight>> placedWeights(ModuleOp module, int64_t sectionBytes) {
  std::vector<PlacedWeight> result;
  for (WeightOp weight : module.getOps<WeightOp>()) {
    auto offset = weight->getAttrOfType<IntegerAttr>(offsetAttr);
    if (!offset)
      continue;
    if (llvm::Expected<int64_t> count = elementCount(weight); !count)
      return count.takeError();
    result.push_back({weight, offset.getValue().getSExtValue(), storedBytes(tensorType(weight))});
  }
  llvm::sort(result, [](const PlacedWeight &a, const PlacedWeight &b) {
    return std::make_pair(a.offset, a.bytes) < std::make_pair(b.offset, b.bytes);
  });
  int64_t end = 0;
  for (const PlacedWeight &placed : result) {
    if (llvm::Error error = checkPlace(placed, end, sectionBytes))
      return std::move(error);
    end = placed.offset + placed.bytes;
  }
  return result;
}

namespace {

// Neighboring rows of a weight, or whole blocks of one row: contiguous in the section.
struct Band {
  size_t weight;  // index among the placed weights
  int64_t offset;
  Tile tile;
};

struct ComputedBand {
  std::vector<float> values;
  std::vector<uint8_t> bytes;  // none of an exact format
  bool isStorable = true;

  llvm::ArrayRef<uint8_t> section() const {
    if (!bytes.empty())
      return bytes;
    return {reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(float)};
  }
};

std::vector<Band> divide(llvm::ArrayRef<PlacedWeight> weights) {
  constexpr int64_t bandElements = 1 << 19;
  std::vector<Band> bands;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i].bytes == 0)
      continue;
    RankedTensorType type = tensorType(weights[i].weight);
    const StorageFormat &format = elementFormat(type);
    MatrixShape shape = matrixShape(type);
    int64_t unit = format.unit(getPanelLanes(type)), most = std::max(unit, bandElements / unit * unit);
    int64_t columns = std::min(shape.columns, most), rows = std::max<int64_t>(1, bandElements / shape.columns);
    for (int64_t row = 0; row < shape.rows; row += rows)
      for (int64_t column = 0; column < shape.columns; column += columns) {
        Tile tile{row, column, std::min(rows, shape.rows - row), std::min(columns, shape.columns - column)};
        bands.push_back({i, weights[i].offset + format.byteSize(row * shape.columns + column), tile});
      }
  }
  return bands;
}

// Blocks that a file has are taken as they are, if their values are finite.
void takeBlocks(const WeightValues &values, RankedTensorType type, Tile tile, ComputedBand &band) {
  values.readBlocks(tile, band.bytes.data());
  elementFormat(type).decode(band.bytes.data(), tile.rows * tile.columns, getPanelLanes(type), band.values.data());
  band.isStorable = areStorableValues(band.values, /*inVector=*/false);
}

void compute(const WeightValues &values, RankedTensorType type, Tile tile, ComputedBand &band) {
  const StorageFormat &format = elementFormat(type);
  int64_t count = tile.rows * tile.columns;
  band.values.resize(count);
  band.bytes.resize(format.exact ? 0 : format.byteSize(count));
  if (values.blocks() == &format)
    return takeBlocks(values, type, tile, band);
  values.read(tile, band.values.data(), tile.columns);
  band.isStorable = areStorableValues(band.values, type.getRank() < 2) &&
                    (format.exact || format.encode(band.values.data(), count, getPanelLanes(type), band.bytes.data()));
}

// Sends bytes in order and fills gaps with zeros.
class OrderedWriter {
public:
  explicit OrderedWriter(ByteSink sink) : sink(sink) {}

  llvm::Error write(int64_t offset, llvm::ArrayRef<uint8_t> bytes) {
    if (llvm::Error error = fillTo(offset))
      return error;
    position += bytes.size();
    return sink(bytes);
  }

  llvm::Error fillTo(int64_t end) {
    static constexpr uint8_t zeros[65536] = {};
    if (position > end)
      return internalError("the bytes of a weight begin at {}, before those of others end at {}", end, position);
    while (position < end) {
      int64_t count = std::min<int64_t>(end - position, sizeof(zeros));
      if (llvm::Error error = sink({zeros, static_cast<size_t>(count)}))
        return error;
      position += count;
    }
    return llvm::Error::success();
  }

private:
  ByteSink sink;
  int64_t position = 0;
};

class WeightStreamer {
public:
  WeightStreamer(ModuleOp module, llvm::ArrayRef<PlacedWeight> weights, ByteSink sink)
      : context(module.getContext()), weights(weights), graph(module), writer(sink) {}

  llvm::Error run(int64_t sectionBytes);

private:
  llvm::Error open();
  llvm::Error write(llvm::ArrayRef<Band> wave, llvm::ArrayRef<ComputedBand> computed);
  void releaseSometimes(size_t bands);

  MLIRContext *context;
  llvm::ArrayRef<PlacedWeight> weights;
  WeightGraph graph;
  std::vector<WeightValuesPtr> values;
  OrderedWriter writer;
  size_t bandsSinceRelease = 0;
};

llvm::Error WeightStreamer::open() {
  for (const PlacedWeight &placed : weights) {
    llvm::Expected<WeightValuesPtr> opened = graph.values(placed.weight);
    if (!opened)
      return opened.takeError();
    values.push_back(*opened);
  }
  return llvm::Error::success();
}

llvm::Error WeightStreamer::write(llvm::ArrayRef<Band> wave, llvm::ArrayRef<ComputedBand> computed) {
  for (size_t i = 0; i < wave.size(); ++i) {
    WeightOp weight = weights[wave[i].weight].weight;
    if (!computed[i].isStorable)
      return outOfRangeError(weight, elementFormat(tensorType(weight)), graph);
    if (llvm::Error error = writer.write(wave[i].offset, computed[i].section()))
      return error;
  }
  return llvm::Error::success();
}

// Not after every wave: the bands of a transposed weight read the same pages again and again.
void WeightStreamer::releaseSometimes(size_t bands) {
  constexpr size_t bandsPerRelease = 128;
  bandsSinceRelease += bands;
  if (bandsSinceRelease < bandsPerRelease)
    return;
  graph.releasePages();
  bandsSinceRelease = 0;
}

llvm::Error WeightStreamer::run(int64_t sectionBytes) {
  if (llvm::Error error = open())
    return error;
  std::vector<Band> bands = divide(weights);
  size_t waveSize = 2 * context->getNumThreads();
  std::vector<ComputedBand> current(waveSize), before(waveSize);
  llvm::ArrayRef<Band> waveBefore, rest = bands;
  llvm::Error error = llvm::Error::success();
  while (!error && !(rest.empty() && waveBefore.empty())) {
    llvm::ArrayRef<Band> wave = rest.take_front(waveSize);
    parallelFor(context, 0, wave.size() + 1, [&](size_t task) {
      if (task == 0) {
        error = write(waveBefore, before);
        return;
      }
      const Band &band = wave[task - 1];
      compute(*values[band.weight], tensorType(weights[band.weight].weight), band.tile, current[task - 1]);
    });
    rest = rest.drop_front(wave.size());
    waveBefore = wave;
    std::swap(current, before);
    releaseSometimes(wave.size());
  }
  return error ? std::move(error) : writer.fillTo(sectionBytes);
}

}  // namespace

llvm::Error streamWeights(ModuleOp module, llvm::ArrayRef<PlacedWeight> weights, int64_t sectionBytes, ByteSink sink) {
  return WeightStreamer(module, weights, sink).run(sectionBytes);
}

}  // namespace talc
