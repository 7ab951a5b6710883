/* SPDX-License-Identifier: Apache-2.0 */
/* The public interface of talc's runtime: open a compiled model, evaluate tokens, sample, and turn text into tokens.

   A minimal program (error handling left out):
     static int32_t print(void *user, const talc_event *event) {
       fwrite(event->text, 1, event->text_size, stdout);
       return 0;
     }
     ...
     talc_model *model;
     talc_model_open("app", NULL, &model, NULL);
     talc_request request = {.text = "Once there was", .on_event = print};
     talc_generate(model, &request, NULL);
     talc_model_close(model);

   Whoever wants more goes on with talc_generation.h, which serves many requests at once, or with Evaluation and
   Sampling below, which leave all decisions to the caller.

   Conventions
   - Every function that can fail returns a talc_status and fills the caller's talc_error when that is not NULL. Nothing
     is printed, nothing aborts, no C++ exception leaves the library.
   - On failure output arguments are NULL or 0, and objects are unchanged: a failed talc_evaluate evaluated nothing.
   - What a *_create or *_open function made is freed by its *_destroy or *_close function, which accepts NULL. A model
     must outlive the sessions, samplers and text streams made from it.
   - A talc_model may be used by any number of threads. Every other object may be used by one thread at a time, but for
     talc_generator_submit and talc_generator_cancel.
   - A program may use several libraries with models, also of different versions of talc. Whichever of them a function
     of this header comes from, it does its work in the one that made its object.
   - Text is UTF-8 with an explicit size in bytes; it needs no terminating NUL. Sizes of memory are bytes.
   - Struct arguments named `options` may be NULL. A field that is 0 means the default, in every struct that the caller
     fills; of settings that of the model. TALC_NONE says none, off or greedy where that is not the default.
   - Structs that begin with struct_size will grow. The caller sets it to sizeof the struct, or leaves 0: then it has no
     fields but those of version 0.1.0. So a program works with every later version of the library. A struct that the
     library fills must be initialized: talc_model_info info = {0}. Elsewhere `reserved` makes room; it must be 0. */
#ifndef TALC_H
#define TALC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TALC_API __attribute__((visibility("default")))
#else
#define TALC_API
#endif

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

/* Stable: a number never changes its meaning. Texts carry the number as error[T0402]. */
typedef enum talc_status {
  TALC_OK = 0,
  TALC_ERROR_ARGUMENT = 400,     /* a NULL pointer or a value outside its documented range */
  TALC_ERROR_FILE = 401,         /* a file cannot be opened, read or mapped */
  TALC_ERROR_STATE_FULL = 402,   /* a sequence would become longer than the model was compiled for */
  TALC_ERROR_DAMAGED = 403,      /* the file is not an artifact, or it was truncated or changed */
  TALC_ERROR_VERSION = 404,      /* the artifact has another format version than this runtime */
  TALC_ERROR_CPU = 405,          /* the artifact has no code for this processor */
  TALC_ERROR_TOKEN = 406,        /* a token id outside the vocabulary, or a token type outside its table */
  TALC_ERROR_BATCH = 407,        /* an empty sequence, an unknown slot, or one slot twice in a batch */
  TALC_ERROR_MEMORY = 408,       /* the system, or a device, refused memory */
  TALC_ERROR_TEXT = 409,         /* the text is not valid UTF-8, or the tokenizer cannot encode it */
  TALC_ERROR_NO_TOKENIZER = 410, /* the artifact carries no tokenizer: use token ids */
  TALC_ERROR_OUTPUT = 411,       /* output cannot be written (used by the program) */
  TALC_ERROR_USAGE = 412,        /* wrong command line (used by the program) */
  TALC_ERROR_THREADS = 413,      /* a thread cannot be started */
  TALC_ERROR_LOGITS = 414,       /* no logit can be chosen from: all are NaN or minus infinity */
  TALC_ERROR_CAPACITY = 415,     /* the caller's buffer is too small; the needed size was stored */
  TALC_ERROR_KIND = 416,         /* not for this kind of model: talc_encode of one without sources, a prefix, ... */
  TALC_ERROR_SOURCE = 417,       /* a sequence of an encoder-decoder has no source: talc_encode comes first */
  TALC_ERROR_SHARED = 418,       /* other slots still use what would be overwritten: reset them first */
  TALC_ERROR_RESULT = 419,       /* a result holds NaN (used by the program) */
  TALC_ERROR_ABORTED = 420,      /* should_abort ended the step */
  TALC_ERROR_DEVICE = 421, /* a device is not there, cannot be used, or is not one that the artifact has code for */
  TALC_ERROR_DEVICE_FAILED = 422, /* a device failed in use: it was lost, or its code went wrong */
  TALC_ERROR_DEFECT = 900         /* a defect of talc, or an object was used against its rules */
} talc_status;

