// SPDX-License-Identifier: Apache-2.0
// apps/workload/formats/aicb_schedule.c - makes a schedule of a workload text of AICB or SimAI.
//
// All ranks of a pipeline stage do the same, so a program is made once for each stage
// (aicb_program.c) and copied to its ranks; only the groups of their collectives differ. In a large
// schedule the ranks of a stage share it.
#include "apps/workload/formats/aicb.h"
#include "apps/workload/formats/aicb_program.h"

#define OPS_TOTAL_MAX (UINT64_C(1) << 28) // operations and calls of a schedule that can run

// -- the groups of ranks

// Where a rank stands in the job.
typedef struct place {
    uint32_t tp;
    uint32_t dp;
    uint32_t pp;
} place_t;

static place_t place_of(const app__aicb_job_t *job, uint32_t rank)
{
    if (job->simai) {
        return (place_t){rank % job->tp, rank / (job->tp * job->pp), rank / job->tp % job->pp};
    }
    return (place_t){rank % job->tp, rank / job->tp % job->dp, rank / (job->tp * job->dp)};
}

static uint32_t rank_at(const app__aicb_job_t *job, place_t place)
{
    return job->simai ? (place.dp * job->pp + place.pp) * job->tp + place.tp
                      : (place.pp * job->dp + place.dp) * job->tp + place.tp;
}

// Returns the number of a rank's group in a set, and that of the rank within the group.
static uint32_t group_of(const app__aicb_job_t *job, app__aicb_set_t set, uint32_t rank,
                         uint32_t *member)
{
    const place_t at = place_of(job, rank);
    const uint32_t line = at.pp * job->tp + at.tp; // of the ranks that differ in dp only
    if (set == APP__AICB_TP) {
        *member = at.tp;
        return at.pp * job->dp + at.dp;
    }
    if (set == APP__AICB_DP) {
        *member = at.dp;
        return line;
    }
    const bool same_experts = set == APP__AICB_DP_EP;
    *member = same_experts ? at.dp / job->ep : at.dp % job->ep;
    return same_experts ? line * job->ep + at.dp % job->ep
                        : line * (job->dp / job->ep) + at.dp / job->ep;
}

// Adds the groups of a set; returns the index of the first.
static uint32_t add_groups(app__schedule_t *schedule, const app__aicb_job_t *job,
                           app__aicb_set_t set)
{
    const uint32_t members = app__aicb_members(job, set);
    uint32_t *const ranks = sim_alloc_array(job->ranks, sizeof(*ranks)); // group by group
    for (uint32_t r = 0; r < job->ranks; r++) {
        uint32_t member = 0;
        const uint32_t group = group_of(job, set, r, &member);
        ranks[group * members + member] = r;
    }
    const uint32_t first = app__schedule_group(schedule, ranks, members);
    for (uint32_t at = members; at < job->ranks; at += members) {
        (void)app__schedule_group(schedule, ranks + at, members);
    }
    sim_free(ranks);
    return first;
}

static void add_calls(app__schedule_t *schedule, const app__aicb_job_t *job,
                      app__aicb_program_t *program)
{
    uint32_t first_group[APP__AICB_SETS];
    bool has_groups[APP__AICB_SETS] = {false};
    for (size_t i = 0; i < program->call_count; i++) {
        app__aicb_call_t *const call = &program->calls[i];
        if (!has_groups[call->set]) {
            has_groups[call->set] = true;
            first_group[call->set] = add_groups(schedule, job, call->set);
        }
        app__call_t made = call->call;
        const uint32_t groups = job->ranks / app__aicb_members(job, call->set);
        made.name = app__schedule_keep(schedule, call->name);
        call->name = NULL;
        for (uint32_t g = 0; g < groups; g++) {
            made.group = first_group[call->set] + g;
            const uint32_t index = app__schedule_call(schedule, &made);
            call->first = g == 0 ? index : call->first;
        }
    }
}

// -- the ranks

// The groups of a rank, and its place.
typedef struct seat {
    uint32_t groups[APP__AICB_SETS];
    place_t place;
} seat_t;

