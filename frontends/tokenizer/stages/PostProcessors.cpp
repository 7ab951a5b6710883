// SPDX-License-Identifier: Apache-2.0
// Post-processors of tokenizer.json: what stands around one text or a pair of texts.
#include "frontends/tokenizer/stages/PipelineStages.h"

namespace talc::frontend {

using namespace tokenizer;

namespace {

using Items = std::vector<TemplateItem>;

class PostProcessorCompiler {
public:
  explicit PostProcessorCompiler(CompileContext &context) : context(context) {}

  void run(const Json &json, const std::string &path) {
    JsonFields fields(json, path, context.errors);
    std::string type = fields.text("type");
    if (context.errors.failed() || type == "ByteLevel")
      return;  // ByteLevel moves offsets, which talc has not
    if (type == "Sequence")
      return forEachIn(context, fields, "processors", [&](const Json &j, const std::string &p) { run(j, p); });
    if (hasTemplate)
      return context.errors.fail(TokenizerError::Unsupported, path, "a second post-processor that adds tokens");
    hasTemplate = true;
    if (type == "TemplateProcessing")
      addTemplates(fields);
    else if (type == "BertProcessing" || type == "RobertaProcessing")
      addClassic(fields, type == "BertProcessing");
    else
      context.errors.fail(TokenizerError::Unsupported, path, "post-processor '" + type + "' is not known to talc");
  }

private:
  CompileContext &context;
  bool hasTemplate = false;

  void addToken(Items &items, const Json &id, const std::string &path, uint32_t type) {
    auto value = readTokenId(id, path, context.errors);
    if (!value)
      return;
    if (*value >= context.section.tokens.size() || !(context.section.tokens[*value].flags & tokenPresent))
      return context.errors.fail(TokenizerError::Vocabulary, path,
                                 "token id " + std::to_string(*value) + " does not exist");
    items.push_back({uint32_t(ItemKind::Token), *value, type});
  }

  void addTemplates(const JsonFields &fields) {
    context.section.single = readTemplate(fields, "single");
    context.section.pair = readTemplate(fields, "pair");
  }

  Items readTemplate(const JsonFields &fields, const char *name) {
    Items items;
    forEachIn(context, fields, name, [&](const Json &json, const std::string &path) {
      JsonFields item(json, path, context.errors);
      if (const Json *sequence = item.find("Sequence"))
        addSequence(items, *sequence, path + ".Sequence");
      else if (const Json *token = item.find("SpecialToken"))
        addSpecial(items, fields, *token, path + ".SpecialToken");
      else
        context.errors.fail(TokenizerError::WrongField, path, "expected a Sequence or a SpecialToken");
    });
    return items;
  }

  void addSequence(Items &items, const Json &json, const std::string &path) {
    JsonFields fields(json, path, context.errors);
    std::string id = fields.text("id");
    if (id != "A" && id != "B")
      context.errors.fail(TokenizerError::WrongField, path + ".id", "expected \"A\" or \"B\"");
    ItemKind kind = id == "A" ? ItemKind::SequenceA : ItemKind::SequenceB;
    items.push_back({uint32_t(kind), 0, fields.number("type_id", 0)});
  }

  void addSpecial(Items &items, const JsonFields &processor, const Json &json, const std::string &path) {
    JsonFields fields(json, path, context.errors);
    std::string name = fields.text("id");
    uint32_t type = fields.number("type_id", 0);
    const Json *specialTokens = processor.object("special_tokens");
    if (!specialTokens)
      return;
    auto token = specialTokens->find(name);
    if (token == specialTokens->end())
      return context.errors.fail(TokenizerError::WrongField, path, "'" + name + "' is not among special_tokens");
    std::string location = processor.path("special_tokens") + "." + name;
    forEachIn(context, JsonFields(*token, location, context.errors), "ids",
              [&](const Json &id, const std::string &at) { addToken(items, id, at, type); });
  }

  // BERT: [CLS] A [SEP] B [SEP] with types 0 and 1. RoBERTa: <s> A </s> </s> B </s>, all of type 0.
  void addClassic(const JsonFields &fields, bool bert) {
    Items cls, sep;
    readNamed(cls, fields, "cls");
    readNamed(sep, fields, "sep");
    if (context.errors.failed())
      return;
    TemplateItem second = sep[0];
    second.type = bert ? 1 : 0;
    TemplateItem a{uint32_t(ItemKind::SequenceA), 0, 0}, b{uint32_t(ItemKind::SequenceB), 0, second.type};
    context.section.single = {cls[0], a, sep[0]};
    context.section.pair = {cls[0], a, sep[0], b, second};
    if (!bert)
      context.section.pair = {cls[0], a, sep[0], sep[0], b, second};
  }

  // ["[SEP]", 102]
  void readNamed(Items &items, const JsonFields &fields, const char *name) {
    const Json *pair = fields.array(name);
    if (!pair)
      return;
    if (pair->size() == 2)
      addToken(items, (*pair)[1], fields.path(name) + "[1]", 0);
    else
      context.errors.fail(TokenizerError::WrongField, fields.path(name), "expected [token, id]");
  }
};

}  // namespace

void compilePostProcessor(CompileContext &context, const Json *json, const std::string &path) {
  context.section.single = {{uint32_t(ItemKind::SequenceA), 0, 0}};
  context.section.pair = {{uint32_t(ItemKind::SequenceA), 0, 0}, {uint32_t(ItemKind::SequenceB), 0, 1}};
  if (json)
    PostProcessorCompiler(context).run(*json, path);
}

}  // namespace talc::frontend
