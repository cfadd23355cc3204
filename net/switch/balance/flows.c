// SPDX-License-Identifier: Apache-2.0
// net/switch/balance/flows.c - the table of flows that a load balancer keeps in a switch. It has
// room for every flow, as the published simulators have; tables of chips are smaller and collide.
#include <string.h>

#include "net/switch/balance/balance_internal.h"

#define ROOM_FIRST 64u

static char *place(const net_flows_t *flows, uint64_t key)
{
    uint32_t at = (uint32_t)key & (flows->room - 1);
    for (;;) {
        char *const entry = flows->entries + at * flows->entry_bytes;
        uint64_t found;
        memcpy(&found, entry, sizeof(found));
        if (found == key || found == 0) {
            return entry;
        }
        at = (at + 1) & (flows->room - 1);
    }
}

static void grow(net_flows_t *flows)
{
    const net_flows_t before = *flows;
    flows->room = before.room == 0 ? ROOM_FIRST : 2 * before.room;
    flows->entries = sim_alloc(flows->room * flows->entry_bytes);
    for (uint32_t i = 0; i < before.room; i++) {
        const char *const entry = before.entries + i * before.entry_bytes;
        uint64_t key;
        memcpy(&key, entry, sizeof(key));
        if (key != 0) {
            memcpy(place(flows, key), entry, before.entry_bytes);
        }
    }
    sim_free(before.entries);
}

void *net__flow_entry_beyond(net_flows_t *flows, uint64_t key)
{
    if (2 * flows->count >= flows->room) {
        grow(flows);
    }
    char *const entry = place(flows, key);
    uint64_t found;
    memcpy(&found, entry, sizeof(found));
    if (found == 0) {
        memcpy(entry, &key, sizeof(key));
        flows->count++;
    }
    return entry;
}

void net__flows_free(net_flows_t *flows)
{
    sim_free(flows->entries);
    *flows = (net_flows_t){.entry_bytes = flows->entry_bytes};
}
