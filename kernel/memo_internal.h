// SPDX-License-Identifier: Apache-2.0
// kernel/memo_internal.h - values of fields of 4 or 8 bytes, for kernel/memo.c and kernel/period.c.
#ifndef KERNEL_MEMO_INTERNAL_H
#define KERNEL_MEMO_INTERNAL_H

#include <string.h>

#include "kernel/base.h"

static inline uint64_t sim__memo_value(const char *at, uint16_t bytes)
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

static inline void sim__memo_set(char *at, uint16_t bytes, uint64_t value)
{
    const uint32_t half = (uint32_t)value;
    memcpy(at, bytes == sizeof(half) ? (const void *)&half : (const void *)&value, bytes);
}

#endif // KERNEL_MEMO_INTERNAL_H