/* Filled on failure, untouched on success. `text` is one line: what, where, found, expected, what to do. */
typedef struct talc_error {
  talc_status status;
  char text[1024]; /* NUL-terminated; longer texts are cut */
} talc_error;

/* The name of a status as it stands above, such as "TALC_ERROR_TOKEN"; "unknown" for other numbers. */
TALC_API const char *talc_status_name(talc_status status);

/* Of this header; the functions give that of the library. The number grows: major * 10000 + minor * 100 + patch. */
#define TALC_VERSION "0.1.0"
#define TALC_VERSION_NUMBER 100
TALC_API const char *talc_version(void);
TALC_API int32_t talc_version_number(void);

/* ---- Model ----------------------------------------------------------------------------------------------------- */

typedef struct talc_model talc_model;
typedef void (*talc_progress)(void *user, uint64_t bytes_done, uint64_t bytes_total);
typedef struct talc_open_options {
  uint32_t struct_size;
  /* 1: do not read all weights to compare their checksum. Opening then takes no time that grows with the model, and
     damage in the weights is not noticed. Everything else is always checked. 0: compare it, unless a note in the user's
     cache folder says that this file, unchanged since, has passed (see TALC_CACHE below). */
  int32_t skip_weights_check;
  /* 1: copy the weights into huge pages instead of mapping them. Reading weights from memory becomes some percent
     faster on many machines; opening takes longer, and every process has a copy of its own. Where the system has no
     huge pages to give, ordinary ones are used. */
  int32_t copy_weights;
  /* What the model runs on: "cpu", or "cuda", "vulkan:1": a GPU. NULL or "auto": a GPU if the artifact has
     code for it and it can be used, else the CPU. Results of different devices agree but for rounding. */
  const char *device;
  talc_progress on_progress; /* called as weights are copied to a device; NULL: progress is not reported */
  void *progress_user;       /* for on_progress */
} talc_open_options;

enum {
  TALC_NONE = -1,   /* no token, no limit, nothing; where 0 means the default */
  TALC_TOKEN_0 = -2 /* the token 0, where 0 means the default */
};

/* How the next token is chosen from logits. The order is that of Hugging Face's generate(), whose
   generation_config.json gives the defaults: repetition penalty, temperature, top-k, top-p, min-p, typical-p, draw;
   biases come before, the penalties of presence and frequency (OpenAI's) behind the repetition penalty. 0
   means the model's default, so that {.temperature = 0.8f} changes only that; talc_model_info says what it is. */
typedef struct talc_sampling {
  float temperature; /* logits are divided by it; TALC_NONE: greedy, the largest logit (of equal ones the lowest id) */
  int32_t top_k;     /* keep the k most likely tokens; TALC_NONE: all */
  float top_p;       /* of those, keep the fewest whose probabilities reach top_p; 1: all. In (0, 1] */
  float min_p;       /* drop tokens less likely than min_p times the likeliest; TALC_NONE: none. In (0, 1] */
  float repetition_penalty; /* logits of accepted tokens: divided by it when positive, else multiplied; 1: off. > 0 */
  uint64_t seed;            /* same seed, logits and settings: same tokens, on every machine */
  float typical_p;          /* then keep the fewest whose information is closest to the expected and whose probabilities
                               reach typical_p; 1: all. In (0, 1] */
  float presence_penalty;   /* is subtracted from the logits of tokens that were chosen before. -100 to 100 */
  float frequency_penalty;  /* the same for each time that they were chosen */
  int32_t reserved[5];
} talc_sampling;

