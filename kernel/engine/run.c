// SPDX-License-Identifier: Apache-2.0
// kernel/engine/run.c - the loop over windows, on one thread or several, and how a run ends.
//
// All threads run their units through one window, then meet. Thread 0 alone then decides for the
// whole: which window is next, whether the run ends, what observers are shown. At a second meeting
// all learn its decision. Two meetings cost well under a microsecond, a window takes tens of
// microseconds, and threads share nothing else.
#include <pthread.h>

#include "kernel/engine/appoint.h"
#include "kernel/engine/jitter.h"
#include "kernel/engine/streams.h"
#include "kernel/engine/thread.h"
#include "kernel/engine/timers/timers.h"
#include "kernel/engine/unit.h"
#include "kernel/engine/window.h"
#include "kernel/engine_internal.h"

#define WAIT_COUNTED_PS SIM_PS_PER_MS
// Returns whether a run with two colours has stalled. After a window the colours stand at different
// times; but the middle of one's window is the end of the other's, so a stalled run ends there.
static bool is_stalled_in_colours(sim_t *sim, uint64_t next_window)
{
    const sim_time_t width_ps = sim->window_ps;
    const sim_time_t passed_ps = (next_window - sim->window) * width_ps;
    if (sim->options.stall_ps == 0) {
        return false;
    }
    if (!sim->stall.quiet) {
        const uint64_t after = sim->seen.progress_ps / width_ps + 1;
        sim->stall.quiet = true;
        sim->stall.quiet_cell = after + 1 > sim->window ? after : sim->window - 1;
        sim->stall.excused_ps = 0;
    }
    sim->stall.excused_ps += passed_ps > WAIT_COUNTED_PS ? passed_ps - WAIT_COUNTED_PS : 0;
    const sim_time_t limit_ps = sim->options.stall_ps + sim->stall.excused_ps;
    const uint64_t end = sim->stall.quiet_cell + (limit_ps + width_ps - 1) / width_ps;
    sim->last_try = end == next_window;
    return end < next_window;
}

// Returns whether a node has something to do besides background timers and upkeep.
static bool anything_useful_due(const sim_t *sim)
{
    for (size_t i = 0; i < sim->node_count; i++) {
        const sim_node_t *const node = sim->nodes[i];
        if (!sim__is_here(sim, node)) {
            continue;
        }
        if (node->wake_ps != SIM_TIME_NEVER ||
            sim__timers_armed(node) >
                node->armed[SIM_TIMER_BACKGROUND] + node->armed[SIM_TIMER_UPKEEP]) {
            return true;
        }
    }
    return false;
}

// Returns whether, without work outstanding, nothing but upkeep has happened for stall_ps: pauses
// that hold packets back for good are repeated for ever. Looks closely only after windows with
// upkeep.
static bool is_only_kept_up(sim_t *sim, uint64_t next_window)
{
    const uint64_t upkeep = sim->seen.upkeep;
    if (upkeep == sim->upkeep_seen || sim->options.stall_ps == 0) {
        return false;
    }
    sim->upkeep_seen = upkeep;
    uint64_t events = 0;
    for (size_t i = 0; i < sim->node_count; i++) {
        events += sim->nodes[i] == NULL ? 0 : sim->nodes[i]->events;
    }
    const uint64_t others = sim__agree_sum(sim, events) - upkeep;
    if (others != sim->others_seen || sim__agree_any(sim, anything_useful_due(sim))) {
        sim->others_seen = others;
        sim->upkeep_window = next_window;
        return false;
    }
    return (next_window - sim->upkeep_window) * sim->window_ps >= sim->options.stall_ps;
}

