// SPDX-License-Identifier: Apache-2.0
// The place for an artifact in a program or library: a page that begins with reservedMagic, which talc compile
// replaces.
//
// Written in assembly so that no compiler takes the page for its final content, or puts anything beside it.
#include "runtime/EmbeddedModel.h"

asm(R"(
  .section .talc, "a", %progbits
  .balign 4096
  .globl talc_embedded_artifact
  .hidden talc_embedded_artifact
talc_embedded_artifact:
  .ascii "TALC PLACE HERE."
  .zero 4080
  .previous
)");
