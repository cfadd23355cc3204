// SPDX-License-Identifier: Apache-2.0
// programs/process/descriptors.c - descriptors that belong to the library.

#include "programs/process/descriptors.h"

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#include "programs/protocol.h"
#include "programs/system.h"
#include "programs/turn.h"

#define HIDDEN_MAX 16384

static uint64_t hidden[HIDDEN_MAX / 64];

int descriptors_hide(int descriptor)
{
    if (descriptor < 0) {
        return descriptor;
    }
    const int high =
        (int)system_call(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, (long)PROGRAM_MEMORY_FD + 1);
    if (high < 0 || high >= DESCRIPTORS_HIDDEN + HIDDEN_MAX) {
        return descriptor;
    }
    system_call(SYS_close, descriptor);
    const unsigned bit = (unsigned)(high - DESCRIPTORS_HIDDEN);
    hidden[bit / 64] |= UINT64_C(1) << bit % 64;
    return high;
}

bool descriptors_hidden(int descriptor)
{
    if (!turn_on() || descriptor < DESCRIPTORS_HIDDEN ||
        descriptor >= DESCRIPTORS_HIDDEN + HIDDEN_MAX) {
        return false;
    }
    const unsigned bit = (unsigned)(descriptor - DESCRIPTORS_HIDDEN);
    return descriptor <= PROGRAM_MEMORY_FD || (hidden[bit / 64] >> bit % 64 & 1) != 0;
}

void descriptors_close(int descriptor)
{
    if (descriptors_hidden(descriptor)) {
        const unsigned bit = (unsigned)(descriptor - DESCRIPTORS_HIDDEN);
        hidden[bit / 64] &= ~(UINT64_C(1) << bit % 64);
    }
    system_call(SYS_close, descriptor);
}