// Returns whether work is outstanding and brought no progress for stall_ps of busy time. A wait for
// a timer or for a message on a long link counts 1 ms at most: it is no sign of a stall.
static bool is_stalled(sim_t *sim, uint64_t next_window)
{
    const uint64_t progress = sim->seen.progress;
    const bool last_try = sim->last_try;
    sim->last_try = false;
    const bool idle = sim->seen.work == 0;
    if (progress != sim->stall.progress_seen || idle) {
        sim->stall.progress_seen = progress;
        sim->stall.fruitless_ps = 0;
        sim->stall.quiet = false;
        if (!idle || !is_only_kept_up(sim, next_window)) {
            return false;
        }
        // Nodes of both colours first come to the same time.
        sim->last_try = sim->coloured && !last_try;
        return !sim->last_try;
    }
    if (sim->coloured) {
        return last_try || is_stalled_in_colours(sim, next_window);
    }
    const sim_time_t passed_ps = (next_window - sim->window) * sim->window_ps;
    sim->stall.fruitless_ps += SIM_MIN(passed_ps, WAIT_COUNTED_PS);
    return sim->options.stall_ps != 0 && sim->stall.fruitless_ps >= sim->options.stall_ps;
}

// Returns the numbers of this rank that decide how the run goes on.
static sim__seen_t look_here(const sim_t *sim)
{
    sim__seen_t seen = {.next_window = SIM_NO_WINDOW,
                        .background_ps = SIM_TIME_NEVER,
                        .sample_ps = SIM_TIME_NEVER};
    int64_t work = 0;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        const sim_thread_t *const thread = sim->threads[t];
        const sim_worker_t *const worker = &thread->worker;
        seen.next_window = sim__least(thread->next_window, seen.next_window);
        seen.background_ps = sim__least(worker->background_ps, seen.background_ps);
        seen.sample_ps = sim__least(thread->sample_next_ps, seen.sample_ps);
        seen.progress_ps = SIM_MAX(worker->progress_ps, seen.progress_ps);
        seen.progress += worker->progress;
        seen.upkeep += worker->upkeep;
        work += worker->work_count;
    }
    SIM_CHECK(work >= 0 || sim->ranks != NULL);
    seen.work = (uint64_t)work;
    seen.interrupted = atomic_load_explicit(&sim->interrupted, memory_order_relaxed);
    seen.records = sim->ranks != NULL ? sim__streams_held(sim) : 0;
    return seen;
}

// Looks at what decides how the run goes on, at all ranks.
static void look(sim_t *sim)
{
    sim->seen = look_here(sim);
    sim__agree_seen(sim, &sim->seen);
}

// Returns whether mail is in flight or a node has something to do besides its background timers.
static bool anything_to_come(const sim_t *sim)
{
    if (sim->order->waiting != NULL && sim->order->waiting(sim)) {
        return true;
    }
    for (unsigned t = 0; t < sim->thread_count; t++) {
        const sim_thread_t *const thread = sim->threads[t];
        for (size_t i = 0; i < sim->node_count * SIM_SLOTS; i++) {
            if (thread->worker.boxes[i % SIM_SLOTS][i / SIM_SLOTS].filled_bytes > 0) {
                return true;
            }
        }
        for (unsigned to = 0; to < sim->thread_count; to++) {
            if (thread->parcels[to][0].count > 0 || thread->parcels[to][1].count > 0) {
                return true;
            }
        }
    }
    for (size_t i = 0; i < sim->node_count; i++) {
        const sim_node_t *const node = sim->nodes[i];
        if (!sim__is_here(sim, node)) {
            continue;
        }
        if (node->wake_ps != SIM_TIME_NEVER ||
            sim__timers_armed(node) > node->armed[SIM_TIMER_BACKGROUND]) {
            return true;
        }
        for (size_t c = 0; node->far != NULL && c < node->far->count; c++) {
            if (SIM_RING_COUNT(sim__far(sim, node->far->channels[c])) > 0) {
                return true;
            }
        }
    }
    return false;
}

static sim_time_t next_background_ps(const sim_t *sim)
{
    sim_time_t next_ps = SIM_TIME_NEVER;
    for (size_t i = 0; i < sim->node_count; i++) {
        const sim_node_t *const node = sim->nodes[i];
        const bool any = sim__is_here(sim, node) && node->armed[SIM_TIMER_BACKGROUND] > 0;
        for (uint32_t t = 0; any && t < node->timer_count; t++) {
            const sim_timer_entry_t *const entry = &node->timers[t];
            if (entry->timer->kind == SIM_TIMER_BACKGROUND && entry->time_ps < next_ps) {
                next_ps = entry->time_ps;
            }
        }
    }
    return next_ps;
}

