// SPDX-License-Identifier: Apache-2.0
// apps/programs/management/groups.h - the members of multicast groups, as one host knows them.
//
// A host that attaches a queue pair to a group sends that to all hosts with programs, over the hub
// (sockets.h), as IGMP would. The network copies no packets: the NIC that sends a datagram to a
// group sends one to each member (ingress replication).
#ifndef APPS_PROGRAMS_MANAGEMENT_GROUPS_H
#define APPS_PROGRAMS_MANAGEMENT_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define APP__GROUP_QPN 0xffffffu // the queue pair of datagrams to a group
#define APP__GROUP_MEMBERS_MAX 1024u

typedef struct app__member {
    uint8_t group[16];
    uint32_t interface;
    uint32_t qp_num;
} app__member_t;

typedef struct app__groups {
    app__member_t *members; // by group, interface and number
    size_t count;
    size_t capacity;
} app__groups_t;

// Returns true for the address of a group: IPv4 mapped into IPv6, or IPv6.
bool app__is_group(const uint8_t address[16]);
// Adds or removes a member. Returns false if nothing changed, or the group is full.
bool app__groups_change(app__groups_t *groups, const app__member_t *member, bool joins);
// Returns the members of a group, in order, and their number.
const app__member_t *app__groups_find(const app__groups_t *groups, const uint8_t group[16],
                                      size_t *count);
void app__groups_fini(app__groups_t *groups);

#endif // APPS_PROGRAMS_MANAGEMENT_GROUPS_H
