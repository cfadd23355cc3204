// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/replay.c - the application mooncake-trace: it sends a trace of prompts
// through prefill nodes, with stores of KV blocks, to decode nodes (docs/models/mooncake.md).
#include "apps/mooncake/programs/replay.h"

#include <stdio.h>
#include <string.h>

#include "apps/app_internal.h"
#include "apps/hosts.h"
#include "apps/mooncake/programs/prefix_cache.h"
#include "apps/mooncake/programs/trace.h"
#include "kernel/parse.h"

#define PREFIX "traffic.mooncake-trace"
#define STRIDE_MAX_BYTES UINT64_C(16384)
// Limit of the total time, so that the end of the latest prompt fits into sim_time_t.
#define BUSY_PS_MAX 8e18

// clang-format off
#define ATTR(type_, path_, ...) SIM_ATTR_ROW(app__mc_replay_config_t, type_, PREFIX "." path_, __VA_ARGS__)
static const sim_attr_t attrs[] = {
    ATTR(STRING, "hosts", hosts, "*", "hosts, in this order: the conductor with the metadata, prefill nodes, decode nodes; further hosts are not used"),
    ATTR(STRING, "trace", trace, "", "file of prompts: each line is a JSON object with input_length and output_length, optionally with timestamp and hash_ids"),
    ATTR(ENUM, "timestamp-unit", unit, "auto", "auto|ms|s", "unit of the trace's timestamps; auto: ms, or s if they have decimals and would be above 100 prompts per second as ms"),
    ATTR(TIME, "arrival-interval", interval_ps, "auto", "0s", "1000s", "time between two prompts, instead of the trace's timestamps; auto: those timestamps", .auto_ok = true),
    ATTR(COUNT, "requests", requests, "auto", "1", NULL, "number of prompts, from the first on; auto: all prompts of the trace", .auto_ok = true),
    ATTR(STRING, "capacity-tokens", capacity, "unlimited", "tokens that all stores hold together, in whole blocks, or unlimited"),
    ATTR(COUNT, "prefill", prefill, "4", "1", "4096", "number of prefill nodes, which compute prompts"),
    ATTR(COUNT, "decode", decode, "4", "1", "4096", "number of decode nodes, which generate tokens"),
    ATTR(ENUM, "store", store, "global", "global|local", "where blocks are cached; global: one store that all prefill nodes read from; local: one per prefill node, with its share of the capacity"),
    ATTR(ENUM, "policy", policy, "lru", "lru|lfu|length-aware", "block that a full store evicts: the least recently used, the least frequently used, or of the latter the one furthest back in its prompt"),
    ATTR(ENUM, "scheduler", scheduler, "cache-aware", "cache-aware|local|load|random", "choice of a prompt's prefill node; cache-aware: least time to the first token, blocks of other nodes are fetched; local: the same with the node's own blocks only; load: shortest queue; random: any"),
    ATTR(BYTES, "kv-bytes-per-token", kv_bytes, "327680", "1", "64MiB", "KV data per token; 327680: a model of 70 billion parameters, 131072: one of 8 billion"),
    ATTR(COUNT, "block-tokens", block_tokens, "512", "1", "65536", "number of tokens in a block"),
    ATTR(COUNT, "layer-groups", layer_groups, "4", "1", "1024", "number of groups of layers; the KV data of one is sent while the next is computed; 1: all is sent when all is computed"),
    ATTR(TIME, "start", start_ps, "10ms", "0s", "1000s", "time at which the trace begins"),
    ATTR(TIME, "prefill-fixed", fixed_ps, "80ms", "0ps", "1000s", "time to compute a prompt, whatever its length"),
    ATTR(TIME, "prefill-token", token_ps, "116200ns", "0ps", "1s", "time to compute a prompt: for each token that is not cached"),
    ATTR(TIME, "prefill-square", square_ps, "714ps", "0ps", "1us", "time to compute a prompt: for each pair of an uncached token and a token that it attends to"),
    ATTR(TIME, "decode-token", decode_ps, "28ms", "0ps", "1000s", "time to decode one token"),
    ATTR(COUNT, "compute-percent", time_percent, "100", "0", "100000", "percentage of all compute times; above 100: slower GPUs, below: faster ones"),
    ATTR(RATE, "fetch-rate", fetch_bps, "auto", "1bps", "100Tbps", "rate of a node's NICs that the scheduler assumes; auto: the sum of their rates", .auto_ok = true),
    ATTR(TIME, "client-ttl", ttl_ps, "10s", "10us", NULL, "silence after which the conductor takes a node for lost; it pings ten times in that time; never: it does not learn of lost nodes (client_ttl)"),
    ATTR(STRING, "matrix", matrix, "auto", "NIC priority matrix of all hosts, in JSON; auto: the NICs nearest to each socket and GPU of nic.host are preferred, the others available"),
    ATTR(STRING, "kv-location", kv_location, "cuda:0", "location of a prompt's KV data at its prefill and decode node; of several (cuda:0, cuda:1) prompts take them in turn"),
    ATTR(STRING, "store-location", store_location, "cpu:0", "location of cached blocks; of several (cpu:0, cpu:1) blocks take them in turn"),
    ATTR(BOOL, "verify", verify, "on", "on: the program verifies the contents of all data that arrives"),
    ATTR(BOOL, "log", log, "off", "on: `prompts` of summary.json and apps.csv list each prompt with its nodes, cached tokens and times"),
    APP__MC_METADATA_ATTRS(PREFIX, app__mc_replay_config_t, metadata),
    APP_MOONCAKE_ATTRS(PREFIX ".engine", app__mc_replay_config_t, engine),
};
// clang-format on

