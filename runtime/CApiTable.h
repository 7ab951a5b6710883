// SPDX-License-Identifier: Apache-2.0
// Lets several runtimes share a process.
//
// Every library with a model has a runtime of its own, and a program that links with several calls the functions of
// talc.h in whichever the linker found first. So each object begins with a table of the functions of the runtime that
// made it, and the functions of talc.h only look there: a model of one library works in every function of another one,
// of any version.
//
//   talc_evaluate(session, ...)  in the first library    =    session->functions->talc_evaluate(session, ...)
//
// The table is a contract among all versions: its first fields stay, functions keep their positions, and new ones are
// appended.
#pragma once

#include "runtime/talc.h"

namespace talc {

struct FunctionTable {
  uint32_t size;     // of the table; functions beyond it do not exist in that runtime
  uint32_t version;  // talc_version_number()
#define TALC_FUNCTION(result, name, parameters, arguments) result(*name) parameters;
#include "runtime/CApiTable.def"
#undef TALC_FUNCTION
};

// The table of this runtime.
extern const FunctionTable runtimeFunctions;

// Every object of talc.h begins with this.
struct ApiObject {
  const FunctionTable *functions = &runtimeFunctions;
};

// The implementations of this runtime.
namespace capi {
#define TALC_FUNCTION(result, name, parameters, arguments) result name parameters;
#include "runtime/CApiTable.def"
#undef TALC_FUNCTION
}  // namespace capi

}  // namespace talc
