// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/prefill.c - prefill nodes that compute prompts, and decode nodes
// (docs/models/mooncake.md).
//
// A prefill node reads cached blocks into the prompt's memory as soon as a prompt arrives: from
// other nodes, or from its own store by a copy within the host. It computes prompts in order of
// arrival, each when its blocks are there. After each group of layers it writes their KV data to
// the decode node while it computes the next group. When all data has arrived, a message informs
// the decode node, which gives the first token a decoding step later.
#include <string.h>

#include "apps/mooncake/programs/replay.h"
#include "apps/mooncake_memory.h"

#define JOB_HEADER_BYTES 40u
#define PLACE_BYTES 16u
#define READY_BYTES 24u

struct app__mc_job {
    sim_link_t running;
    app__mc_job_t *next; // in the queue to be computed
    app__mc_prefill_t *prefill;
    uint64_t placement;
    uint64_t number; // of the prompt
    uint64_t decode;
    uint64_t cached;
    uint64_t computed_groups;
    sim_time_t admitted_ps;
    app_mooncake_segment_id_t target;
    app_mooncake_request_t *fetches;
    size_t fetch_count;
    size_t far_count; // fetches from other nodes; the others are copies within the host
    size_t opening;   // segments still to be looked up
    bool fetching;    // by the batch fetch_id
    app_mooncake_batch_id_t fetch_id;
    bool fetched;
    bool computed;
    bool failed;
    uint32_t under_way; // parts in flight
    sim_time_t since_ps;
    sim_time_t moving_ps; // time with parts in flight
};

static const app__mooncake_prompt_t *prompt_of(const app__mc_job_t *job)
{
    return &job->prefill->replay->trace.prompts[job->number];
}

static app__mc_placement_t *placement_of(const app__mc_job_t *job)
{
    return &job->prefill->replay->placements[job->placement];
}

static uint64_t groups_of(const app__mc_job_t *job)
{
    return app__mc_groups(job->prefill->replay, prompt_of(job)->input_tokens);
}

static void job_free(app__mc_job_t *job)
{
    sim_list_remove(&job->prefill->jobs, &job->running);
    sim_free(job->fetches);
    sim_free(job);
}

static void job_end(app__mc_job_t *job)
{
    app__mc_prefill_t *const prefill = job->prefill;
    prefill->failed += job->failed;
    if (job->failed) {
        app__mc_notify(&prefill->notifier, job->placement, false);
    }
    sim_work_end(prefill->node, 1);
    job_free(job);
}

uint64_t app__mc_place_of(const app__mc_replay_t *replay, uint64_t area, uint32_t locations,
                          uint64_t number, uint64_t at)
{
    const uint64_t index = replay->app.index % 16u * APP__MC_LOCATIONS_MAX + number % locations;
    return area + index * APP__MC_PLACE_BYTES + at;
}

static uint64_t stage_of(const app__mc_replay_t *replay, uint64_t area, uint64_t number)
{
    const uint64_t at = replay->stage_at[number];
    return app__mc_place_of(replay, area, replay->kv_locations, number, at);
}

// -- sending KV data to the decode node

static void told(int32_t status, const char *body, size_t size, void *ctx)
{
    (void)body;
    (void)size;
    app__mc_job_t *const job = ctx;
    job->failed = job->failed || status != SIM_OK;
    job_end(job);
}

static void notify_decode(app__mc_job_t *job)
{
    app__mc_prefill_t *const prefill = job->prefill;
    const app_mooncake_t *const peer = prefill->replay->decodes[job->decode].engine;
    sim_sample_set_add(&prefill->transfers_ps, job->moving_ps);
    char body[READY_BYTES];
    app__mc_put64(body, job->placement);
    app__mc_put64(body + 8, job->admitted_ps);
    app__mc_put64(body + 16, job->moving_ps);
    const app__mc_message_t message = {APP__MC_PROGRAM, app_mooncake_name(peer), body,
                                       sizeof(body)};
    app__mc_ask(prefill->engine->station, peer->station->index, &message,
                prefill->engine->config.handshake_timeout_ps, prefill->engine->config.call_retries,
                told, job, false);
}

static void end_if_done(app__mc_job_t *job)
{
    if (!job->computed || job->under_way > 0) {
        return;
    }
    if (job->failed) {
        job_end(job);
    } else {
        notify_decode(job);
    }
}

