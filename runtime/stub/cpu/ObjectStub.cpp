// SPDX-License-Identifier: Apache-2.0
// A model as an object for the linker: a place for its artifact, and the function that opens it, whose name is a
// reserved one until talc compile gives it that of the object, NAME_open. All else is in libtalc.a, which any number of
// models share.
//
// The place lies with other large data, apart from what code reaches with 32-bit offsets, and code knows it by a full
// address.
#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/talc.h"

#ifdef __x86_64__
#define PLACE ".lrodata.talc, \"al\""
#else
#define PLACE ".rodata.talc, \"a\""
#endif

asm(".section " PLACE R"(, %progbits
  .balign 4096
talc_embedded_artifact:
  .ascii "TALC PLACE HERE."
  .zero 4080
  .section .data.rel.ro.talc, "aw", %progbits
  .balign 8
talc_embedded_artifact_address:
  .quad talc_embedded_artifact
  .previous
)");

extern "C" __attribute__((visibility("hidden"))) const talc::artifact::Header *const talc_embedded_artifact_address;

extern "C" talc_status TALC_RESERVED_OPEN(const talc_open_options *options, talc_model **model, talc_error *error) {
  return talc_model_open_memory(talc_embedded_artifact_address, talc_embedded_artifact_address->size, options, model,
                                error);
}
