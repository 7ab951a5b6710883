/* SPDX-License-Identifier: Apache-2.0 */
/* The part of talc.h that turns text into tokens and back; talc.h includes it and says what holds throughout. */
#ifndef TALC_TEXT_H
#define TALC_TEXT_H

#include "talc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Text to ids, special tokens (begin of text, ...) included as the tokenizer's own rules say. Stores the number of ids
   in `count` and, when `capacity` suffices, the ids. `ids` may be NULL with capacity 0 to ask for the number.
   Errors: NO_TOKENIZER, TEXT, CAPACITY (not when `ids` is NULL), ARGUMENT. */
TALC_API talc_status talc_tokenize(const talc_model *model, const char *text, size_t size, int32_t *ids,
                                   int32_t capacity, int32_t *count, talc_error *error);

/* The same with token types, which tell the texts of a pair apart: text and second text, or `second` NULL: one text.
   `types` has the same capacity as `ids`; either may be NULL. Errors: as above. */
TALC_API talc_status talc_tokenize_pair(const talc_model *model, const char *first, size_t first_size,
                                        const char *second, size_t second_size, int32_t *ids, int32_t *types,
                                        int32_t capacity, int32_t *count, talc_error *error);

/* The same of texts in a language of talc_model_info.languages; NULL: the model's source_language. The texts are cut as
   by talc_tokenize_within. Errors: as above, and ARGUMENT when the model does not know the language. */
TALC_API talc_status talc_tokenize_in(const talc_model *model, const char *language, const char *first,
                                      size_t first_size, const char *second, size_t second_size, int32_t max_tokens,
                                      int32_t *ids, int32_t *types, int32_t capacity, int32_t *count, int32_t *dropped,
                                      talc_error *error);

/* The id of the token that is spelled exactly so in the vocabulary, such as "[MASK]"; -1: there is none, or no
   tokenizer. Where sources have a vocabulary of their own (some Marian models), this is the other one, of the texts
   that answer to them, like ids in talc_is_special_token, talc_detokenize and text streams; the ids of a source come
   from talc_tokenize only. */
TALC_API int32_t talc_find_token(const talc_model *model, const char *spelling);

/* How a token is spelled in the vocabulary, such as "Ġthe": UTF-8 of `size` bytes without a NUL, which lives as long as
   the model. Empty where there is no such token, or no tokenizer; the vocabulary is that of talc_find_token. */
TALC_API const char *talc_token_spelling(const talc_model *model, int32_t id, size_t *size);

/* 1 when `id` is a special token (which stands for no text, such as "[SEP]"), else 0. */
TALC_API int32_t talc_is_special_token(const talc_model *model, int32_t id);

/* Ids to text; special tokens become nothing, bytes that are not UTF-8 become U+FFFD. Buffer rules as above.
   Errors: NO_TOKENIZER, TOKEN, CAPACITY, ARGUMENT. */
TALC_API talc_status talc_detokenize(const talc_model *model, const int32_t *ids, int32_t count, char *text,
                                     size_t capacity, size_t *size, talc_error *error);

/* Turns tokens into text one by one. A token may end in the middle of a character: only whole characters come out, as
   soon as no later token can change them. All texts together are what talc_detokenize makes of the tokens at once. A
   run of tokens that stand for single bytes (<0xF0>) comes with the token that follows it, because a byte that is not
   UTF-8 makes U+FFFD of all of it. */
typedef struct talc_text_stream talc_text_stream;

/* `ids`: the tokens before the first pushed one (the prompt), which decide about spaces; may be NULL with count 0.
   Errors: NO_TOKENIZER, TOKEN, ARGUMENT. */
TALC_API talc_status talc_text_stream_create(const talc_model *model, const int32_t *ids, int32_t count,
                                             talc_text_stream **stream, talc_error *error);
TALC_API void talc_text_stream_destroy(talc_text_stream *stream);

/* Adds a token and stores the text that became complete, maybe none. Valid until the next call on this stream.
   Errors: TOKEN, ARGUMENT. */
TALC_API talc_status talc_text_stream_push(talc_text_stream *stream, int32_t id, const char **text, size_t *size,
                                           talc_error *error);

/* Stores what is left at the end; an unfinished character comes out as U+FFFD. Errors: ARGUMENT. */
TALC_API talc_status talc_text_stream_finish(talc_text_stream *stream, const char **text, size_t *size,
                                             talc_error *error);

#ifdef __cplusplus
}
#endif

#endif /* TALC_TEXT_H */
