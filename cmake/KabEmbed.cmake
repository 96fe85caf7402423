# SPDX-License-Identifier: GPL-3.0-or-later
# kab_embed(VAR FILE SYMBOL): a generated C file with the bytes of FILE is appended to list VAR.
# It defines `const char SYMBOL[]` (NUL-terminated), `const size_t SYMBOL_len`, and
# `const char SYMBOL_id[]`, the first 12 digits of the file's SHA-256.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(kab_embed var file symbol)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.c)
    set(in ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    set(script ${PROJECT_SOURCE_DIR}/cmake/KabEmbed.cmake)
    add_custom_command(OUTPUT ${out} DEPENDS ${in} ${script}
      COMMAND ${CMAKE_COMMAND} -DIN=${in} -DOUT=${out} -DNAME=${symbol} -P ${script} VERBATIM)
    set(${var} ${${var}} ${out} PARENT_SCOPE)
  endfunction()
  return()
endif()

# As a script: cmake -DIN=FILE -DOUT=FILE.c -DNAME=SYMBOL -P KabEmbed.cmake
file(READ "${IN}" hex HEX)
file(SHA256 "${IN}" sum)
string(SUBSTRING "${sum}" 0 12 id)
string(LENGTH "${hex}" digits)
math(EXPR len "${digits} / 2")
string(REPEAT "[0-9a-f]" 32 row)
string(REGEX REPLACE "(${row})" "\\1\n" bytes "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE "${OUT}.new" "/* Generated from ${NAME}; do not edit. */
#include <stddef.h>

extern const char ${NAME}[];
extern const size_t ${NAME}_len;
extern const char ${NAME}_id[];
const char ${NAME}[] = {
${bytes}0x00
};
const size_t ${NAME}_len = ${len};
const char ${NAME}_id[] = \"${id}\";
")
file(RENAME "${OUT}.new" "${OUT}")
