# SPDX-License-Identifier: GPL-3.0-or-later
# cmake -DOUT=FILE.c -DDIR=FOLDER -P embed.cmake: every NNNN_*.sql of the folder, in order, as C
# string literals. A gap in the numbers is an error: a number is a schema version.
file(GLOB files "${DIR}/*.sql")
list(SORT files)
set(body "")
set(expected 1)
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  if(NOT name MATCHES "^([0-9][0-9][0-9][0-9])_[a-z0-9_]+[.]sql$")
    message(FATAL_ERROR "${file}: the name is not NNNN_words.sql")
  endif()
  math(EXPR number "1${CMAKE_MATCH_1} - 10000")
  if(NOT number EQUAL expected)
    message(FATAL_ERROR "${file}: the next number is ${expected}")
  endif()
  math(EXPR expected "${expected} + 1")
  file(READ "${file}" sql)
  string(REPLACE "\\" "\\\\" sql "${sql}")
  string(REPLACE "\"" "\\\"" sql "${sql}")
  string(REPLACE "\n" "\\n\"\n\t  \"" sql "${sql}")
  string(APPEND body "\t{ \"${name}\",\n\t  \"${sql}\" },\n")
endforeach()
file(WRITE "${OUT}" "/* Made from schemas/sql by embed.cmake. */
#include \"store/internal.h\"

const struct kab_migration kab_store_migrations[] = {
${body}};
const size_t kab_store_migrations_n = sizeof(kab_store_migrations) / sizeof(kab_store_migrations[0]);
")
