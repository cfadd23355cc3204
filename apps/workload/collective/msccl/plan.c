// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/msccl/plan.c - reads and counts execution plans of MSCCL++, which are
// JSON. lower.c makes programs of them.
//
// A plan says what each thread block puts into and gets out of the memory of other GPUs. Members
// have other names in plans of before 2025. docs/models/msccl.md
#include "apps/workload/collective/msccl/lower.h"

#include <string.h>

#define RANKS_MAX 1024u
#define CHUNKS_MAX 1000000
#define BUFFERS 3u // input, output, scratch
#define DEPTH_MAX 8u

// The names of operations, and how many of each a plan has.
static const char *const op_names[] = {
    "nop",       "barrier",  "copy",        "put",         "pws",    "pwsf",    "get",  "signal",
    "rlxsignal", "wait",     "rlxwait",     "flush",       "re",     "res",     "rre",  "rres",
    "rrc",       "rrcs",     "rcs",         "cpkt",        "ppkt",   "rppkt",   "tpkt", "upkt",
    "rpkt",      "rspkt",    "repkt",       "respkt",      "recpkt", "recspkt", "glre", "glres",
    "gstore",    "pipeline", "sem_acquire", "sem_release",
};

typedef struct plan {
    app__json_t json;
    sim_message_t *message;
    uint32_t gpus;
    uint32_t gpu;            // the present one
    int64_t chunks[BUFFERS]; // of its buffers
    uint64_t ops[SIM_COUNT_OF(op_names)];
    uint64_t others; // operations with names that are not known
    uint64_t blocks;
    uint64_t steps;
    uint64_t channels;
    uint64_t written; // number of chunks written into other GPUs
    uint64_t read;    // number of chunks read from other GPUs
} plan_t;

static uint32_t either(const plan_t *plan, uint32_t object, const char *one, const char *two)
{
    const uint32_t found = app__json_member(&plan->json, object, one);
    return found != 0 ? found : app__json_member(&plan->json, object, two);
}

static sim_err_t fail(plan_t *plan, uint32_t value, const char *problem, const char *expected)
{
    return app__json_fail(&plan->json, value, problem, expected, plan->message);
}

// Reads a member that is a whole number; `otherwise` if it is not there.
static sim_err_t number_of(plan_t *plan, uint32_t member, int64_t most, int64_t otherwise,
                           int64_t *number)
{
    *number = otherwise;
    return member == 0 ? SIM_OK
                       : app__json_integer(&plan->json, member, 0, most, number, plan->message);
}

// -- operations

// Counts the chunks of one end of an operation: those of other GPUs have buffer_id. Chunks of the
// GPU's own buffers must be there.
static sim_err_t take_ends(plan_t *plan, uint32_t op, const char *name, uint64_t *remote)
{
    static const char *const types[BUFFERS] = {"i", "o", "s"};
    uint32_t at = 0;
    const uint32_t count = app__json_list(&plan->json, op, name, &at);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t type = app__json_member(&plan->json, at, "type");
        const uint32_t index = app__json_member(&plan->json, at, "index");
        int64_t first = 0;
        int64_t size = 0;
        sim_err_t error = number_of(plan, index, CHUNKS_MAX, 0, &first);
        error = error == SIM_OK ? number_of(plan, app__json_member(&plan->json, at, "size"),
                                            CHUNKS_MAX, 1, &size)
                                : error;
        for (uint32_t b = 0; b < BUFFERS && error == SIM_OK; b++) {
            if (app__json_is(&plan->json, type, types[b]) && first + size > plan->chunks[b]) {
                error = fail(plan, index != 0 ? index : at, "the operation leaves the buffer",
                             "chunks that the GPU has");
            }
        }
        if (error != SIM_OK) {
            return error;
        }
        *remote += app__json_member(&plan->json, at, "buffer_id") != 0 ? (uint64_t)size : 0;
        at = plan->json.values[at].next;
    }
    return SIM_OK;
}

static sim_err_t take_list(plan_t *plan, uint32_t list, uint32_t depth);

static sim_err_t take_op(plan_t *plan, uint32_t op, uint32_t depth)
{
    const uint32_t name = app__json_member(&plan->json, op, "name");
    int64_t count = 1;
    size_t type = 0;
    if (name == 0 || plan->json.values[name].type != APP__JSON_TEXT) {
        return fail(plan, op, "this is no operation", "an object with a name");
    }
    while (type < SIM_COUNT_OF(op_names) && !app__json_is(&plan->json, name, op_names[type])) {
        type++;
    }
    plan->steps++;
    if (type < SIM_COUNT_OF(op_names)) {
        plan->ops[type]++;
    } else {
        plan->others++;
    }
    sim_err_t error = take_ends(plan, op, "dst_buff", &plan->written);
    error = error == SIM_OK ? take_ends(plan, op, "src_buff", &plan->read) : error;
    // Older plans name channels, and a count of chunks for all of them.
    error = error == SIM_OK
                ? number_of(plan, app__json_member(&plan->json, op, "cnt"), CHUNKS_MAX, 1, &count)
                : error;
    uint32_t at = 0;
    if (app__json_member(&plan->json, op, "cnt") != 0) {
        plan->written += (uint64_t)count * app__json_list(&plan->json, op, "o_cids", &at);
        plan->read += (uint64_t)count * app__json_list(&plan->json, op, "i_cids", &at);
    }
    const uint32_t inner = app__json_member(&plan->json, op, "ops");
    return error == SIM_OK && inner != 0 ? take_list(plan, inner, depth + 1) : error;
}

