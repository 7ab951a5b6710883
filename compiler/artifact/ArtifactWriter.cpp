// SPDX-License-Identifier: Apache-2.0
// Lays out sections, reserves the space of the whole file, and streams stub, header and sections with their hashes.
#include "compiler/artifact/ArtifactWriter.h"

#include "compiler/Error.h"
#include "compiler/artifact/LauncherElf.h"
#include "compiler/artifact/OutputFile.h"
#include "compiler/artifact/Sections.h"
#include "compiler/artifact/weights/MappedFile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

using artifact::Section, artifact::SectionKind;

template <typename T> static llvm::ArrayRef<uint8_t> asBytes(const T &container) {
  return {reinterpret_cast<const uint8_t *>(container.data()), container.size() * sizeof(*container.data())};
}

namespace {

// The content of a section: bytes in memory, or the weights.
struct PlannedSection {
  SectionKind kind;
  std::string name;
  uint64_t size;
  llvm::ArrayRef<uint8_t> bytes;
};

// Writes to a file and hashes what it wrote.
class HashingWriter {
public:
  explicit HashingWriter(OutputFile &file) : file(file) {}

  llvm::Error write(llvm::ArrayRef<uint8_t> bytes) {
    size += bytes.size();
    add(bytes);
    return file.write(bytes);
  }

  uint64_t writtenBytes() const { return size; }
  uint64_t hash() const { return stripes.finish(tail.data(), tail.size(), size); }

private:
  void add(llvm::ArrayRef<uint8_t> bytes) {
    constexpr uint64_t stripe = artifact::Hash::stripeBytes;
    if (!tail.empty()) {
      size_t count = std::min<size_t>(stripe - tail.size(), bytes.size());
      tail.append(bytes.begin(), bytes.begin() + count);
      bytes = bytes.drop_front(count);
      if (tail.size() < stripe)
        return;
      stripes.addStripes(tail.data(), 1);
    }
    stripes.addStripes(bytes.data(), bytes.size() / stripe);
    tail.assign(bytes.end() - bytes.size() % stripe, bytes.end());
  }

  OutputFile &file;
  artifact::Hash stripes;
  llvm::SmallVector<uint8_t, artifact::Hash::stripeBytes> tail;
  uint64_t size = 0;
};

class ArtifactWriter {
public:
  explicit ArtifactWriter(const ArtifactParts &parts) : parts(parts) {}
  llvm::Error write(const std::string &path);

private:
  void plan();
  llvm::Error prepare();
  void addSection(SectionKind kind, llvm::ArrayRef<uint8_t> bytes, std::string name = "");
  uint64_t artifactSize() const;
  // Rotary tables are not stored.
  int64_t storedWeightBytes() const { return static_cast<int64_t>(facts.weightBytes - facts.tableBytes); }
  llvm::ArrayRef<PlacedWeight> storedWeights() const {
    return llvm::ArrayRef(weights).take_while(
        [&](const PlacedWeight &placed) { return placed.offset < storedWeightBytes() || placed.bytes == 0; });
  }
  llvm::Error readStub();
  llvm::Error pad(OutputFile &file);
  llvm::Error writeHeader(OutputFile &file);
  llvm::Error writeSection(OutputFile &file, const PlannedSection &planned);
  llvm::Error writeTable(OutputFile &file);

