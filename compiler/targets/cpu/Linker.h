// SPDX-License-Identifier: Apache-2.0
// Links the object code of a program's functions. Equal objects give equal bytes.
#pragma once

#include "compiler/targets/Target.h"

namespace talc::cpu {

// The shared object that the runtime's loader maps: without undefined symbols and needed libraries, and with only those
// relocations that add the load address.
llvm::Expected<targets::LinkedCode> linkSharedObject(llvm::ArrayRef<targets::ObjectCode> objects);

// One relocatable object, which may refer to symbols of others.
llvm::Expected<std::vector<uint8_t>> mergeObjects(llvm::ArrayRef<targets::ObjectCode> objects);

// One relocatable object, without undefined symbols.
llvm::Expected<std::vector<uint8_t>> linkRelocatable(llvm::ArrayRef<targets::ObjectCode> objects);

}  // namespace talc::cpu
