// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/replay_report.c - the times of each prompt of mooncake-trace, and the
// report (docs/models/mooncake.md).
#include <math.h>

#include "apps/mooncake/engine/control/metadata.h"
#include "apps/mooncake/programs/prefix_cache.h"
#include "apps/mooncake/programs/replay.h"

static uint64_t placings_of(const app__mc_replay_t *replay)
{
    return replay->config.ttl_ps == SIM_TIME_NEVER ? 1 : APP__MC_PLACINGS;
}

void app__mc_courses_init(app__mc_replay_t *replay)
{
    const uint64_t count = replay->trace.count * placings_of(replay);
    replay->placements = sim_alloc_array(count, sizeof(*replay->placements));
    for (uint64_t i = 0; i < count; i++) {
        replay->placements[i] = (app__mc_placement_t){
            .admitted_ps = SIM_TIME_NEVER,
            .began_ps = SIM_TIME_NEVER,
            .computed_ps = SIM_TIME_NEVER,
            .sent_ps = SIM_TIME_NEVER,
        };
    }
}

void app__mc_courses_fini(app__mc_replay_t *replay)
{
    sim_free(replay->placements);
}

// Returns the placement by which a prompt was served first, or else its last one.
static const app__mc_placement_t *placement_of(const app__mc_replay_t *replay, size_t prompt)
{
    const app__mc_placement_t *best = &replay->placements[prompt];
    for (uint64_t p = 1; p < placings_of(replay); p++) {
        const app__mc_placement_t *const placement =
            &replay->placements[p * replay->trace.count + prompt];
        if (placement->sent_ps < best->sent_ps ||
            (placement->admitted_ps != SIM_TIME_NEVER && best->sent_ps == SIM_TIME_NEVER)) {
            best = placement;
        }
    }
    return best;
}

// -- in ranks

// Carries the members of placements that hosts of the carried rank wrote. All others are still
// NEVER there.
static void carry_courses(app__mc_replay_t *replay, sim_carry_t *carry)
{
    for (uint64_t i = 0; i < replay->trace.count * placings_of(replay); i++) {
        app__mc_placement_t *const placement = &replay->placements[i];
        app__mc_placement_t theirs = *placement;
        SIM_CARRY(carry, theirs);
        if (theirs.admitted_ps != SIM_TIME_NEVER) {
            placement->admitted_ps = theirs.admitted_ps;
            placement->prefill = theirs.prefill;
            placement->decode = theirs.decode;
        }
        if (theirs.began_ps != SIM_TIME_NEVER) {
            placement->began_ps = theirs.began_ps;
            placement->computed_ps = theirs.computed_ps;
            placement->cached = theirs.cached;
        }
        if (theirs.sent_ps != SIM_TIME_NEVER) {
            placement->sent_ps = theirs.sent_ps;
        }
    }
}

static void carry_conductor(app__mc_replay_t *replay, sim_carry_t *carry)
{
    SIM_CARRY(carry, replay->next);
    SIM_CARRY_FIELDS(carry, replay, reused_tokens, refused);
    SIM_CARRY_FIELDS(carry, replay, under_way, blocks_lost);
    if (replay->outcomes != NULL) {
        sim_carry(carry, replay->outcomes, replay->trace.count);
    }
    for (uint32_t i = 0; i < replay->store_count; i++) {
        app__mooncake_prefix_carry(replay->stores[i], carry);
    }
}

void app__mc_replay_carry(app_t *app, sim_carry_t *carry)
{
    app__mc_replay_t *const replay = (app__mc_replay_t *)(void *)app;
    app__mc_server_carry(replay->cluster->server, carry);
    carry_courses(replay, carry);
    if (sim_carry_has(carry, replay->conductor->node)) {
        carry_conductor(replay, carry);
    }
    for (uint32_t i = 0; i < replay->prefill_count; i++) {
        app__mc_prefill_t *const prefill = &replay->prefills[i];
        if (app__mc_carry_engine(prefill->engine, carry)) {
            SIM_CARRY_FIELDS(carry, prefill, fetched_blocks, failed);
            sim_sample_set_carry(&prefill->transfers_ps, carry);
        }
    }
    for (uint32_t i = 0; i < replay->decode_count; i++) {
        if (app__mc_carry_engine(replay->decodes[i].engine, carry)) {
            SIM_CARRY(carry, replay->decodes[i].served);
        }
    }
}

