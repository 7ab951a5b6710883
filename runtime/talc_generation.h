/* SPDX-License-Identifier: Apache-2.0 */
/* The part of talc.h that turns requests into texts; talc.h includes it and says what holds throughout. */
#ifndef TALC_GENERATION_H
#define TALC_GENERATION_H

#include "talc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Texts for any number of requests at the same time, on one session. The requests share its steps: a step evaluates the
   next token of each text that goes on and, as far as there is room, the beginnings of others. Requests join and leave
   between two steps. A request's text is the same, bit for bit, whatever else is served with it.

     talc_generator *generator;                                      // the session has a slot for each text and beam
     talc_generator_create(session, NULL, &generator, NULL);
     talc_request request = {.text = "Once there was", .on_event = print};
     talc_generator_submit(generator, &request, NULL, NULL);
     for (int32_t unfinished = 1; unfinished > 0;)
       talc_generator_step(generator, &unfinished, NULL);

   Threads: talc_generator_submit and talc_generator_cancel may be called by any thread at any time, also by several at
   once and while another is in talc_generator_step. Everything else is for one thread at a time. Events come to the
   thread that is in talc_generator_step. */
typedef struct talc_generator talc_generator;

/* Why a text has ended. */
typedef enum talc_ending {
  TALC_ENDING_NONE = 0,       /* it has not */
  TALC_ENDING_END_TOKEN = 1,  /* one of the model's end tokens, which is the last of the ids */
  TALC_ENDING_LIMIT = 2,      /* as many new tokens as there may be */
  TALC_ENDING_STATE_FULL = 3, /* the same, because of what the model was compiled for */
  TALC_ENDING_STOP = 4,       /* a stop text was found */
  TALC_ENDING_CANCELLED = 5,  /* by talc_generator_cancel or by on_event */
  TALC_ENDING_FAILED = 6      /* talc_event.error says why; other requests go on */
} talc_ending;

typedef enum talc_event_kind {
  TALC_EVENT_PROMPT = 1, /* tokens of the prompt were evaluated; of an answer, of its beginning */
  TALC_EVENT_TOKEN = 2,  /* a new token; beam search has none */
  TALC_EVENT_END = 3     /* the last event of a request; there is always one, unless the generator is destroyed */
} talc_event_kind;

/* A finished text of a beam search. */
typedef struct talc_text_result {
  int32_t count;      /* new tokens, the end token included */
  const int32_t *ids; /* [count] */
  double score;       /* sum of the tokens' log-probabilities, divided by count ^ length_penalty */
} talc_text_result;

/* A token that could have been chosen. */
typedef struct talc_token_probability {
  int32_t id, reserved;
  double log_probability; /* of the model, before settings change it */
} talc_token_probability;

/* What happened to a request. What it points to lives until the callback returns. Later versions add fields. */
typedef struct talc_event {
  int64_t request; /* its number */
  talc_event_kind kind;
  talc_ending ending;     /* with TALC_EVENT_END */
  int32_t count;          /* PROMPT: evaluated tokens; TOKEN: 1; END: all new tokens, of beams the best text's */
  const int32_t *ids;     /* [count] */
  const char *text;       /* UTF-8 that became complete since the last event; never NULL, has no NUL at its end */
  size_t text_size;       /* its bytes */
  double log_probability; /* TOKEN: of the model, before settings change it; 0 unless log_probabilities is 1 */
  int32_t logit_rows;     /* PROMPT: count, or 0 unless prompt_logits is 1 */
  int32_t result_count;   /* END of a beam search: finished texts, at most `beams` */
  const float *logits;    /* [logit_rows][vocabulary_size] */
  const talc_text_result *results; /* [result_count], the best first */
  const talc_error *error;         /* END with TALC_ENDING_FAILED, such as LOGITS; else NULL */
  int32_t top_count; /* TOKEN: as many as top_log_probabilities, or all that the vocabulary has */
  int32_t cached;    /* the first PROMPT: tokens before these that a kept text had; they have no event */
  const talc_token_probability *top; /* [top_count], the likeliest tokens of the model, the likeliest first */
} talc_event;

/* Returns 0 to go on; anything else cancels the request, whose TALC_EVENT_END still comes. It may call
   talc_generator_submit and talc_generator_cancel, and no other function on this generator and its session. */
typedef int32_t (*talc_on_event)(void *user, const talc_event *event);

typedef enum talc_text_form {
  TALC_TEXT_STREAMED = 0, /* events have the text as it becomes complete */
  TALC_TEXT_AT_END = 1,   /* TALC_EVENT_END has all of it */
  TALC_TEXT_NONE = 2      /* ids only, as with a model without tokenizer */
} talc_text_form;

/* What is to be generated. Zeros are defaults. Nothing that it points to is needed once talc_generator_submit or
   talc_generate has returned, but for `user`. */
