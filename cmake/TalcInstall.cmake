# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, and the Debian packages that are made of it (./dev package).
#
#   bin/                 talc, talc-opt
#   lib/talc/            what a compiled model begins with: talc-launcher and talc-launcher-dynamic, talc-library.so,
#                        talc-object.o
#   lib/libtalc.a, .so   the runtime, for programs that models are linked into, and those that open models by name
#   include/talc.h       the C interface of compiled models, with the talc_*.h that it includes; talc.hpp for C++
#   lib/cmake/talc/      find_package(talc)
#   share/               manual pages, completion for bash
#   include/talc/        component `development`: headers and libraries of the compiler, for find_package(talc COMPONENTS compiler)
#   lib/talc/compiler/
#   lib/talc/aarch64/    component `aarch64`: the runtime for 64-bit ARM;  lib/talc/hgen: component `halide`
include(CMakePackageConfigHelpers)

set(talc_rpath "$ORIGIN/../lib/talc/lib" ${LLVM_LIBRARY_DIRS})  # the first is what a relocatable archive brings
set_target_properties(talc talc-opt PROPERTIES INSTALL_RPATH "${talc_rpath}")
install(TARGETS talc talc-opt RUNTIME DESTINATION bin COMPONENT tools)
install(TARGETS talc-launcher talc-launcher-dynamic RUNTIME DESTINATION lib/talc COMPONENT tools)
install(TARGETS talc-library LIBRARY DESTINATION lib/talc COMPONENT tools)
install(FILES ${PROJECT_BINARY_DIR}/runtime/talc-object.o DESTINATION lib/talc COMPONENT tools)
install(TARGETS talc_shared talc_runtime LIBRARY DESTINATION lib COMPONENT tools NAMELINK_COMPONENT tools
  ARCHIVE DESTINATION lib COMPONENT tools)
# The runtime for 64-bit ARM, where ./dev build --with-aarch64 built it.
install(DIRECTORY ${PROJECT_BINARY_DIR}/bin/aarch64 DESTINATION lib/talc COMPONENT aarch64 USE_SOURCE_PERMISSIONS OPTIONAL)
install(FILES runtime/talc.h runtime/talc.hpp runtime/talc_device.h runtime/talc_embedding.h runtime/talc_manifest.h runtime/talc_sampling.h runtime/talc_scoring.h runtime/talc_text.h runtime/talc_training.h runtime/talc_generation.h DESTINATION include COMPONENT tools)
install(FILES tools/completion/talc.bash DESTINATION share/bash-completion/completions RENAME talc COMPONENT tools)
install(DIRECTORY examples DESTINATION share/doc/talc COMPONENT tools PATTERN golden.* EXCLUDE)
install(FILES README.md DESTINATION share/doc/talc COMPONENT tools)
install(FILES LICENSE DESTINATION share/doc/talc RENAME copyright COMPONENT tools)

# Manual pages follow from the commands' own --help.
set(talc_pages ${PROJECT_BINARY_DIR}/man)
add_custom_command(OUTPUT ${talc_pages}/talc.1
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${talc_pages}
  COMMAND python3 ${PROJECT_SOURCE_DIR}/tools/manual_pages.py $<TARGET_FILE:talc> $<TARGET_FILE:talc-opt> ${talc_pages}
  DEPENDS talc talc-opt tools/manual_pages.py VERBATIM)
add_custom_target(talc-manual ALL DEPENDS ${talc_pages}/talc.1)
install(DIRECTORY ${talc_pages}/ DESTINATION share/man/man1 COMPONENT tools FILES_MATCHING PATTERN *.1)

set(talc_package lib/cmake/talc)
configure_package_config_file(cmake/talcConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/talcConfig.cmake
  INSTALL_DESTINATION ${talc_package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/talcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/talcConfig.cmake ${PROJECT_BINARY_DIR}/cmake/talcConfigVersion.cmake
  cmake/TalcAddModel.cmake DESTINATION ${talc_package} COMPONENT tools)

# The compiler as a library.
foreach(part mlir dialects generators passes pipeline targets artifact compiler frontends model_directory tokenizer_compiler)
  set_target_properties(talc_${part} PROPERTIES EXPORT_NAME ${part})
  install(TARGETS talc_${part} EXPORT talcCompiler ARCHIVE DESTINATION lib/talc/compiler COMPONENT development)
endforeach()
install(EXPORT talcCompiler NAMESPACE talc:: DESTINATION ${talc_package} COMPONENT development)

# Every header of the compiler, what TableGen made, and those headers of the runtime that are its contracts.
function(talc_install_headers base)
  file(GLOB_RECURSE headers RELATIVE ${base} CONFIGURE_DEPENDS ${ARGN})
  foreach(header ${headers})
    file(STRINGS ${base}/${header} contract REGEX "^// CONTRACT" LIMIT_COUNT 1)
    if(contract OR NOT header MATCHES "^runtime/")
      get_filename_component(folder ${header} DIRECTORY)
      install(FILES ${base}/${header} DESTINATION include/talc/${folder} COMPONENT development)
    endif()
  endforeach()
endfunction()
talc_install_headers(${PROJECT_SOURCE_DIR} dialects/*.h compiler/*.h frontends/*.h runtime/*.h runtime/*.def)
foreach(folder dialects/talc dialects/kernel compiler/passes)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/${folder} DESTINATION include/talc/${folder}/..
    COMPONENT development FILES_MATCHING PATTERN *.inc PATTERN CMakeFiles EXCLUDE)
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME talc)
set(CPACK_PACKAGE_CONTACT "The talc authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiles transformer models to native programs")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL tools development)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/OptionalPackages.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME talc)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtalc-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "talc (= ${PROJECT_VERSION}), libmlir-22-dev, mlir-22-tools, llvm-22-dev, liblld-22-dev, libfmt-dev, nlohmann-json3-dev, libutf8proc-dev")
# dpkg-shlibdeps knows libraries of this machine only.
set(CPACK_DEBIAN_AARCH64_PACKAGE_NAME talc-aarch64)
set(CPACK_DEBIAN_AARCH64_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_AARCH64_PACKAGE_DEPENDS "talc (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_HALIDE_PACKAGE_NAME talc-halide)
set(CPACK_DEBIAN_HALIDE_PACKAGE_DEPENDS "talc (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "The commands talc and talc-opt, and the runtime that compiled models begin with.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers and static libraries of the compiler.")
set(CPACK_COMPONENT_AARCH64_DESCRIPTION "The runtime that models compiled for 64-bit ARM begin with.")
set(CPACK_COMPONENT_HALIDE_DESCRIPTION "The generator behind talc compile --generator=halide.")
include(CPack)
