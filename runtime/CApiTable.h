// SPDX-License-Identifier: Apache-2.0
// How several runtimes share a process.
//
// Every library with a model has a runtime of its own, and a program that links with several calls the functions of
// talc.h in whichever the linker found first. So each object begins with a table of the functions of the runtime that
// made it, and what talc.h declares only looks there: a model of one library works in every function of another one, of
// whatever version.
//
//   talc_evaluate(session, ...)  in the first library    =    session->functions->talc_evaluate(session, ...)
//
// The table is a contract among all versions: its head stays, functions never change their places, and new ones come
// last.
#pragma once

#include "runtime/talc.h"

namespace talc {

struct FunctionTable {
  uint32_t size;     // of the table; what lies behind it the runtime does not have
  uint32_t version;  // talc_version_number()
#define TALC_FUNCTION(result, name, parameters, arguments) result(*name) parameters;
#include "runtime/CApiTable.def"
#undef TALC_FUNCTION
};

// Of this runtime.
extern const FunctionTable runtimeFunctions;

// What every object of talc.h begins with.
struct ApiObject {
  const FunctionTable *functions = &runtimeFunctions;
};

// What the functions do in this runtime.
namespace capi {
#define TALC_FUNCTION(result, name, parameters, arguments) result name parameters;
#include "runtime/CApiTable.def"
#undef TALC_FUNCTION
}  // namespace capi

}  // namespace talc
