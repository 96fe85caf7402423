# SPDX-License-Identifier: GPL-3.0-or-later
# kab_embed(TARGET FILE SYMBOL): compile the bytes of FILE into TARGET as
#   extern const char SYMBOL[];   (NUL-terminated)   extern const size_t SYMBOL_len;
# Used for shell scripts sent to targets and for SQL, which are better read as files of their own.
set(KAB_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${IN}" hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR bytes "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," body "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" body "${body}")
  file(WRITE "${OUT}" "/* Made from ${NAME}. */\n#include <stddef.h>\nextern const char ${SYMBOL}[];\nextern const size_t ${SYMBOL}_len;\nconst char ${SYMBOL}[] = {\n${body}0x00};\nconst size_t ${SYMBOL}_len = ${bytes};\n")
  return()
endif()

function(kab_embed target file symbol)
  get_filename_component(name "${file}" NAME)
  get_filename_component(path "${file}" ABSOLUTE)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/${name}.c")
  add_custom_command(OUTPUT "${out}" DEPENDS "${path}" "${KAB_EMBED_SCRIPT}"
    COMMAND ${CMAKE_COMMAND} -DIN=${path} -DOUT=${out} -DNAME=${name} -DSYMBOL=${symbol} -P "${KAB_EMBED_SCRIPT}"
    VERBATIM)
  target_sources(${target} PRIVATE "${out}")
endfunction()