const sim_attr_table_t app__mc_replay_attrs =
    SIM_ATTR_TABLE(PREFIX, "application", app__mc_replay_config_t, attrs);

// -- creation

static sim_err_t take_capacity(const app__mc_replay_config_t *config, uint64_t *blocks,
                               sim_message_t *message)
{
    if (strcmp(config->capacity, "unlimited") == 0) {
        *blocks = APP__MOONCAKE_UNLIMITED;
        return SIM_OK;
    }
    sim_message_t why;
    uint64_t tokens = 0;
    const sim_err_t error = sim_parse_count(config->capacity, &tokens, &why);
    if (error != SIM_OK) {
        return sim_fail_about(message, error, "capacity-tokens",
                              " is '%s', expected a count of tokens or 'unlimited'",
                              config->capacity);
    }
    *blocks = tokens / config->block_tokens;
    return SIM_OK;
}

static sim_err_t read_trace(app__mc_replay_t *replay, const app_context_t *context,
                            const app__mc_replay_config_t *config, sim_message_t *message)
{
    char *text = NULL;
    size_t size = 0;
    if (config->trace[0] == '\0') {
        return sim_fail_about(message, SIM_ERR_INVALID, "trace",
                              " is not set, expected a file of prompts");
    }
    sim_err_t error = context->read_file(config->trace, &text, &size, message, context->ctx);
    if (error != SIM_OK) {
        sim_message_t why = *message;
        return sim_fail_about(message, error, "trace", ": %s", why.text);
    }
    const uint64_t most = config->requests == SIM_AUTO ? UINT64_MAX : config->requests;
    error = app__mooncake_trace_read(config->trace, text, size, most, &replay->trace, message);
    sim_free(text);
    if (error == SIM_OK) {
        error = app__mooncake_trace_lengths(&replay->trace, config->trace, NULL, message);
    }
    if (error == SIM_OK && replay->trace.turns > 0 && config->interval_ps == SIM_AUTO) {
        error = sim_fail_in(message, SIM_ERR_INVALID, config->trace, 1, 1,
                            "%zu requests begin after an earlier one of their session_id has "
                            "ended, expected a timestamp in each, arrival-interval, or traffic of "
                            "kind serving, which makes such turns",
                            replay->trace.turns);
    }
    if (error == SIM_OK) {
        error = app__mooncake_trace_arrivals(&replay->trace, config->trace, config->unit,
                                             config->interval_ps, config->block_tokens,
                                             context->note, context->ctx, message);
    }
    return error;
}

// Returns a distance of marks such that each part of each prompt has one. Blocks, and prompts sent
// whole, have a mark at their beginning, however short they are.
static uint64_t stride_of(const app__mc_replay_t *replay)
{
    const uint64_t divides_blocks = replay->block_bytes & -replay->block_bytes;
    uint64_t stride = SIM_MIN(divides_blocks, STRIDE_MAX_BYTES);
    for (size_t i = 0; i < replay->trace.count; i++) {
        const uint64_t tokens = replay->trace.prompts[i].input_tokens;
        const uint64_t grains = app__mc_kv_bytes(replay, tokens) / APP__MC_GRAIN_BYTES;
        const uint64_t groups = app__mc_groups(replay, tokens);
        const uint64_t half = grains / groups * APP__MC_GRAIN_BYTES / 2;
        stride = groups > 1 && half < stride ? half : stride;
    }
    return stride;
}

