// SPDX-License-Identifier: Apache-2.0
// The functions of talc.h: each passes its arguments to the runtime that made its object.
#include "runtime/CApiTable.h"

#include "runtime/CApiTypes.h"

#include <tuple>
#include <type_traits>

namespace talc {

#define TALC_FUNCTION(result, name, parameters, arguments) capi::name,
const FunctionTable runtimeFunctions = {
    sizeof(FunctionTable),
    TALC_VERSION_NUMBER,
#include "runtime/CApiTable.def"
};
#undef TALC_FUNCTION

static talc_status tooOld(uint32_t version, talc_error *error) try {
  return report(Status::failure(TALC_ERROR_VERSION,
                                "the object was made by a library of talc %u.%u.%u, which does not have this function; "
                                "compile its model again",
                                version / 10000, version / 100 % 100, version % 100),
                error);
} catch (...) {
  return refusedMemory(error);
}

// Calls a function of the runtime that made `object`. Without an object this runtime is called, which refuses it.
template <auto function, typename Made, typename... Rest> static auto call(Made *object, Rest... rest) {
  const auto *begin = reinterpret_cast<const ApiObject *>(object);
  const FunctionTable &functions = begin ? *begin->functions : runtimeFunctions;
  using Result = decltype((functions.*function)(object, rest...));
  const auto *place = reinterpret_cast<const char *>(&(functions.*function));
  if (place < reinterpret_cast<const char *>(&functions) + functions.size)
    return (functions.*function)(object, rest...);
  if constexpr (std::is_same_v<Result, talc_status>)
    return tooOld(functions.version, std::get<sizeof...(rest) - 1>(std::make_tuple(rest...)));
  else
    return Result();
}

}  // namespace talc

#define TALC_FUNCTION(result, name, parameters, arguments)                                                             \
  result name parameters {                                                                                             \
    return talc::call<&talc::FunctionTable::name> arguments;                                                           \
  }
#include "runtime/CApiTable.def"
#undef TALC_FUNCTION
