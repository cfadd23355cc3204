// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/replay.h - the application mooncake-trace: a conductor, prefill nodes that
// compute prompts, and decode nodes.
#ifndef APPS_MOONCAKE_PROGRAMS_REPLAY_H
#define APPS_MOONCAKE_PROGRAMS_REPLAY_H

#include "apps/mooncake/programs/prefix_cache.h"
#include "apps/mooncake/programs/programs.h"
#include "apps/request_trace.h"

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

typedef struct app__mc_replay app__mc_replay_t;

// The place of a cached block that a prompt needs.
typedef struct app__mc_place {
    uint64_t slot;
    uint32_t node;
} app__mc_place_t;

typedef struct app__mc_job app__mc_job_t; // a prompt at its prefill node

// A prompt is placed on other nodes again if its nodes are lost, at most this many times in all.
#define APP__MC_PLACINGS 4u

// Outcomes of prompts that a node sends to the conductor, each until it is acknowledged.
typedef struct app__mc_teller {
    app__mc_replay_t *replay;
    app_mooncake_t *engine;
    uint64_t *untold; // outcomes whose message was not acknowledged
    size_t untold_count;
    size_t untold_capacity;
} app__mc_teller_t;

// The conductor's knowledge of a node: when it last answered, and whether it is lost.
typedef struct app__mc_watched {
    app__mc_replay_t *replay;
    const app_mooncake_t *engine;
    sim_time_t heard_ps; // when it last answered
    sim_time_t next_ps;  // next ping
    bool pinging;
    bool lost;
} app__mc_watched_t;

// Times of a prompt; SIM_TIME_NEVER until the event happens. One node alone writes each member; the
// report reads them after the run.
typedef struct app__mc_course {
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
} app__mc_course_t;

typedef enum app__mc_outcome {
    APP__MC_UNDER_WAY,
    APP__MC_SETTLED, // served, or given up
} app__mc_outcome_t;

typedef struct app__mc_prefill {
    app__mc_replay_t *replay;
    app_mooncake_t *engine;
    sim_node_t *node;
    uint32_t index;
    sim_list_t jobs;      // jobs that have not ended
    app__mc_job_t *first; // jobs to be computed, in order of arrival
    app__mc_job_t *last;
    bool computes;
    sim_timer_t timer;
    uint64_t fetched_blocks;
    uint64_t fetches_failed; // prompts computed in full because fetching their blocks failed
    uint64_t not_reused;     // cached tokens of those prompts, which were computed
    uint64_t failed;
    uint8_t *seen; // a bit per course, since messages may arrive twice
    app__mc_teller_t teller;
    sim_sample_set_t transfers_ps;
} app__mc_prefill_t;

typedef struct app__mc_decode {
    app__mc_replay_t *replay;
    app_mooncake_t *engine;
    sim_node_t *node;
    uint64_t served;
    uint8_t *seen; // a bit per prompt
    app__mc_teller_t teller;
} app__mc_decode_t;

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
    app_t app; // first
    app_mooncake_cluster_t *cluster;
    app__mooncake_trace_t trace;
    // Course p * count + n is that of prompt n when it was placed for time p, from 0.
    app__mc_course_t *courses;
    bool log; // report each prompt
    app__mc_prefill_t *prefills;
    app__mc_decode_t *decodes;
    uint32_t prefill_count;
    uint32_t decode_count;
    uint32_t scheduler;
    bool local_store;
    uint64_t kv_bytes;
    uint64_t block_tokens;
    uint64_t block_bytes;
    uint64_t *stage_at;   // per prompt: offset of its KV data in that of all prompts
    uint64_t stage_bytes; // KV data of all prompts
    uint32_t kv_locations;
    uint32_t store_locations;
    uint64_t layer_groups;
    sim_time_t fixed_ps;
    sim_time_t token_ps;
    sim_time_t square_ps;
    sim_time_t decode_ps;
    uint64_t time_percent;
    uint64_t fetch_bps;
    sim_time_t start_ps;
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
    // One entry per prefill node, then one per decode node; NULL if ttl_ps is NEVER.
    sim_time_t ttl_ps;
    app__mc_watched_t *watched;
    sim_timer_t watch_timer;
    uint8_t *placings; // per prompt: how often it was placed
    uint8_t *outcomes; // per prompt: app__mc_outcome_t
    uint64_t under_way;
    uint64_t placed_again;
    uint64_t nodes_lost;
    uint64_t blocks_lost;
};

