// SPDX-License-Identifier: Apache-2.0
// apps/programs/verbs/foresight.c - polls that the library answers itself, since it was told what
// comes next.
//
// A change between the simulator and a process is what costs most. With an answer, the library gets
// the completions of receives and the WRITEs that are certain to come (nic/foresee.h), and their
// payloads. It answers calls that wait by these, as long as the program does nothing but post
// receives. With the next call come all these calls. They are worked on one after the other as if
// the process made them now, at their times: all that the simulation does is the same. Each answer
// is compared with the one that the library gave.
//
// A payload reaches the process when the library gives the answer, and again when the NIC writes
// it. The program may have written there in between, so what it wrote is put back.
#include "apps/programs/verbs/foresight.h"

#include "apps/programs/verbs/queue_pairs.h"
#include "nic/foresee.h"

#include <string.h>

#define PAYLOAD_BYTES_MAX 4096u

// A payload, and what the process has at its place.
typedef struct kept {
    uint64_t address;
    uint32_t bytes;
    bool changed;
    uint8_t own[PAYLOAD_BYTES_MAX];
} kept_t;

struct app__foresight {
    nic_foreseen_t foreseen[PROGRAM_FORESEEN_MAX];
    program_completion_t completions[PROGRAM_FORESEEN_MAX];
    uint32_t count; // of them

    // the calls that are worked on
    program_answered_t answered[PROGRAM_FORESEEN_MAX];
    uint32_t answered_count;
    uint32_t answered_next;
    uint32_t given; // of those foreseen, by the calls before
    kept_t kept[PROGRAM_FORESEEN_MAX];
    app__turn_t last; // what comes after them, and its call
    program_call_t call;
    uint64_t lead_ps;
    uint32_t posts_bytes;
};

// Returns true if nothing but completions can concern the thread soon.
static bool is_quiet(const app__pr_thread_t *thread)
{
    const app__program_t *const program = thread->program;
    const program_shared_t *const shared = program->process->shared;
    if (program->detailed || program->thread_count != 1 || shared->many != 0 || program->shares ||
        shared->quiet == 0 || shared->compute_permille != 0 || thread->process->signals != 0) {
        return false;
    }
    for (size_t i = 0; i < program->qp_count; i++) {
        const app__pr_qp_t *const qp = program->qps[i];
        if (qp->qp != NULL && (qp->type != NIC_QPT_RC || !nic_qp_sends_nothing(qp->qp))) {
            return false;
        }
    }
    return true;
}

static uint32_t handle_of(const app__program_t *program, const nic_cq_t *cq)
{
    for (size_t i = 0; i < program->cq_count; i++) {
        const app__pr_cq_t *const mine = program->cqs[i];
        if (mine->cq == cq) {
            return mine->gone || mine->timed || mine->owner != program->thread ? 0
                                                                               : (uint32_t)i + 1;
        }
    }
    return 0;
}

void app__foresight_tell(app__pr_thread_t *thread)
{
    app__program_t *const program = thread->program;
    program_shared_t *const shared = program->process->shared;
    shared->foreseen_count = 0;
    shared->foreseen_used = 0;
    shared->answered_count = 0;
    shared->turn_ps = program->node->sim.now_ps;
    if (!is_quiet(thread)) {
        return;
    }
    if (program->foresight == NULL) {
        program->foresight = sim_alloc(sizeof(*program->foresight));
    }
    app__foresight_t *const foresight = program->foresight;
    foresight->count = nic_foresee(program->node, foresight->foreseen, PROGRAM_FORESEEN_MAX,
                                   &shared->foreseen_until_ps);
    uint32_t payload = 0;
    for (uint32_t i = 0; i < foresight->count; i++) {
        const nic_foreseen_t *const foreseen = &foresight->foreseen[i];
        const bool write = foreseen->cq == NULL;
        const uint32_t handle = write ? 0 : handle_of(program, foreseen->cq);
        const uint32_t bytes = foreseen->wc.byte_len;
        const app__pr_qp_t *const qp = app__program_qp(program, foreseen->wc.qp_num);
        // The first packet for a queue pair in the state RTR raises an event.
        if ((handle == 0 && !write) || qp == NULL ||
            (nic_qp_state(qp->qp) == NIC_QPS_RTR && !qp->communicates) ||
            bytes > PAYLOAD_BYTES_MAX || bytes > PROGRAM_FORESEEN_BYTES - payload) {
            shared->foreseen_until_ps = SIM_MIN(shared->foreseen_until_ps, foreseen->time_ps);
            foresight->count = i;
            break;
        }
        program_foreseen_t *const told = &shared->foreseen[i];
        *told = (program_foreseen_t){
            .time_ps = foreseen->time_ps,
            .address = foreseen->address - app__program_base(program),
            .payload = payload,
            .bytes = bytes,
            .cq = handle,
        };
        if (!write) {
            app__program_completion_of(program, &foreseen->wc, &told->completion);
        }
        foresight->completions[i] = told->completion;
        if (bytes != 0) {
            memcpy(shared->foreseen_payload + payload, foreseen->payload, bytes);
        }
        payload += bytes;
    }
    shared->foreseen_count = foresight->count;
}