/* What is added to a token's logit, before penalties. Minus infinity: the token is never chosen. */
typedef struct talc_logit_bias {
  int32_t id;
  float bias;
} talc_logit_bias;

typedef enum talc_model_kind {
  TALC_MODEL_DECODER = 1,         /* continues sequences */
  TALC_MODEL_ENCODER = 2,         /* evaluates whole sequences and keeps nothing of them */
  TALC_MODEL_ENCODER_DECODER = 3, /* continues sequences that answer to a source: talc_encode, then talc_evaluate */
  TALC_MODEL_TRAINER = 4          /* was compiled for training; see talc_training.h */
} talc_model_kind;

typedef enum talc_result_kind {
  TALC_RESULT_LOGITS = 1,        /* of every token of the vocabulary, what follows a token or stands in its place */
  TALC_RESULT_HIDDEN = 2,        /* a token's hidden state */
  TALC_RESULT_CLASSES = 3,       /* logits of every class, of the text: ask for TALC_ROWS_CLASSES */
  TALC_RESULT_TOKEN_CLASSES = 4, /* logits of every class, of any token */
  TALC_RESULT_LOSS = 7           /* of a label, in a trainer */
} talc_result_kind;

/* A result of the model: one row of `width` floats per token that it is wanted for. */
typedef struct talc_result_info {
  talc_result_kind kind;
  int32_t width;
} talc_result_info;

enum { TALC_MAX_RESULTS = 2 };

/* How hidden states of a text become one vector, if the user does not say; see talc_embedding.h. */
typedef enum talc_pooling { TALC_POOLING_NONE, TALC_POOLING_FIRST, TALC_POOLING_MEAN, TALC_POOLING_OTHER } talc_pooling;

/* What a text's logits of classes become: probabilities of classes that exclude each other, or of each class alone;
   they may also be quantities, which stay as they are. */
typedef enum talc_class_scores {
  TALC_SCORES_SOFTMAX = 0,
  TALC_SCORES_SIGMOID = 1,
  TALC_SCORES_VALUES = 2
} talc_class_scores;

/* Beam search and the rules of texts: the defaults of generation_config.json, whose meaning is that of Hugging Face's
   generate(). 0 means the model's default; TALC_NONE that there is no such token, list or rule, TALC_TOKEN_0 the token
   0. A talc_request heeds all of it, talc_sample what is not about beams. Lists of the model's own settings live as
   long as the model. */
typedef struct talc_search {
  int32_t beams;           /* texts that are continued at the same time; 1: no beam search */
  float length_penalty;    /* a text's score is divided by its length to this power; 1e-30f serves as 0 */
  int32_t early_stopping;  /* when the search ends though a better text might come: TALC_NONE no, 1 yes, 2 never */
  int32_t no_repeat_ngram; /* no group of so many tokens occurs twice */
  int32_t start_token;     /* begins the text of an encoder-decoder */
  int32_t forced_begin;    /* the token after the start token */
  int32_t forced_end;      /* the last token of a text that is cut */
  int32_t renormalize;     /* 1: what no other rule forbids shares all the probability; for beam search only */
  int32_t suppressed_token_count;
  const int32_t *suppressed_tokens; /* [count], never chosen */
  int32_t forbidden_count;
  const int32_t *forbidden; /* [count], groups of 2 tokens or more that may not occur: length, tokens, ... */
  int32_t begin_suppressed_count;
  const int32_t *begin_suppressed; /* [count], never the first new token that is not forced */
  int32_t min_new_tokens;          /* before a text has so many new tokens, no end token is chosen ... */
  int32_t min_length;              /* ... nor before it has so many in all, its beginning included */
  int32_t reserved[8];
} talc_search;

