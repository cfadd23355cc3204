// SPDX-License-Identifier: Apache-2.0
// kernel/engine/sim.c - creates the simulation, registers nodes, channels and observers before the
// run, and destroys it. partition.c, window.c and run.c run it.
#include "kernel/sim.h"

#include "kernel/engine/mail.h"
#include "kernel/engine/streams.h"
#include "kernel/engine/thread.h"
#include "kernel/engine/timers/timers.h"
#include "kernel/engine/unit.h"
#include "kernel/engine_internal.h"

const sim_mail_t sim__no_mail[SIM_MAIL_PAD] = {
    {UINT64_MAX, NULL}, {UINT64_MAX, NULL}, {UINT64_MAX, NULL},
    {UINT64_MAX, NULL}, {UINT64_MAX, NULL}, {UINT64_MAX, NULL},
};

sim_t *sim_create(const sim_options_t *options)
{
    SIM_CHECK(options->threads >= 1 && options->threads <= SIM_THREADS_MAX);
    sim_t *const sim = sim_alloc(sizeof(*sim));
    sim->options = *options;
    sim->asked = *options;
    if (sim->options.until_ps > SIM_TIME_END) {
        sim->options.until_ps = SIM_TIME_END;
    }
    sim->stop_ps = SIM_TIME_NEVER;
    sim->split_ps = SIM_TIME_NEVER;
    sim->threads = sim_alloc_array(SIM_THREADS_MAX, sizeof(*sim->threads));
    sim->threads[0] = sim__thread_create(sim, 0);
    sim->thread_count = 1;
    sim->rank_count = 1;
    sim->order = options->fifo_ties    ? &sim__order_by_insertion
                 : options->rotor_ties ? &sim__order_by_rotor
                                       : &sim__order_by_hash;
    if (sim->order->create != NULL) {
        sim->order->create(sim);
    }
    atomic_init(&sim->interrupted, false);
    sim__barrier_init(&sim->barrier);
    return sim;
}

sim_thread_t *sim__thread_create(sim_t *sim, unsigned index)
{
    sim_thread_t *const thread = sim_alloc_lines(sizeof(*thread));
    thread->sim = sim;
    thread->worker.index = index;
    thread->sample_next_ps = SIM_TIME_NEVER;
    thread->worker.background_ps = SIM_TIME_NEVER;
    return thread;
}

// Frees a list of mailboxes that have a class, or say theirs in their key.
static void free_mailboxes(sim_thread_t *thread, sim_mail_t *mail, uint32_t class)
{
    while (mail != NULL) {
        sim_mail_t *const next = mail->message;
        const uint32_t own = class < SIM_MAIL_CLASSES ? class : (uint32_t)mail->key;
        sim_lines_give(&thread->worker, mail, sim__mailbox_bytes(own));
        mail = next;
    }
}

static void thread_fini(sim_thread_t *thread)
{
    for (uint32_t slot = 0; slot < SIM_SLOTS; slot++) {
        sim_mailbox_t *const boxes = thread->worker.boxes[slot];
        for (size_t i = 0; boxes != NULL && i < thread->sim->node_count; i++) {
            sim_lines_give(&thread->worker, boxes[i].mail,
                           boxes[i].room_bytes + SIM_MAIL_PAD * sizeof(sim_mail_t));
        }
        sim_free(thread->worker.active[slot]);
    }
    if (thread->sim->seated) {
        sim_free_sparse(thread->worker.boxes[0], sim__mailboxes_bytes(thread->sim));
    } else {
        sim_free(thread->worker.boxes[0]); // of all slots
    }
    sim_free(thread->worker.box_class);
    for (uint32_t class = 0; class < SIM_MAIL_CLASSES; class ++) {
        free_mailboxes(thread, thread->free_mail[class], class);
    }
    for (unsigned i = 0; i < SIM_THREADS_MAX; i++) {
        free_mailboxes(thread, thread->returned[i][0], SIM_MAIL_CLASSES);
        free_mailboxes(thread, thread->returned[i][1], SIM_MAIL_CLASSES);
        sim_free(thread->parcels[i][0].items);
        sim_free(thread->parcels[i][1].items);
    }
    sim__ranks_free_away(thread);
    SIM_FREE_ALL(thread->seats, thread->agenda, thread->watched, thread->batch, thread->stage,
                 thread->histogram, thread->appointments.items, thread->samplers);
}

