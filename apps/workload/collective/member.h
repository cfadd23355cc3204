// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/member.h - members: the ranks of a group, whose calls run one after the
// other, and the work of their hosts.
#ifndef APPS_WORKLOAD_COLLECTIVE_MEMBER_H
#define APPS_WORKLOAD_COLLECTIVE_MEMBER_H

#include "apps/workload/collective/run.h"
#include "apps/workload/rank.h"
#include "kernel/map.h"

typedef struct app__collectives app__collectives_t;

struct app__member {
    app__collectives_t *all;
    app__rank_t *rank;
    uint32_t group;
    uint32_t number;       // within the group
    uint64_t *position;    // per port of the rank: of its first QP number
    app__op_queue_t calls; // that wait
    app__coll_run_t *run;  // NULL: none
    uint32_t unsent;       // messages whose memory the NIC still needs
    sim_list_t channels;
    sim_map_t channel_of; // channels by peer, lane and direction
};

typedef struct app__coll_group {
    app__layout_t layout;
    app__member_t *members; // by number
    bool inside;            // all of them are on one host
    uint32_t lanes;         // most of its plans
    uint32_t width;         // that of all its plans; 1: they differ
    bool joined;            // blocks of channel 0 stand for all channels
} app__coll_group_t;

// Something to do at a member: advance a block, or start its next call.
typedef struct app__coll_work {
    app__member_t *member;
    uint32_t block; // APP__NO_BLOCK: none
} app__coll_work_t;

// The work of a host's members, in the order in which it came up.
typedef struct app__coll_host {
    app__coll_work_t *work;
    size_t work_count;
    size_t work_capacity;
    bool working;
    sim_list_t spare_comings;
} app__coll_host_t;

void app__coll_wake(app__member_t *member, uint32_t block); // adds work; app__coll_work_all does it
void app__coll_work_all(app__coll_host_t *host);

#endif // APPS_WORKLOAD_COLLECTIVE_MEMBER_H