  const ArtifactParts &parts;
  LauncherElf stub;
  artifact::ModelInfo facts = {};
  std::vector<PlacedWeight> weights;
  std::string manifest, labels, stops;
  std::vector<uint8_t> embedding;
  std::vector<artifact::KvRun> states;
  std::vector<uint8_t> tables, training, files;
  std::vector<std::vector<uint8_t>> codes;
  std::vector<PlannedSection> planned;
  std::vector<Section> table;
};

// Makes everything but the weights.
llvm::Error ArtifactWriter::prepare() {
  llvm::Expected<artifact::ModelInfo> info = makeModelInfo(parts.module);
  if (!info)
    return info.takeError();
  facts = *info;
  auto placed = placedWeights(parts.module, static_cast<int64_t>(facts.weightBytes));
  if (!placed)
    return placed.takeError();
  weights = std::move(*placed);
  auto rotary = makeRotaryTablesSection(parts.module, weights, storedWeightBytes());
  if (!rotary)
    return rotary.takeError();
  tables = std::move(*rotary);
  auto named = makeLabels(parts.module, facts);
  if (!named)
    return named.takeError();
  labels = std::move(*named);
  stops = makeStopTexts(parts.module);
  auto head = makeEmbeddingSection(parts.module);
  if (!head)
    return head.takeError();
  embedding = std::move(*head);
  auto trained = makeTrainingSection(parts.module, storedWeights());
  if (!trained)
    return trained.takeError();
  training = std::move(*trained);
  auto copied = makeFilesSection(parts.module);
  if (!copied)
    return copied.takeError();
  files = std::move(*copied);
  auto runs = makeKvCacheSection(parts.module);
  if (!runs)
    return runs.takeError();
  states = std::move(*runs);
  for (const CodeSection &section : parts.code) {
    auto bytes = section.bytes();
    if (!bytes)
      return bytes.takeError();
    codes.push_back(std::move(*bytes));
  }
  manifest = makeManifest(parts.module, facts, weights, parts.code);
  return llvm::Error::success();
}

// Makes it fit what is planned.
llvm::Error ArtifactWriter::readStub() {
  auto mapped = MappedFile::open(parts.stub);
  if (!mapped)
    return mapped.takeError();
  std::string problem = embedArtifact((*mapped)->bytes().vec(), artifactSize(), parts.openName, stub);
  return problem.empty() ? llvm::Error::success() : makeError(ErrorCode::LauncherStub, "{}: {}", parts.stub, problem);
}

void ArtifactWriter::addSection(SectionKind kind, llvm::ArrayRef<uint8_t> bytes, std::string name) {
  planned.push_back({kind, std::move(name), bytes.size(), bytes});
}

void ArtifactWriter::plan() {
  addSection(SectionKind::Manifest, asBytes(manifest));
  addSection(SectionKind::ModelInfo, {reinterpret_cast<const uint8_t *>(&facts), sizeof(facts)});
  for (auto [section, bytes] : llvm::zip(parts.code, codes))
    addSection(SectionKind::Code, bytes, section.target.name());
  if (!parts.tokenizer.empty())
    addSection(SectionKind::Tokenizer, parts.tokenizer);
  if (!states.empty())
    addSection(SectionKind::KvCache, asBytes(states));
  if (!labels.empty())
    addSection(SectionKind::Labels, asBytes(labels));
  if (!stops.empty())
    addSection(SectionKind::StopTexts, asBytes(stops));
  if (!embedding.empty())
    addSection(SectionKind::Embedding, embedding);
  if (!tables.empty())
    addSection(SectionKind::RotaryTables, tables);
  if (!training.empty())
    addSection(SectionKind::Training, training);
  if (!training.empty() && !files.empty())
    addSection(SectionKind::Files, files);
  planned.push_back(
      {SectionKind::Weights, parts.code.front().target.weightLayout(), static_cast<uint64_t>(storedWeightBytes()), {}});
}

uint64_t ArtifactWriter::artifactSize() const {
  uint64_t size = sizeof(artifact::Header);
  for (const PlannedSection &section : planned)
    size = llvm::alignTo(size, artifact::sectionAlignment) + section.size;
  return size + planned.size() * sizeof(Section) + sizeof(uint64_t);
}

llvm::Error ArtifactWriter::pad(OutputFile &file) {
  static constexpr uint8_t zeros[artifact::sectionAlignment] = {};
  return file.write({zeros, llvm::offsetToAlignment(file.position(), llvm::Align(artifact::sectionAlignment))});
}

llvm::Error ArtifactWriter::writeHeader(OutputFile &file) {
  artifact::Header header = {};
  std::memcpy(header.magic, artifact::headerMagic, sizeof(header.magic));
  header.version = artifact::formatVersion;
  header.sectionCount = static_cast<uint32_t>(planned.size());
  header.size = artifactSize();
  header.stubHash = stub.hash;
  const auto *bytes = reinterpret_cast<const uint8_t *>(&header);
  header.hash = artifact::hashBytes(bytes, offsetof(artifact::Header, hash));
  return file.write({bytes, sizeof(header)});
}

llvm::Error ArtifactWriter::writeSection(OutputFile &file, const PlannedSection &planned) {
  if (llvm::Error error = pad(file))
    return error;
  uint64_t offset = file.position() - stub.front.size();
  HashingWriter writer(file);
  auto sink = [&](llvm::ArrayRef<uint8_t> bytes) {
    if (parts.onProgress)
      parts.onProgress(writer.writtenBytes(), planned.size);
    return writer.write(bytes);
  };
  llvm::Error error = planned.kind == SectionKind::Weights
                          ? streamWeights(parts.module, storedWeights(), static_cast<int64_t>(planned.size), sink)
                          : writer.write(planned.bytes);
  Section section = {static_cast<uint32_t>(planned.kind), 0, offset, writer.writtenBytes(), writer.hash(), {}};
  error = llvm::joinErrors(std::move(error), writeName(planned.name, section.name));
  table.push_back(section);
  return error;
}

llvm::Error ArtifactWriter::writeTable(OutputFile &file) {
  llvm::ArrayRef<uint8_t> bytes = asBytes(table);
  uint64_t hash = artifact::hashBytes(bytes.data(), bytes.size());
  if (llvm::Error error = file.write(bytes))
    return error;
  return file.write({reinterpret_cast<const uint8_t *>(&hash), sizeof(hash)});
}

llvm::Error ArtifactWriter::write(const std::string &path) {
  if (llvm::Error error = prepare())
    return error;
  plan();
  if (llvm::Error error = readStub())
    return error;
  auto file = OutputFile::create(path, parts.executable ? OutputFile::anyoneMayRun : OutputFile::anyoneMayWrite);
  if (!file)
    return file.takeError();
  if (llvm::Error error = (*file)->reserve(stub.front.size() + artifactSize() + stub.back.size()))
    return error;
  if (llvm::Error error = (*file)->write(stub.front))
    return error;
  if (llvm::Error error = writeHeader(**file))
    return error;
  for (const PlannedSection &section : planned)
    if (llvm::Error error = writeSection(**file, section))
      return error;
  if (llvm::Error error = writeTable(**file))
    return error;
  if (llvm::Error error = (*file)->write(stub.back))
    return error;
  return (*file)->commit();
}

}  // namespace

llvm::Error writeArtifact(const ArtifactParts &parts, const std::string &path) {
  return ArtifactWriter(parts).write(path);
}

}  // namespace talc
