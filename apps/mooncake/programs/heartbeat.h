// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/heartbeat.h - nodes that fall silent, and the outcomes of prompts that
// nodes report.
#ifndef APPS_MOONCAKE_PROGRAMS_HEARTBEAT_H
#define APPS_MOONCAKE_PROGRAMS_HEARTBEAT_H

#include "apps/mooncake/programs/programs.h"

typedef struct app__mc_replay app__mc_replay_t;

// Outcomes of prompts that a node tells the conductor, each until it is acknowledged.
typedef struct app__mc_notifier {
    app__mc_replay_t *replay;
    app_mooncake_t *engine;
    uint64_t *untold; // outcomes whose message was not acknowledged
    size_t untold_count;
    size_t untold_capacity;
} app__mc_notifier_t;

// The conductor's knowledge of a node: when it last answered, and whether it is lost.
typedef struct app__mc_watched {
    app__mc_replay_t *replay;
    const app_mooncake_t *engine;
    sim_time_t heard_ps; // when it last answered
    sim_time_t next_ps;  // next ping
    bool pinging;
    bool lost;
} app__mc_watched_t;

// Size of the message that tells prefill nodes of a lost one; pings are empty.
#define APP__MC_LOST_BYTES 8u

void app__mc_watch_init(app__mc_replay_t *replay);
void app__mc_watch_fini(app__mc_replay_t *replay);
// Notes that a prompt was placed for the first time, or that it is given up.
void app__mc_watch_placed(app__mc_replay_t *replay, uint64_t prompt);
void app__mc_watch_give_up(app__mc_replay_t *replay, uint64_t prompt);
// Return whether the conductor takes a node for lost.
bool app__mc_prefill_lost(const app__mc_replay_t *replay, uint32_t node);
bool app__mc_decode_lost(const app__mc_replay_t *replay, uint32_t node);

void app__mc_teller_init(app__mc_notifier_t *notifier, app__mc_replay_t *replay,
                         app_mooncake_t *engine);
void app__mc_teller_fini(app__mc_notifier_t *notifier);
// Informs the conductor that a placement was served, or that it failed.
void app__mc_notify(app__mc_notifier_t *notifier, uint64_t placement, bool served);
// Answers a ping, and tells again what was not acknowledged.
void app__mc_on_ping(app__mc_notifier_t *notifier, app__mc_station_t *station,
                     const app__mc_incoming_t *incoming);

#endif // APPS_MOONCAKE_PROGRAMS_HEARTBEAT_H
