// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/replay.h - the application mooncake-trace: a conductor, prefill nodes that
// compute prompts, and decode nodes.
#ifndef APPS_MOONCAKE_PROGRAMS_REPLAY_H
#define APPS_MOONCAKE_PROGRAMS_REPLAY_H

#include "apps/mooncake/programs/arrivals.h"
#include "apps/mooncake/programs/prefill.h"
#include "apps/mooncake/programs/prefix_cache.h"

typedef enum app__mc_scheduler {
    APP__MC_CACHE_AWARE, // least time to the first token; blocks of other nodes may be fetched
    APP__MC_LOCAL,       // least time to the first token with the node's own blocks only
    APP__MC_LOAD,        // shortest queue
    APP__MC_RANDOM,
} app__mc_scheduler_t;

// The place of cached blocks: one store for all prefill nodes, or one store in each.
typedef enum app__mc_store { APP__MC_STORE_GLOBAL, APP__MC_STORE_LOCAL } app__mc_store_t;

typedef struct app__mc_replay_config {
    char *hosts;
    char *trace;
    char *capacity;
    uint64_t requests; // SIM_AUTO: all
    app__mooncake_unit_t unit;
    sim_time_t interval_ps; // SIM_AUTO: as the trace says
    uint64_t prefill;
    uint64_t decode;
    app__mc_store_t store;
    uint32_t policy;
    uint32_t scheduler;
    uint64_t kv_bytes;
    uint64_t block_tokens;
    uint64_t layer_groups;
    sim_time_t start_ps;
    sim_time_t fixed_ps;
    sim_time_t token_ps;
    sim_time_t square_ps;
    sim_time_t decode_ps;
    uint64_t time_percent;
    uint64_t fetch_bps;
    sim_time_t ttl_ps;
    char *matrix;
    char *kv_location;
    char *store_location;
    bool verify;
    bool log;
    app_mooncake_metadata_config_t metadata;
    char *records;
    app_mooncake_config_t engine;
} app__mc_replay_config_t;
extern const sim_attr_table_t app__mc_replay_attrs;

// A prompt is placed on other nodes again if its nodes are lost, at most this many times in all.
#define APP__MC_PLACINGS 4u

// Times of a prompt; SIM_TIME_NEVER until the event happens. One node alone writes each member; the
// report reads them after the run.
typedef struct app__mc_placement {
    // written by the conductor
    sim_time_t admitted_ps;
    uint32_t prefill;
    uint32_t decode;
    // written by its prefill node
    sim_time_t began_ps;
    sim_time_t computed_ps;
    uint64_t cached; // tokens that are not computed
    // written by its decode node
    sim_time_t sent_ps; // when the message was sent that all KV data has arrived
} app__mc_placement_t;

typedef enum app__mc_outcome {
    APP__MC_UNDER_WAY,
    APP__MC_SETTLED, // served, or given up
} app__mc_outcome_t;

// KV data is rounded up to whole grains. Parts of a prompt's KV data have at least this size.
#define APP__MC_GRAIN_BYTES UINT64_C(512)
#define APP__MC_PART_BYTES UINT64_C(4096)

// Memory areas; each has a place for every location of every application.
#define APP__MC_STORE_AREA (UINT64_C(1) << 57)
#define APP__MC_STAGE_AREA (UINT64_C(1) << 58)
#define APP__MC_DECODE_AREA (UINT64_C(1) << 59)
#define APP__MC_LOCATIONS_MAX 8u
#define APP__MC_PLACE_BYTES (UINT64_C(1) << 50)

struct app__mc_replay {
    app_t app;                      // first
    app__mc_replay_config_t config; // its texts last until the end of the creation
    app_mooncake_cluster_t *cluster;
    app__mooncake_trace_t trace;
    // Course p * count + n is that of prompt n when it was placed for time p, from 0.
    app__mc_placement_t *placements;
    app__mc_prefill_t *prefills;
    app__mc_decode_t *decodes;
    uint32_t prefill_count;
    uint32_t decode_count;
    bool local_store;
    uint64_t block_bytes;
    uint64_t *stage_at;   // per prompt: offset of its KV data in that of all prompts
    uint64_t stage_bytes; // KV data of all prompts
    uint32_t kv_locations;
    uint32_t store_locations;
    uint64_t fetch_bps;
    // State of the conductor, on the first host:
    app__mc_station_t *conductor;
    app__mooncake_prefix_t **stores; // one, or one per prefill node
    uint32_t store_count;
    size_t next; // next prompt
    sim_timer_t timer;
    sim_random_t random;
    sim_time_t *prefill_until_ps; // estimated time at which each node will be done
    // Estimates for NICs: when a prefill node has sent everything, if it started at once; when it
    // has sent its prompts' KV data, each after it is computed; when a decode node has received
    // everything.
    sim_time_t *send_until_ps;
    sim_time_t *sent_ps;
    sim_time_t *received_ps;
    sim_time_t *decode_until_ps;
    uint64_t *slots;   // of the leading blocks of the prompt being admitted
    uint32_t *sources; // node to fetch each block from
    uint64_t reused_tokens;
    uint64_t tokens;
    uint64_t token_hits;
    uint64_t blocks;
    uint64_t block_hits;
    uint64_t admitted;
    uint64_t refused; // prompts that no node answered
    // One entry per prefill node, then one per decode node; NULL if config.ttl_ps is NEVER.
    app__mc_watched_t *watched;
    sim_timer_t watch_timer;
    uint8_t *placings; // per prompt: how often it was placed
    uint8_t *outcomes; // per prompt: app__mc_outcome_t
    uint64_t under_way;
    uint64_t placed_again;
    uint64_t nodes_lost;
    uint64_t blocks_lost;
};

// Initialises the placements: all prompts are still to come.
void app__mc_courses_init(app__mc_replay_t *replay);
void app__mc_courses_fini(app__mc_replay_t *replay);
void app__mc_replay_carry(app_t *app, sim_carry_t *carry);
// Rows that are reported after the run.
extern const sim_report_table_t app__mc_replay_report;
void app__mc_replay_warn(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);

// Returns the number of the prompt of a placement.
static inline uint64_t app__mc_prompt_of(const app__mc_replay_t *replay, uint64_t placement)
{
    return placement % replay->trace.count;
}

// -- conductor.c

// Places a prompt on other nodes, since its nodes were lost or failed; perhaps gives it up.
void app__mc_place_again(app__mc_replay_t *replay, uint64_t prompt);

void app__mc_conductor_begin(app__mc_replay_t *replay);

#endif // APPS_MOONCAKE_PROGRAMS_REPLAY_H
