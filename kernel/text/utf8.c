// SPDX-License-Identifier: Apache-2.0
// kernel/text/utf8.c - how many bytes a character of UTF-8 has.
#include "kernel/utf8.h"

size_t sim_utf8_bytes(const unsigned char *bytes, size_t left)
{
    const unsigned char first = bytes[0];
    if (first < 0x80) {
        return 1;
    }
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || length > left) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const bool bad = (first == 0xe0 && bytes[1] < 0xa0) || (first == 0xed && bytes[1] > 0x9f) ||
                     (first == 0xf0 && bytes[1] < 0x90) || (first == 0xf4 && bytes[1] > 0x8f);
    return bad ? 0 : length;
}
