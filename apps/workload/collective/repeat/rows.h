// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/repeat/rows.h - rows of structs that both ways of skipping collectives
// have alike: from rest to rest (state.c), and over whole calls (loops.c).
#ifndef APPS_WORKLOAD_COLLECTIVE_REPEAT_ROWS_H
#define APPS_WORKLOAD_COLLECTIVE_REPEAT_ROWS_H

#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/member_channels.h"

// clang-format off
#define APP__CHANNEL_ROW(member_, kind_) SIM_FIELD(app__member_channel_t, member_, kind_)
#define APP__CHANNEL_ROWS                                                                        \
    APP__CHANNEL_ROW(phase, STATE), APP__CHANNEL_ROW(call_first, COUNT),                         \
    APP__CHANNEL_ROW(filled, COUNT), APP__CHANNEL_ROW(posted, COUNT),                            \
    APP__CHANNEL_ROW(allowed.next, COUNT), APP__CHANNEL_ROW(allowed.ahead, STATE),               \
    APP__CHANNEL_ROW(acked.next, COUNT), APP__CHANNEL_ROW(acked.ahead, STATE),                   \
    APP__CHANNEL_ROW(arrived.next, COUNT), APP__CHANNEL_ROW(arrived.ahead, STATE),               \
    APP__CHANNEL_ROW(visible.next, COUNT), APP__CHANNEL_ROW(visible.ahead, STATE),               \
    APP__CHANNEL_ROW(ack_ps, STATE), APP__CHANNEL_ROW(consumed, COUNT),                          \
    APP__CHANNEL_ROW(permitted, COUNT), APP__CHANNEL_ROW(timer, IGNORE),                         \
    APP__CHANNEL_ROW(passive.left, COUNT), APP__CHANNEL_ROW(passive.done, COUNT)

#define APP__RANK_ROW(member_, kind_) SIM_FIELD(app__coll_rank_t, member_, kind_)
#define APP__RANK_ROWS                                                                           \
    APP__RANK_ROW(messages, COUNT), APP__RANK_ROW(bytes, COUNT), APP__RANK_ROW(records, IGNORE), \
    APP__RANK_ROW(record_count, IGNORE), APP__RANK_ROW(record_capacity, IGNORE),                 \
    APP__RANK_ROW(posts_ps, UNTIL)
// clang-format on

#endif // APPS_WORKLOAD_COLLECTIVE_REPEAT_ROWS_H
