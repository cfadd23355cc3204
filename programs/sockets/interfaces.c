// SPDX-License-Identifier: Apache-2.0
// programs/sockets/interfaces.c - the network interfaces of the program's host: lo, and one a NIC.

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "programs/files/terminals.h"
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

static bool is_v4(const uint8_t address[16])
{
    static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff};
    return memcmp(address, v4_prefix, sizeof v4_prefix) == 0;
}

// An interface, by its index minus 1: lo, eth0, eth1...
typedef struct interface {
    char name[IF_NAMESIZE];
    uint8_t address[16];
    unsigned int flags;
    int mtu_bytes;
    const uint8_t *mac; // NULL: lo
} interface_t;

static interface_t interface_at(unsigned int place)
{
    static const uint8_t loopback[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
    interface_t interface = {.name = "lo",
                             .flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK,
                             .mtu_bytes = 65536};
    memcpy(interface.address, loopback, sizeof loopback);
    if (place != 0) {
        const program_device_t *device = &turn_shared->devices[place - 1];
        snprintf(interface.name, sizeof interface.name, "eth%u", place - 1);
        memcpy(interface.address, device->gid, sizeof device->gid);
        interface.flags = IFF_UP | IFF_RUNNING | IFF_BROADCAST | IFF_MULTICAST;
        interface.mtu_bytes = device->mtu_bytes > 1024 ? 9000 : 1500;
        interface.mac = device->mac;
    }
    return interface;
}

// Writes the address of an interface, or its mask: 8 bits of IPv4, where all hosts share a network,
// or 64 of IPv6.
static void put_address(const interface_t *interface, bool of_mask,
                        struct sockaddr_storage *address)
{
    const bool v4 = is_v4(interface->address);
    program_name_t name = {0};
    memcpy(name.address, interface->address, 16);
    if (of_mask) {
        memset(name.address, 0xff, v4 ? 13 : 8);
        memset(name.address + (v4 ? 13 : 8), 0, v4 ? 3 : 8);
    }
    (void)names_write(v4 ? AF_INET : AF_INET6, &name, address);
}

PROGRAM_EXPORT int getifaddrs(struct ifaddrs **result)
{
    if (!turn_on()) {
        return PROGRAM_NEXT(getifaddrs)(result);
    }
    const size_t count = turn_shared->device_count + 1;
    entry_t *entries = calloc(count, sizeof *entries);
    if (entries == NULL) {
        return -1;
    }
    for (unsigned int i = 0; i < count; i++) {
        entry_t *entry = &entries[i];
        const interface_t interface = interface_at(i);
        memcpy(entry->name, interface.name, sizeof entry->name);
        put_address(&interface, false, &entry->address);
        put_address(&interface, true, &entry->mask);
        entry->head.ifa_name = entry->name;
        entry->head.ifa_flags = interface.flags;
        entry->head.ifa_addr = (struct sockaddr *)&entry->address;
        entry->head.ifa_netmask = (struct sockaddr *)&entry->mask;
        entry->head.ifa_next = i + 1 < count ? &entries[i + 1].head : NULL;
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

// -- ioctl: the older way to the same

// Lists the interfaces with an address of IPv4.
static int list_interfaces(struct ifconf *list)
{
    int used = 0;
    for (unsigned int i = 0; i <= turn_shared->device_count; i++) {
        const interface_t interface = interface_at(i);
        if (!is_v4(interface.address)) {
            continue;
        }
        if (list->ifc_req != NULL) {
            struct ifreq entry = {0};
            struct sockaddr_storage address;
            if (used + (int)sizeof entry > list->ifc_len) {
                break;
            }
            memcpy(entry.ifr_name, interface.name, sizeof entry.ifr_name);
            put_address(&interface, false, &address);
            memcpy(&entry.ifr_addr, &address, sizeof entry.ifr_addr);
            memcpy((char *)list->ifc_buf + used, &entry, sizeof entry);
        }
        used += (int)sizeof(struct ifreq);
    }
    list->ifc_len = used;
    return 0;
}

// Answers a question about the interface `entry->ifr_name`, or with SIOCGIFNAME about its index.
static int ask_interface(unsigned long request, struct ifreq *entry)
{
    struct sockaddr_storage address;
    if (request == SIOCGIFNAME) {
        const unsigned int index = (unsigned int)entry->ifr_ifindex;
        return if_indextoname(index, entry->ifr_name) == NULL ? (errno = ENODEV, -1) : 0;
    }
    entry->ifr_name[IF_NAMESIZE - 1] = '\0';
    const unsigned int index = if_nametoindex(entry->ifr_name);
    if (index == 0) {
        return -1;
    }
    const interface_t interface = interface_at(index - 1);
    switch (request) {
    case SIOCGIFINDEX:
        entry->ifr_ifindex = (int)index;
        return 0;
    case SIOCGIFFLAGS:
        entry->ifr_flags = (short)interface.flags;
        return 0;
    case SIOCGIFMTU:
        entry->ifr_mtu = interface.mtu_bytes;
        return 0;
    case SIOCGIFHWADDR:
        memset(&entry->ifr_hwaddr, 0, sizeof entry->ifr_hwaddr);
        entry->ifr_hwaddr.sa_family = interface.mac == NULL ? ARPHRD_LOOPBACK : ARPHRD_ETHER;
        if (interface.mac != NULL) {
            memcpy(entry->ifr_hwaddr.sa_data, interface.mac, 6);
        }
        return 0;
    default: // SIOCGIFADDR, SIOCGIFNETMASK
        if (!is_v4(interface.address)) {
            errno = EADDRNOTAVAIL;
            return -1;
        }
        put_address(&interface, request == SIOCGIFNETMASK, &address);
        memcpy(&entry->ifr_addr, &address, sizeof entry->ifr_addr);
        return 0;
    }
}

PROGRAM_EXPORT int ioctl(int descriptor, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (terminals_has(descriptor) && terminals_control(request, argument)) {
        return 0;
    }
    if (turn_on() && argument != NULL) {
        switch (request) {
        case SIOCGIFCONF:
            return list_interfaces(argument);
        case SIOCGIFNAME:
        case SIOCGIFINDEX:
        case SIOCGIFFLAGS:
        case SIOCGIFMTU:
        case SIOCGIFHWADDR:
        case SIOCGIFADDR:
        case SIOCGIFNETMASK:
            return ask_interface(request, argument);
        default:
            break;
        }
    }
    return PROGRAM_NEXT(ioctl)(descriptor, request, argument);
}
