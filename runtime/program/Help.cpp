// SPDX-License-Identifier: Apache-2.0
// The text of --help.
#include "runtime/program/Options.h"

namespace talc::program {

static const char *const text = R"(: a language model compiled by talc

usage:
  APP -p TEXT                           decoder: continue a text
  APP -p TEXT                           encoder-decoder: the text that answers to it, such as its translation
  APP --text TEXT                       encoder: its embedding, the words for its masks, or its class
  APP --input FILE --output FILE        the same for every line of a file
  APP --tokenize -p TEXT                print the ids of a text
  APP --detokenize --ids 5,7,9          print the text of ids
  APP --memory                          print the exact memory needed

texts (several are evaluated together, as one batch without padding):
  -p, --prompt, --text TEXT  a text; -p - reads standard input
  -f, --file FILE         read a text from a file; one newline at its end is dropped
      --ids IDS           token ids instead of text; nothing is added to them; results are ids, too
      --input FILE        a text per line, - for standard input; results are lines in the same order. Lines of like
                          length are evaluated together; a result does not depend on the others
      --output FILE       where results of --input go; the file appears when it is complete
      --batch N           lines of --input that are evaluated together (default 32)

generating text (decoders and encoder-decoders):
  -n, --predict N         at most N new tokens; an end token ends earlier. Default: none with --logits, else the model's
                          own number, or 128; an encoder-decoder without one goes on until an end token
      --min-tokens N      no end token before N new tokens (default: as the model says)
      --ignore-eos        go on after an end token (also --no-eos)
      --no-echo           do not print the prompt before its continuation
      --no-repeat-ngram N no group of N tokens occurs twice; 0: off
      --repeat-penalty F  make tokens that occurred less likely; 1: off
      --prefix N          the first N tokens of the prompt see each other (default: the whole prompt), for models that
                          were trained so

sampling (defaults come from the model; --temp, --top-k, --top-p or --min-p turn sampling on):
      --temp F            divide logits by F; 0: always the most likely token
      --top-k N           keep the N most likely tokens; 0: all
      --top-p F           then keep the fewest whose probabilities reach F; 1: all
      --min-p F           then drop those less likely than F times the most likely; 0: none
  -s, --seed N            seed of the random generator (default 0); each text starts with it, so that its result
                          does not depend on the others
  The order is: repeat penalty, temperature, top-k, top-p, min-p.

beam search (defaults come from the model):
      --beams N           follow the N most likely texts; 1: none
      --length-penalty F  a text's score is divided by (its length ^ F); above 0 prefers long texts
      --early-stopping W  end when N texts are finished: yes; when no better one is likely: no; possible: never

encoders (a text that has the model's mask token is filled, unless --pool is given):
      --pair TEXT         the second text of a pair; follows the first
      --pool P            print embeddings: cls, of the first token; mean, of all tokens; none, of each token
      --top N             print the N likeliest words of a mask (default 3) or classes (default all)

checks:
      --logits FILE       write logits of all tokens of the prompt, or of all masks or classes, as safetensors: 'logits',
                          or 'logits.0', 'logits.1', ... for several texts; FILE appears when complete
      --hidden FILE       the same with hidden states of an encoder: 'hidden'
      --decoder-ids IDS   how the text of an encoder-decoder begins, instead of the start token; follows its source

others:
  -t, --threads N         threads (default: physical cores that may be used)
  -m, --model FILE        use the model in another artifact
      --no-check          do not compare the checksum of the weights
      --huge-pages        copy the weights into huge pages, instead of mapping the file: generation may become some
                          percent faster, starting takes longer
  -q, --quiet             no summary and no progress on standard error
      --version, -h, --help

exit status: 0 success, 1 error, 2 wrong command line. Results go to standard output, all else to standard error.
environment: TALC_CPU_LEVEL=v2|v3|v4 uses code for a lower level than the processor's.

examples:
  decoder:          APP -p "Once there was" -n 200 --temp 0.8 --top-p 0.9 -s 42
                    APP -p "First story" -p "Second story" -n 50 --beams 4
                    APP --ids 1,403,407 --logits logits.safetensors
  encoder-decoder:  APP -p "Él tiene la niña cada día." --beams 4
                    APP --input spanish.txt --output english.txt
  encoder:          APP --text "The sun was [MASK]." --top 5
                    APP --text "a text" --text "another text" --pool mean
                    APP --input texts.txt --output vectors.txt --pool cls
)";

std::string helpText(const std::string &program) {
  std::string result = program + text;
  for (size_t at = program.size(); (at = result.find("APP", at)) != std::string::npos; at += program.size())
    result.replace(at, 3, program);
  return result;
}

}  // namespace talc::program