typedef struct talc_model_info {
  uint32_t struct_size; /* set by the caller */
  const char *name;     /* as the compiler recorded it; lives as long as the model */
  talc_model_kind kind;
  int32_t result_count; /* 1 or 2 */
  talc_result_info results[TALC_MAX_RESULTS];
  int32_t vocabulary_size;        /* ids are 0 to vocabulary_size - 1; also the width of logits */
  int32_t source_vocabulary_size; /* the same for talc_encode; 0: no encoder-decoder */
  int32_t token_types;            /* types are 0 to token_types - 1; 0: the model has none */
  int32_t uses_prefix;            /* 1: a sequence may have a prefix, whose tokens see each other */
  int32_t max_sequence;           /* tokens that one sequence, or one source, can have; 2^30: any number */
  int32_t has_tokenizer;          /* 0 or 1 */
  const char *target;             /* that the code chosen for this machine was made for: x86-64-v3, ... */
  int32_t cpu_level;              /* that it needs: 2, 3, 4 (x86-64-v2 ...), 0: any */
  int32_t begin_token;            /* -1: none. talc_tokenize adds it where the tokenizer says so */
  int32_t mask_token;             /* stands for a token to be guessed; -1: none */
  int32_t new_tokens;             /* of a text if the user does not say; 0: the model's authors do not say either */
  int32_t max_length;             /* the same of all its tokens, its beginning included; 0 where new_tokens is not */
  int32_t end_token_count;        /* tokens that end a text */
  const int32_t *end_tokens;      /* [end_token_count]; lives as long as the model */
  talc_sampling sampling;         /* the model's own defaults; temperature 0: greedy, 0 elsewhere: off */
  talc_search search;             /* the same of rules and beam search; early_stopping 0: no */
  talc_pooling pooling;
  talc_class_scores class_scores;
  int32_t label_count;             /* names of the classes; 0: they have none */
  const char *const *labels;       /* [label_count], UTF-8; lives as long as the model */
  uint64_t weight_bytes;           /* mapped from the file, shared by all processes that use it */
  uint64_t state_bytes_per_token;  /* KV cache: a sequence of n tokens uses ceil(n / group) * group * this */
  uint64_t source_bytes_per_token; /* the same of a source */
  uint64_t state_token_group;      /* the group of tokens */
  uint64_t arena_bytes_per_token;  /* a step of T tokens on N threads uses fixed + T * per_token + N * per_thread */
  uint64_t arena_bytes_fixed, arena_bytes_per_thread;
  int32_t longest_sequence;   /* what max_sequence could be if the model were compiled with another --max-seq */
  int32_t step_tokens;        /* of one sequence that a batch may have, so that windows have room; 0: any number */
  const char *device;         /* that it runs on, as in talc_device_info; lives as long as the model */
  const char *device_note;    /* why "auto" took no device that the artifact prefers; NULL: none. As `device` */
  uint64_t state_bytes_fixed; /* of the memory of segments, or of states, however long a sequence is */
  int32_t segment;            /* tokens of a segment: the KV cache has the last, and a memory of the others; 0: none */
  int32_t window, kept_tokens, reserved; /* tokens that the widest window sees; sink tokens beside it; 0: none */
  const char *device_steps; /* for people: in how many launches the device runs a step; NULL: in none. As `device` */
  int32_t language_count, source_language; /* index of the language of texts if the user names none; -1: none */
  const char *const *languages;   /* [language_count], such as "fra_Latn", "fr_XX" or "fr"; live as long as the model */
  const int32_t *language_tokens; /* [language_count] */
} talc_model_info;