static bool all_completed(app_mooncake_t *engine, app_mooncake_batch_id_t batch_id)
{
    const app__mc_batch_t *const batch = engine->batches[(uint64_t)batch_id & UINT32_MAX];
    bool good = true;
    for (uint64_t i = 0; i < batch->count; i++) {
        good = good && batch->tasks[i]->status == APP_MOONCAKE_COMPLETED;
    }
    const int freed = app_mooncake_free_batch_id(engine, batch_id);
    SIM_CHECK(freed == SIM_OK);
    return good;
}

static void part_done(app_mooncake_batch_id_t batch_id, void *ctx)
{
    app__mc_job_t *const job = ctx;
    job->failed = !all_completed(job->prefill->engine, batch_id) || job->failed;
    job->under_way--;
    if (job->under_way == 0) {
        job->moving_ps += job->prefill->node->now_ps - job->since_ps;
    }
    end_if_done(job);
}

static void send_part(app__mc_job_t *job)
{
    app__mc_prefill_t *const prefill = job->prefill;
    const app__mc_replay_t *const replay = prefill->replay;
    const uint64_t bytes = app__mc_kv_bytes(replay, prompt_of(job)->input_tokens);
    const uint64_t grains = bytes / APP__MC_GRAIN_BYTES;
    const uint64_t groups = groups_of(job);
    const uint64_t from = grains * job->computed_groups / groups;
    const uint64_t to = grains * (job->computed_groups + 1) / groups;
    if (job->target < 0) {
        job->failed = true;
        return;
    }
    const uint64_t at = from * APP__MC_GRAIN_BYTES;
    const app_mooncake_request_t request = {
        .opcode = APP_MOONCAKE_WRITE,
        .source = stage_of(replay, APP__MC_STAGE_AREA, job->number) + at,
        .target_id = job->target,
        .target_offset = stage_of(replay, APP__MC_DECODE_AREA, job->number) + at,
        .length = (to - from) * APP__MC_GRAIN_BYTES,
    };
    const app_mooncake_batch_id_t batch_id = app_mooncake_submit(prefill->engine, &request, 1);
    if (batch_id < 0) {
        job->failed = true;
        return;
    }
    if (job->under_way++ == 0) {
        job->since_ps = prefill->node->now_ps;
    }
    (void)app_mooncake_on_transfers(prefill->engine, batch_id, part_done, job);
}

// -- computing

static void compute_next(app__mc_prefill_t *prefill);

static void group_fired(sim_node_t *node, sim_timer_t *timer)
{
    app__mc_prefill_t *const prefill = SIM_CONTAINER_OF(timer, app__mc_prefill_t, timer);
    app__mc_job_t *const job = prefill->first;
    const app__mc_replay_t *const replay = prefill->replay;
    sim_progress(node);
    send_part(job);
    job->computed_groups++;
    if (job->computed_groups < groups_of(job)) {
        const sim_time_t whole_ps =
            app__mc_compute_ps(replay, prompt_of(job)->input_tokens, job->cached);
        sim_timer_arm(node, timer, node->now_ps + whole_ps / groups_of(job));
        return;
    }
    prefill->first = job->next;
    prefill->last = prefill->first == NULL ? NULL : prefill->last;
    prefill->computes = false;
    job->computed = true;
    placement_of(job)->computed_ps = node->now_ps;
    end_if_done(job);
    compute_next(prefill);
}

static void compute_next(app__mc_prefill_t *prefill)
{
    app__mc_job_t *const job = prefill->first;
    if (job == NULL || prefill->computes || !job->fetched) {
        return;
    }
    const app__mc_replay_t *const replay = prefill->replay;
    const sim_time_t whole_ps =
        app__mc_compute_ps(replay, prompt_of(job)->input_tokens, job->cached);
    // The remainder of the division goes to the first group.
    const uint64_t groups = groups_of(job);
    const sim_time_t first_ps = whole_ps / groups + whole_ps % groups;
    prefill->computes = true;
    placement_of(job)->began_ps = prefill->node->now_ps;
    placement_of(job)->cached = job->cached;
    sim_timer_arm(prefill->node, &prefill->timer, prefill->node->now_ps + first_ps);
}

// -- fetching

static void compute_in_full(app__mc_job_t *job)
{
    job->prefill->fetches_failed++;
    job->prefill->not_reused += job->cached;
    job->cached = 0;
    job->fetched = true;
    compute_next(job->prefill);
}

static void fetch_done(app_mooncake_batch_id_t batch_id, void *ctx)
{
    app__mc_job_t *const job = ctx;
    job->fetching = false;
    if (!all_completed(job->prefill->engine, batch_id)) {
        compute_in_full(job);
        return;
    }
    job->prefill->fetched_blocks += job->far_count;
    job->fetched = true;
    compute_next(job->prefill);
}

