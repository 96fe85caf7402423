# SPDX-License-Identifier: GPL-3.0-or-later
# Every outside library, with the Debian package that brings it: a missing one is named by package,
# because that is what the reader has to type.
find_program(KAB_PKG_CONFIG NAMES pkg-config pkgconf)
if(NOT KAB_PKG_CONFIG)
  message(FATAL_ERROR "missing pkg-config: install the Debian package 'pkg-config' (apt-get install pkg-config)")
endif()
find_package(PkgConfig QUIET REQUIRED)
find_package(Threads REQUIRED)

function(kab_need target module version package)
  pkg_check_modules(${target} QUIET IMPORTED_TARGET "${module}>=${version}")
  if(NOT ${target}_FOUND)
    message(FATAL_ERROR "missing ${module} >= ${version}: install the Debian package '${package}' "
                        "(apt-get install ${package}), or set PKG_CONFIG_PATH to where ${module}.pc is")
  endif()
  message(STATUS "${module} ${${target}_VERSION}")
endfunction()

kab_need(JANSSON jansson 2.13 libjansson-dev)
kab_need(CRYPTO libcrypto 3.0 libssl-dev)
kab_need(GSL gsl 2.7 libgsl-dev)
kab_need(PCRE2 libpcre2-8 10.40 libpcre2-dev)
kab_need(LIBSSH2 libssh2 1.10 libssh2-1-dev)
kab_need(SQLITE sqlite3 3.38 libsqlite3-dev)
kab_need(ZSTD libzstd 1.5 libzstd-dev)
kab_need(CURL libcurl 7.80 libcurl4-openssl-dev)
if(KAB_TESTS OR NOT DEFINED KAB_TESTS)
  pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET "cmocka>=1.1.5")
  if(NOT CMOCKA_FOUND)
    message(FATAL_ERROR "missing cmocka >= 1.1.5: install the Debian package 'libcmocka-dev' "
                        "(apt-get install libcmocka-dev), or configure with -DKAB_TESTS=OFF")
  endif()
endif()
