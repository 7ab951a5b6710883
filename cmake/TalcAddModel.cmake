# SPDX-License-Identifier: Apache-2.0
# talc_add_model: compiles a model while a project builds.
#
#   talc_add_model(NAME MODEL [LIBRARY|OBJECT] [OPTIONS --weights=bf16 ...])
#
# MODEL is what `talc compile` takes: a model directory or an .mlir file. Alone, the target NAME, a part of `all`, makes the
# program models/NAME in the current binary directory. With LIBRARY, NAME is a library to link with: it brings
# models/libNAME.so and the header NAME.h. With OBJECT it brings the model into the program itself.
#
# The talc command is found in TALC_COMMAND, else in the search path.
include_guard()

function(talc_add_model name model)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "LIBRARY;OBJECT" "" "OPTIONS")
  find_program(TALC_COMMAND talc REQUIRED)
  get_filename_component(talc ${TALC_COMMAND} ABSOLUTE BASE_DIR ${CMAKE_BINARY_DIR})
  get_filename_component(model ${model} ABSOLUTE)
  set(inputs ${model})
  if(IS_DIRECTORY ${model})
    file(GLOB inputs CONFIGURE_DEPENDS ${model}/*)
  endif()
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/models)
  file(MAKE_DIRECTORY ${directory})
  set(outputs ${directory}/${name})
  if(ARG_LIBRARY)
    set(outputs ${directory}/lib${name}.so ${directory}/${name}.h)
    list(APPEND ARG_OPTIONS --emit=lib)
  elseif(ARG_OBJECT)
    set(outputs ${directory}/${name}.o ${directory}/${name}.h)
    list(APPEND ARG_OPTIONS --emit=object)
  endif()
  list(GET outputs 0 product)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND ${talc} compile ${model} -o ${product} ${ARG_OPTIONS}
    DEPENDS ${talc} ${inputs}
    COMMENT "Compiling the model ${name}"
    VERBATIM)
  if(NOT ARG_LIBRARY AND NOT ARG_OBJECT)
    add_custom_target(${name} ALL DEPENDS ${outputs})
    return()
  endif()
  add_custom_target(${name}_files DEPENDS ${outputs})
  if(ARG_OBJECT)
    add_library(${name} INTERFACE)
    add_dependencies(${name} ${name}_files)
    target_link_libraries(${name} INTERFACE ${product} talc::static)
    target_include_directories(${name} INTERFACE ${directory})
    return()
  endif()
  add_library(${name} SHARED IMPORTED GLOBAL)
  add_dependencies(${name} ${name}_files)
  set_target_properties(${name} PROPERTIES
    IMPORTED_LOCATION ${product}
    IMPORTED_NO_SONAME ON
    INTERFACE_INCLUDE_DIRECTORIES ${directory})
endfunction()
