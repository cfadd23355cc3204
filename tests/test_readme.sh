#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain long
# tests/test_readme.sh - the commands of the README and of the first page run as they stand.
#
# Goal: what a stranger types in the first ten minutes works; the README stays at 120 lines.
# Method: tests/pages.sh types each block into a shell. What it does not pin: builds and installations,
# which other tests do, and figures of the tables.
# Rerun: ctest --test-dir build/release -R '^test_readme$' --output-on-failure
set -u
. tests/script.sh
. tests/pages.sh
for page in README.md docs/getting-started.md docs/install.md docs/demo.md; do
    run_page "$page"
done
[ "$(wc -l <README.md)" -le 120 ] || fail "README.md has $(wc -l <README.md) lines, at most 120 are allowed"
entries=$(sed -n '/^nav:/,$p' mkdocs.yml | grep -c '^  - ')
[ "$entries" -le 7 ] || fail "mkdocs.yml: $entries entries at the top, at most 7 are allowed"
[ "$(grep -c '^## ' docs/README.md)" -le 7 ] || fail "docs/README.md: more than 7 sections"
version=$(sed -n 's/^project(rocesim VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
for file in python/pyproject.toml python/rocesim/__init__.py CITATION.cff; do
    grep -qF "$version" "$file" || fail "$file has another version than CMakeLists.txt: $version"
done
[ "${commands:-0}" -gt 10 ] || fail "only ${commands:-0} commands were found"
exit $((failures > 0))
