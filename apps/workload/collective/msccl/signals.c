// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/msccl/signals.c - makes steps of a plan's operations that let other
// thread blocks go on: signals between GPUs, barriers and semaphores within one.
#include "apps/workload/collective/msccl/signals.h"

#include <string.h>

// -- signals and waits

// Returns the number of a thread block's channel among those of its GPU with the operation's type;
// APP__LOWER_NONE: it has no such channel.
static uint32_t channel_number(app__lowering_t *to, const char *type, uint32_t index)
{
    char has[16];
    uint32_t list = 0;
    const uint32_t lists = app__json_list(to->json, to->object, "channels", &list);
    for (uint32_t i = 0; i < lists; i++, list = to->json->values[list].next) {
        uint32_t at = 0;
        const uint32_t count = app__json_list(to->json, list, "channel_ids", &at);
        if (strcmp(app__lower_text(to->json, list, "channel_type", has, sizeof(has)), type) != 0) {
            continue;
        }
        if (index < count) {
            int64_t number = 0;
            const uint32_t value = app__lower_element(to->json, at, index);
            to->error = app__json_integer(to->json, value, 0, 1 << 16, &number, to->message);
            return (uint32_t)number;
        }
        index -= count;
    }
    return APP__LOWER_NONE;
}

// Finds the peer of a GPU's channel, and its number among those to that peer.
static bool find_peer(app__lowering_t *to, const char *type, uint32_t number, uint32_t *peer,
                      uint32_t *nth)
{
    char has[16];
    uint32_t *const before = sim_alloc_array(to->ranks, sizeof(*before)); // channels to each peer
    uint32_t at = 0;
    uint32_t left = number;
    bool found = false;
    uint32_t channels = app__json_list(to->json, to->gpus[to->gpu].object, "channels", &at);
    for (; channels > 0 && !found && to->error == SIM_OK; channels--) {
        uint32_t value = 0;
        uint32_t peers = app__json_list(to->json, at, "connected_to", &value);
        const bool fits =
            strcmp(app__lower_text(to->json, at, "channel_type", has, sizeof(has)), type) == 0;
        for (; fits && peers > 0 && !found && to->error == SIM_OK; peers--) {
            int64_t rank = 0;
            to->error = app__json_integer(to->json, value, 0, to->ranks - 1, &rank, to->message);
            found = to->error == SIM_OK && left-- == 0;
            *peer = (uint32_t)rank;
            *nth = before[rank]++;
            value = to->json->values[value].next;
        }
        at = to->json->values[at].next;
    }
    sim_free(before);
    return found;
}

// Finds the peer of a channel of the thread block, and its key: its type, and its number among the
// GPU's channels to that peer.
static bool take_channel(app__lowering_t *to, uint32_t value, uint32_t *peer, uint32_t *key)
{
    char type[16];
    int64_t index = 0;
    uint32_t nth = 0;
    (void)app__lower_text(to->json, to->op, "channel_type", type, sizeof(type));
    to->error = app__json_integer(to->json, value, 0, 1 << 16, &index, to->message);
    const uint32_t number =
        to->error == SIM_OK ? channel_number(to, type, (uint32_t)index) : APP__LOWER_NONE;
    const bool found =
        number != APP__LOWER_NONE && to->error == SIM_OK && find_peer(to, type, number, peer, &nth);
    if (to->error == SIM_OK && (!found || *peer == to->gpu)) {
        app__lower_fail(to, value, "the thread block has no such channel",
                        "a number among its channels");
    }
    *key = nth << 1 | (strcmp(type, "port") == 0);
    return to->error == SIM_OK;
}

static void do_signal(app__lowering_t *to, uint32_t peer, uint32_t key)
{
    const app__lower_range_t none = {APP__BUFFER_INPUT, 0, 0};
    const uint32_t number = app__lower_stream(to, to->gpu, peer, APP__LOWER_FOR_SIGNALS, key);
    app__lower_stream_t *const stream = &to->gpus[to->gpu].streams[number];
    if (stream->sender != APP__LOWER_NONE && stream->sender != to->block) {
        app__lower_fail(to, to->op, "two thread blocks signal on one channel",
                        "one for each channel");
        return;
    }
    stream->sender = to->block;
    app__step_t step =
        app__lower_step_of(APP__STEP_SEND | APP__STEP_FINAL | APP__STEP_SIGNAL, &none, &none);
    step.send_peer = peer;
    step.send_lane = stream->lane;
    app__lower_sent_t sent = {APP__LOWER_NONE, 0};
    for (size_t i = 0; i < to->gpus[to->gpu].stream_count; i++) {
        const app__lower_stream_t *const puts = &to->gpus[to->gpu].streams[i];
        if (puts->purpose == APP__LOWER_FOR_PUTS && puts->to == peer && puts->key == to->block) {
            sent = (app__lower_sent_t){puts->block,
                                       (uint32_t)to->gpus[peer].blocks[puts->block].count};
        }
    }
    SIM_APPEND(stream->sent, stream->sent_count, stream->sent_capacity, sent);
    (void)app__lower_step(to, to->gpu, to->block, &step);
}

