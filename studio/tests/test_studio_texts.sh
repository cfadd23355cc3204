#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# studio/tests/test_studio_texts.sh - the Chinese catalogue has every text of the program that the page shows.
#
# Goal: a person who reads Chinese alone understands the library, attributes, the story of a run, its causes,
# its warnings, its pages, its numbers and tables, and the errors of the server.
# Method: what the program itself lists (rocesim schema, rocesim list) and the strings of the sources that
# make sentences are looked up in studio/page/src/i18n/told_zh.json. No entry there is stale, and no sentence
# uses a value that its English text lacks.
# Not pinned: texts of the page itself, which do not compile in one language alone.
set -u
. tests/script.sh

python3 studio/tests/studio_texts.py "$ROCESIM" || fail "studio/page/src/i18n/told_zh.json is not complete"
exit $((failures > 0))