// Destroys a node, then what the engine keeps for it: while it is destroyed the node may still
// cancel its timers.
static void node_destroy(sim_node_t *node)
{
    node->now_ps = SIM_TIME_NEVER;
    const sim_node_t parts = *node;
    node->ops->destroy(node);
    sim_free(parts.wakes);
    sim_free(parts.timers);
    sim__wheel_destroy(parts.wheel);
    sim_free(parts.own_mail);
    if (parts.far != NULL) {
        sim_free(parts.far->channels);
        sim_free(parts.far);
    }
    sim_free(parts.name);
}

void sim_destroy(sim_t *sim)
{
    if (sim == NULL) {
        return;
    }
    if (sim->order->destroy != NULL) {
        sim->order->destroy(sim);
    }
    for (size_t i = 0; sim->far != NULL && i < sim->channel_count; i++) {
        if (sim->far[i] != NULL) {
            SIM_RING_FINI(sim->far[i]);
            sim_free(sim->far[i]);
        }
    }
    sim_free_sparse(sim->far, sim__far_bytes(sim));
    sim_free_each(sim->channel_blocks, sim->channel_block_count);
    for (size_t i = 0; i < sim->unit_count; i++) {
        sim_free(sim->units[i].members);
        sim_free(sim->units[i].heap);
    }
    for (size_t i = 0; i < sim->node_count; i++) {
        if (sim->nodes[i] != NULL) {
            node_destroy(sim->nodes[i]);
        }
    }
    for (unsigned i = 0; i < sim->thread_count; i++) {
        thread_fini(sim->threads[i]);
    }
    for (unsigned i = 0; i < sim->thread_count; i++) { // after all that may lie in its lines
        sim_free_each(sim->threads[i]->lines.chunks, sim->threads[i]->lines.chunk_count);
        sim_free((void *)sim->threads[i]->lines.chunks);
        sim_free(sim->threads[i]);
    }
    sim_free_each(sim->samplers, sim->sampler_count);
    for (size_t i = 0; i < sim->stream_count; i++) {
        sim__stream_destroy(sim->streams[i]);
    }
    sim__ranks_destroy(sim);
    sim__barrier_fini(&sim->barrier);
    SIM_FREE_ALL(sim->threads, sim->units, sim->channel_blocks, sim->channel_ends, sim->delays_ps,
                 sim->nodes, sim->rank_of, sim->samplers, sim->streams, sim->observers, sim);
}

static void init_node(sim_t *sim, sim_node_t *node, const sim_node_ops_t *ops, const char *name,
                      size_t number)
{
    *node = (sim_node_t){
        .mail = sim__no_mail,
        .wake_ps = SIM_TIME_NEVER,
        .timer_ps = SIM_TIME_NEVER,
        .worker = &sim->threads[0]->worker,
        .ops = ops,
        .sim = sim,
        .name = sim_strdup(name),
        .index = (uint32_t)number,
        .tie_time_mask = sim->options.rotor_ties ? 0 : UINT64_MAX,
    };
    node->tie_key =
        sim_mix64(sim_mix64(sim->options.seed ^ (sim->options.tie_seed << 32)) ^ (number + 1));
}

void sim_node_register(sim_t *sim, sim_node_t *node, const sim_node_ops_t *ops, const char *name)
{
    SIM_CHECK(!sim->ran && !sim->seated);
    SIM_CHECK(sim->node_count < UINT32_MAX / SIM_SLOTS);
    SIM_GROW(sim->nodes, sim->node_count, &sim->node_capacity);
    init_node(sim, node, ops, name, sim->node_count);
    sim->nodes[sim->node_count++] = node;
}

void sim_node_vacate(sim_node_t *node)
{
    sim_t *const sim = node->sim;
    SIM_CHECK(sim->seated && !sim->ran && !sim__is_here(sim, node));
    SIM_CHECK(node->samplers == NULL && sim__timers_armed(node) == 0);
    sim->nodes[node->index] = NULL;
    node_destroy(node);
}

void sim_node_return(sim_t *sim, sim_node_t *node, const sim_node_ops_t *ops, const char *name,
                     size_t number)
{
    SIM_CHECK(sim->seated && number < sim->node_count && sim->nodes[number] == NULL);
    init_node(sim, node, ops, name, number);
    node->rank = sim->rank_of[number];
    sim->nodes[number] = node;
}

// Returns the number of a delay, which is that of the channel before if it is equal.
static uint32_t take_delay(sim_t *sim, sim_time_t delay_ps)
{
    const size_t count = sim->delay_count;
    if (count == 0 || sim->delays_ps[count - 1] != delay_ps) {
        SIM_APPEND(sim->delays_ps, sim->delay_count, sim->delay_capacity, delay_ps);
    }
    return (uint32_t)sim->delay_count - 1;
}

