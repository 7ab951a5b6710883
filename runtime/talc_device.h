/* SPDX-License-Identifier: Apache-2.0 */
/* The part of talc.h that lists what models can run on; talc.h includes it and says what holds throughout. */
#ifndef TALC_DEVICE_H
#define TALC_DEVICE_H

#include "talc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What models run on. All texts end with a NUL; longer ones are cut. */
typedef struct talc_device_info {
  uint32_t struct_size;      /* set by the caller */
  char name[32];             /* as talc_open_options.device takes it: "cpu", "cuda:0", "vulkan:0" */
  char description[128];     /* empty: unknown */
  uint64_t memory;           /* bytes */
  uint64_t memory_available; /* bytes that are free */
  char reason[512];          /* why it cannot be used; empty: it can */
} talc_device_info;

/* How many devices this machine has, those included that cannot be used. */
TALC_API int32_t talc_device_count(void);

/* Stores what is known of one of them, 0 to talc_device_count() - 1, in `info`, whose struct_size the caller has set.
   Errors: ARGUMENT. */
TALC_API talc_status talc_device_get_info(int32_t index, talc_device_info *info, talc_error *error);

#ifdef __cplusplus
}
#endif

#endif /* TALC_DEVICE_H */
