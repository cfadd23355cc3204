// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/programs/courses.c - the times of each prompt of mooncake-trace, and the report
// (docs/models/mooncake.md).
#include <math.h>

#include "apps/mooncake/programs/replay.h"

void app__mc_courses_init(app__mc_replay_t *replay)
{
    replay->courses = sim_alloc_array(replay->trace.count, sizeof(*replay->courses));
    for (size_t i = 0; i < replay->trace.count; i++) {
        replay->courses[i] = (app__mc_course_t){
            .admitted_ps = SIM_TIME_NEVER,
            .began_ps = SIM_TIME_NEVER,
            .computed_ps = SIM_TIME_NEVER,
            .sent_ps = SIM_TIME_NEVER,
        };
    }
}

void app__mc_courses_fini(app__mc_replay_t *replay)
{
    sim_free(replay->courses);
}

// -- results

// Computes the mean parts of the time to the first token, over prompts that got one.
static void tell_means(const app__mc_replay_t *replay, app__mc_report_t *report)
{
    uint64_t served = 0;
    double wait_ps = 0.0;
    double compute_ps = 0.0;
    double send_ps = 0.0;
    for (size_t i = 0; i < replay->trace.count; i++) {
        const app__mc_course_t *const course = &replay->courses[i];
        if (course->sent_ps != SIM_TIME_NEVER) {
            served++;
            wait_ps += (double)(course->began_ps - course->admitted_ps);
            compute_ps += (double)(course->computed_ps - course->began_ps);
            send_ps += (double)(course->sent_ps - course->computed_ps);
        }
    }
    if (served > 0) {
        const double all_ms = (double)served * (double)SIM_PS_PER_MS;
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
static void tell_prompts(const app__mc_replay_t *replay, app__mc_report_t *report)
{
    report->prompts = sim_alloc_array(replay->next + 1, sizeof(*report->prompts));
    for (size_t i = 0; i < replay->next; i++) {
        const app__mc_course_t *const course = &replay->courses[i];
        const double sent_ms = between_ms(course->admitted_ps, course->sent_ps);
        report->prompts[report->prompt_count++] = (app__mc_told_prompt_t){
            .prompt = i,
            .prefill = app_mooncake_name(replay->prefills[course->prefill].engine),
            .decode = app_mooncake_name(replay->decodes[course->decode].engine),
            .input_tokens = replay->trace.prompts[i].input_tokens,
            .cached_tokens =
                course->began_ps == SIM_TIME_NEVER ? (double)NAN : (double)course->cached,
            .admitted_ms = between_ms(0, course->admitted_ps),
            .wait_ms = between_ms(course->admitted_ps, course->began_ps),
            .compute_ms = between_ms(course->began_ps, course->computed_ps),
            .send_ms = between_ms(course->computed_ps, course->sent_ps),
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
    sim_time_t last_ps = replay->start_ps;
    report->failed = replay->refused;
    report->unanswered = replay->refused;
    uint64_t not_reused = 0;
    for (uint32_t i = 0; i < replay->prefill_count; i++) {
        const app__mc_prefill_t *const prefill = &replay->prefills[i];
        app__mc_report_engine(report, prefill->engine);
        sim_sample_set_add_all(&transfers, &prefill->transfers_ps);
        report->failed += prefill->failed;
        report->fetched_blocks += prefill->fetched_blocks;
        report->fetches_failed += prefill->fetches_failed;
        not_reused += prefill->not_reused;
        report->bytes += prefill->engine->counters.bytes - prefill->engine->counters.copied_bytes;
    }
    for (uint32_t i = 0; i < replay->decode_count; i++) {
        const app__mc_decode_t *const decode = &replay->decodes[i];
        app__mc_report_engine(report, decode->engine);
        sim_sample_set_add_all(&ttft, &decode->ttft_ps);
        report->requests += decode->served;
        last_ps = decode->last_ps > last_ps ? decode->last_ps : last_ps;
    }
    // the run was cut short: until its end
    if (report->requests + report->failed < replay->trace.count) {
        const sim_time_t end_ps = sim_end_time_ps(net_sim(replay->app.net));
        last_ps = end_ps > last_ps ? end_ps : last_ps;
    }
    const sim_time_t time_ps = last_ps - replay->start_ps;
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
    app__mc_report_points(&report->ttft, &ttft);
    app__mc_report_points(&report->transfer, &transfers);
    tell_means(replay, report);
    if (replay->log) {
        tell_prompts(replay, report);
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