sim_channel_t *sim_channel_create(sim_t *sim, sim_node_t *from, sim_node_t *to, uint32_t port,
                                  sim_time_t delay_ps)
{
    SIM_CHECK(!sim->ran);
    SIM_CHECK(delay_ps >= 1);
    SIM_CHECK(port < SIM_PORTS_PER_NODE_MAX);
    SIM_CHECK(from != to);
    SIM_CHECK(sim->channel_count < UINT32_MAX);
    const uint32_t index = (uint32_t)sim->channel_count;
    if (index % SIM_CHANNEL_BLOCK == 0) {
        SIM_APPEND(sim->channel_blocks, sim->channel_block_count, sim->channel_block_capacity,
                   sim_alloc_lines(SIM_CHANNEL_BLOCK * sizeof(sim_channel_t)));
    }
    SIM_APPEND(
        sim->channel_ends, sim->channel_count, sim->channel_capacity,
        (sim_channel_ends_t){.to = to, .from = from->index, .delay = take_delay(sim, delay_ps)});
    sim_channel_t *const channel =
        &sim->channel_blocks[index / SIM_CHANNEL_BLOCK][index % SIM_CHANNEL_BLOCK];
    *channel = (sim_channel_t){.box_bytes = to->index * (uint32_t)sizeof(sim_mailbox_t),
                               .port = (uint16_t)port,
                               .index = index};
    return channel;
}

void sim_interrupt(sim_t *sim)
{
    atomic_store_explicit(&sim->interrupted, true, memory_order_relaxed);
}

void sim_on_window(sim_t *sim, sim_window_fn fn, void *ctx)
{
    SIM_CHECK(!sim->ran);
    SIM_APPEND(sim->observers, sim->observer_count, sim->observer_capacity,
               (sim_window_observer_t){fn, ctx});
}

void sim_sample(sim_t *sim, sim_node_t *node, sim_time_t first_ps, sim_time_t period_ps,
                sim_sample_fn fn, void *ctx)
{
    sim_sample_idle(sim, node, first_ps, period_ps, fn, NULL, ctx);
}

void sim_sample_idle(sim_t *sim, sim_node_t *node, sim_time_t first_ps, sim_time_t period_ps,
                     sim_sample_fn fn, sim_sample_many_fn many, void *ctx)
{
    SIM_CHECK(!sim->ran);
    SIM_CHECK(period_ps >= 1);
    sim_sampler_t *const sampler = sim_alloc(sizeof(*sampler));
    *sampler = (sim_sampler_t){node, first_ps, period_ps, fn, many, ctx, NULL};
    SIM_APPEND(sim->samplers, sim->sampler_count, sim->sampler_capacity, sampler);
    sim_sampler_t **link = &node->samplers;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = sampler;
}

const sim_options_t *sim_options(const sim_t *sim)
{
    return &sim->asked;
}

sim_time_t sim_end_time_ps(const sim_t *sim)
{
    return sim->end_ps;
}

sim_time_t sim_last_progress_ps(const sim_t *sim)
{
    if (sim->ranks != NULL) {
        return sim->seen.progress_ps;
    }
    sim_time_t last_ps = 0;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        const sim_time_t other_ps = sim->threads[t]->worker.progress_ps;
        last_ps = SIM_MAX(other_ps, last_ps);
    }
    return last_ps;
}

uint64_t sim_events(const sim_t *sim)
{
    uint64_t events = 0;
    for (size_t i = 0; i < sim->node_count; i++) {
        events += sim->nodes[i] == NULL ? 0 : sim->nodes[i]->events;
    }
    return events;
}

uint64_t sim_digest(const sim_t *sim)
{
    return sim->digest;
}

size_t sim_node_count(const sim_t *sim)
{
    return sim->node_count;
}

unsigned sim_threads_missed(const sim_t *sim)
{
    return sim->threads_missing ? sim->options.threads : 0;
}

uint64_t sim_work_outstanding(const sim_t *sim)
{
    if (sim->ranks != NULL) {
        return sim->seen.work;
    }
    int64_t count = 0;
    for (unsigned i = 0; i < sim->thread_count; i++) {
        count += sim->threads[i]->worker.work_count;
    }
    SIM_CHECK(count >= 0);
    return (uint64_t)count;
}