// Takes the operations of a block, or those that a pipeline repeats.
static sim_err_t take_list(plan_t *plan, uint32_t list, uint32_t depth)
{
    if (plan->json.values[list].type != APP__JSON_ARRAY || depth > DEPTH_MAX) {
        return fail(plan, list, "these are no operations", "a list, at most 8 within one another");
    }
    sim_err_t error = SIM_OK;
    uint32_t at = list + 1;
    for (uint32_t i = 0; i < plan->json.values[list].count && error == SIM_OK; i++) {
        error = take_op(plan, at, depth);
        at = plan->json.values[at].next;
    }
    return error;
}

// -- GPUs

// Checks that the GPUs that a GPU names exist, and counts its channels.
static sim_err_t take_channels(plan_t *plan, uint32_t gpu)
{
    uint32_t at = 0;
    const uint32_t count = app__json_list(&plan->json, gpu, "channels", &at);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t peers = either(plan, at, "connected_to", "connectedTo");
        uint32_t peer = peers + 1;
        for (uint32_t p = 0; peers != 0 && p < plan->json.values[peers].count; p++) {
            int64_t ignored = 0;
            // The peer of an NVLS channel is a list of GPUs.
            const bool list = plan->json.values[peer].type == APP__JSON_ARRAY;
            const sim_err_t error =
                list ? SIM_OK : number_of(plan, peer, plan->gpus - 1, 0, &ignored);
            if (error != SIM_OK) {
                return error;
            }
            plan->channels++;
            peer = plan->json.values[peer].next;
        }
        at = plan->json.values[at].next;
    }
    return SIM_OK;
}

static sim_err_t take_gpu(plan_t *plan, uint32_t gpu)
{
    static const char *const names[BUFFERS][2] = {{"input_chunks", "inputChunks"},
                                                  {"output_chunks", "outputChunks"},
                                                  {"scratch_chunks", "scratchChunks"}};
    const uint32_t id = app__json_member(&plan->json, gpu, "id");
    int64_t number = plan->gpu;
    sim_err_t error = number_of(plan, id, RANKS_MAX, plan->gpu, &number);
    if (error == SIM_OK && number != plan->gpu) {
        error = fail(plan, id, "the GPU is not the next one", "GPUs in the order of their ids");
    }
    for (uint32_t b = 0; b < BUFFERS && error == SIM_OK; b++) {
        error = number_of(plan, either(plan, gpu, names[b][0], names[b][1]), CHUNKS_MAX, 0,
                          &plan->chunks[b]);
    }
    uint32_t at = 0;
    const uint32_t count = app__json_list(&plan->json, gpu, "threadblocks", &at);
    if (error == SIM_OK && app__json_member(&plan->json, gpu, "threadblocks") == 0) {
        error = fail(plan, gpu, "the GPU has no thread blocks", "a list threadblocks");
    }
    for (uint32_t i = 0; i < count && error == SIM_OK; i++) {
        const uint32_t ops = app__json_member(&plan->json, at, "ops");
        error = ops == 0 ? fail(plan, at, "the thread block has no operations", "a list ops")
                         : take_list(plan, ops, 1);
        plan->blocks++;
        at = plan->json.values[at].next;
    }
    return error == SIM_OK ? take_channels(plan, gpu) : error;
}

static sim_err_t take_plan(plan_t *plan)
{
    uint32_t at = 0;
    const uint32_t list = app__json_member(&plan->json, 1, "gpus");
    plan->gpus = app__json_list(&plan->json, 1, "gpus", &at);
    if (plan->gpus == 0 || plan->gpus > RANKS_MAX) {
        return fail(plan, list != 0 ? list : 1, "this is no execution plan",
                    "an object with a list of 1 to 1024 gpus");
    }
    sim_err_t error = SIM_OK;
    for (plan->gpu = 0; plan->gpu < plan->gpus && error == SIM_OK; plan->gpu++) {
        error = take_gpu(plan, at);
        at = plan->json.values[at].next;
    }
    return error;
}

// -- the plan as a workload: counted, not run

static char *text_of(const plan_t *plan, uint32_t value)
{
    const app__json_value_t *const at = &plan->json.values[value];
    return value == 0 ? sim_strdup("")
                      : sim_format("%.*s", (int)SIM_MIN(at->length, 100), at->text);
}