// -- prefill.c

// Prepares a prefill node: registers its message handlers.
void app__mc_prefill_init(app__mc_prefill_t *prefill);
void app__mc_prefill_fini(app__mc_prefill_t *prefill);
void app__mc_decode_init(app__mc_decode_t *decode);
void app__mc_decode_fini(app__mc_decode_t *decode);
// Returns the bytes of the KV data of `tokens` tokens, in whole grains.
uint64_t app__mc_kv_bytes(const app__mc_replay_t *replay, uint64_t tokens);
// Returns the number of parts in which the KV data of a prompt is sent.
uint64_t app__mc_groups(const app__mc_replay_t *replay, uint64_t tokens);
// Returns the time to compute a prompt whose first `cached` tokens are cached.
sim_time_t app__mc_compute_ps(const app__mc_replay_t *replay, uint64_t tokens, uint64_t cached);

// Returns the time to decode a token.
sim_time_t app__mc_decode_ps(const app__mc_replay_t *replay);
// Returns the least time that a prompt takes at its two nodes, whatever is cached. It is used to
// check that times fit.
double app__mc_busy_ps(const app__mc_replay_t *replay, const app__mooncake_prompt_t *prompt);

// Returns the address of item `number`, `at` bytes into an area. Items take the locations in turn;
// each location has room for all of them.
uint64_t app__mc_place_of(const app__mc_replay_t *replay, uint64_t area, uint32_t locations,
                          uint64_t number, uint64_t at);

// -- replay_report.c

// Initialises the courses: all prompts are still to come.
void app__mc_courses_init(app__mc_replay_t *replay);
void app__mc_courses_fini(app__mc_replay_t *replay);
void app__mc_replay_carry(app_t *app, sim_carry_t *carry);
// Rows that are reported after the run.
extern const sim_report_table_t app__mc_replay_report;
void app__mc_replay_warn(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx);

// Returns the number of the prompt of a course.
static inline uint64_t app__mc_prompt_of(const app__mc_replay_t *replay, uint64_t course)
{
    return course % replay->trace.count;
}

// Size of the message that reports a lost node to prefill nodes; pings are empty.
#define APP__MC_LOST_BYTES 8u

// -- heartbeat.c: nodes that fall silent, and the prompts that they had (client-ttl)

void app__mc_watch_init(app__mc_replay_t *replay);
void app__mc_watch_fini(app__mc_replay_t *replay);
// Notes that a prompt was placed for the first time, or that it is given up.
void app__mc_watch_placed(app__mc_replay_t *replay, uint64_t prompt);
void app__mc_watch_give_up(app__mc_replay_t *replay, uint64_t prompt);
// Return whether the conductor takes a node for lost.
bool app__mc_prefill_lost(const app__mc_replay_t *replay, uint32_t node);
bool app__mc_decode_lost(const app__mc_replay_t *replay, uint32_t node);

void app__mc_teller_init(app__mc_teller_t *teller, app__mc_replay_t *replay,
                         app_mooncake_t *engine);
void app__mc_teller_fini(app__mc_teller_t *teller);
// Reports to the conductor that a course was served, or that it failed.
void app__mc_tell(app__mc_teller_t *teller, uint64_t course, bool served);
// Answers a ping, and sends unacknowledged outcomes again.
void app__mc_on_ping(app__mc_teller_t *teller, app__mc_station_t *station,
                     const app__mc_incoming_t *incoming);

// -- conductor.c

// Places a prompt on other nodes, since its nodes were lost or failed; perhaps gives it up.
void app__mc_place_again(app__mc_replay_t *replay, uint64_t prompt);

void app__mc_conductor_begin(app__mc_replay_t *replay);

#endif // APPS_MOONCAKE_PROGRAMS_REPLAY_H