// -- results

// Computes the times to the first token, their mean parts, and the time of the last one, over
// prompts that got one.
static void report_served(const app__mc_replay_t *replay, app__mc_report_t *report,
                          sim_sample_set_t *ttft_ps, sim_time_t *last_ps)
{
    double wait_ps = 0.0;
    double compute_ps = 0.0;
    double send_ps = 0.0;
    for (size_t i = 0; i < replay->next; i++) {
        const sim_time_t admitted_ps = replay->placements[i].admitted_ps;
        const app__mc_placement_t *const placement = placement_of(replay, i);
        if (placement->sent_ps != SIM_TIME_NEVER) {
            report->requests++;
            sim_sample_set_add(ttft_ps,
                               placement->sent_ps + app__mc_decode_ps(replay) - admitted_ps);
            wait_ps += (double)(placement->began_ps - admitted_ps);
            compute_ps += (double)(placement->computed_ps - placement->began_ps);
            send_ps += (double)(placement->sent_ps - placement->computed_ps);
            *last_ps = SIM_MAX(placement->sent_ps, *last_ps);
        } else if (replay->watched != NULL && replay->outcomes[i] == APP__MC_SETTLED) {
            report->failed++; // given up
        }
    }
    if (report->requests > 0) {
        const double all_ms = (double)report->requests * (double)SIM_PS_PER_MS;
        report->wait_ms = wait_ps / all_ms;
        report->compute_ms = compute_ps / all_ms;
        report->send_ms = send_ps / all_ms;
        report->decode_ms = (double)app__mc_decode_ps(replay) / (double)SIM_PS_PER_MS;
    }
}

static double between_ms(sim_time_t from_ps, sim_time_t to_ps)
{
    return to_ps == SIM_TIME_NEVER ? (double)NAN
                                   : (double)(to_ps - from_ps) / (double)SIM_PS_PER_MS;
}

// Fills in the prompts that were admitted.
static void report_prompts(const app__mc_replay_t *replay, app__mc_report_t *report)
{
    if (replay->next == 0) {
        return;
    }
    report->prompts = sim_alloc_array(replay->next, sizeof(*report->prompts));
    for (size_t i = 0; i < replay->next; i++) {
        const sim_time_t admitted_ps = replay->placements[i].admitted_ps;
        const app__mc_placement_t *const placement = placement_of(replay, i);
        const double sent_ms = between_ms(admitted_ps, placement->sent_ps);
        report->prompts[report->prompt_count++] = (app__mc_told_prompt_t){
            .prompt = i,
            .prefill = app_mooncake_name(replay->prefills[placement->prefill].engine),
            .decode = app_mooncake_name(replay->decodes[placement->decode].engine),
            .input_tokens = replay->trace.prompts[i].input_tokens,
            .cached_tokens =
                placement->began_ps == SIM_TIME_NEVER ? (double)NAN : (double)placement->cached,
            .admitted_ms = between_ms(0, admitted_ps),
            .wait_ms = between_ms(admitted_ps, placement->began_ps),
            .compute_ms = between_ms(placement->began_ps, placement->computed_ps),
            .send_ms = between_ms(placement->computed_ps, placement->sent_ps),
            .ttft_ms = sent_ms + (double)app__mc_decode_ps(replay) / (double)SIM_PS_PER_MS,
        };
    }
}