// Makes all nodes stand at the beginning of `cell` when it is decided whether the background timers
// due in it fire: all of them or none. One colour is further than the other, so the next window is
// run up to its middle, which is that beginning. A cell is one window width of time.
static void come_level(sim_t *sim, uint64_t next_window, uint64_t cell)
{
    if (cell == next_window && cell != sim->level_cell) {
        sim->level_cell = cell;
        sim->clipped = true;
    } else if (cell <= next_window) {
        sim->judged_cell = cell;
    }
}

// Returns whether nothing is left but background timers, and no work waits for them. Looks closely
// only if the next window may hold such a timer: in any other window something else is due.
static bool only_background(sim_t *sim, uint64_t next_window)
{
    if (sim->seen.background_ps / sim->window_ps > next_window) {
        return false;
    }
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim->threads[t]->worker.background_ps = SIM_TIME_NEVER;
    }
    sim->threads[0]->worker.background_ps = next_background_ps(sim);
    const sim_time_t due_ps = sim__agree_least(sim, sim->threads[0]->worker.background_ps);
    sim->seen.background_ps = due_ps;
    const uint64_t cell = due_ps / sim->window_ps;
    if (sim->coloured && cell <= next_window && cell == sim->judged_cell) {
        return false;
    }
    if (sim->seen.work == 0 && !sim__agree_any(sim, anything_to_come(sim))) {
        return true;
    }
    if (sim->coloured) {
        come_level(sim, next_window, cell);
    }
    return false;
}

// Returns the time up to which everything has happened if `window` is the next to run.
static sim_time_t begin_of(const sim_t *sim, uint64_t window)
{
    const sim_time_t start_ps = sim__window_start(sim, window);
    return SIM_MAX(start_ps, sim->stopped_ps); // the rest of a window
}

// Returns the window to run next; SIM_NO_WINDOW: the run or the step is over, and sim->ended says
// why.
static uint64_t choose_next(sim_t *sim)
{
    const uint64_t next = sim->seen.next_window;
    sim->clipped = false;
    if (next == SIM_NO_WINDOW || only_background(sim, next)) {
        sim->ended = SIM_ENDED_DONE;
    } else if (begin_of(sim, next) >= sim->options.until_ps ||
               begin_of(sim, next) >= sim->stop_ps) {
        sim->ended = SIM_ENDED_UNTIL;
    } else if (sim->seen.interrupted && !sim->seen.early) {
        sim->ended = SIM_ENDED_INTERRUPTED;
    } else if (is_stalled(sim, next)) {
        sim->ended = SIM_ENDED_STALLED;
    } else {
        sim->clipped = sim->clipped || sim->last_try;
        return next;
    }
    return SIM_NO_WINDOW;
}

static bool samples_due(const sim_t *sim, uint64_t next)
{
    return sim->seen.sample_ps < begin_of(sim, next);
}

// Streams hold this many records of samples at most before they are flushed, if no instant has
// more.
#define RECORDS_MAX ((size_t)1 << 17)
#define FIRST_PORTION_PS UINT64_C(1000)

static sim_time_t next_sample_ps(sim_t *sim)
{
    sim_time_t next_ps = SIM_TIME_NEVER;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        const sim_time_t other_ps = sim->threads[t]->sample_next_ps;
        next_ps = SIM_MIN(other_ps, next_ps);
    }
    return sim__agree_least(sim, next_ps);
}

// Takes all samples before before_ps. No node changes until then. Goes on by portions of time, each
// as long as its predecessors' numbers of records suggest, and flushes the streams between them.
static void take_samples(sim_t *sim, sim_time_t before_ps)
{
    for (;;) {
        const sim_time_t first_ps = next_sample_ps(sim);
        if (first_ps >= before_ps) {
            return;
        }
        sim->portion_ps = sim->portion_ps == 0 ? FIRST_PORTION_PS : sim->portion_ps;
        const bool last = before_ps - first_ps <= sim->portion_ps;
        const sim_time_t to_ps = last ? before_ps : first_ps + sim->portion_ps;
        for (unsigned t = 0; t < sim->thread_count; t++) {
            sim__sample_until(sim->threads[t], to_ps);
        }
        if (last) {
            return; // the caller flushes
        }
        const size_t records = sim__streams_flush(sim, to_ps);
        if (records > RECORDS_MAX && sim->portion_ps > 1) {
            sim->portion_ps /= 2;
        } else if (records < RECORDS_MAX / 4 && sim->portion_ps < SIM_TIME_END / 2) {
            sim->portion_ps *= 2;
        }
    }
}