/* Opens what talc compile wrote, a program or a shared library, and checks it completely. The file is mapped: it must
   not be changed while the model is open. The model that a library or object brings into a program is opened by the
   function NAME_open of its header NAME.h, which has the same options and errors.
   Errors: FILE, DAMAGED, VERSION, CPU, DEVICE, DEVICE_FAILED, MEMORY, ARGUMENT.
   Environment: TALC_CPU_LEVEL=v2|v3|v4 lowers (never raises) the CPU level that code is chosen for. TALC_CACHE is the
   folder of notes about files whose weights passed, instead of ~/.cache/talc; off: none are read or written.
   TALC_PERF=1 writes the names of kernels to /tmp/perf-PID.map, where perf looks for them. */
TALC_API talc_status talc_model_open(const char *path, const talc_open_options *options, talc_model **model,
                                     talc_error *error);

/* The same of an open file; the descriptor stays the caller's and may be closed at once. */
TALC_API talc_status talc_model_open_descriptor(int32_t descriptor, const talc_open_options *options,
                                                talc_model **model, talc_error *error);

/* The same of memory that holds such a file: `size` bytes from a multiple of 64 on, which must stay as they are while
   the model is open. Weights are read where they lie, code is copied. */
TALC_API talc_status talc_model_open_memory(const void *bytes, size_t size, const talc_open_options *options,
                                            talc_model **model, talc_error *error);

TALC_API void talc_model_close(talc_model *model);

/* Stores what is known about the model in `info`, whose struct_size the caller has set. Errors: ARGUMENT. */
TALC_API talc_status talc_model_get_info(const talc_model *model, talc_model_info *info, talc_error *error);

/* Bytes of KV cache that tokens of one sequence use; windows stop growing when they are full. 0 if model is NULL. */
TALC_API uint64_t talc_state_bytes(const talc_model *model, int32_t tokens);

/* 1 when `id` ends a text, else 0. */
TALC_API int32_t talc_is_end_token(const talc_model *model, int32_t id);

/* ---- Evaluation ------------------------------------------------------------------------------------------------ */

/* Worker threads and the KV cache of up to `slots` sequences. */
typedef struct talc_session talc_session;

/* Memory for KV cache, temporaries and results of a session; not its threads, stacks, and lists of a few bytes a token.
   `allocate` returns `size` bytes from a multiple of `alignment` on, or NULL; `release` gets back what it returned. */
typedef struct talc_allocator {
  void *(*allocate)(void *user, uint64_t size, uint64_t alignment);
  void (*release)(void *user, void *memory, uint64_t size);
  void *user;
} talc_allocator;

/* Returns 0 to let a step go on; anything else ends it. */
typedef int32_t (*talc_should_abort)(void *user);

typedef struct talc_session_options {
  uint32_t struct_size;
  int32_t threads; /* 1 to 1024, the calling thread included; 0: talc_default_threads(). No more than
                      talc_max_threads() are started */
  int32_t slots;   /* sequences that can be held at the same time, 1 to 65536; 0: 1 */
  uint32_t reserved;
  /* For what talc_session_get_memory counts; a copy is kept. All of the KV cache is then taken and cleared at once.
     NULL: pages of the system, taken as sequences grow. A model has memory of its own, its tokenizer too. */
  const talc_allocator *allocator;
  /* Asked often while a step runs, where its threads meet, by any of them but one at a time: it must be quick, need no
     more than 128 KiB of stack, and use neither session nor generator. A step that it ends fails with ABORTED. Where a
     model has segments or states, a step of few tokens asks once, before it begins. NULL: no step can be aborted. */
  talc_should_abort should_abort;
  void *abort_user; /* for should_abort */
} talc_session_options;

/* Physical cores that this process may use, by scheduler affinity and CPU quota; much slower ones do not count. */
TALC_API int32_t talc_default_threads(void);

/* Processors, hardware threads included, that this process may use. A session runs on no more threads, whatever it is
   asked for: a step ends when its slowest thread does. Results are the same bits for any number of threads.
   While other programs take processors away, a step runs on fewer of a session's threads if that is faster.
   Environment: TALC_MAX_THREADS=N sets another limit, and then every step runs on all threads of its session. */
TALC_API int32_t talc_max_threads(void);

