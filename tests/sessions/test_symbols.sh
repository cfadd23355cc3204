#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# tests/sessions/test_symbols.sh - shared libraries have a soname and export what they promise.
#
# Goal: librocesim.so exports the functions of sessions/librocesim.symbols and nothing else, and its header
# declares each of them; the libraries that stand in for libibverbs and librdmacm have their sonames and each
# function of their version scripts.
# Method: readelf and nm on the build. A function that goes away breaks programs that are installed: raise
# the SOVERSION in CMakeLists.txt with it. After an addition, write the list anew:
# nm -D --defined-only build/release/librocesim.so | awk '{ print $3 }' | sort >sessions/librocesim.symbols
# Rerun: ctest --test-dir build/release -R '^test_symbols$' --output-on-failure
set -u
. tests/script.sh
export LC_ALL=C
command -v readelf >/dev/null || { echo "skip: no binutils"; exit 77; }

# soname FILE: prints the soname of a library.
soname() {
    readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p'
}

library=$BUILD_DIRECTORY/librocesim.so
[ "$(soname "$library")" = librocesim.so.0 ] || fail "the soname of librocesim.so is $(soname "$library")"
nm -D --defined-only "$library" | awk '{ print $3 }' | grep -v '^__\|^_fini$\|^_init$' | sort >"$work/exports"
sort sessions/librocesim.symbols | diff - "$work/exports" >"$work/said" ||
    fail "librocesim.so exports something else than sessions/librocesim.symbols: $(cat "$work/said")"
while read -r name; do
    grep -q "\b$name(" sessions/rocesim_session.h || fail "rocesim_session.h does not declare $name"
done <sessions/librocesim.symbols

for library in "$BUILD_DIRECTORY"/programs-ibverbs/*.so.1; do
    [ -e "$library" ] || continue
    name=$(basename "$library")
    [ "$(soname "$library")" = "$name" ] || fail "the soname of $name is '$(soname "$library")'"
    map=programs/${name%.so.1}.map
    [ -e "$map" ] || { fail "$name has no version script $map"; continue; }
    nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/exports"
    sed -n 's/^ *\([a-z_0-9]*\);$/\1/p' "$map" | sort -u | comm -23 - "$work/exports" >"$work/said"
    [ ! -s "$work/said" ] || fail "$name does not export what $map promises: $(tr '\n' ' ' <"$work/said")"
done
exit $((failures > 0))