// Checks that times and memory fit: sums of times in ps, and all KV data in an area.
static sim_err_t measure(app__mc_replay_t *replay, sim_message_t *message)
{
    replay->block_bytes = app__mc_kv_bytes(replay, replay->config.block_tokens);
    replay->stage_at = sim_alloc_array(replay->trace.count, sizeof(*replay->stage_at));
    double busy_ps = 0.0;
    size_t ids_max = 1;
    for (size_t i = 0; i < replay->trace.count; i++) {
        const app__mooncake_prompt_t *const prompt = &replay->trace.prompts[i];
        const uint64_t tokens = prompt->input_tokens;
        const uint64_t blocks =
            (tokens + replay->config.block_tokens - 1) / replay->config.block_tokens;
        const uint64_t parts = blocks * replay->block_bytes;
        const uint64_t whole = app__mc_kv_bytes(replay, tokens);
        replay->stage_at[i] = replay->stage_bytes;
        replay->stage_bytes +=
            (SIM_MAX(parts, whole) + STRIDE_MAX_BYTES - 1) / STRIDE_MAX_BYTES * STRIDE_MAX_BYTES;
        busy_ps += app__mc_busy_ps(replay, prompt);
        ids_max = SIM_MAX(prompt->id_count, ids_max);
        if (replay->stage_bytes > APP__MC_PLACE_BYTES) {
            return sim_fail_about(message, SIM_ERR_RANGE, "kv-bytes-per-token",
                                  ": the KV data of all prompts is above 1 PiB, expected less");
        }
        if (busy_ps > BUSY_PS_MAX) {
            return sim_fail_about(message, SIM_ERR_RANGE, "trace",
                                  ": computing and decoding all prompts takes more than 90 days, "
                                  "expected less");
        }
    }
    replay->slots = sim_alloc_array(ids_max, sizeof(*replay->slots));
    replay->sources = sim_alloc_array(ids_max, sizeof(*replay->sources));
    return SIM_OK;
}

static sim_err_t make_engine(app__mc_replay_t *replay, const app__mc_replay_config_t *config,
                             net_node_t *host, app_mooncake_t **engine, sim_message_t *message)
{
    char *const matrix = app__mc_matrix(host, config->matrix);
    app_mooncake_config_t settings = config->engine;
    if (settings.verify_stride_bytes == SIM_AUTO) {
        const uint64_t stride = stride_of(replay);
        const uint64_t slice = settings.slice_bytes / 4;
        settings.verify_stride_bytes = SIM_MIN(stride, slice);
    }
    const sim_err_t error = app_mooncake_create(replay->cluster, host, host->sim.name, matrix,
                                                &settings, engine, message);
    sim_free(matrix);
    if (error == SIM_OK) {
        (*engine)->verify = config->verify;
    }
    return error;
}

// Registers memory of an engine: each location has room for all of it.
static sim_err_t add_memory(const app__mc_replay_t *replay, app_mooncake_t *engine, uint64_t area,
                            uint64_t bytes, const char *locations, sim_message_t *message)
{
    const uint32_t count = app__mc_location_count(locations);
    const uint64_t pages = (bytes + 4095) / 4096 * 4096;
    if (count > APP__MC_LOCATIONS_MAX || pages > APP__MC_PLACE_BYTES) {
        return sim_fail(message, SIM_ERR_RANGE,
                        "%u locations with room for %" PRIu64
                        " bytes each, expected at most %u locations and 1 PiB each",
                        count, pages, APP__MC_LOCATIONS_MAX);
    }
    for (uint32_t i = 0; i < count; i++) {
        const sim_err_t error = app__mc_register_location(
            engine, locations, i, app__mc_place_of(replay, area, count, i, 0), pages, message);
        if (error != SIM_OK) {
            return error;
        }
    }
    return SIM_OK;
}