static seat_t seat_of(const app__aicb_job_t *job, uint32_t rank)
{
    seat_t seat = {.place = place_of(job, rank)};
    for (int set = 0; set < APP__AICB_SETS; set++) {
        uint32_t member = 0;
        seat.groups[set] = group_of(job, (app__aicb_set_t)set, rank, &member);
    }
    return seat;
}

// Returns the peer of a rank's operation: a call, a rank, or 0.
static uint32_t peer_of(const app__aicb_job_t *job, const app__aicb_program_t *program,
                        const seat_t *seat, const app__op_t *op)
{
    if (op->type == APP__OP_COLL) {
        const app__aicb_call_t *const call = &program->calls[op->peer];
        return call->first + seat->groups[call->set];
    }
    if (op->type == APP__OP_CALC) {
        return 0;
    }
    place_t at = seat->place;
    at.pp = op->peer;
    return rank_at(job, at);
}

static void add_rank(app__schedule_t *schedule, const app__aicb_job_t *job,
                     const app__aicb_program_t *program, uint32_t rank)
{
    const seat_t seat = seat_of(job, rank);
    for (uint32_t i = 0; i < program->op_count; i++) {
        app__op_t op = program->ops[i];
        op.peer = peer_of(job, program, &seat, &program->ops[i]);
        (void)app__schedule_add(schedule, rank, &op);
    }
    app__schedule_order(schedule, rank, program->list, program->list_count);
}

// Gives a rank the operations of the first rank of its stage.
static void share_rank(app__schedule_t *schedule, const app__aicb_job_t *job,
                       const app__aicb_program_t *program, uint32_t rank, uint32_t owner)
{
    uint32_t *const peers = sim_alloc_array((size_t)program->op_count + 1, sizeof(*peers));
    const seat_t seat = seat_of(job, rank);
    for (uint32_t i = 0; i < program->op_count; i++) {
        peers[i] = peer_of(job, program, &seat, &program->ops[i]);
    }
    app__schedule_share(schedule, rank, owner, peers);
}

// -- the typical ranks: one of each stage, alone in its groups

// Makes their calls, and says for which of them each call of the schedule stands.
static void add_typical_calls(app__schedule_t *schedule, const app__aicb_job_t *job,
                              const app__aicb_program_t *program)
{
    app__schedule_t *const typical = schedule->typical;
    for (uint32_t stage = 0; stage < job->pp; stage++) {
        (void)app__schedule_group(typical, &stage, 1);
    }
    for (size_t i = 0; i < program->call_count; i++) {
        const app__aicb_call_t *const call = &program->calls[i];
        const uint32_t groups = job->ranks / app__aicb_members(job, call->set);
        for (uint32_t stage = 0; stage < job->pp; stage++) {
            app__call_t made = call->call;
            made.group = stage;
            (void)app__schedule_call(typical, &made);
        }
        for (uint32_t g = 0; g < groups; g++) {
            const uint32_t rank = schedule->groups[schedule->calls[call->first + g].group].ranks[0];
            schedule->typical_of[call->first + g] = (uint32_t)i * job->pp + place_of(job, rank).pp;
        }
    }
}

static void add_typical_rank(app__schedule_t *schedule, const app__aicb_job_t *job,
                             const app__aicb_program_t *program, uint32_t stage)
{
    for (uint32_t i = 0; i < program->op_count; i++) {
        app__op_t op = program->ops[i];
        op.peer = op.type == APP__OP_COLL ? op.peer * job->pp + stage : op.peer;
        (void)app__schedule_add(schedule->typical, stage, &op);
    }
    app__schedule_order(schedule->typical, stage, program->list, program->list_count);
}