// In ranks, streams are flushed after this many windows, or when they hold this many records:
// rank 0 then gets them all at once.
#define FLUSH_WINDOWS 64u
#define FLUSH_RECORDS 16384u

// Hands on the records before before_ps. In ranks they may wait: only their order counts.
static void flush(sim_t *sim, sim_time_t before_ps, bool sampled)
{
    if (sim->ranks != NULL && !sampled) {
        sim->flush_left = sim->flush_left == 0 ? FLUSH_WINDOWS : sim->flush_left - 1;
        const bool due = sim->flush_left == 0 && sim->seen.records > 0;
        if (!due && sim->seen.records < FLUSH_RECORDS) {
            return;
        }
    }
    (void)sim__streams_flush(sim, before_ps);
}

// Decides on the next window without other ranks, if they have nothing to do before it. Returns
// false if they must be asked: for samples, for timers in the background, at the time limit, or as
// the run may have stalled. They take over the numbers of this rank when they meet.
static bool goes_on_alone(sim_t *sim)
{
    sim__seen_t seen = look_here(sim);
    const uint64_t next = seen.next_window;
    if (sim->clipped || seen.interrupted || seen.records >= FLUSH_RECORDS ||
        !sim__ranks_alone(sim, &seen)) {
        return false;
    }
    const sim_time_t end_ps = sim__window_end(sim, next);
    if (end_ps > sim->options.until_ps || seen.sample_ps < end_ps ||
        seen.background_ps / sim->window_ps <= next ||
        (seen.work == 0 && seen.upkeep != sim->upkeep_seen)) {
        return false;
    }
    const sim__stall_t before = sim->stall;
    sim->seen.progress = seen.progress;
    sim->seen.work = seen.work;
    sim->seen.progress_ps = seen.progress_ps;
    sim->seen.upkeep = seen.upkeep;
    if (is_stalled(sim, next) || sim->last_try) {
        sim->last_try = false;
        sim->stall = before;
        return false;
    }
    sim__ranks_count_alone(sim);
    sim->decided_window = next;
    return true;
}

// Looks when a window was run. Ranks exchange its messages, too: they are for later windows, which
// the numbers of their senders know. Returns false if this rank has decided to go on alone.
static bool look_after_window(sim_t *sim)
{
    if (SIM_LIKELY(sim->ranks == NULL)) {
        sim->seen = look_here(sim);
        return true;
    }
    if (goes_on_alone(sim)) {
        return false;
    }
    sim__seen_t seen = look_here(sim);
    seen.early = sim__early_may_begin(sim, &seen);
    sim->seen = seen;
    sim__ranks_begin_exchange(sim, &seen);
    if (seen.early) {
        sim__early_begin(sim);
    }
    sim__ranks_finish_exchange(sim, &sim->seen);
    return true;
}