static sim_err_t make_nodes(app__mc_replay_t *replay, const app__mc_replay_config_t *config,
                            net_node_t *const *hosts, uint64_t slots, sim_message_t *message)
{
    sim_err_t error = SIM_OK;
    for (uint32_t i = 0; i < replay->prefill_count && error == SIM_OK; i++) {
        app__mc_prefill_t *const prefill = &replay->prefills[i];
        *prefill = (app__mc_prefill_t){.replay = replay, .index = i, .node = &hosts[1 + i]->sim};
        error = make_engine(replay, config, hosts[1 + i], &prefill->engine, message);
        if (error == SIM_OK) {
            app__mc_prefill_init(prefill);
            error = add_memory(replay, prefill->engine, APP__MC_STORE_AREA,
                               slots * replay->block_bytes, config->store_location, message);
        }
        if (error == SIM_OK) {
            error = add_memory(replay, prefill->engine, APP__MC_STAGE_AREA, replay->stage_bytes,
                               config->kv_location, message);
        }
    }
    for (uint32_t i = 0; i < replay->decode_count && error == SIM_OK; i++) {
        app__mc_decode_t *const decode = &replay->decodes[i];
        net_node_t *const host = hosts[1 + replay->prefill_count + i];
        *decode = (app__mc_decode_t){.replay = replay, .node = &host->sim};
        error = make_engine(replay, config, host, &decode->engine, message);
        if (error == SIM_OK) {
            app__mc_decode_init(decode);
            error = add_memory(replay, decode->engine, APP__MC_DECODE_AREA, replay->stage_bytes,
                               config->kv_location, message);
        }
    }
    return error;
}

static sim_err_t find_hosts(const app__mc_replay_t *replay, const app_context_t *context,
                            const app__mc_replay_config_t *config, net_node_t ***hosts,
                            sim_message_t *message)
{
    app__places_t places;
    sim_err_t error = app__places_find(context, "hosts", config->hosts, &places, message);
    if (error != SIM_OK) {
        return error;
    }
    const uint64_t wanted = 1 + (uint64_t)replay->prefill_count + replay->decode_count;
    if (places.host_count < wanted) {
        error =
            sim_fail_about(message, SIM_ERR_RANGE, "hosts",
                           " names %u hosts, expected at least %" PRIu64
                           ": a conductor, %u prefill and %u decode nodes",
                           places.host_count, wanted, replay->prefill_count, replay->decode_count);
    } else {
        *hosts = sim_alloc_array(wanted, sizeof(net_node_t *));
        size_t count = 0;
        for (size_t i = 0; i < places.list.count && count < wanted; i++) {
            net_node_t *const host =
                nic_node(nic_of_interface(context->net, places.list.interfaces[i]));
            if (count == 0 || (*hosts)[count - 1] != host) {
                (*hosts)[count++] = host;
            }
        }
    }
    app__places_fini(&places);
    return error;
}

static sim_err_t build(app__mc_replay_t *replay, const app_context_t *context,
                       const app__mc_replay_config_t *config, uint64_t capacity,
                       sim_message_t *message)
{
    net_node_t **hosts = NULL;
    sim_err_t error = find_hosts(replay, context, config, &hosts, message);
    if (error != SIM_OK) {
        return error;
    }
    SIM_CHECK(hosts != NULL);
    const app_mooncake_plan_t plan = {
        .net = context->net,
        .runtime = context->runtime,
        .index = context->index,
        .hosts = hosts,
        .host_count = 1 + (size_t)replay->prefill_count + replay->decode_count,
        .metadata_host = hosts[0],
        .codec = context->mooncake_codec,
        .metadata = config->metadata,
    };
    error = app_mooncake_cluster_create(&plan, &replay->cluster, message);
    if (error == SIM_OK) {
        error = app__mc_import(context, config->records, replay->cluster, message);
    }
    if (error == SIM_OK) {
        error = measure(replay, message);
    }
    if (error == SIM_OK) {
        replay->conductor = &replay->cluster->stations[0];
        uint64_t bps = 0;
        for (uint32_t i = 0; i < nic_count(hosts[1]); i++) {
            bps += nic_rate_bps(nic_at(hosts[1], i));
        }
        replay->fetch_bps = config->fetch_bps == SIM_AUTO ? bps : config->fetch_bps;
        replay->store_count = replay->local_store ? replay->prefill_count : 1;
        replay->stores = sim_alloc_array(replay->store_count, sizeof(*replay->stores));
        const uint64_t each =
            capacity == APP__MOONCAKE_UNLIMITED ? capacity : capacity / replay->store_count;
        const uint32_t places = replay->local_store ? 1 : replay->prefill_count;
        for (uint32_t i = 0; i < replay->store_count; i++) {
            replay->stores[i] = app__mooncake_prefix_create(config->policy, each, places);
        }
        const uint64_t slots = SIM_MIN(each, replay->trace.id_count);
        error = make_nodes(replay, config, hosts, slots == 0 ? 1 : slots, message);
    }
    sim_free(hosts);
    return error;
}