static void do_wait(app__lowering_t *to, uint32_t peer, uint32_t key)
{
    const app__lower_range_t none = {APP__BUFFER_INPUT, 0, 0};
    const uint32_t number = app__lower_stream(to, peer, to->gpu, APP__LOWER_FOR_SIGNALS, key);
    app__lower_stream_t *const stream = &to->gpus[peer].streams[number];
    if (stream->waiter != APP__LOWER_NONE && stream->waiter != to->block) {
        app__lower_fail(to, to->op, "two thread blocks wait on one channel",
                        "one for each channel");
        return;
    }
    stream->waiter = to->block;
    app__step_t step = app__lower_step_of(APP__STEP_RECV | APP__STEP_SIGNAL, &none, &none);
    step.recv_peer = peer;
    step.recv_lane = stream->lane;
    (void)app__lower_step(to, to->gpu, to->block, &step);
    step = app__lower_step_of(0, &none, &none);
    app__lower_late(
        to,
        (app__lower_late_t){.what = APP__LOWER_WAIT, .a = peer, .b = number, .n = stream->waits++},
        &step);
}

void app__lower_channels(app__lowering_t *to, bool waits)
{
    uint32_t at = 0;
    const uint32_t count = app__json_list(to->json, to->op, "channel_ids", &at);
    if (count == 0) {
        app__lower_fail(to, to->op, "the operation has no channel",
                        "channel_ids of a plan of 2025 or later");
    }
    for (uint32_t i = 0; i < count && to->error == SIM_OK; i++) {
        uint32_t peer = 0;
        uint32_t key = 0;
        if (take_channel(to, at, &peer, &key)) {
            if (waits) {
                do_wait(to, peer, key);
            } else {
                do_signal(to, peer, key);
            }
        }
        at = to->json->values[at].next;
    }
}
// -- thread blocks that wait for each other

static uint32_t marks_of(const app__lowering_t *to, app__lower_action_t what, uint32_t block,
                         uint32_t id)
{
    uint32_t count = 0;
    for (size_t i = 0; i < to->mark_count; i++) {
        const app__lower_mark_t *const mark = &to->marks[i];
        count += mark->what == what && mark->gpu == to->gpu && mark->id == id &&
                 (block == APP__LOWER_NONE || mark->block == block);
    }
    return count;
}

void app__lower_barrier(app__lowering_t *to, uint32_t thread_blocks)
{
    const app__lower_range_t none = {APP__BUFFER_INPUT, 0, 0};
    const app__step_t step = app__lower_step_of(0, &none, &none);
    const uint32_t id = app__lower_number(to, to->op, "barrier_id", 1 << 20, 0);
    const uint32_t n = marks_of(to, APP__LOWER_BARRIER, to->block, id);
    SIM_GROW(to->marks, to->mark_count, &to->mark_capacity);
    to->marks[to->mark_count++] = (app__lower_mark_t){
        .what = APP__LOWER_BARRIER,
        .gpu = to->gpu,
        .block = to->block,
        .step = (uint32_t)to->gpus[to->gpu].blocks[to->block].count,
        .id = id,
    };
    for (uint32_t b = 0; b < thread_blocks; b++) {
        if (b != to->block) {
            app__lower_late(
                to, (app__lower_late_t){.what = APP__LOWER_BARRIER, .a = b, .b = id, .n = n},
                &step);
        }
    }
}

void app__lower_semaphores(app__lowering_t *to, bool acquires)
{
    const app__lower_range_t none = {APP__BUFFER_INPUT, 0, 0};
    const app__step_t step = app__lower_step_of(0, &none, &none);
    uint32_t at = 0;
    const uint32_t count = app__json_list(to->json, to->op, "semaphore_ids", &at);
    for (uint32_t i = 0; i < count && to->error == SIM_OK; i++) {
        int64_t id = 0;
        to->error = app__json_integer(to->json, at, 0, 1 << 20, &id, to->message);
        if (acquires) {
            SIM_GROW(to->marks, to->mark_count, &to->mark_capacity);
            const uint32_t n = marks_of(to, APP__LOWER_ACQUIRE, APP__LOWER_NONE, (uint32_t)id);
            to->marks[to->mark_count++] = (app__lower_mark_t){.what = APP__LOWER_ACQUIRE,
                                                              .gpu = to->gpu,
                                                              .block = to->block,
                                                              .id = (uint32_t)id};
            app__lower_late(
                to, (app__lower_late_t){.what = APP__LOWER_ACQUIRE, .a = (uint32_t)id, .n = n},
                &step);
        } else {
            SIM_GROW(to->marks, to->mark_count, &to->mark_capacity);
            to->marks[to->mark_count++] = (app__lower_mark_t){
                .what = APP__LOWER_RELEASE,
                .gpu = to->gpu,
                .block = to->block,
                .step = app__lower_step(to, to->gpu, to->block, &step),
                .id = (uint32_t)id,
            };
        }
        at = to->json->values[at].next;
    }
}
