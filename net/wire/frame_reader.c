// SPDX-License-Identifier: Apache-2.0
// net/wire/frame_reader.c - the checks that every step of parsing a frame needs.
#include "net/wire/frame_reader.h"

sim_err_t net__frame_require(const net__frame_reader_t *reader, const char *what, size_t needed)
{
    const size_t left = reader->end - reader->offset;
    if (needed <= left) {
        return SIM_OK;
    }
    return sim_fail(reader->message, SIM_ERR_INVALID,
                    "frame byte %zu: %s needs %zu bytes, %zu are left", reader->offset, what,
                    needed, left);
}

size_t net__frame_first_nonzero(const uint8_t *bytes, size_t size_bytes)
{
    size_t i = 0;
    while (i < size_bytes && bytes[i] == 0) {
        i++;
    }
    return i;
}

sim_err_t net__frame_require_zeros(const net__frame_reader_t *reader, const char *what, size_t to)
{
    const size_t size_bytes = to - reader->offset;
    const size_t at = net__frame_first_nonzero(reader->bytes + reader->offset, size_bytes);
    if (at == size_bytes) {
        return SIM_OK;
    }
    return sim_fail(reader->message, SIM_ERR_INVALID, "frame byte %zu: %s is 0x%02x, must be zero",
                    reader->offset + at, what, reader->bytes[reader->offset + at]);
}