static void fetch(app__mc_job_t *job)
{
    app__mc_prefill_t *const prefill = job->prefill;
    if (job->fetch_count == 0) {
        job->fetched = true;
        compute_next(prefill);
        return;
    }
    const app_mooncake_batch_id_t batch_id =
        app_mooncake_submit(prefill->engine, job->fetches, job->fetch_count);
    if (batch_id < 0) {
        compute_in_full(job);
        return;
    }
    job->fetching = true;
    job->fetch_id = batch_id;
    (void)app_mooncake_on_transfers(prefill->engine, batch_id, fetch_done, job);
}

// Gives up what jobs fetch from a lost node: they are computed in full.
static void give_up_fetches(app__mc_prefill_t *prefill, const char *lost)
{
    app_mooncake_t *const engine = prefill->engine;
    for (sim_link_t *link = prefill->jobs.first; link != NULL; link = link->next) {
        const app__mc_job_t *const job = SIM_CONTAINER_OF(link, app__mc_job_t, running);
        for (size_t i = 0; i < job->fetch_count && job->fetching; i++) {
            const app__mc_segment_t *const segment =
                app__mc_segment_by_id(engine, job->fetches[i].target_id);
            if (segment != NULL && strcmp(segment->name, lost) == 0) {
                (void)app_mooncake_cancel_transfer(engine, job->fetch_id, i);
            }
        }
    }
}

static void segment_opened(app_mooncake_segment_id_t id, void *ctx)
{
    (void)id;
    app__mc_job_t *const job = ctx;
    if (--job->opening > 0) {
        return;
    }
    // All segments are in the cache now: find their ids by name.
    const app_mooncake_t *const engine = job->prefill->engine;
    const app__mc_replay_t *const replay = job->prefill->replay;
    const app_mooncake_t *const peer = replay->decodes[job->decode].engine;
    job->target = -1;
    for (size_t s = 0; s < engine->segment_count; s++) {
        const app__mc_segment_t *const segment = engine->segments[s];
        if (segment->desc == NULL) {
            continue;
        }
        if (strcmp(segment->name, peer->name) == 0) {
            job->target = segment->id;
        }
        for (size_t i = 0; i < job->fetch_count; i++) {
            // Until here target_id holds the number of the node.
            const int32_t node = -1 - job->fetches[i].target_id;
            if (node >= 0 && strcmp(replay->prefills[node].engine->name, segment->name) == 0) {
                job->fetches[i].target_id = segment->id;
            }
        }
    }
    fetch(job);
}

static void open_segments(app__mc_job_t *job)
{
    const app__mc_replay_t *const replay = job->prefill->replay;
    app_mooncake_t *const engine = job->prefill->engine;
    job->opening = 1 + job->fetch_count;
    for (size_t i = 0; i < job->fetch_count; i++) {
        if (job->fetches[i].target_id == APP_MOONCAKE_LOCAL_SEGMENT) {
            job->opening--;
            continue;
        }
        const app_mooncake_t *const peer = replay->prefills[-1 - job->fetches[i].target_id].engine;
        if (i > 0 && job->fetches[i].target_id == job->fetches[i - 1].target_id) {
            job->opening--; // same node as the block before
            continue;
        }
        app_mooncake_get_segment_id(engine, peer->name, segment_opened, job);
    }
    app_mooncake_get_segment_id(engine, replay->decodes[job->decode].engine->name, segment_opened,
                                job);
}

static void take_places(app__mc_job_t *job, const char *places, uint64_t hits)
{
    const app__mc_replay_t *const replay = job->prefill->replay;
    job->fetches = sim_alloc_array(hits + 1, sizeof(*job->fetches));
    for (uint64_t i = 0; i < hits; i++) {
        const uint64_t slot = app__mc_get64(places + i * PLACE_BYTES);
        const uint64_t node = app__mc_get64(places + i * PLACE_BYTES + 8);
        SIM_CHECK(node < replay->prefill_count);
        const bool own = node == job->prefill->index;
        // The last block may be only partly the prompt's; blocks after its input are not needed.
        const uint64_t first = i * replay->config.block_tokens;
        if (first >= prompt_of(job)->input_tokens) {
            break;
        }
        const uint64_t left = prompt_of(job)->input_tokens - first;
        const uint64_t tokens = SIM_MIN(left, replay->config.block_tokens);
        job->far_count += !own;
        job->fetches[job->fetch_count++] = (app_mooncake_request_t){
            .opcode = APP_MOONCAKE_READ,
            .source = stage_of(replay, APP__MC_STAGE_AREA, job->number) + i * replay->block_bytes,
            .target_id = own ? APP_MOONCAKE_LOCAL_SEGMENT : -1 - (int32_t)node,
            .target_offset = app__mc_place_of(replay, APP__MC_STORE_AREA, replay->store_locations,
                                              slot, slot * replay->block_bytes),
            .length = app__mc_kv_bytes(replay, tokens),
        };
    }
}