static void replay_destroy(app_t *app)
{
    app__mc_replay_t *const replay = (app__mc_replay_t *)(void *)app;
    for (uint32_t i = 0; i < replay->prefill_count; i++) {
        app__mc_prefill_fini(&replay->prefills[i]);
    }
    for (uint32_t i = 0; i < replay->decode_count; i++) {
        app__mc_decode_fini(&replay->decodes[i]);
    }
    app_mooncake_cluster_destroy(replay->cluster);
    for (uint32_t i = 0; i < replay->store_count; i++) {
        app__mooncake_prefix_destroy(replay->stores[i]);
    }
    app__mooncake_trace_fini(&replay->trace);
    app__mc_courses_fini(replay);
    app__mc_watch_fini(replay);
    SIM_FREE_ALL(replay->stores, replay->stage_at, replay->prefills, replay->decodes,
                 replay->prefill_until_ps, replay->decode_until_ps, replay->send_until_ps,
                 replay->sent_ps, replay->received_ps, replay->slots, replay->sources, replay);
}

static sim_err_t replay_create(const app_context_t *context, const void *config_void, app_t **app,
                               sim_message_t *message)
{
    const app__mc_replay_config_t *const config = config_void;
    uint64_t capacity = 0;
    sim_err_t error = take_capacity(config, &capacity, message);
    if (error == SIM_OK && context->mooncake_codec == NULL) {
        error = sim_fail_about(message, SIM_ERR_INVALID, "hosts",
                               ": this program has no codec for Mooncake's descriptions, expected "
                               "one in app_context_t");
    }
    if (error != SIM_OK) {
        return error;
    }
    app__mc_replay_t *const replay = sim_alloc(sizeof(*replay));
    *replay = (app__mc_replay_t){
        .app = {&app_mooncake_replay, context->net, context->index},
        .config = *config,
        .prefill_count = (uint32_t)config->prefill,
        .decode_count = (uint32_t)config->decode,
        .local_store = config->store == APP__MC_STORE_LOCAL,
        .kv_locations = app__mc_location_count(config->kv_location),
        .store_locations = app__mc_location_count(config->store_location),
    };
    replay->prefills = sim_alloc_array(replay->prefill_count, sizeof(*replay->prefills));
    replay->decodes = sim_alloc_array(replay->decode_count, sizeof(*replay->decodes));
    replay->prefill_until_ps = sim_alloc_array(replay->prefill_count, sizeof(sim_time_t));
    replay->decode_until_ps = sim_alloc_array(replay->decode_count, sizeof(sim_time_t));
    replay->sent_ps = sim_alloc_array(replay->prefill_count, sizeof(sim_time_t));
    replay->received_ps = sim_alloc_array(replay->decode_count, sizeof(sim_time_t));
    replay->send_until_ps = sim_alloc_array(replay->prefill_count, sizeof(sim_time_t));
    app__random_init(&replay->random, context, 0, "mooncake-trace");
    error = read_trace(replay, context, config, message);
    if (error == SIM_OK) {
        app__mc_courses_init(replay);
        error = build(replay, context, config, capacity, message);
    }
    if (error != SIM_OK) {
        replay_destroy(&replay->app);
        return error;
    }
    app__mc_conductor_begin(replay);
    *app = &replay->app;
    return SIM_OK;
}

static void replay_progress(const app_t *app, uint64_t *done, uint64_t *planned)
{
    const app__mc_replay_t *const replay = (const app__mc_replay_t *)(const void *)app;
    *planned = replay->trace.count;
    *done = 0;
    for (uint32_t i = 0; i < replay->decode_count; i++) {
        *done += replay->decodes[i].served;
    }
}

const app_ops_t app_mooncake_replay = {
    .name = "mooncake-trace",
    .help = "Mooncake: a trace of prompts through prefill and decode nodes",
    .attrs = &app__mc_replay_attrs,
    .posts = "READs and SENDs",
    .tally = app__tally_report,
    .create = replay_create,
    .destroy = replay_destroy,
    .progress = replay_progress,
    .carry = app__mc_replay_carry,
    .report = &app__mc_replay_report,
    .warn = app__mc_replay_warn,
};
