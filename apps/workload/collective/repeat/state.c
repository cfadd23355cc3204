// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/repeat/state.c - the state of collectives at rest, for fast-forward.
#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/member_channels.h"
#include "apps/workload/collective/repeat/memo.h"
#include "apps/workload/collective/repeat/rows.h"
#include "apps/workload/port.h"
#include "apps/workload/workload.h"

#include "nic/fast_forward.h"

// clang-format off
static const sim_field_t channel_fields[] = {
    APP__CHANNEL_ROWS, APP__CHANNEL_ROW(call, LAST), APP__CHANNEL_ROW(closed, COUNT),
};
static const sim_fields_t channel_type =
    SIM_FIELDS("connection", sizeof(app__member_channel_t), channel_fields);

static const sim_field_t rank_fields[] = {APP__RANK_ROWS};
static const sim_fields_t rank_type =
    SIM_FIELDS("rank", sizeof(app__coll_rank_t), rank_fields);

static const sim_field_t port_fields[] = {
    SIM_FIELD(app__port_t, nvlink.timer, IGNORE),
    SIM_FIELD(app__port_t, nvlink_in.timer, IGNORE),
};
static const sim_fields_t port_type =
    SIM_FIELDS("port of a rank", sizeof(app__port_t), port_fields);

// A span lies before or after the time when the channels of a group are joined.
static const sim_field_t group_fields[] = {SIM_FIELD(app__coll_group_t, joined, FIXED)};
static const sim_fields_t group_type = SIM_FIELDS("group", sizeof(app__coll_group_t), group_fields);
// clang-format on

static const char *list_member(const app__member_t *member, sim_state_t *list)
{
    if (member->run != NULL || member->calls.head != APP__NO_OP) {
        return "collective at work";
    }
    if (member->unsent != 0 || !app__member_channels_quiet(member)) {
        return "messages that nobody took";
    }
    for (app__member_channel_t *channel =
             SIM_LIST_FIRST(&member->channels, app__member_channel_t, link);
         channel != NULL; channel = SIM_LIST_NEXT(channel, app__member_channel_t, link)) {
        channel->phase =
            (channel->incoming ? channel->arrived.next : channel->filled) % member->all->slots;
        sim_state_add(list, &channel_type, channel);
    }
    return NULL;
}

void app__memo_list(const app__workload_t *workload, sim_state_t *list, sim_time_t *rest_ps)
{
    const app__schedule_t *const schedule = workload->schedule;
    *rest_ps = SIM_REST_PS;
    nic_state_list(workload->app.net, list, rest_ps, NIC_SPAN_FROM_REST);
    for (size_t p = 0; p < workload->collectives->plan_count; p++) {
        // A rank's processor is free again.
        *rest_ps = SIM_MAX(*rest_ps, workload->collectives->plans[p].latency.post_ps);
    }
    for (uint32_t p = 0; p < workload->port_count; p++) {
        sim_state_add(list, &port_type, &workload->ports[p]);
    }
    for (uint32_t r = 0; r < schedule->rank_count; r++) {
        sim_state_add(list, &rank_type, &workload->collectives->ranks[r]);
    }
    for (size_t g = 0; g < schedule->group_count; g++) {
        app__coll_group_t *const group = &workload->collectives->groups[g];
        sim_state_add(list, &group_type, group);
        for (uint32_t i = 0; group->members != NULL && i < schedule->groups[g].count; i++) {
            const char *const refused = list_member(&group->members[i], list);
            list->refused = refused != NULL ? refused : list->refused;
        }
    }
}