static void on_job(app__mc_station_t *station, const app__mc_incoming_t *incoming, void *ctx)
{
    app__mc_prefill_t *const prefill = ctx;
    if (incoming->size == 0) {
        app__mc_on_ping(&prefill->notifier, station, incoming);
        return;
    }
    app__mc_answer(station, incoming->peer, incoming->id, SIM_OK, "", 0);
    if (incoming->size == APP__MC_LOST_BYTES) {
        const uint64_t node = app__mc_get64(incoming->body);
        SIM_CHECK(node < prefill->replay->prefill_count);
        give_up_fetches(prefill, prefill->replay->prefills[node].engine->name);
        return;
    }
    const uint64_t placement = app__mc_get64(incoming->body);
    const uint64_t hits = app__mc_get64(incoming->body + 24);
    SIM_CHECK(incoming->size == JOB_HEADER_BYTES + hits * PLACE_BYTES);
    if (prefill->seen[placement / 8] & 1u << placement % 8) {
        return; // a message that arrived twice
    }
    prefill->seen[placement / 8] |= (uint8_t)(1u << placement % 8);
    app__mc_job_t *const job = sim_alloc(sizeof(*job));
    *job = (app__mc_job_t){
        .prefill = prefill,
        .placement = placement,
        .number = app__mc_prompt_of(prefill->replay, placement),
        .decode = app__mc_get64(incoming->body + 8),
        .cached = app__mc_get64(incoming->body + 16),
        .admitted_ps = app__mc_get64(incoming->body + 32),
    };
    sim_list_push_last(&prefill->jobs, &job->running);
    if (prefill->last != NULL) {
        prefill->last->next = job;
    } else {
        prefill->first = job;
    }
    prefill->last = job;
    sim_work_begin(prefill->node, 1);
    take_places(job, incoming->body + JOB_HEADER_BYTES, hits);
    open_segments(job);
}

void app__mc_prefill_init(app__mc_prefill_t *prefill)
{
    sim_timer_init(&prefill->timer, group_fired);
    sim_sample_set_init(&prefill->transfers_ps);
    prefill->seen = sim_alloc(prefill->replay->trace.count * APP__MC_PLACINGS / 8 + 1);
    app__mc_teller_init(&prefill->notifier, prefill->replay, prefill->engine);
    app__mc_handle(prefill->engine->station, APP__MC_PROGRAM, on_job, prefill);
}

void app__mc_prefill_fini(app__mc_prefill_t *prefill)
{
    while (prefill->jobs.last != NULL) {
        job_free(SIM_CONTAINER_OF(prefill->jobs.last, app__mc_job_t, running));
    }
    sim_free(prefill->seen);
    app__mc_teller_fini(&prefill->notifier);
    sim_sample_set_fini(&prefill->transfers_ps);
}

// -- decode nodes

static void on_ready(app__mc_station_t *station, const app__mc_incoming_t *incoming, void *ctx)
{
    app__mc_decode_t *const decode = ctx;
    if (incoming->size == 0) {
        app__mc_on_ping(&decode->notifier, station, incoming);
        return;
    }
    app__mc_answer(station, incoming->peer, incoming->id, SIM_OK, "", 0);
    const uint64_t placement = app__mc_get64(incoming->body);
    const uint64_t number = app__mc_prompt_of(decode->replay, placement);
    app__mc_notify(&decode->notifier, placement, true);
    if (decode->seen[number / 8] & 1u << number % 8) {
        return;
    }
    decode->seen[number / 8] |= (uint8_t)(1u << number % 8);
    decode->replay->placements[placement].sent_ps = decode->node->now_ps;
    decode->served++;
}

void app__mc_decode_init(app__mc_decode_t *decode)
{
    decode->seen = sim_alloc(decode->replay->trace.count / 8 + 1);
    app__mc_teller_init(&decode->notifier, decode->replay, decode->engine);
    app__mc_handle(decode->engine->station, APP__MC_PROGRAM, on_ready, decode);
}

void app__mc_decode_fini(app__mc_decode_t *decode)
{
    sim_free(decode->seen);
    app__mc_teller_fini(&decode->notifier);
}
