// SPDX-License-Identifier: Apache-2.0
// programs/sockets/interfaces.c - the network interfaces of the program's host: lo, and one a NIC.

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "programs/sockets/names.h"
#include "programs/turn.h"

// The interface of device i is called ethI and has the index i + 2.
#define FIRST_INDEX 2u

PROGRAM_EXPORT unsigned int if_nametoindex(const char *name)
{
    unsigned int device = 0;
    char end;
    if (!turn_on()) {
        return PROGRAM_NEXT(if_nametoindex)(name);
    }
    if (strcmp(name, "lo") == 0) {
        return 1;
    }
    // NOLINTNEXTLINE(cert-err34-c): a number that is too large names no device
    if (sscanf(name, "eth%u%c", &device, &end) == 1 && device < turn_shared->device_count) {
        return device + FIRST_INDEX;
    }
    errno = ENODEV;
    return 0;
}

PROGRAM_EXPORT char *if_indextoname(unsigned int index, char name[IF_NAMESIZE])
{
    if (!turn_on()) {
        return PROGRAM_NEXT(if_indextoname)(index, name);
    }
    if (index == 1) {
        return memcpy(name, "lo", sizeof("lo"));
    }
    if (index < FIRST_INDEX || index - FIRST_INDEX >= turn_shared->device_count) {
        errno = ENXIO;
        return NULL;
    }
    snprintf(name, IF_NAMESIZE, "eth%u", index - FIRST_INDEX);
    return name;
}

// One allocation, which freeifaddrs() frees: the first entry is its beginning.
typedef struct entry {
    struct ifaddrs head;
    char name[IF_NAMESIZE];
    struct sockaddr_storage address;
    struct sockaddr_storage mask;
} entry_t;

static void fill(entry_t *entry, const char *name, const uint8_t address[16], unsigned int flags,
                 uint8_t mask_bits)
{
    static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff};
    const bool v4 = memcmp(address, v4_prefix, sizeof v4_prefix) == 0;
    program_name_t own = {0};
    program_name_t mask = {0};
    memcpy(own.address, address, 16);
    for (unsigned i = 0; i < 128; i++) {
        if ((v4 && i < 96) || i < (v4 ? 96u + mask_bits : 64u)) {
            mask.address[i / 8] = (uint8_t)(mask.address[i / 8] | 0x80 >> i % 8);
        }
    }
    snprintf(entry->name, sizeof entry->name, "%s", name);
    (void)names_write(v4 ? AF_INET : AF_INET6, &own, &entry->address);
    (void)names_write(v4 ? AF_INET : AF_INET6, &mask, &entry->mask);
    entry->head.ifa_name = entry->name;
    entry->head.ifa_flags = flags;
    entry->head.ifa_addr = (struct sockaddr *)&entry->address;
    entry->head.ifa_netmask = (struct sockaddr *)&entry->mask;
}

PROGRAM_EXPORT int getifaddrs(struct ifaddrs **result)
{
    static const uint8_t loopback[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
    if (!turn_on()) {
        return PROGRAM_NEXT(getifaddrs)(result);
    }
    const size_t count = turn_shared->device_count + 1;
    entry_t *entries = calloc(count, sizeof *entries);
    if (entries == NULL) {
        return -1;
    }
    fill(&entries[0], "lo", loopback, IFF_UP | IFF_RUNNING | IFF_LOOPBACK, 8);
    for (unsigned int i = 1; i < count; i++) {
        char name[IF_NAMESIZE];
        snprintf(name, sizeof name, "eth%u", i - 1);
        fill(&entries[i], name, turn_shared->devices[i - 1].gid,
             IFF_UP | IFF_RUNNING | IFF_BROADCAST | IFF_MULTICAST, 8);
        entries[i - 1].head.ifa_next = &entries[i].head;
    }
    *result = &entries[0].head;
    return 0;
}

PROGRAM_EXPORT void freeifaddrs(struct ifaddrs *list)
{
    if (!turn_on()) {
        PROGRAM_NEXT(freeifaddrs)(list);
        return;
    }
    free(list);
}
