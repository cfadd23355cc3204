#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain
# tests/test_site.sh - all pages become a site without a dead link.
#
# Goal: each page of the tree can be reached, and each link leads somewhere.
# Method: tools/docs builds the site strictly; a page with a dead link, and one that no list names, fail. The
# links of the technical report lead to the pages of the site.
# Does not pin: links to other sites, and what the pages look like.
set -u
. tests/script.sh

command -v mkdocs >/dev/null || { echo "skip: mkdocs is not installed" && exit 77; }
tools/docs "$work/docs" >"$work/out" 2>&1 || fail "$(cat "$work/out")"
grep -q 'href="docs/glossary.html"' "$work/docs/site/index.html" || fail "the glossary cannot be reached"
[ -s "$work/docs/site/search/search_index.json" ] || fail "nothing to search in"

# The technical report, whose links lead to the site's pages and to its own headings.
docs/report/make "$work/report" >"$work/out" 2>&1 || fail "the report: $(cat "$work/out")"
if [ -s "$work/report/report.html" ]; then
    grep -o 'href="[^"#:]*\.html' "$work/report/report.html" | sed 's/href="//' | sort -u >"$work/pages"
    [ "$(wc -l <"$work/pages")" -gt 20 ] || fail "the report has links to $(wc -l <"$work/pages") pages"
    while read -r page; do
        [ -s "$work/docs/site/$page" ] || fail "the report: the site has no $page"
    done <"$work/pages"
    grep -o 'href="#[^"]*' "$work/report/report.html" | sed 's/href="#//' | sort -u | while read -r anchor; do
        grep -qF "id=\"$anchor\"" "$work/report/report.html" || echo "$anchor"
    done >"$work/dead"
    [ ! -s "$work/dead" ] || fail "the report has no headings $(cat "$work/dead")"
fi

# A scratch copy of the pages, broken in two ways.
git ls-files -z '*.md' mkdocs.yml tools/docs docs/pictures '*.png' '*.svg' '*.c' '*.lua' |
    xargs -0 cp --parents -t "$work"
cd "$work" && git init -q . || exit 1
echo 'See [nothing](nothing.md).' >>docs/glossary.md
echo '# Alone' >docs/alone.md
tools/docs --check >out 2>&1 && fail "broken pages are taken for good ones"
grep -q 'docs/glossary.md:[0-9]*: the link nothing.md names no file' out || fail "no dead link: $(cat out)"
grep -q 'nav does not name docs/alone.md' out || fail "no page that nav does not name: $(cat out)"
grep -q 'docs/README.md:1: does not list docs/alone.md' out || fail "no page that is not listed: $(cat out)"
[ $failures -eq 0 ] || {
    echo "rerun: ctest --test-dir build/release -R '^test_site$' --output-on-failure"
    exit 1
}