typedef struct talc_request {
  uint32_t struct_size;
  int32_t count;            /* of ids */
  const int32_t *ids;       /* [count]. A decoder continues them, an encoder-decoder answers to them as a source */
  const int32_t *types;     /* [count], token types of a source; NULL: all 0 */
  const char *text;         /* instead of ids: UTF-8 that the tokenizer makes ids of */
  size_t text_size;         /* its bytes; 0: it ends with a NUL */
  const int32_t *beginning; /* [beginning_count], how an answer begins; only for encoder-decoders */
  int32_t beginning_count;  /* 0: search->start_token */
  int32_t prefix;           /* tokens at the beginning of the prompt that see each other, where the model uses prefixes;
                               0: all of the prompt, TALC_NONE: none */
  const talc_sampling *sampling; /* NULL: talc_model_info.sampling */
  const talc_search *search;     /* NULL: talc_model_info.search. With beams above 1 a text is searched for, whatever
                                    temperature, top_k, top_p and min_p say. The model's own beams (NULL, or beams 0)
                                    count only where nothing is drawn, and give way to ignore_end, stops and
                                    log_probabilities */
  int32_t new_tokens;            /* at most; 0: as the model's authors say, else 128, of an answer as many as fit;
                                    TALC_NONE: the prompt is evaluated and nothing is generated */
  int32_t ignore_end;            /* 1: go on after an end token, or a stop text of the model */
  int32_t prompt_logits;     /* 1: events with the logits of all tokens of the prompt, of an answer: its beginning */
  int32_t log_probabilities; /* 1: with each new token */
  talc_text_form text_form;
  int32_t stop_count;
  /* [stop_count], UTF-8 with a NUL: a text ends where one of them would begin. The model's own (stop_strings) count,
     too, unless ignore_end is 1; beam search cuts its texts there. */
  const char *const *stops;
  talc_on_event on_event;      /* NULL: no events */
  void *user;                  /* for on_event */
  const char *source_language; /* of `text`, one of talc_model_info.languages; NULL: the model's source_language */
  const char *target_language; /* of the answer. Its token takes the place of a language in search->start_token and
                                  search->forced_begin; if neither is one, it is forced_begin. NULL: as these say */
  const talc_logit_bias *biases; /* [bias_count], as for talc_sampler_bias; not with beams */
  int32_t bias_count;
  int32_t top_log_probabilities; /* with each new token the likeliest ones, 1 to 20; 0: none; not with beams */
} talc_request;

typedef struct talc_generator_options {
  uint32_t struct_size;
  int32_t step_tokens; /* a step has no more tokens, which bounds temporaries; 0: 512. What cannot be divided may be
                          longer: a source, a prefix, the beams of a text. Results do not depend on it */
  int32_t kept_texts;  /* so many texts that have ended stay in their slots until these are needed, and a prompt that
                          begins like one goes on there: the next turn of a conversation evaluates only what is new. Not
                          for prefixes, beams, sources and prompt_logits. Results do not depend on it. 0: none */
  int32_t reserved;
} talc_generator_options;

/* Uses all slots of the session, which become empty. Nobody else may use the session until talc_generator_destroy, but
   for talc_session_get_memory between steps. Errors: KIND (encoders), ARGUMENT. */
TALC_API talc_status talc_generator_create(talc_session *session, const talc_generator_options *options,
                                           talc_generator **generator, talc_error *error);

/* Requests that have not ended are dropped without an event. No other thread may be in talc_generator_submit or
   talc_generator_cancel. */
TALC_API void talc_generator_destroy(talc_generator *generator);

/* Checks a request and puts it at the end of the queue. Stores its number, 1 or more, if `number` is not NULL. All
   memory of the request is taken here. Requests get slots in their order; the queue has no limit. Errors: KIND,
   ARGUMENT, TEXT, NO_TOKENIZER, TOKEN, STATE_FULL, BATCH (no tokens, or more beams than slots). */
TALC_API talc_status talc_generator_submit(talc_generator *generator, const talc_request *request, int64_t *number,
                                           talc_error *error);

/* The request ends in the next talc_generator_step, if it has not ended by then. Errors: ARGUMENT. */
TALC_API talc_status talc_generator_cancel(talc_generator *generator, int64_t number, talc_error *error);

/* Waits until a request is submitted or cancelled, at most so many milliseconds; TALC_NONE: as long as it takes. Returns
   at once while there are requests that have not ended. For the thread that calls talc_generator_step. Errors:
   ARGUMENT. */
TALC_API talc_status talc_generator_wait(talc_generator *generator, int32_t milliseconds, talc_error *error);

/* One step. Stores how many requests have not ended afterwards, if `unfinished` is not NULL. What is done with 0, to
   wait or to stop, is up to the caller. Allocates nothing but what talc_evaluate does, and what grows with the number
   of requests. On failure no request has lost anything: when the step is tried again, texts and events are as without
   it. Errors: MEMORY, ARGUMENT, ABORTED. */
TALC_API talc_status talc_generator_step(talc_generator *generator, int32_t *unfinished, talc_error *error);

/* What a generator has done so far. */
typedef struct talc_generator_counts {
  uint32_t struct_size; /* set by the caller */
  uint32_t reserved;
  uint64_t source_tokens; /* of sources */
  uint64_t prompt_tokens; /* of prompts and beginnings */
  uint64_t new_tokens;    /* that were evaluated; the last of a text is not, and each beam counts */
  double prompt_seconds;  /* of the time in talc_generator_step, what source_tokens and prompt_tokens took */
  double new_seconds;     /* and new_tokens */
  uint64_t most_state;    /* the most bytes of KV cache that slots held when a text ended */
  uint64_t cached_tokens; /* of prompts, that kept texts had */
} talc_generator_counts;

/* Errors: ARGUMENT. */
TALC_API talc_status talc_generator_get_counts(const talc_generator *generator, talc_generator_counts *counts,
                                               talc_error *error);

/* One request alone, from begin to end, in a session of its own with talc_default_threads():

     talc_request request = {.text = "Once there was", .on_event = print};
     talc_generate(model, &request, NULL);

   Errors: those of talc_session_create, talc_generator_submit and talc_generator_step, and that of a request that
   failed. A request that on_event cancelled is a success. */
TALC_API talc_status talc_generate(talc_model *model, const talc_request *request, talc_error *error);

#ifdef __cplusplus
}
#endif

#endif /* TALC_GENERATION_H */