// Decides on the next window and serves observers. Thread 0 calls it between the two meetings.
void sim__decide(sim_t *sim)
{
    if (sim->order->end_window != NULL) {
        sim->order->end_window(sim);
    }
    if (sim__window_end(sim, sim->window) > sim->split_ps) {
        sim->stopped_ps = sim->split_ps;
    }
    if (SIM_UNLIKELY(sim->levelling || sim->colour_wanted)) {
        sim__change_colours(sim);
    }
    if (!look_after_window(sim)) {
        return;
    }
    uint64_t next = choose_next(sim);
    // Samplers see time pass as long as events are to come, and no longer.
    while (next != SIM_NO_WINDOW && samples_due(sim, next) &&
           !sim__agree_any(sim, !sim__is_empty(sim, next))) {
        sim__pass_empty(sim, next);
        look(sim);
        next = choose_next(sim);
    }
    if (next != SIM_NO_WINDOW) {
        // Nothing happens before the next window, so no node changes until its start.
        const sim_time_t before_ps = begin_of(sim, next);
        const bool sampled = samples_due(sim, next);
        if (sampled) {
            take_samples(sim, before_ps);
        }
        flush(sim, before_ps, sampled);
        for (size_t i = 0; i < sim->observer_count; i++) {
            sim->observers[i].fn(before_ps, sim->observers[i].ctx);
        }
        if (sim->moved) {
            sim->moved = false;
            look(sim);
            next = choose_next(sim);
        }
        sim->levelling = sim->level_wanted && sim->coloured && next != SIM_NO_WINDOW;
        sim->clipped = sim->clipped || sim->levelling ||
                       (next != SIM_NO_WINDOW && sim__window_end(sim, next) > sim->split_ps);
        if (sim->order->begin_window != NULL) {
            sim->order->begin_window(sim);
        }
    }
    SIM_CHECK(!sim->seen.early || (next == sim->window + 1 && !sim->clipped));
    sim->decided_window = next;
}

static void go_on(sim_t *sim)
{
    sim__decide(sim);
    SIM_CHECK(sim->decided_window >= sim->window);
    sim->window = sim->decided_window;
    sim->parity ^= 1;
}

// Runs windows on thread 0 alone while the others wait at their meeting.
static void run_alone(sim_t *sim)
{
    while (sim->share.alone && sim->decided_window != SIM_NO_WINDOW) {
        for (unsigned t = 0; t < sim->thread_count; t++) {
            sim__run_window(sim->threads[t]);
        }
        go_on(sim);
        if (sim__share_looks(&sim->share)) {
            sim__share_reconsider(&sim->share, sim__share_clock_ns());
        }
        sim->share.alone = sim__jitter_alone(sim->share.alone);
    }
}

static void judge(sim_t *sim, uint64_t began_ns)
{
    const uint64_t now_ns = sim__share_clock_ns();
    uint64_t shares_ns = 0;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        shares_ns += sim->threads[t]->share_ns;
    }
    sim__share_judge(&sim->share, now_ns, now_ns - began_ns, shares_ns);
    sim->share.alone = sim__jitter_alone(sim->share.alone);
}

static void run_thread(sim_thread_t *thread)
{
    sim_t *const sim = thread->sim;
    const unsigned index = thread->worker.index;
    do {
        const uint64_t began_ns = sim__share_clock_ns();
        sim__run_window(thread);
        thread->share_ns = sim__share_clock_ns() - began_ns;
        sim__barrier_meet(&sim->barrier, index, sim->thread_count);
        if (index == 0) {
            judge(sim, began_ns);
            go_on(sim);
            run_alone(sim);
        }
        sim__barrier_meet(&sim->barrier, index, sim->thread_count);
        while (index > 0 && sim->early) {
            sim__run_early(thread);
            sim__barrier_meet(&sim->barrier, index, sim->thread_count);
            sim__barrier_meet(&sim->barrier, index, sim->thread_count);
        }
    } while (sim->decided_window != SIM_NO_WINDOW);
    sim__sum_digests(thread);
}

static void run_single(sim_t *sim)
{
    do {
        sim__run_window(sim->threads[0]);
        go_on(sim);
    } while (sim->decided_window != SIM_NO_WINDOW);
    sim__sum_digests(sim->threads[0]);
}

// The threads of a run. They start before units are dealt to them, since some may fail to start,
// and wait here until that is done.
#define STACK_BYTES ((size_t)1 << 20)
typedef struct crew {
    sim_t *sim;
    pthread_mutex_t mutex;
    pthread_cond_t may_go;
    bool go;
    bool needed;    // there is something to run
    unsigned count; // threads, thread 0 included, which has no handle
    unsigned kept;  // threads from this number on end at once
    pthread_t handles[SIM_THREADS_MAX];
} crew_t;

typedef struct recruit {
    crew_t *crew;
    unsigned index;
} recruit_t;