/* Errors: ARGUMENT, MEMORY, THREADS. The KV cache is reserved here and used only as sequences grow. */
TALC_API talc_status talc_session_create(const talc_model *model, const talc_session_options *options,
                                         talc_session **session, talc_error *error);
/* A process that was forked since may call it, too, on its copy: the parent's session goes on. */
TALC_API void talc_session_destroy(talc_session *session);

/* For which tokens of a sequence in a batch a result is wanted. */
typedef enum talc_rows {
  TALC_ROWS_NONE = 0,
  TALC_ROWS_LAST = 1,   /* its last token: 1 row */
  TALC_ROWS_ALL = 2,    /* all its tokens in this batch: `count` rows */
  TALC_ROWS_FIRST = 3,  /* its first token in this batch: 1 row */
  TALC_ROWS_LISTED = 4, /* those that the caller lists */
  TALC_ROWS_CLASSES = 5 /* of TALC_RESULT_CLASSES, the token that stands for the text: its first or last one: 1 row */
} talc_rows;

typedef struct talc_wanted {
  talc_rows rows;
  int32_t listed_count;  /* at least 1 with TALC_ROWS_LISTED; else not read */
  const int32_t *listed; /* [listed_count], indices into `ids`, ascending, each once; read during the call only */
} talc_wanted;

/* Tokens to append to one sequence. Zeros are right for every field that is not needed. */
typedef struct talc_sequence {
  int32_t slot;                         /* which sequence, 0 to slots - 1 */
  int32_t count;                        /* tokens, at least 1 */
  const int32_t *ids;                   /* [count]; read during the call only */
  talc_wanted wanted[TALC_MAX_RESULTS]; /* for each result of the model, in its order */
  const int32_t *types; /* [count], which of two texts a token belongs to; NULL: all 0. Read during the call only */
  int32_t prefix; /* so many tokens at its beginning see each other, all of them in this batch. Only where the model
                     uses prefixes and the slot is empty; 0: every token sees those before it */
  int32_t reserved[3];
} talc_sequence;

/* Evaluates `count` sequences in one step; each slot at most once. The sequences may have different lengths, nothing is
   padded, and a sequence's results do not depend on what else is in the batch or on how its tokens are divided among
   calls. A step needs temporaries proportional to its tokens: divide prompts of many thousand tokens among several
   calls. No memory is allocated unless this step has more tokens or wanted results than each before it.
     decoder: appends the tokens to the sequences in the slots.
     encoder: every sequence is a whole one, and its slot stays empty.
     encoder-decoder: appends the tokens to the texts that answer to the sources in the slots; the first is start_token.
   Errors: ARGUMENT, BATCH, TOKEN, STATE_FULL, SOURCE, SHARED, KIND (prefix), MEMORY, ABORTED. */
TALC_API talc_status talc_evaluate(talc_session *session, const talc_sequence *sequences, int32_t count,
                                   talc_error *error);

/* Encoder-decoders only: evaluates whole sources and leaves them in the slots. What a slot held before, source and
   text, is lost as after talc_slot_reset, also when the step is aborted. Results cannot be wanted, and there is no
   prefix. Errors: KIND, ARGUMENT, BATCH, TOKEN, STATE_FULL, SHARED, MEMORY, ABORTED. */
TALC_API talc_status talc_encode(talc_session *session, const talc_sequence *sequences, int32_t count,
                                 talc_error *error);

/* Rows of the `result`-th result for the `index`-th sequence of the last talc_evaluate: float32 [rows][width], in the
   order of the tokens. Stores the number of rows when `rows` is not NULL. NULL with 0 rows when none were wanted, or
   for a result or index that there is not. Valid until the session's next step, or talc_session_destroy. */
TALC_API const float *talc_result(const talc_session *session, int32_t result, int32_t index, int32_t *rows);

/* talc_result of the first result: for a model that generates text, [rows][vocabulary_size]. */
TALC_API const float *talc_logits(const talc_session *session, int32_t index, int32_t *rows);

