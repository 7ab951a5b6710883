// SPDX-License-Identifier: Apache-2.0
// The text of --help.
#include "runtime/program/Options.h"

namespace talc::program {

static const char *const text = R"(: a language model compiled by talc

usage:
  APP -p TEXT [-n N]                    continue a text
  APP --ids 5,7,9 -n N                  continue token ids; prints the new ids, comma separated
  APP --ids 5,7,9 --logits FILE         write the logits of all prompt tokens
  APP --tokenize -p TEXT                print the ids of a text
  APP --detokenize --ids 5,7,9          print the text of ids
  APP --memory                          print the exact memory needed

prompts (several are evaluated together, as one batch without padding):
  -p, --prompt TEXT       the text to continue; -p - reads standard input
  -f, --file FILE         read the text from a file; one newline at its end is dropped
      --ids IDS           token ids instead of text; nothing is added to them

generation:
  -n, --predict N         at most N new tokens (default: 128, or none with --logits); an end token ends earlier
      --ignore-eos        go on after an end token (also --no-eos)
      --no-echo           do not print the prompt before its continuation
  -t, --threads N         threads (default: physical cores that may be used; more threads than processors that may be
                          used are not started)

sampling (defaults come from the model; --temp, --top-k, --top-p or --min-p turn sampling on):
      --temp F            divide logits by F; 0: always the most likely token
      --top-k N           keep the N most likely tokens; 0: all
      --top-p F           then keep the fewest whose probabilities reach F; 1: all
      --min-p F           then drop those less likely than F times the most likely; 0: none
      --repeat-penalty F  make tokens that occurred less likely; 1: off
  -s, --seed N            seed of the random generator (default 0); each prompt starts with it, so that its result
                          does not depend on the others
  The order is: repeat penalty, temperature, top-k, top-p, min-p.

others:
      --logits FILE       safetensors, float32 [tokens, vocabulary]: 'logits', or 'logits.0', 'logits.1', ... for
                          several prompts; written to FILE.partial and renamed when complete
  -m, --model FILE        use the model in another artifact
      --no-check          do not compare the checksum of the weights
  -q, --quiet             no summary on standard error
      --version, -h, --help

exit status: 0 success, 1 error, 2 wrong command line. Text goes to standard output, all else to standard error.
environment:
  TALC_CPU_LEVEL=v2|v3|v4   use code for a lower level than the processor's
  TALC_MAX_THREADS=N        the most threads, instead of the processors that may be used

examples:
  APP -p "Once there was" -n 200 --temp 0.8 --top-p 0.9 -s 42
  APP -p "First story" -p "Second story" -n 50
  APP --ids 1,403,407 --logits logits.safetensors
)";

std::string helpText(const std::string &program) {
  std::string result = program + text;
  for (size_t at = program.size(); (at = result.find("APP", at)) != std::string::npos; at += program.size())
    result.replace(at, 3, program);
  return result;
}

}  // namespace talc::program
