# SPDX-License-Identifier: Apache-2.0
# Read when packages are made: those of parts that are built only where something else is installed.
set(talc_programs ${CPACK_PACKAGE_DIRECTORY}/../bin)
if(EXISTS ${talc_programs}/aarch64/talc-launcher)
  list(APPEND CPACK_COMPONENTS_ALL aarch64)
endif()
if(EXISTS ${talc_programs}/hgen)
  list(APPEND CPACK_COMPONENTS_ALL halide)
endif()