static void add_facts(const plan_t *plan, app__schedule_t *schedule)
{
    char *const name = text_of(plan, app__json_member(&plan->json, 1, "name"));
    char *const coll = text_of(plan, either(plan, 1, "collective", "colletive"));
    char *const protocol = text_of(plan, app__json_member(&plan->json, 1, "protocol"));
    app__schedule_note(
        schedule, sim_format("plan %s: %s of %u GPU%s, %s: %" PRIu64 " block%s of %" PRIu64
                             " operation%s on %" PRIu64 " channel%s; %" PRIu64
                             " chunk%s written to other GPUs, %" PRIu64 " read from them",
                             name, coll, plan->gpus, sim_plural(plan->gpus), protocol, plan->blocks,
                             sim_plural(plan->blocks), plan->steps, sim_plural(plan->steps),
                             plan->channels, sim_plural(plan->channels), plan->written,
                             sim_plural(plan->written), plan->read));
    if (plan->others > 0) {
        app__schedule_note(schedule,
                           sim_format("warning: %s: %" PRIu64 " operations have unknown names",
                                      plan->json.file, plan->others));
    }
    app__schedule_fact_text(schedule, "coll", coll);
    app__schedule_fact_text(schedule, "proto", protocol);
    app__schedule_fact(schedule, "ngpus", plan->gpus);
    app__schedule_fact(schedule, "threadblocks", plan->blocks);
    app__schedule_fact(schedule, "steps", plan->steps);
    app__schedule_fact(schedule, "channels", plan->channels);
    app__schedule_fact(schedule, "chunks_written", plan->written);
    app__schedule_fact(schedule, "chunks_read", plan->read);
    for (size_t i = 0; i < SIM_COUNT_OF(op_names); i++) {
        if (plan->ops[i] > 0) {
            app__schedule_fact(schedule, op_names[i], plan->ops[i]);
        }
    }
    app__schedule_fact(schedule, "other_ops", plan->others);
    sim_free(name);
}

// Says whether the plan can be run, or why not.
static void note_run(const plan_t *plan, app__schedule_t *schedule)
{
    app__msccl_t msccl;
    sim_message_t message = {0};
    const sim_err_t error = app__mscclpp_lower(&plan->json, plan->gpus, &msccl, &message);
    if (error == SIM_OK) {
        app__schedule_note(schedule,
                           sim_format("the plan runs as %zu blocks of %zu steps; verified",
                                      msccl.program->block_count, msccl.program->step_count));
    } else {
        schedule->flaw = sim_strdup(message.text);
    }
    app__schedule_fact(schedule, "runs", error == SIM_OK);
    app__msccl_fini(&msccl);
}

static bool recognises(const app__workload_file_t *file)
{
    static const char *const words[] = {"\"threadblocks\""};
    return app__json_has(file->text, file->size_bytes, words, SIM_COUNT_OF(words));
}

static sim_err_t read_plan(const app__workload_file_t *file, app__schedule_t **created,
                           sim_message_t *message)
{
    plan_t plan = {.message = message};
    static const char *const arrays[] = {
        "gpus",     "threadblocks", "ops",         "src_buff",      "dst_buff",
        "channels", "connected_to", "channel_ids", "semaphore_ids", "remote_buffers"};
    sim_err_t error =
        app__json_parse(file->name, file->text, file->size_bytes, &plan.json, message);
    if (error == SIM_OK) {
        error = app__json_need_lists(&plan.json, arrays, SIM_COUNT_OF(arrays), message);
    }
    error = error == SIM_OK ? take_plan(&plan) : error;
    if (error == SIM_OK) {
        app__schedule_t *const schedule = app__schedule_create(plan.gpus);
        add_facts(&plan, schedule);
        note_run(&plan, schedule);
        app__schedule_refuse(
            schedule, sim_format("the file is an algorithm of a collective and not a workload; "
                                 "expected it as traffic.collective.algorithm-file"));
        app__schedule_finish(schedule);
        *created = schedule;
    }
    app__json_fini(&plan.json);
    return error;
}

sim_err_t app__mscclpp_read(const app__workload_file_t *file, app__msccl_t *msccl,
                            sim_message_t *message)
{
    plan_t plan = {.message = message};
    *msccl = (app__msccl_t){.file_name = file->name};
    sim_err_t error =
        app__json_parse(file->name, file->text, file->size_bytes, &plan.json, message);
    error = error == SIM_OK ? take_plan(&plan) : error;
    error = error == SIM_OK ? app__mscclpp_lower(&plan.json, plan.gpus, msccl, message) : error;
    app__json_fini(&plan.json);
    return error;
}

const app__format_t app__format_mscclpp = {
    .name = "mscclpp",
    .what = "MSCCL++ execution plan, JSON",
    .recognises = recognises,
    .read = read_plan,
};