// Counts a schedule that is too large to be made. Every rank has the same program.
static void count_only(app__schedule_t *schedule, const app__aicb_job_t *job,
                       const app__aicb_program_t *program)
{
    app__schedule_counts_t *const counts = &schedule->counts;
    uint32_t *const depth = sim_alloc_array((size_t)program->op_count + 1, sizeof(*depth));
    size_t at = 0; // in the list, whose entries stand in the order of the operations that wait
    for (uint32_t i = 0; i < program->op_count; i++) {
        const app__op_t *const op = &program->ops[i];
        for (; at < program->list_count && program->list[at].after == i; at++) {
            const uint32_t before = depth[program->list[at].before];
            depth[i] = SIM_MAX(before, depth[i]);
        }
        depth[i] += op->type != APP__OP_RECV;
        counts->depth = SIM_MAX(depth[i], counts->depth);
        counts->sends += op->type == APP__OP_SEND ? job->ranks : 0;
        counts->recvs += op->type == APP__OP_RECV ? job->ranks : 0;
        counts->calcs += op->type == APP__OP_CALC ? job->ranks : 0;
        counts->colls += op->type == APP__OP_COLL ? job->ranks : 0;
        counts->bytes += op->type == APP__OP_SEND ? op->size * job->ranks : 0;
        counts->calc_ns += op->type == APP__OP_CALC ? op->size * job->ranks : 0;
        counts->cpu_max = SIM_MAX(op->cpu, counts->cpu_max);
    }
    counts->requires = (uint64_t)program->list_count * job->ranks;
    sim_free(depth);
}

// Returns the operations of all ranks, and the calls.
static uint64_t size_of(const app__aicb_job_t *job, const app__aicb_program_t *program)
{
    uint64_t most = (uint64_t)program->op_count * job->ranks;
    for (size_t i = 0; i < program->call_count; i++) {
        most += job->ranks / app__aicb_members(job, program->calls[i].set);
    }
    return most;
}

// Adds the ranks of a stage.
static void add_stage(app__schedule_t *schedule, const app__aicb_job_t *job,
                      const app__aicb_program_t *program, uint32_t stage)
{
    uint32_t owner = job->ranks; // the first rank of the stage; none yet
    for (uint32_t r = 0; r < job->ranks; r++) {
        if (place_of(job, r).pp == stage && schedule->typical != NULL && owner < job->ranks) {
            share_rank(schedule, job, program, r, owner);
        } else if (place_of(job, r).pp == stage) {
            owner = r;
            add_rank(schedule, job, program, r);
        }
    }
    if (schedule->typical != NULL) {
        add_typical_rank(schedule, job, program, stage);
    }
}

// Fills the schedule; each stage has its own program, whose calls are the same.
static sim_err_t fill(const app__aicb_t *aicb, const app__aicb_job_t *job, uint64_t own_max,
                      app__schedule_t *schedule, sim_message_t *message)
{
    app__aicb_program_t first; // of the first stage: its calls are those of all
    sim_err_t error = app__aicb_program_make(aicb, job, 0, &first, message);
    if (error == SIM_OK && size_of(job, &first) > OPS_TOTAL_MAX) {
        count_only(schedule, job, &first);
        app__schedule_refuse(
            schedule,
            sim_format("the file has %u operations for each of %u ranks; a run holds at most %u "
                       "operations and calls. Use fewer ranks, layers or iterations",
                       first.op_count, job->ranks, (uint32_t)OPS_TOTAL_MAX));
        app__aicb_program_fini(&first);
        return SIM_OK;
    }
    if (error == SIM_OK) {
        add_calls(schedule, job, &first);
    }
    if (error == SIM_OK && size_of(job, &first) > own_max) {
        schedule->typical = app__schedule_create(job->pp);
        schedule->typical_of =
            sim_alloc_array(schedule->call_count + 1, sizeof(*schedule->typical_of));
        SIM_CHECK(job->pp > 0);
        schedule->alike = job->ranks / job->pp;
        add_typical_calls(schedule, job, &first);
    }
    for (uint32_t stage = 0; stage < job->pp && error == SIM_OK; stage++) {
        app__aicb_program_t program;
        error = app__aicb_program_make(aicb, job, stage, &program, message);
        for (size_t i = 0; i < program.call_count && error == SIM_OK; i++) {
            SIM_CHECK(program.call_count == first.call_count);
            program.calls[i].first = first.calls[i].first;
        }
        if (error == SIM_OK) {
            add_stage(schedule, job, &program, stage);
        }
        app__aicb_program_fini(&program);
    }
    app__aicb_program_fini(&first);
    if (error == SIM_OK) {
        app__schedule_finish(schedule);
    }
    return error;
}

