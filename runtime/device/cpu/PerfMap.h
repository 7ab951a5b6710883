// SPDX-License-Identifier: Apache-2.0
// A perf map: the names of kernels for `perf`, which cannot read the symbols of code that no file on disk holds alone.
#pragma once

#include <cstdint>

namespace talc {

// With TALC_PERF=1 in the environment, adds the functions of an ELF file, which is loaded at `image`, to
// /tmp/perf-PID.map. Lines are "ADDRESS SIZE talc::KERNEL", numbers in hexadecimal (Linux,
// tools/perf/Documentation/jit-interface.txt). What cannot be written is left out: profiles then lack names.
void writePerfMap(const unsigned char *elf, uint64_t size, const unsigned char *image);

}  // namespace talc
