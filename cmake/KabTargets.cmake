# SPDX-License-Identifier: GPL-3.0-or-later
# kab_library() and kab_unit_test(): the only two ways in which targets are made, so that warnings,
# hardening, sanitizers and the header self-check apply to all of them alike.

add_library(kab_options INTERFACE)
target_compile_features(kab_options INTERFACE c_std_11)
target_compile_definitions(kab_options INTERFACE _GNU_SOURCE)
target_include_directories(kab_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/harness)
target_compile_options(kab_options INTERFACE -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -Wpointer-arith -Wwrite-strings -Wformat=2 -Wvla -fno-common -fno-math-errno)
if(CMAKE_BUILD_TYPE STREQUAL "Release" OR CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  target_compile_options(kab_options INTERFACE -D_FORTIFY_SOURCE=2 -fstack-protector-strong
    -fstack-clash-protection -fPIE)
  target_link_options(kab_options INTERFACE -pie -Wl,-z,relro,-z,now,-z,noexecstack)
endif()
if(KAB_SANITIZE)
  target_compile_options(kab_options INTERFACE -fsanitize=${KAB_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(kab_options INTERFACE -fsanitize=${KAB_SANITIZE})
  if(KAB_SANITIZE MATCHES "undefined")
    target_compile_options(kab_options INTERFACE -fno-sanitize-recover=undefined)
  endif()
endif()

if(KAB_FUZZ)
  # libFuzzer follows the code of all libraries, not of its own target alone.
  target_compile_options(kab_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

# kab_library(NAME SOURCES ... HEADERS ... [LINK ...]): one static library, one row of the layer table.
function(kab_library name)
  cmake_parse_arguments(A "" "" "SOURCES;HEADERS;LINK" ${ARGN})
  add_library(${name} STATIC ${A_SOURCES})
  target_sources(${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${A_HEADERS})
  target_link_libraries(${name} PUBLIC kab_options ${A_LINK})
  set_target_properties(${name} PROPERTIES C_EXTENSIONS ON VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# kab_unit_test(NAME SOURCES ... [LINK ...] [LABELS ...] [TIMEOUT S] [ARGS ...]): a cmocka program that is a ctest.
function(kab_unit_test name)
  cmake_parse_arguments(A "" "TIMEOUT" "SOURCES;LINK;LABELS;ARGS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE ${A_LINK} kab_options PkgConfig::CMOCKA)
  target_compile_definitions(${name} PRIVATE KAB_SOURCE_DIR="${PROJECT_SOURCE_DIR}" KAB_BINARY_DIR="${PROJECT_BINARY_DIR}")
  set_target_properties(${name} PROPERTIES C_EXTENSIONS ON)
  add_test(NAME ${name} COMMAND ${name} ${A_ARGS})
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  if(NOT A_LABELS)
    set(A_LABELS unit)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${A_LABELS}" TIMEOUT ${A_TIMEOUT} SKIP_RETURN_CODE 77)
endfunction()