// -- the job

static uint32_t or_one(uint64_t number)
{
    return number == 0 ? 1 : (uint32_t)number;
}

// Returns how many ranks to make where the header does not say. `unit` divides the number.
static uint64_t ranks_without_header(const app__workload_file_t *file, uint64_t unit)
{
    const uint64_t least = SIM_MAX(8, 2 * unit); // two groups of data parallelism
    const uint64_t asked = file->ranks == 0 ? least : file->ranks;
    return asked / unit * unit;
}

static sim_err_t plan(const app__workload_file_t *file, const app__aicb_t *aicb,
                      app__aicb_job_t *job, sim_message_t *message)
{
    const bool whole =
        aicb->tp == 0 &&
        (aicb->policy == APP__AICB_MODEL || aicb->policy == APP__AICB_INFERENCE ||
         aicb->policy == APP__AICB_TRANSFORMER || aicb->policy == APP__AICB_TRANSFORMER_AGAIN);
    const uint64_t unit = (uint64_t)or_one(aicb->tp) * or_one(aicb->pp);
    const uint64_t period = unit * or_one(aicb->ep);
    if (period > APP__RANKS_MAX) {
        return sim_fail_in(message, SIM_ERR_RANGE, file->name, 1, 1,
                           "the header's TP x PP x EP is %" PRIu64 ", expected at most %u ranks",
                           period, APP__RANKS_MAX);
    }
    const uint64_t ranks =
        aicb->all_gpus != 0 ? aicb->all_gpus : ranks_without_header(file, period);
    if (ranks == 0 || ranks > APP__RANKS_MAX || ranks % period != 0) {
        return sim_fail_in(message, SIM_ERR_RANGE, file->name, 1, 1,
                           "%" PRIu64 " ranks do not fit the header, expected a multiple of TP x "
                           "PP x EP, which is %" PRIu64 ", up to %u",
                           ranks == 0 ? file->ranks : ranks, period, APP__RANKS_MAX);
    }
    *job = (app__aicb_job_t){
        .ranks = (uint32_t)ranks,
        .tp = whole ? (uint32_t)(ranks / or_one(aicb->pp)) : or_one(aicb->tp),
        .dp = whole ? 1 : (uint32_t)(ranks / unit),
        .pp = or_one(aicb->pp),
        .ep = whole ? 1 : or_one(aicb->ep),
        .undivided = aicb->tp == 0 && !whole,
        .iterations = SIM_MAX(file->iterations, 1),
        .simai = file->aicb_simai,
    };
    return SIM_OK;
}

static sim_err_t read_aicb(const app__workload_file_t *file, app__schedule_t **created,
                           sim_message_t *message)
{
    app__aicb_t aicb;
    app__aicb_job_t job = {.ranks = 0};
    app__schedule_t *schedule = NULL;
    sim_err_t error = app__aicb_read(file, &aicb, message);
    if (error == SIM_OK) {
        error = plan(file, &aicb, &job, message);
    }
    if (error == SIM_OK) {
        schedule = app__schedule_create(job.ranks);
        app__aicb_note_counts(&aicb, &job, schedule);
        if (aicb.all_gpus == 0) {
            app__schedule_note(schedule, sim_format("the header does not say all_gpus: %u rank%s",
                                                    job.ranks, sim_plural(job.ranks)));
        }
        error = fill(&aicb, &job, file->own_operations_max, schedule, message);
    }
    app__aicb_fini(&aicb);
    if (error != SIM_OK) {
        app__schedule_destroy(schedule);
        return error;
    }
    *created = schedule;
    return SIM_OK;
}

const app__format_t app__format_aicb = {
    .name = "aicb",
    .what = "AICB or SimAI, text",
    .recognises = app__aicb_recognises,
    .read = read_aicb,
};