/* Afterwards slots[i] continues the sequence that parents[i] holds now, for all i at once; several slots may have the
   same parent. Nothing is copied: a slot's earlier tokens, and its source, stay where they were evaluated. Beam search:
     talc_encode, or talc_evaluate of the prompt, in slot 0
     talc_reorder of the slots 0 1 2 3 to the parents 0 0 0 0
     again and again: talc_evaluate of one token in each slot, talc_reorder to the parents of the texts that are kept
   Slots stand in the list once, parents are among them, and a slot is empty or as long as its parent. The first call
   allocates; with segments or states all do. Errors change nothing: KIND (encoder), ARGUMENT, BATCH, SHARED, MEMORY. */
TALC_API talc_status talc_reorder(talc_session *session, const int32_t *slots, const int32_t *parents, int32_t count,
                                  talc_error *error);

/* Tokens that the sequence in `slot` holds; 0 for an unknown slot and for encoders. */
TALC_API int32_t talc_slot_length(const talc_session *session, int32_t slot);

/* Empties a slot, source included: its next token is the first of a new sequence. If its memory is much, the system may
   take it when it is short of memory. But when other slots continue tokens or use the source in this one, after
   talc_reorder, then when the last of them is reset, and until then unusable (SHARED). Errors: ARGUMENT, BATCH. */
TALC_API talc_status talc_slot_reset(talc_session *session, int32_t slot, talc_error *error);

/* Keeps the first `length` tokens of a slot's sequence, and its source: the next token comes after them, as if the
   others had never been evaluated. Tokens of a prefix have seen each other: keep all of them or none. Errors: ARGUMENT
   (no length from 0 to that of the sequence), BATCH, KIND (segments, states: all or none), SHARED (another slot
   continues what would be dropped, or in windows later tokens took the place of what is needed). */
TALC_API talc_status talc_slot_truncate(talc_session *session, int32_t slot, int32_t length, talc_error *error);

/* Stores the number of bytes that a slot's tokens and source take in `size` and, when `capacity` suffices, the bytes,
   which talc_slot_load takes in any session of the same model: of the same file, or a copy of it. `bytes` may be NULL
   with capacity 0 to ask for the number. Errors: BATCH, SHARED (after talc_reorder, when they lie in several slots),
   CAPACITY (not when `bytes` is NULL), ARGUMENT. */
TALC_API talc_status talc_slot_save(const talc_session *session, int32_t slot, void *bytes, size_t capacity,
                                    size_t *size, talc_error *error);

/* Puts what was saved in place of what a slot holds; it goes on with the same bits as the sequence that was saved
   would, where the same code is used. Bytes that were changed are refused, but a checksum does not protect against
   those who mean to deceive. Errors: DAMAGED, KIND (of another model), BATCH, SHARED, ARGUMENT. */
TALC_API talc_status talc_slot_load(talc_session *session, int32_t slot, const void *bytes, size_t size,
                                    talc_error *error);

/* Exact memory of a session beyond the weights, but for lists of talc_reorder: 8 bytes for each token of a slot. */
typedef struct talc_session_memory {
  uint32_t struct_size; /* set by the caller */
  uint32_t reserved;
  uint64_t state_used;     /* KV cache of the tokens and sources that all slots hold now */
  uint64_t state_reserved; /* of it, address space; memory only where it is an allocator's */
  uint64_t arena;          /* temporaries of the largest step so far */
  uint64_t logits;         /* results of the largest step so far */
} talc_session_memory;

/* Stores the session's memory and how many threads it runs on (`threads` may be NULL). Errors: ARGUMENT. */
TALC_API talc_status talc_session_get_memory(const talc_session *session, talc_session_memory *memory, int32_t *threads,
                                             talc_error *error);

#ifdef __cplusplus
}
#endif

#include "talc_device.h"
#include "talc_embedding.h"
#include "talc_generation.h"
#include "talc_manifest.h"
#include "talc_sampling.h"
#include "talc_scoring.h"
#include "talc_text.h"
#include "talc_training.h"

#endif /* TALC_H */
