// SPDX-License-Identifier: Apache-2.0
// Reads sentencepiece_model.proto's ModelProto.
#include "frontends/huggingface/tokenizer/SentencePieceReader.h"
#include "frontends/huggingface/tokenizer/WireFormat.h"
#include "frontends/tokenizer/unicode/Utf8Text.h"

#include <cmath>
#include <cstring>
#include <unordered_set>

namespace talc::frontend {

namespace {

constexpr size_t maxPieces = 1u << 22;

class ModelReader {
public:
  ModelReader(SentencePieceModel &model, CompileErrors &errors) : model(model), errors(errors) {}

  bool run(std::string_view file) {
    forEachField(file, "the file", [&](const WireField &field) {
      if (field.number == 1 && expect(field, WireType::Bytes, "pieces"))
        readPiece(field.bytes);
      else if (field.number == 2 && expect(field, WireType::Bytes, "trainer_spec"))
        readTrainer(field.bytes);
      else if (field.number == 3 && expect(field, WireType::Bytes, "normalizer_spec"))
        readNormalizer(field.bytes);
      else if (field.number == 5 && expect(field, WireType::Bytes, "denormalizer_spec"))
        readDenormalizer(field.bytes);
    });
    if (!errors.failed())
      checkPieces();
    return !errors.failed();
  }

private:
  SentencePieceModel &model;
  CompileErrors &errors;

  void damaged(const std::string &what) { errors.fail(TokenizerError::SentencePiece, "", what); }

  std::string nameOfPiece(size_t index) const { return "piece " + std::to_string(index); }

  template <typename Each> void forEachField(std::string_view message, const std::string &name, Each each) {
    WireReader reader(message);
    for (WireField field; !errors.failed() && reader.next(field);)
      each(field);
    if (reader.damaged())
      damaged(name + " is cut or no SentencePiece model; is the download complete?");
  }

  bool expect(const WireField &field, WireType type, const char *name) {
    if (field.type != type)
      damaged(std::string(name) + " has wire type " + std::to_string(static_cast<int>(field.type)) + ", expected " +
              std::to_string(static_cast<int>(type)));
    return field.type == type;
  }

  void readPiece(std::string_view message) {
    SentencePiece piece;
    std::string name = nameOfPiece(model.pieces.size());
    forEachField(message, name, [&](const WireField &field) {
      if (field.number == 1 && expect(field, WireType::Bytes, "piece"))
        piece.text = std::string(field.bytes);
      else if (field.number == 2 && expect(field, WireType::Fixed32, "score"))
        piece.score = readScore(field, name);
      else if (field.number == 3 && expect(field, WireType::Varint, "type"))
        piece.type = readType(field, name);
    });
    if (piece.text.empty() || !isUtf8(piece.text))
      damaged(name + " is " + (piece.text.empty() ? "empty" : "not UTF-8"));
    if (model.pieces.size() == maxPieces)
      errors.fail(TokenizerError::TooLarge, "", "has more than " + std::to_string(maxPieces) + " pieces");
    model.pieces.push_back(std::move(piece));
  }

  float readScore(const WireField &field, const std::string &name) {
    auto bits = static_cast<uint32_t>(field.value);
    float score = 0;
    std::memcpy(&score, &bits, sizeof score);
    if (!std::isfinite(score))
      damaged(name + " has a score that is not a finite number");
    return score;
  }

  PieceType readType(const WireField &field, const std::string &name) {
    if (field.value < 1 || field.value > 6)
      damaged(name + " has type " + std::to_string(field.value) + ", expected 1 to 6");
    return static_cast<PieceType>(field.value);
  }

  void readTrainer(std::string_view message) {
    forEachField(message, "trainer_spec", [&](const WireField &field) {
      if (field.number == 3 && expect(field, WireType::Varint, "model_type"))
        readKind(field.value);
      else if (field.number == 24 && expect(field, WireType::Varint, "treat_whitespace_as_suffix") && field.value)
        unsupported("treat_whitespace_as_suffix is set");
      else if (field.number == 35 && expect(field, WireType::Varint, "byte_fallback"))
        model.byteFallback = field.value;
    });
  }

  void readKind(uint64_t value) {
    if (value != uint64_t(SegmentationKind::Unigram) && value != uint64_t(SegmentationKind::Bpe))
      return unsupported("model_type is " + std::to_string(value) + ", expected 1 (unigram) or 2 (bpe)");
    model.kind = static_cast<SegmentationKind>(value);
  }

  void unsupported(const std::string &what) { errors.fail(TokenizerError::Unsupported, "", what); }

  void readNormalizer(std::string_view message) {
    forEachField(message, "normalizer_spec", [&](const WireField &field) {
      if (field.number == 2 && expect(field, WireType::Bytes, "precompiled_charsmap"))
        model.charsmap = std::string(field.bytes);
      else if (field.number == 3 && expect(field, WireType::Varint, "add_dummy_prefix"))
        model.addDummyPrefix = field.value;
      else if (field.number == 4 && expect(field, WireType::Varint, "remove_extra_whitespaces"))
        model.removeExtraWhitespaces = field.value;
      else if (field.number == 5 && expect(field, WireType::Varint, "escape_whitespaces") && !field.value)
        unsupported("escape_whitespaces is off");
    });
  }

  void readDenormalizer(std::string_view message) {
    forEachField(message, "denormalizer_spec", [&](const WireField &field) {
      if (field.number == 2 && expect(field, WireType::Bytes, "precompiled_charsmap") && !field.bytes.empty())
        unsupported("denormalizer_spec has rules");
    });
  }

  void checkPieces() {
    std::unordered_set<std::string_view> texts;
    size_t unknowns = 0;
    for (size_t i = 0; i < model.pieces.size(); ++i) {
      const SentencePiece &piece = model.pieces[i];
      if (!texts.insert(piece.text).second)
        errors.fail(TokenizerError::Vocabulary, "", nameOfPiece(i) + ", '" + piece.text + "', occurs twice");
      if (piece.type == PieceType::Unknown)
        ++unknowns, model.unknown = static_cast<uint32_t>(i);
    }
    if (unknowns != 1)
      damaged("has " + std::to_string(unknowns) + " pieces of type unknown, expected 1");
  }
};

}  // namespace

bool readSentencePieceModel(std::string_view file, SentencePieceModel &model, CompileErrors &errors) {
  return ModelReader(model, errors).run(file);
}

}  // namespace talc::frontend
