// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/fuzz_canary.c - a target with a planted bug, which tools/fuzz must find.
//
// Three bytes must be right one after another, so that blind chance (1 in 2^24) does not find it
// within the runs allowed, and coverage feedback does at once. The replay in the test suite has the
// bug's own input in its corpus only in part and must not fail.
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size >= 3 && data[0] == 'R' && data[1] == 'o') {
        if (data[2] == 'C') {
            fputs("the planted bug\n", stderr);
            abort();
        }
    }
    return 0;
}
