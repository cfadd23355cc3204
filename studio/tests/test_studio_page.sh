#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# studio/tests/test_studio_page.sh - the studio's page in a real browser.
# labels: slow plain waits
#
# Goal: every view works for people who click through it, and tells what is wrong.
# Method: studio/tests/studio_page.mjs with Debian's chromium; it leaves pictures of what fails in
# build/studio-pictures, and with ALL_PICTURES=1 of every view. STUDIO_PAGE_STEPS="login run" runs only these
# steps. Not pinned: other browsers; builds other than release, whose page is the same.
set -eu
. tests/script.sh

program=$BUILD_DIRECTORY/rocesim-studio
[ "$(basename "$BUILD_DIRECTORY")" = release ] || { echo "skip: in the release build only"; exit 77; }
[ -x "$program" ] || { echo "skip: rocesim-studio is not built"; exit 77; }
command -v npm >/dev/null || { echo "skip: npm is not installed"; exit 77; }
browser=$(command -v chromium || command -v chromium-browser || true)
[ -n "$browser" ] || { echo "skip: chromium is not installed"; exit 77; }
page=$BUILD_DIRECTORY/studio-page
if [ ! -d studio/page/node_modules ] && ! timeout 120 tools/studio-page "$page" >"$work/npm.log" 2>&1; then
    echo "skip: npm could not install the page's packages: $(tail -n 1 "$work/npm.log")"
    exit 77
fi
timeout 300 tools/studio-page "$page" || fail "the page does not build"
timeout 300 tools/studio-page --check || fail "the page's types, format or linter's rules"

WORK=$work timeout 300 node studio/tests/studio_outline.mjs || fail "the outline of scenarios"
mkdir -p build/studio-pictures
# A browser on a machine of others fails now and then: what fails twice is the page's fault.
for attempt in 1 2; do
    rm -rf "$work/data"
    PROGRAM=$program BROWSER=$browser PAGE=$page WORK=$work PICTURES=build/studio-pictures \
        timeout 900 node studio/tests/studio_page.mjs && break
    [ $attempt = 1 ] || fail "the page, twice (its steps are above)"
done
exit $((failures > 0))
