// SPDX-License-Identifier: Apache-2.0
// talc train: declares its options.
#include "compiler/targets/Target.h"
#include "tools/talc/Commands.h"
#include "tools/talc/train/Train.h"

#include <cstdio>
#include <memory>

namespace talc::tools {

static const char *const examples =
    R"(Trains all weights of a language model in f32 with AdamW. The tokens of the texts are cut into rows of --sequence tokens.
A causal model predicts each from those before it; a masked one predicts 15 % of them, most of which it does not see. The
result is a checkpoint of Hugging Face, which talc compile reads. The number of threads does not change a bit of it.

Examples:
  talc train gpt2 --data books.txt --out tuned --steps 2000 --lr 3e-5
  talc train tiny-llama --data a.txt b.txt --out tuned --epochs 3 --sequence 256 --batch 16
  talc train tiny-llama --random-weights=1 --data books.txt --out new     from scratch
  talc compile tuned -o app)";

static void declareData(CLI::App &command, TrainOptions &options) {
  command.add_option("--data", options.data, "UTF-8 texts; the end token stands between two of them")->required();
  command.add_option("--out,-o", options.output, "the directory for checkpoints")->required();
  command.add_option("--sequence", options.sequence, "tokens of a row (default: the model's limit, at most 1024)")
      ->check(CLI::Range(int64_t(2), int64_t(1) << 20));
  command.add_option("--batch", options.batch, "rows of an update (default: 8)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 20));
  command
      .add_option("--step-tokens", options.stepTokens,
                  "tokens that are evaluated at a time, in rows; temporaries grow with them (default: 2048)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 24));
  command.add_option("--steps", options.steps, "updates (default: those of --epochs)")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40));
  command.add_option("--epochs", options.epochs, "how often each row is seen (default: 1)")
      ->check(CLI::Range(1e-6, 1e6));
  command.add_option("--seed", options.seed, "seed of the order of rows (default: 0)")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 62));
  command.add_option("--save-every", options.saveEvery, "write DIR/checkpoint-STEP after every so many updates")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40));
}

static void declareOptimizer(CLI::App &command, TrainOptions &options) {
  command.add_option("--lr", options.learningRate, "highest learning rate (default: 3e-4)")
      ->check(CLI::Range(0.0, 1e3));
  command.add_option("--schedule", options.schedule, "of the learning rate: cosine (default), linear or constant")
      ->check(isMember({"cosine", "linear", "constant"}));
  command
      .add_option("--warmup", options.warmup,
                  "share of the updates in which the learning rate rises to --lr (default: 0.02)")
      ->check(CLI::Range(0.0, 1.0));
  command.add_option("--min-lr", options.minLearningRate, "share of --lr that is left at the end (default: 0.1)")
      ->check(CLI::Range(0.0, 1.0));
  command.add_option("--betas", options.betas, "betas of AdamW (default: 0.9 0.999)")
      ->expected(2)
      ->check(CLI::Range(0.0, 0.999999));
  command.add_option("--eps", options.epsilon, "epsilon of AdamW (default: 1e-8)")->check(CLI::Range(1e-30, 1e3));
  command
      .add_option("--weight-decay", options.weightDecay,
                  "weight decay of AdamW for tensors of two dimensions and more (default: 0.01)")
      ->check(CLI::Range(0.0, 1e3));
  command.add_option("--clip", options.clip, "largest norm of all gradients; 0: any (default: 1)")
      ->check(CLI::Range(0.0, 1e9));
}

Action addTrain(CLI::App &app, const std::string &programDirectory) {
  auto options = std::make_shared<TrainOptions>();
  options->compile.programDirectory = programDirectory;
  CLI::App *command = app.add_subcommand("train", "train a model with texts");
  command->set_help_flag("-h,--help", "print this help");
  command->footer(examples);
  command->add_option("MODEL", options->compile.model, "a Hugging Face directory")->required();
  declareData(*command, *options);
  declareOptimizer(*command, *options);
  command->add_option("-t,--threads", options->threads, "threads (default: the cores that this process may use)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--target", options->compile.target, "CPU to generate code for: " + targets::targetNames());
  command
      ->add_option("--random-weights", options->compile.randomWeights,
                   "begin with random weights from this seed; only config.json and a tokenizer are needed")
      ->check(CLI::Range(int64_t(0), (int64_t(1) << 32) - 1));
  command->add_option("--cache", options->compile.cache, "as for talc compile");
  return [options] { return train(*options); };
}

}  // namespace talc::tools
