// SPDX-License-Identifier: Apache-2.0
// kernel/fast_forward/value.h - reads and writes fields of 4 or 8 bytes.
#ifndef KERNEL_FAST_FORWARD_VALUE_H
#define KERNEL_FAST_FORWARD_VALUE_H

#include <string.h>

#include "kernel/base.h"

static inline uint64_t sim__field_value(const char *at, uint16_t bytes)
{
    uint64_t value = 0;
    uint32_t half = 0;
    if (bytes == sizeof(half)) {
        memcpy(&half, at, sizeof(half));
        return half;
    }
    SIM_CHECK(bytes == sizeof(value));
    memcpy(&value, at, sizeof(value));
    return value;
}

static inline void sim__field_set(char *at, uint16_t bytes, uint64_t value)
{
    const uint32_t half = (uint32_t)value;
    memcpy(at, bytes == sizeof(half) ? (const void *)&half : (const void *)&value, bytes);
}

#endif // KERNEL_FAST_FORWARD_VALUE_H
