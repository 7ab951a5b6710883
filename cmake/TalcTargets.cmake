# SPDX-License-Identifier: Apache-2.0
# How talc's compiler-side targets are built: against the shared libMLIR and libLLVM, with one precompiled header.

# One library that holds what every MLIR-facing target needs to compile and link.
add_library(talc_mlir INTERFACE)
target_include_directories(talc_mlir SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_include_directories(talc_mlir INTERFACE $<INSTALL_INTERFACE:include/talc>)
target_compile_features(talc_mlir INTERFACE cxx_std_17)
separate_arguments(talc_llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
target_compile_options(talc_mlir INTERFACE ${talc_llvm_definitions} "$<BUILD_INTERFACE:-fno-exceptions;-fPIC>"
  "$<BUILD_INTERFACE:$<$<CONFIG:Release>:-O1>>")  # time goes by in libMLIR and libLLVM, which are optimized
target_link_libraries(talc_mlir INTERFACE MLIR LLVM fmt::fmt nlohmann_json::nlohmann_json)

# The precompiled header's own target; the others reuse its header.
file(WRITE ${PROJECT_BINARY_DIR}/cmake/Pch.cpp "// Compiles the precompiled header.\n")
add_library(talc_pch OBJECT ${PROJECT_BINARY_DIR}/cmake/Pch.cpp)
target_link_libraries(talc_pch PRIVATE talc_mlir)
add_dependencies(talc_pch talc_talc_tablegen talc_kernel_tablegen)
target_precompile_headers(talc_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/Pch.h)
set_target_properties(talc_pch PROPERTIES PCH_INSTANTIATE_TEMPLATES ON)
# The header's content follows from its sources and not from when they were written, so that ccache knows its users again;
# CMakePresets.json tells ccache the rest (CCACHE_SLOPPINESS).
target_compile_options(talc_pch PRIVATE $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)

# talc_add_library(name SOURCES... [DEPENDS tablegen-targets...] [LINK libraries...])
function(talc_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC talc_mlir ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM talc_pch)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()

# talc_add_tool(name SOURCES... [LINK libraries...])
function(talc_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE talc_mlir ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM talc_pch)
endfunction()