// Puts the next call that was answered, or the call after them, in the place of the thread's call.
static void put_call(app__pr_thread_t *thread)
{
    app__foresight_t *const foresight = thread->program->foresight;
    program_shared_t *const shared = thread->program->process->shared;
    if (foresight->answered_next == foresight->answered_count) {
        shared->call = foresight->call;
        shared->lead_ps = foresight->lead_ps;
        shared->posts_bytes = foresight->posts_bytes;
        foresight->answered_count = 0;
        return;
    }
    const program_answered_t *const answered = &foresight->answered[foresight->answered_next];
    shared->call = (program_call_t){
        .op = answered->op,
        .handle = answered->handle,
        .count = answered->wanted,
        .flags = answered->flags,
        .wait = answered->wait,
    };
    shared->lead_ps = answered->lead_ps;
    shared->posts_bytes = answered->posts_bytes;
}

// Notes what the process has at the places of the payloads that it got.
static void keep(app__program_t *program, uint32_t count)
{
    app__foresight_t *const foresight = program->foresight;
    const nic_memory_t *const memory = nic_host_memory(program->node);
    for (uint32_t i = 0; i < count; i++) {
        const nic_foreseen_t *const foreseen = &foresight->foreseen[i];
        kept_t *const kept = &foresight->kept[i];
        kept->address = foreseen->address;
        kept->bytes = foreseen->wc.byte_len;
        kept->changed = !nic_memory_equals(memory, kept->address, foreseen->payload, kept->bytes);
        if (kept->changed) {
            nic_memory_read(memory, kept->address, kept->own, kept->bytes);
        }
    }
}

app__turn_t app__foresight_begin(app__pr_thread_t *thread, app__turn_t turn)
{
    app__program_t *const program = thread->program;
    app__foresight_t *const foresight = program->foresight;
    program_shared_t *const shared = program->process->shared;
    if (foresight == NULL || shared->answered_count == 0) {
        return turn;
    }
    foresight->answered_count = SIM_MIN(shared->answered_count, PROGRAM_FORESEEN_MAX);
    memcpy(foresight->answered, shared->answered,
           foresight->answered_count * sizeof(foresight->answered[0]));
    foresight->answered_next = 0;
    foresight->given = 0;
    foresight->last = turn;
    foresight->call = shared->call;
    foresight->lead_ps = shared->lead_ps;
    foresight->posts_bytes = shared->posts_bytes;
    keep(program, foresight->count);
    put_call(thread);
    return APP__TURN_CALL;
}

app__turn_t app__foresight_turn(app__pr_thread_t *thread)
{
    app__foresight_t *const foresight = thread->program->foresight;
    return foresight == NULL || foresight->answered_count != 0 ? APP__TURN_CALL : foresight->last;
}

static bool is_same(const program_completion_t *one, const program_completion_t *other)
{
    return one->wr_id == other->wr_id && one->status == other->status &&
           one->opcode == other->opcode && one->byte_len == other->byte_len &&
           one->immediate == other->immediate && one->flags == other->flags &&
           one->qp_num == other->qp_num && one->is_send == other->is_send &&
           one->time_ps == other->time_ps;
}

bool app__foresight_repeats(const app__program_t *program)
{
    return program->foresight != NULL && program->foresight->answered_count != 0;
}

// Returns true if the answer is the one that the library gave.
static bool is_as_told(const app__pr_thread_t *thread, const program_answered_t *answered)
{
    const app__program_t *const program = thread->program;
    const app__foresight_t *const foresight = program->foresight;
    const program_shared_t *const shared = program->process->shared;
    const program_call_t *const call = &thread->call;
    const uint32_t given = call->op == PROGRAM_POLL_CQ ? call->count : 0;
    uint32_t reasons = 0;
    uint32_t count = 0;
    if (!thread->parked || call->error != 0 ||
        (call->op != PROGRAM_POLL_CQ && call->op != PROGRAM_WAIT) ||
        answered->events > foresight->count - foresight->given ||
        nic_core_now_ps(program->core) != answered->now_ps) {
        return false;
    }
    for (uint32_t i = 0; i < answered->events; i++) {
        program_completion_t expected = foresight->completions[foresight->given + i];
        const bool write = foresight->foreseen[foresight->given + i].cq == NULL;
        expected.time_ps = answered->now_ps;
        reasons |= (uint32_t)(write ? PROGRAM_ON_MEMORY : PROGRAM_ON_POLL);
        if (!write && (count == given || !is_same(&expected, &shared->completions[count++]))) {
            return false;
        }
    }
    return count == given && count == answered->count && call->wait.reasons == reasons;
}

bool app__foresight_next(app__pr_thread_t *thread)
{
    app__program_t *const program = thread->program;
    app__foresight_t *const foresight = program->foresight;
    if (!app__foresight_repeats(program)) {
        return false;
    }
    const program_answered_t *const answered = &foresight->answered[foresight->answered_next];
    if (!is_as_told(thread, answered)) {
        program->mistaken = true;
        foresight->answered_count = 0;
        return true;
    }
    for (uint32_t i = 0; i < answered->events; i++) {
        const kept_t *const kept = &foresight->kept[foresight->given++];
        if (kept->changed) {
            nic_memory_write(nic_host_memory(program->node), kept->address, kept->own, kept->bytes);
        }
    }
    program->posts_done_bytes = answered->posts_bytes;
    foresight->answered_next++;
    put_call(thread);
    return true;
}

void app__foresight_destroy(app__program_t *program)
{
    sim_free(program->foresight);
    program->foresight = NULL;
}
