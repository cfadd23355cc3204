// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/containers/fuzz_ring.c - a ring beside an array of all elements that ever entered.
//
// The first byte is the number of the first element, so that numbers wrap. Each further byte pushes
// as many elements as its low bits say, or pops them.
#include "kernel/ring.h"

#include "tests/fuzz/fuzz.h"

typedef struct element {
    uint64_t number;
    uint32_t more;
} element_t;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SIM_RING(element_t) ring = {.items = NULL};
    ring.first = ring.end = size > 0 ? (uint32_t)data[0] - 128u : 0;
    const uint32_t number_first = ring.first;
    uint64_t in = 0;
    uint64_t out = 0;
    for (size_t i = 1; i < size; i++) {
        for (unsigned k = data[i] & 63; k > 0; k--) {
            if ((data[i] & 64) == 0) {
                if ((data[i] & 128) != 0) {
                    SIM_RING_ROOM(&ring, 1u);
                }
                SIM_RING_PUSH(&ring, (element_t){in, (uint32_t)in});
                in++;
            } else if (out < in) {
                const element_t element = SIM_RING_POP(&ring);
                SIM_CHECK(element.number == out && element.more == (uint32_t)out);
                out++;
            }
        }
        SIM_CHECK(SIM_RING_COUNT(&ring) == in - out);
        SIM_CHECK(ring.capacity <= 8 || ring.capacity / 2 <= in); // it doubles when it is full
        for (uint64_t n = out; n < in; n++) {
            SIM_CHECK(SIM_RING_AT(&ring, number_first + (uint32_t)n).number == n);
        }
    }
    SIM_RING_FINI(&ring);
    return 0;
}
