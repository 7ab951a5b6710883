// SPDX-License-Identifier: Apache-2.0
// What signals mean to the program.
#pragma once

namespace talc::program {

// Before anything else: a signal that ends the program removes the files that are named below. A closed pipe and a
// limit on the size of files are errors like a full disk.
void prepareSignals();

// `path` stays valid until keepOnSignal() has been called with it.
void removeOnSignal(const char *path);
void keepOnSignal(const char *path);

}  // namespace talc::program
