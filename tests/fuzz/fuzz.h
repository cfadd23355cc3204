// SPDX-License-Identifier: Apache-2.0
// tests/fuzz/fuzz.h - what a fuzz target defines: libFuzzer's entry, called by libFuzzer or replay.
//
// A target must give the same behaviour for the same bytes, free what it allocates, and find wrong
// answers, not crashes only: check round trips and invariants with SIM_CHECK.
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

// Returns 0. data is not 0-terminated and may be NULL when size is 0.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif // TESTS_FUZZ_FUZZ_H
