// SPDX-License-Identifier: Apache-2.0
// programs/verbs/objects.c - the table of objects by handle, and pipes of events.

#include "programs/verbs/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "programs/parts.h"
#include "programs/process/descriptors.h"
#include "programs/process/signals.h"
#include "programs/system.h"
#include "programs/threads/threads.h"

typedef struct slot {
    uint64_t key; // 0: free
    void *object; // NULL, with a key: the object was removed
} slot_t;

static slot_t *slots;
static size_t slot_count; // a power of two
static size_t used_count; // slots with a key

static uint64_t key_of(verbs_kind_t kind, uint32_t handle)
{
    return (uint64_t)kind << 32 | handle;
}

// Returns the slot of a key, or the free one where it belongs.
static slot_t *slot_of(slot_t *table, size_t count, uint64_t key)
{
    size_t at = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (count - 1);
    while (table[at].key != 0 && table[at].key != key) {
        at = (at + 1) & (count - 1);
    }
    return &table[at];
}

static int grow(void)
{
    const size_t count = slot_count == 0 ? 256 : slot_count * 2;
    slot_t *table = calloc(count, sizeof *table);
    if (table == NULL) {
        return ENOMEM;
    }
    used_count = 0;
    for (size_t i = 0; i < slot_count; i++) {
        if (slots[i].object != NULL) {
            *slot_of(table, count, slots[i].key) = slots[i];
            used_count++;
        }
    }
    slot_t *before = slots;
    turn_hold(); // a handler of a signal sees the old table or the new one
    slots = table;
    slot_count = count;
    turn_release();
    free(before);
    return 0;
}

int verbs_add(verbs_kind_t kind, uint32_t handle, void *object)
{
    if ((used_count + 1) * 2 > slot_count && grow() != 0) {
        return ENOMEM;
    }
    slot_t *slot = slot_of(slots, slot_count, key_of(kind, handle));
    used_count += slot->key == 0;
    slot->object = object;
    slot->key = key_of(kind, handle);
    return 0;
}

void *verbs_find(verbs_kind_t kind, uint32_t handle)
{
    return slot_count == 0 ? NULL : slot_of(slots, slot_count, key_of(kind, handle))->object;
}

void verbs_remove(verbs_kind_t kind, uint32_t handle)
{
    if (slot_count != 0) {
        slot_of(slots, slot_count, key_of(kind, handle))->object = NULL;
    }
}

int verbs_create_pipe(int ends[2])
{
    if (system_call(SYS_pipe2, ends, O_CLOEXEC) != 0) {
        return errno;
    }
    ends[1] = descriptors_hide(ends[1]);
    system_call(SYS_fcntl, ends[1], F_SETFL, O_NONBLOCK);
    return 0;
}

int verbs_take_event(int descriptor, turn_idle_t *idle, verbs_event_t *event)
{
    turn_charge_call();
    const uint64_t before = signals_interrupts;
    for (;;) {
        struct pollfd ready = {.fd = descriptor, .events = POLLIN};
        if (system_call(SYS_poll, &ready, 1, 0) < 0) {
            return -1;
        }
        if (ready.revents != 0) {
            return system_call(SYS_read, descriptor, event, sizeof *event) == (long)sizeof *event
                       ? 0
                       : -1;
        }
        if (signals_interrupts != before) {
            errno = EINTR;
            return -1;
        }
        if ((system_call(SYS_fcntl, descriptor, F_GETFL) & O_NONBLOCK) != 0) {
            (void)turn_idle_pause(idle);
            if (system_call(SYS_poll, &ready, 1, 0) == 1) {
                continue;
            }
            errno = EAGAIN;
            return -1;
        }
        (void)turn_wait(PROGRAM_ON_EVENT | PROGRAM_ON_SIGNAL, PROGRAM_NEVER);
        threads_cancel_point();
    }
}
