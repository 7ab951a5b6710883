// SPDX-License-Identifier: Apache-2.0
// Decoders of tokenizer.json.
#include "frontends/tokenizer/stages/PipelineStages.h"

namespace talc::frontend {

using namespace tokenizer;

namespace {

class DecoderCompiler {
public:
  explicit DecoderCompiler(CompileContext &context) : context(context), section(context.section) {}

  void run(const Json &json, const std::string &path) {
    JsonFields fields(json, path, context.errors);
    std::string type = fields.text("type");
    if (context.errors.failed())
      return;
    if (type == "Sequence")
      forEachIn(context, fields, "decoders", [&](const Json &j, const std::string &p) { run(j, p); });
    else if (type == "ByteLevel")
      add(DecodeOp::ByteLevel);
    else if (type == "ByteFallback")
      add(DecodeOp::ByteFallback);
    else if (type == "Fuse")
      add(DecodeOp::Fuse);
    else if (type == "Replace")
      addReplace(fields);
    else if (type == "Strip")
      add(DecodeOp::Strip, fields.number("start", 0), fields.number("stop", 0), fields.text("content"));
    else if (type == "Metaspace")
      addMetaspace(fields);
    else if (type == "WordPiece")
      add(DecodeOp::WordPiece, fields.flag("cleanup", true), 0, fields.optionalText("prefix").value_or("##"));
    else if (type == "BPEDecoder")
      add(DecodeOp::Suffix, 0, 0, fields.optionalText("suffix").value_or("</w>"));
    else if (type == "CTC")
      add(DecodeOp::Ctc, fields.flag("cleanup", true), 0, fields.optionalText("pad_token").value_or("<pad>"),
          fields.optionalText("word_delimiter_token").value_or("|"));
    else
      context.errors.fail(TokenizerError::Unsupported, path, "decoder '" + type + "' is not known to talc");
  }

  void add(DecodeOp kind, uint32_t a = 0, uint32_t b = 0, const std::string &text = "", const std::string &other = "") {
    context.append(section.decoders, {uint32_t(kind), a, b, section.addText(text), section.addText(other)}, "decoders");
  }

private:
  CompileContext &context;
  SectionBuilder &section;

  void addReplace(const JsonFields &fields) {
    if (const Json *pattern = fields.object("pattern"))
      add(DecodeOp::Replace, compilePattern(context, *pattern, fields.path("pattern")), 0, fields.text("content"));
  }

  void addMetaspace(const JsonFields &fields) {
    bool addsPrefix = fields.flag("add_prefix_space", true);
    std::string scheme = fields.optionalText("prepend_scheme").value_or(addsPrefix ? "always" : "never");
    add(DecodeOp::Metaspace, scheme != "never", 0, fields.text("replacement"));
  }
};

}  // namespace

void compileDecoder(CompileContext &context, const Json *json, const std::string &path) {
  DecoderCompiler compiler(context);
  if (json)
    compiler.run(*json, path);
  else
    compiler.add(DecodeOp::Join, 0, 0, " ");
}

}  // namespace talc::frontend
