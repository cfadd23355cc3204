#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow plain long
# tests/test_guides.sh - the commands of the guides and of the gallery run as they stand.
#
# Goal: each guide leads from its question to its answer.
# Method: tests/pages.sh types each block into a shell; TEST_LONG=1 (make test-slow) also the slow ones.
# What it does not pin: the text of the answers.
# Rerun: ctest --test-dir build/release -R '^test_guides$' --output-on-failure
# GUIDES="docs/guides/operator.md" runs some pages.
set -u
. tests/script.sh
. tests/pages.sh
for page in ${GUIDES:-docs/guides/*.md docs/gallery.md docs/faq.md}; do
    run_page "$page"
done
[ -n "${GUIDES:-}" ] || [ "${commands:-0}" -gt 60 ] || fail "only ${commands:-0} commands were found"
exit $((failures > 0))
