#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/test_install.sh - an installed rocesim serves a tree of one's own.
#
# Goal: headers, library and rocesim.pc are complete: each example compiles from outside the
# repository with nothing but pkg-config, and runs; each header that is installed compiles alone.
# Method: installs the build under test into a scratch folder.
# Does not pin: where a distribution would put the files.
set -eu

if ! grep -q '^CMAKE_BUILD_TYPE:STRING=Release$' "$BUILD_DIRECTORY/CMakeCache.txt"; then
    echo "skip: only a release build is installed"
    exit 77
fi
root=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$BUILD_DIRECTORY" --prefix "$scratch/root" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$scratch/root" -name rocesim.pc)")
export PKG_CONFIG_PATH

cd "$scratch"
compiled=0
for source in "$root"/examples/*.c; do
    [ -e "$source" ] || continue
    # shellcheck disable=SC2046 # a list of flags
    cc -std=c11 -D_DEFAULT_SOURCE "$source" $(pkg-config --cflags --libs rocesim) -o example
    ./example >/dev/null
    compiled=$((compiled + 1))
done
for header in $(cd "$scratch/root/include/rocesim" && find . -name '*.h' -printf '%P\n'); do
    printf '#include "%s"\nint main(void)\n{\n    return 0;\n}\n' "$header" >header.c
    # shellcheck disable=SC2046 # a list of flags
    cc -std=c11 -fsyntax-only header.c $(pkg-config --cflags rocesim)
done
"$scratch/root/bin/rocesim" --version
echo "$compiled examples compiled and run"
