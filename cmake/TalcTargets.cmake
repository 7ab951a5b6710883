# SPDX-License-Identifier: Apache-2.0
# Builds talc's compiler-side targets against the shared libMLIR and libLLVM, with precompiled headers.

# One library that holds what every MLIR-facing target needs to compile and link.
add_library(talc_mlir INTERFACE)
target_include_directories(talc_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(talc_mlir INTERFACE $<INSTALL_INTERFACE:include/talc>)
target_compile_features(talc_mlir INTERFACE cxx_std_17)
separate_arguments(talc_llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
target_compile_options(talc_mlir INTERFACE ${talc_llvm_definitions} "$<BUILD_INTERFACE:-fno-exceptions;-fPIC>")
target_link_libraries(talc_mlir INTERFACE MLIR LLVM fmt::fmt nlohmann_json::nlohmann_json)

# Defines a target that owns a precompiled header; other targets reuse it.
function(talc_add_pch name header)
  file(WRITE ${PROJECT_BINARY_DIR}/cmake/${name}.cpp "// Compiles the precompiled header.\n")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/cmake/${name}.cpp)
  target_link_libraries(${name} PRIVATE talc_mlir)
  target_compile_options(${name} PRIVATE ${ARGN})
  target_precompile_headers(${name} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/${header})
endfunction()

# The compiler spends its run time inside LLVM, so its own code is compiled with -O1, which is faster to build. Code that
# reads and writes the values of weights keeps the optimization of the build type; it also needs fewer headers.
set(talc_light_optimization $<$<CONFIG:Release>:-O1>)
talc_add_pch(talc_pch Pch.h ${talc_light_optimization})
talc_add_pch(talc_values_pch ValuesPch.h)

# Sets how a target is compiled; `values` says whether it processes the values of weights.
function(talc_compile_target name values)
  if(values)
    target_precompile_headers(${name} REUSE_FROM talc_values_pch)
  else()
    target_compile_options(${name} PRIVATE ${talc_light_optimization})
    target_precompile_headers(${name} REUSE_FROM talc_pch)
  endif()
endfunction()

# talc_add_library(name [VALUES] SOURCES... [DEPENDS tablegen-targets...] [LINK libraries...])
function(talc_add_library name)
  cmake_parse_arguments(ARG "VALUES" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC talc_mlir ${ARG_LINK})
  talc_compile_target(${name} ${ARG_VALUES})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# talc_add_tool(name SOURCES... [LINK libraries...])
function(talc_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE talc_mlir ${ARG_LINK})
  talc_compile_target(${name} OFF)
endfunction()
