/* SPDX-License-Identifier: Apache-2.0 */
/* The part of talc.h that tells how a model was compiled; talc.h includes it and says what holds throughout. */
#ifndef TALC_MANIFEST_H
#define TALC_MANIFEST_H

#include "talc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What talc compile recorded of the product; it has no paths of the machine that it was compiled on. */
typedef struct talc_manifest {
  uint32_t struct_size;
  uint32_t reserved;
  const char *json; /* an object with options, target, date, formats, weights, ...; "summary" has lines for people. Not
                       ended by a NUL; NULL: there is none. Lives as long as the model */
  size_t json_size;
  uint64_t artifact_hash; /* differs for any other content, weights included; detects damage, proves nothing */
  uint64_t weights_hash;  /* of the stored weights alone; 0: there are none */
} talc_manifest;

/* Errors: ARGUMENT. */
TALC_API talc_status talc_model_get_manifest(const talc_model *model, talc_manifest *manifest, talc_error *error);

#ifdef __cplusplus
}
#endif

#endif /* TALC_MANIFEST_H */
