// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/collectives.h - the collectives of a schedule: their plans, groups and
// hosts, and what ranks have done.
//
// Plans and layouts never change during the run. Only events of a rank's host touch its members.
#ifndef APPS_WORKLOAD_COLLECTIVE_COLLECTIVES_H
#define APPS_WORKLOAD_COLLECTIVE_COLLECTIVES_H

#include "apps/app.h"
#include "apps/workload/collective/member.h"
#include "apps/workload/collective/msccl/msccl.h"
#include "apps/workload/collective/record.h"
#include "apps/workload/run_options.h"

typedef struct app__workload app__workload_t;

// The state of a rank for its collectives.
typedef struct app__coll_rank {
    app__member_t **members; // by group
    uint32_t member_count;
    app__coll_host_t *host;
    uint32_t node; // number of its node
    uint32_t rail; // its place among the ranks of its node
    app__coll_record_t *records;
    size_t record_count;
    size_t record_capacity;
    sim_time_t posts_ps; // when its processor posts the latest message to another node
    uint64_t messages;
    uint64_t bytes; // sent, on the wire
} app__coll_rank_t;

struct app__collectives {
    app__workload_t *workload;
    app__coll_options_t options;
    app__msccl_t file; // the algorithm that options.algorithm_file names; program NULL: none
    bool file_used;    // by some plan
    const app__algorithm_t *wanted; // options.algorithm; NULL: auto
    bool wanted_used;               // by some plan
    const char *refusal;            // why it cannot do some call; NULL: it can
    app__coll_plan_t *plans;
    size_t plan_count;
    size_t plan_capacity;
    uint32_t *plan_of; // per call
    app__coll_group_t *groups;
    app__coll_rank_t *ranks;
    app__coll_host_t *hosts;
    uint32_t host_count;
    uint32_t slots;       // queue pairs of a channel: those that stay, or of messages under way
    uint64_t records_max; // of a rank
    uint64_t first_flow_id;
};

static inline app__coll_rank_t *app__member_rank(const app__member_t *member)
{
    return &member->all->ranks[member->rank->number];
}

// Returns how many channels a block of a member stands for, and a message.
static inline uint32_t app__member_width(const app__member_t *member)
{
    const app__coll_group_t *const group = &member->all->groups[member->group];
    return group->joined ? group->width : 1;
}

// Counts the events of the other channels that an event of a block or a message stands for.
static inline void app__count_others(const app__member_t *member)
{
    member->rank->node->events += app__member_width(member) - 1;
}

// Makes what the schedule's collectives need: workload->collectives, also after an error. The
// message begins with the name of an attribute.
SIM_MUST_CHECK sim_err_t app__collectives_create(const app_context_t *context,
                                                 app__workload_t *workload, sim_message_t *message);
void app__collectives_destroy(app__collectives_t *collectives); // NULL is allowed
// Returns whether all messages of collectives are acknowledged, and nothing is on its way.
bool app__collectives_quiet(const app__workload_t *workload);
// Frees the channels of collectives that are quiet.
void app__collectives_retire(const app__workload_t *workload);
// Gives back the QP numbers of a workload's collectives, if it has any.
void app__collectives_return(const app__workload_t *workload);
void app__coll_begin(app__rank_t *rank, uint32_t op); // the rank calls a collective

// Reads the sizes of an all-to-all: ranks x ranks numbers. The caller frees *matrix with sim_free.
SIM_MUST_CHECK sim_err_t app__coll_read_matrix(const app_context_t *context, const char *name,
                                               uint32_t ranks, uint64_t **matrix,
                                               sim_message_t *message);

// Fills collectives->ranks' hosts, nodes and rails, and the layouts of groups, with `inside`.
void app__coll_layouts(app__collectives_t *collectives);

#endif // APPS_WORKLOAD_COLLECTIVE_COLLECTIVES_H
