// SPDX-License-Identifier: Apache-2.0
// Handles signals for the program.
#pragma once

namespace talc::program {

// To be called before anything else: a signal that ends the program then removes the files that are named below. A
// closed pipe is such a signal; a limit on the size of files is an error like a full disk.
void prepareSignals();

// From now on the first SIGINT (Ctrl-C) does not end the program but makes interrupted() true, so that finished results
// can be kept. Then interruptDescriptor() can be read, for poll; -1: there is none. endByInterrupt() ends the program
// as the signal would have.
void finishOnInterrupt();
bool interrupted();
int interruptDescriptor();
void endByInterrupt();

// Whether the stack can have the 128 KiB that the program needs; raises its limit if allowed.
bool prepareStack();

// `path` stays valid until keepOnSignal() has been called with it.
void removeOnSignal(const char *path);
void keepOnSignal(const char *path);

}  // namespace talc::program