static void *thread_main(void *argument)
{
    const recruit_t recruit = *(const recruit_t *)argument;
    crew_t *const crew = recruit.crew;
    pthread_mutex_lock(&crew->mutex);
    while (!crew->go && recruit.index < crew->kept) {
        pthread_cond_wait(&crew->may_go, &crew->mutex);
    }
    pthread_mutex_unlock(&crew->mutex);
    // There may be fewer units than threads.
    if (crew->go && crew->needed && recruit.index < crew->sim->thread_count) {
        run_thread(crew->sim->threads[recruit.index]);
    }
    return NULL;
}

// Ends seven of eight threads after one could not be started, so that the system has room left for
// the run itself.
static void keep_some(crew_t *crew)
{
    pthread_mutex_lock(&crew->mutex);
    crew->kept = (crew->count + 7) / 8;
    pthread_cond_broadcast(&crew->may_go);
    pthread_mutex_unlock(&crew->mutex);
    while (crew->count > crew->kept) {
        pthread_join(crew->handles[--crew->count], NULL);
    }
    crew->sim->options.threads = crew->count;
    crew->sim->threads_missing = true;
}

// Starts as many threads as the run may have and the system gives. Results do not depend on it.
static void recruit_threads(crew_t *crew, recruit_t *recruits)
{
    sim_t *const sim = crew->sim;
    const size_t most = SIM_MIN(sim->options.threads, sim->node_count);
    // The engine's calls are not deep. The system's default, 8 MB for each of 64 threads, is more
    // than some limits allow.
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    crew->count = 1;
    while (crew->count < most) {
        recruits[crew->count] = (recruit_t){crew, crew->count};
        if (pthread_create(&crew->handles[crew->count], &small, thread_main,
                           &recruits[crew->count]) != 0) {
            keep_some(crew);
            break;
        }
        crew->count++;
    }
    pthread_attr_destroy(&small);
}

static void run_crew(crew_t *crew)
{
    pthread_mutex_lock(&crew->mutex);
    crew->go = true;
    pthread_cond_broadcast(&crew->may_go);
    pthread_mutex_unlock(&crew->mutex);
    for (unsigned t = 0; t < crew->sim->thread_count && !crew->needed; t++) {
        sim__sum_digests(crew->sim->threads[t]);
    }
    if (crew->needed && crew->sim->thread_count == 1) {
        run_single(crew->sim);
    } else if (crew->needed) {
        run_thread(crew->sim->threads[0]);
    }
    for (unsigned t = 1; t < crew->count; t++) {
        pthread_join(crew->handles[t], NULL);
    }
}

// Returns when the node's first event is due; SIM_TIME_NEVER: it has none, or another rank runs it.
static sim_time_t first_of(const sim_t *sim, const sim_node_t *node)
{
    return sim__is_here(sim, node) ? sim__node_next_ps(node) : SIM_TIME_NEVER;
}

// Returns the first window and schedules all units for the windows in which their nodes begin;
// SIM_NO_WINDOW: there is nothing to run.
static uint64_t first_window(sim_t *sim)
{
    const bool has_own = sim->order->next_ps != NULL;
    sim_time_t first_ps = has_own ? sim->order->next_ps(sim) : SIM_TIME_NEVER;
    for (size_t i = 0; i < sim->node_count; i++) {
        const sim_time_t next_ps = first_of(sim, sim->nodes[i]);
        first_ps = SIM_MIN(next_ps, first_ps);
    }
    first_ps = sim__agree_least(sim, first_ps);
    look(sim);
    sim->level_cell = first_ps / sim->window_ps;
    sim->judged_cell = SIM_NO_WINDOW;
    if (first_ps >= sim->options.until_ps || only_background(sim, first_ps / sim->window_ps)) {
        return SIM_NO_WINDOW;
    }
    sim->window = has_own ? first_ps / sim->window_ps : SIM_NO_WINDOW;
    for (size_t i = 0; i < sim->node_count; i++) {
        const sim_time_t next_ps = first_of(sim, sim->nodes[i]);
        if (next_ps != SIM_TIME_NEVER) {
            const uint64_t window = sim__window_of(sim, sim->nodes[i]->unit, next_ps);
            sim->window = SIM_MIN(window, sim->window);
        }
    }
    sim->window = sim__agree_least(sim, sim->window);
    for (size_t i = 0; i < sim->node_count; i++) {
        sim_node_t *const node = sim->nodes[i];
        if (sim__is_here(sim, node)) {
            sim__appoint(sim__thread_of(node), node->unit, first_of(sim, node));
        }
    }
    return sim->window;
}