static void replay_fill(const void *object, void *report_void)
{
    const app__mc_replay_t *const replay = object;
    app__mc_report_t *const report = report_void;
    app__mc_report_records(report, replay->cluster);
    sim_sample_set_t ttft;
    sim_sample_set_t transfers;
    sim_sample_set_init(&ttft);
    sim_sample_set_init(&transfers);
    sim_time_t last_ps = replay->config.start_ps;
    uint64_t not_reused = 0;
    uint64_t failed = replay->refused;
    for (uint32_t i = 0; i < replay->prefill_count; i++) {
        const app__mc_prefill_t *const prefill = &replay->prefills[i];
        app__mc_report_engine(report, prefill->engine);
        sim_sample_set_add_all(&transfers, &prefill->transfers_ps);
        failed += prefill->failed;
        report->fetched_blocks += prefill->fetched_blocks;
        report->fetches_failed += prefill->fetches_failed;
        not_reused += prefill->not_reused;
        report->bytes += prefill->engine->counters.bytes - prefill->engine->counters.copied_bytes;
    }
    for (uint32_t i = 0; i < replay->decode_count; i++) {
        app__mc_report_engine(report, replay->decodes[i].engine);
    }
    report_served(replay, report, &ttft, &last_ps);
    report->unanswered = replay->refused;
    report->failed = replay->watched == NULL ? failed : report->failed;
    report->placed_again = replay->placed_again;
    report->nodes_lost = replay->nodes_lost;
    report->blocks_lost = replay->blocks_lost;
    // the run was cut short: until its end
    if (report->requests + report->failed < replay->trace.count) {
        const sim_time_t end_ps = sim_end_time_ps(net_sim(replay->app.net));
        last_ps = SIM_MAX(end_ps, last_ps);
    }
    const sim_time_t time_ps = last_ps - replay->config.start_ps;
    for (uint32_t i = 0; i < replay->prefill_count; i++) {
        app__mc_report_parts(report, replay->prefills[i].engine, time_ps);
    }
    for (uint32_t i = 0; i < replay->decode_count; i++) {
        app__mc_report_parts(report, replay->decodes[i].engine, time_ps);
    }
    report->seconds = (double)time_ps / 1e12;
    report->gbytes_per_s = time_ps == 0 ? 0.0 : (double)report->bytes * 1e3 / (double)time_ps;
    report->tokens = replay->tokens;
    report->token_hits = replay->token_hits;
    report->blocks = replay->blocks;
    report->reused_tokens = replay->reused_tokens - not_reused;
    report->late = replay->trace.late;
    report->block_hits = replay->block_hits;
    report->token_hit_rate =
        replay->tokens == 0 ? 0.0 : (double)replay->token_hits / (double)replay->tokens;
    report->block_hit_rate =
        replay->blocks == 0 ? 0.0 : (double)replay->block_hits / (double)replay->blocks;
    for (uint32_t i = 0; i < replay->store_count; i++) {
        report->evictions += app__mooncake_prefix_evictions(replay->stores[i]);
    }
    report->ttft_ms = sim_percentiles(&ttft, SIM_PS_PER_MS);
    report->transfer_ms = sim_percentiles(&transfers, SIM_PS_PER_MS);
    report->ttft = sim_report_points(&ttft);
    report->transfer = sim_report_points(&transfers);
    if (replay->config.log) {
        report_prompts(replay, report);
    }
    sim_sample_set_fini(&ttft);
    sim_sample_set_fini(&transfers);
}

void app__mc_replay_warn(const app_t *app, void (*write)(const char *text, void *ctx), void *ctx)
{
    app__mc_report_t report = {0};
    replay_fill(app, &report);
    app__mc_report_warn(&report, write, ctx);
    app__mc_report_fini(&report);
}

const sim_report_table_t app__mc_replay_report = {
    .rows = app__mc_trace_rows,
    .count = APP__MC_REPORT_ROWS,
    .bytes = sizeof(app__mc_report_t),
    .fill = replay_fill,
    .fini = app__mc_report_fini,
};