// Returns whether a node still had something to do when the limit was reached. Background timers
// count if work might have waited for them.
static bool anything_left(const sim_t *sim)
{
    if (sim->order->waiting != NULL && sim->order->waiting(sim)) {
        return true;
    }
    for (unsigned t = 0; t < sim->thread_count; t++) {
        if (sim->threads[t]->cut) {
            return true;
        }
    }
    const bool waiting = sim->seen.work > 0;
    for (size_t i = 0; i < sim->node_count; i++) {
        const sim_node_t *const node = sim->nodes[i];
        if (!sim__is_here(sim, node)) {
            continue;
        }
        const uint32_t ignored = waiting ? 0 : node->armed[SIM_TIMER_BACKGROUND];
        if (node->wake_ps != SIM_TIME_NEVER || node->mail->key != UINT64_MAX ||
            sim__timers_armed(node) > ignored) {
            return true;
        }
    }
    return false;
}

// Returns the time of the node's last event; background timers count if work waited for them.
static sim_time_t last_event_ps(const sim_node_t *node, bool waiting)
{
    return !waiting && node->background_events == node->events + 1 ? node->event_ps : node->now_ps;
}

void sim__finish(sim_t *sim)
{
    sim_time_t last_ps = 0;
    look(sim);
    const bool waiting = sim->seen.work > 0;
    for (size_t i = 0; i < sim->node_count; i++) {
        const sim_time_t node_ps =
            sim__is_here(sim, sim->nodes[i]) ? last_event_ps(sim->nodes[i], waiting) : 0;
        last_ps = SIM_MAX(node_ps, last_ps);
    }
    last_ps = ~sim__agree_least(sim, ~last_ps);
    if (sim->ended == SIM_ENDED_DONE && sim__agree_any(sim, anything_left(sim))) {
        sim->ended = SIM_ENDED_UNTIL;
    }
    // A run by steps may be left before its limit.
    const sim_time_t limit_ps = sim->options.steps ? SIM_MIN(sim->stopped_ps, sim->options.until_ps)
                                                   : sim->options.until_ps;
    sim->end_ps = sim->ended == SIM_ENDED_UNTIL ? limit_ps : last_ps;
    if (sim->ended == SIM_ENDED_DONE && waiting) {
        sim->ended = SIM_ENDED_STALLED;
    }
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim->digest += sim->threads[t]->digest;
    }
    sim->digest = sim__agree_sum(sim, sim->digest);
    take_samples(sim, sim->end_ps);
    // Records of background timers after the last event are dropped.
    (void)sim__streams_flush(sim, sim->end_ps + 1);
}

sim_ended_t sim_run(sim_t *sim)
{
    SIM_CHECK(!sim->ran && !sim->options.steps);
    crew_t crew = {
        .sim = sim,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .may_go = PTHREAD_COND_INITIALIZER,
        .kept = SIM_THREADS_MAX,
    };
    recruit_t recruits[SIM_THREADS_MAX];
    recruit_threads(&crew, recruits);
    if (sim->rank > 0) {
        // All ranks made the same programs; what these began before the run is rank 0's to count.
        sim->threads[0]->worker.work_count = 0;
    }
    sim__ranks_agree_threads(sim);
    sim__partition(sim);
    sim->ran = true;
    sim->ended = SIM_ENDED_DONE;
    if (sim->node_count > 0 && first_window(sim) != SIM_NO_WINDOW) {
        // Samples from before anything happens see what was there at the beginning.
        take_samples(sim, sim__window_start(sim, sim->window));
        crew.needed = true;
    }
    sim__early_find(sim);
    run_crew(&crew);
    sim__finish(sim);
    return sim->ended;
}
