// SPDX-License-Identifier: Apache-2.0
// kernel/engine/ranks.c - carries messages between ranks, and lets ranks agree.
//
// A message for a node of another rank goes into a buffer of the sender's thread for that rank, as
// soon as all parts of the message are in the cache. After a window, thread 0 swaps buffers with
// all neighbours, and puts what came into its own mailboxes, from which any thread gathers it.
//
//     a buffer: SIM_RANKS_HEAD bytes of the operations, then for each message
//         u32 node, u32 window without its upper bits, u64 key   a message in a mailbox
//         u32 node, u32 FAR + port, u64 time of arrival in ps    a message beyond the slots
//         the message, as the codec writes it
#include "kernel/engine/agree.h"

#include <stdlib.h>

#include "kernel/engine/appoint.h"
#include "kernel/engine/far.h"
#include "kernel/engine/mail.h"
#include "kernel/engine/thread.h"
#include "kernel/engine_internal.h"

#define FAR (UINT32_C(1) << 31)

// The header of a message in a buffer.
typedef struct head {
    uint32_t node;
    uint32_t window;
    uint64_t key;
} head_t;

// A channel by which messages come from another rank.
typedef struct entry {
    uint64_t place; // node and port where it leads
    sim_channel_t *channel;
} entry_t;

struct sim__ranks {
    const sim_ranks_t *ranks;
    entry_t *entries; // channels from nodes of other ranks, by place
    size_t entry_count;
    unsigned *others;   // neighbouring ranks, rising
    unsigned *place_of; // by rank: place in `others`
    size_t other_count;
    sim_buffer_t *in;      // by place
    sim_ranks_view_t view; // of the exchange that was begun
    sim_ranks_cost_t cost;
    uint64_t waited_ns;
    uint64_t told[SIM_RANKS_TOLD];
    uint64_t alone_until; // other ranks have nothing to do before this window; 0: this one has not
    unsigned alone_count; // windows since ranks met
    sim__seen_t known;    // when they met: progress, work, upkeep of the others; times of all
};

// The maximum number of windows that a rank runs alone. The others wait that long for signals and
// progress.
#define ALONE_MAX 4096u

void sim__buffer_grow(sim_buffer_t *buffer, size_t more)
{
    SIM_RESERVE(buffer->bytes, buffer->count + more, &buffer->capacity);
}

// Empties a buffer but for the head, which belongs to the operations.
static void clear(sim_buffer_t *buffer)
{
    buffer->count = 0;
    (void)sim_buffer_room(buffer, SIM_RANKS_HEAD);
    buffer->count = SIM_RANKS_HEAD;
}

// -- attaching

void sim_set_codec(sim_t *sim, const sim_codec_t *codec, void *ctx)
{
    SIM_CHECK(!sim->ran);
    sim->codec = codec;
    sim->codec_ctx = ctx;
}

void sim_use_ranks(sim_t *sim, const sim_ranks_t *ranks)
{
    SIM_CHECK(!sim->ran && sim->ranks == NULL && sim->codec != NULL);
    SIM_CHECK(ranks->count >= 1 && ranks->count <= SIM_RANKS_MAX && ranks->rank < ranks->count);
    SIM_CHECK(sim__ties_by_hash(sim));
    struct sim__ranks *const state = sim_alloc(sizeof(*state));
    state->ranks = ranks;
    sim->ranks = state;
    sim->rank = ranks->rank;
    sim->rank_count = ranks->count;
}

const sim_ranks_t *sim_ranks(const sim_t *sim)
{
    return sim->ranks == NULL ? NULL : sim->ranks->ranks;
}

bool sim_is_seated(const sim_t *sim)
{
    return sim->seated;
}

bool sim_is_here(const sim_t *sim, size_t node)
{
    SIM_ASSERT(node < sim->node_count);
    return !sim->seated || sim->rank_of[node] == sim->rank;
}

bool sim_node_is_here(const sim_node_t *node)
{
    return sim__is_here(node->sim, node);
}

void sim_ranks_cost(const sim_t *sim, sim_ranks_cost_t *cost)
{
    SIM_CHECK(sim->ranks != NULL);
    *cost = sim->ranks->cost;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        cost->messages_out += sim->threads[t]->away_count;
    }
    cost->waited_s = (double)sim->ranks->waited_ns / 1e9;
    for (size_t i = 0; i < sim->node_count; i++) {
        cost->events += sim__is_here(sim, sim->nodes[i]) ? sim->nodes[i]->events : 0;
    }
}

void sim_ranks_tell(sim_t *sim, unsigned number, uint64_t value)
{
    SIM_CHECK(sim->ranks != NULL && number < SIM_RANKS_TOLD);
    sim->ranks->told[number] = value;
}

uint64_t sim_ranks_told(const sim_t *sim, unsigned number)
{
    SIM_CHECK(sim->ranks != NULL && number < SIM_RANKS_TOLD);
    return sim->seen.told[number];
}

void sim__ranks_free_away(sim_thread_t *thread)
{
    for (size_t i = 0; thread->away != NULL && i < thread->sim->ranks->other_count; i++) {
        sim_free(thread->away[i].bytes);
    }
    SIM_FREE_ALL(thread->away, thread->away_due, thread->inner);
}

void sim__ranks_destroy(sim_t *sim)
{
    struct sim__ranks *const ranks = sim->ranks;
    if (ranks == NULL) {
        return;
    }
    for (size_t i = 0; i < ranks->other_count; i++) {
        sim_free(ranks->in[i].bytes);
    }
    SIM_FREE_ALL(ranks->entries, ranks->others, ranks->place_of, ranks->in, ranks);
}

// -- carrying

bool sim_carry_has(const sim_carry_t *carry, const sim_node_t *node)
{
    SIM_CHECK(node->sim->seated);
    return node->rank == carry->rank;
}

bool sim_carry_has_number(const sim_carry_t *carry, const sim_t *sim, size_t node)
{
    SIM_CHECK(sim->seated && node < sim->node_count);
    return sim->rank_of[node] == carry->rank;
}

void sim_carry(sim_carry_t *carry, void *value, size_t bytes)
{
    if (sim_carry_leaves(carry)) {
        sim_buffer_put(carry->to, value, bytes);
    } else {
        sim_reader_get(carry->from, value, bytes);
    }
}

void *sim__carry_list(sim_carry_t *carry, void *items, size_t *count, size_t *capacity, size_t size)
{
    SIM_CARRY(carry, *count);
    if (!sim_carry_leaves(carry) && *count > *capacity) {
        items = sim_realloc_array(items, *count, size);
        *capacity = *count;
    }
    sim_carry(carry, items, *count * size);
    return items;
}

void sim_carry_block(sim_carry_t *carry, char **bytes, size_t *size)
{
    bool any = *bytes != NULL;
    SIM_CARRY(carry, any);
    SIM_CARRY(carry, *size);
    if (!sim_carry_leaves(carry)) {
        sim_free(*bytes);
        *bytes = any ? sim_alloc(*size + 1) : NULL;
    }
    if (any) {
        sim_carry(carry, *bytes, *size);
    }
}

// -- who is where

void sim_set_links(sim_t *sim, size_t count, sim_link_fn fn, const void *ctx)
{
    SIM_CHECK(!sim->ran);
    sim->links = fn;
    sim->links_ctx = ctx;
    sim->link_count = count;
}

void sim_seat(sim_t *sim, const uint16_t *rank_of)
{
    SIM_CHECK(!sim->ran && sim->ranks != NULL && !sim->seated);
    sim->seated = true;
    sim->rank_of = sim_alloc_array(sim->node_count + 1, sizeof(*sim->rank_of));
    for (size_t i = 0; i < sim->node_count; i++) {
        SIM_CHECK(rank_of[i] < sim->rank_count);
        sim->nodes[i]->rank = sim->rank_of[i] = rank_of[i];
    }
    sim->nodes = sim_realloc_array(sim->nodes, sim->node_count, sizeof(sim_node_t *));
    sim->node_capacity = sim->node_count; // no more nodes come
}

void sim__ranks_seat(sim_t *sim, const uint32_t *unit_of)
{
    if (sim->ranks == NULL || sim->seated) {
        return;
    }
    uint16_t *const rank_of = sim_alloc_array(sim->node_count + 1, sizeof(*rank_of));
    for (size_t i = 0; i < sim->node_count; i++) {
        uint32_t root = (uint32_t)i;
        while (unit_of[root] != root) {
            root = unit_of[root];
        }
        rank_of[i] = (uint16_t)((uint64_t)root * sim->rank_count / sim->node_count);
    }
    sim_seat(sim, rank_of);
    sim_free(rank_of);
}

static uint64_t place_of(uint32_t node, uint32_t port)
{
    return (uint64_t)node << SIM_PORT_BITS | port;
}

static int compare_entries(const void *a, const void *b)
{
    const uint64_t x = ((const entry_t *)a)->place;
    const uint64_t y = ((const entry_t *)b)->place;
    return x < y ? -1 : x > y;
}

// Lists the channels by which messages come from other ranks.
static void list_channels(sim_t *sim)
{
    struct sim__ranks *const ranks = sim->ranks;
    size_t capacity = 0;
    for (size_t i = 0; i < sim->channel_count; i++) {
        const sim_channel_ends_t *const ends = &sim->channel_ends[i];
        if (!sim__is_here(sim, sim->nodes[ends->from]) && sim__is_here(sim, ends->to)) {
            sim_channel_t *const channel =
                &sim->channel_blocks[i / SIM_CHANNEL_BLOCK][i % SIM_CHANNEL_BLOCK];
            SIM_APPEND(ranks->entries, ranks->entry_count, capacity,
                       (entry_t){place_of(ends->to->index, channel->port), channel});
        }
    }
    if (ranks->entry_count > 0) {
        qsort(ranks->entries, ranks->entry_count, sizeof(*ranks->entries), compare_entries);
    }
}

// Returns the channel by which a message comes to a port of a node.
static sim_channel_t *find_channel(const sim_t *sim, uint32_t node, uint32_t port)
{
    const struct sim__ranks *const ranks = sim->ranks;
    const uint64_t place = place_of(node, port);
    size_t from = 0;
    size_t to = ranks->entry_count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (ranks->entries[middle].place < place) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    SIM_CHECK(from < ranks->entry_count && ranks->entries[from].place == place);
    return ranks->entries[from].channel;
}

void sim__ranks_meet(sim_t *sim)
{
    struct sim__ranks *const ranks = sim->ranks;
    if (ranks == NULL) {
        return;
    }
    list_channels(sim);
    bool *const meets = sim_alloc_array(sim->rank_count, sizeof(*meets));
    for (size_t i = 0; i < sim->channel_count; i++) {
        const uint32_t from = sim->rank_of[sim->channel_ends[i].from];
        const uint32_t to = sim->channel_ends[i].to->rank;
        // A link has a channel in each direction, but a program may make one alone.
        meets[to] |= from == sim->rank;
        meets[from] |= to == sim->rank;
    }
    meets[sim->rank] = false;
    ranks->others = sim_alloc_array(sim->rank_count, sizeof(*ranks->others));
    ranks->place_of = sim_alloc_array(sim->rank_count, sizeof(*ranks->place_of));
    for (unsigned r = 0; r < sim->rank_count; r++) {
        ranks->place_of[r] = (unsigned)ranks->other_count;
        if (meets[r]) {
            ranks->others[ranks->other_count++] = r;
        }
    }
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_thread_t *const thread = sim->threads[t];
        thread->away = sim_alloc_array(ranks->other_count + 1, sizeof(*thread->away));
        thread->away_due = sim_alloc_array(ranks->other_count + 1, sizeof(*thread->away_due));
        for (size_t i = 0; i < ranks->other_count; i++) {
            clear(&thread->away[i]);
            thread->away_due[i] = SIM_NO_WINDOW;
        }
    }
    ranks->in = sim_alloc_array(ranks->other_count + 1, sizeof(*ranks->in));
    sim_free(meets);
}

// -- agreeing

static void agree(sim_t *sim, sim_ranks_view_t *view)
{
    struct sim__ranks *const ranks = sim->ranks;
    const uint64_t began_ns = sim__share_clock_ns();
    ranks->ranks->ops->agree(ranks->ranks->ctx, view);
    ranks->waited_ns += sim__share_clock_ns() - began_ns;
    ranks->cost.agreements++;
}

#define NEVER UINT64_MAX
static const sim_ranks_view_t nothing = {.least = {NEVER, NEVER, NEVER}, .due = {NEVER, 0, NEVER}};
static_assert(SIM_RANKS_LEAST == 3, "`nothing` leaves every least number open");

static void combine_due(const sim_ranks_due_t *from, sim_ranks_due_t *into)
{
    if (from->rank == into->rank) {
        into->first = sim__least(from->first, into->first);
        into->second = sim__least(from->second, into->second);
    } else if (from->first < into->first ||
               (from->first == into->first && from->rank < into->rank)) {
        const uint64_t second = sim__least(from->second, into->first);
        *into = (sim_ranks_due_t){from->first, from->rank, second};
    } else {
        into->second = sim__least(into->second, from->first);
    }
}

void sim_ranks_combine(const sim_ranks_view_t *from, sim_ranks_view_t *into)
{
    for (size_t i = 0; i < SIM_RANKS_LEAST; i++) {
        into->least[i] = sim__least(from->least[i], into->least[i]);
    }
    for (size_t i = 0; i < SIM_RANKS_SUMS; i++) {
        into->sums[i] += from->sums[i];
    }
    if (from->latest[0] > into->latest[0]) {
        memcpy(into->latest, from->latest, sizeof(into->latest));
    }
    combine_due(&from->due, &into->due);
}

uint64_t sim__agree_least(sim_t *sim, uint64_t value)
{
    if (sim->ranks == NULL) {
        return value;
    }
    sim_ranks_view_t view = nothing;
    view.least[0] = value;
    agree(sim, &view);
    return view.least[0];
}

uint64_t sim__agree_sum(sim_t *sim, uint64_t value)
{
    if (sim->ranks == NULL) {
        return value;
    }
    sim_ranks_view_t view = nothing;
    view.sums[0] = value;
    agree(sim, &view);
    return view.sums[0];
}

bool sim__agree_any(sim_t *sim, bool value)
{
    return sim->ranks == NULL ? value : sim__agree_sum(sim, value) > 0;
}

// Returns the windows in which this rank, and those to which it sends, have something to do.
static sim_ranks_due_t due_of(const sim_t *sim, uint64_t own_window)
{
    const struct sim__ranks *const ranks = sim->ranks;
    sim_ranks_due_t due = {own_window, sim->rank, SIM_NO_WINDOW};
    for (unsigned t = 0; t < sim->thread_count; t++) {
        for (size_t i = 0; i < ranks->other_count; i++) {
            const uint64_t window = sim->threads[t]->away_due[i];
            const sim_ranks_due_t sent = {window, ranks->others[i], SIM_NO_WINDOW};
            combine_due(&sent, &due);
        }
    }
    return due;
}

static sim_ranks_view_t view_of(const sim_t *sim, const sim__seen_t *seen)
{
    return (sim_ranks_view_t){
        .least = {seen->background_ps, ~seen->progress_ps, seen->sample_ps},
        .sums = {seen->progress, seen->work, seen->upkeep, seen->records, seen->interrupted,
                 seen->early, sim->ranks->told[0], sim->ranks->told[1]},
        .latest = {sim->window, sim->stall.progress_seen, sim->stall.fruitless_ps, sim->stall.quiet,
                   sim->stall.quiet_cell, sim->stall.excused_ps},
        .due = due_of(sim, seen->next_window),
    };
}

static sim__seen_t seen_of(const sim_ranks_view_t *view)
{
    return (sim__seen_t){
        .next_window = view->due.first,
        .background_ps = view->least[0],
        .progress_ps = ~view->least[1],
        .sample_ps = view->least[2],
        .progress = view->sums[0],
        .work = view->sums[1],
        .upkeep = view->sums[2],
        .records = view->sums[3],
        .interrupted = view->sums[4] > 0,
        .early = view->sums[5] > 0,
        .told = {view->sums[6], view->sums[7]},
    };
}

// Takes over how far the rank has come that ran windows alone, as if this one had run them, too:
// they were empty here.
static void catch_up(sim_t *sim, const sim_ranks_view_t *view)
{
    SIM_CHECK(view->latest[0] >= sim->window);
    sim->window = view->latest[0];
    sim->stall = (sim__stall_t){.progress_seen = view->latest[1],
                                .fruitless_ps = view->latest[2],
                                .quiet = view->latest[3] != 0,
                                .quiet_cell = view->latest[4],
                                .excused_ps = view->latest[5]};
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim->threads[t]->worker.slot = (uint32_t)sim->window & (SIM_SLOTS - 1);
    }
}

// Replaces this rank's numbers by those of all ranks, and notes how long it may go on alone.
static void learn(sim_t *sim, const sim_ranks_view_t *view, sim__seen_t *seen)
{
    struct sim__ranks *const ranks = sim->ranks;
    const sim__seen_t own = *seen;
    *seen = seen_of(view);
    ranks->known = *seen;
    ranks->known.progress -= own.progress;
    ranks->known.work -= own.work;
    ranks->known.upkeep -= own.upkeep;
    ranks->alone_until = view->due.rank == sim->rank ? view->due.second : 0;
    ranks->alone_count = 0;
}

bool sim__ranks_alone(const sim_t *sim, sim__seen_t *seen)
{
    const struct sim__ranks *const ranks = sim->ranks;
    const uint64_t next = seen->next_window;
    if (next >= ranks->alone_until || ranks->alone_count == ALONE_MAX ||
        due_of(sim, next).second <= next) {
        return false;
    }
    const sim__seen_t *const known = &ranks->known;
    seen->background_ps = sim__least(seen->background_ps, known->background_ps);
    seen->sample_ps = sim__least(seen->sample_ps, known->sample_ps);
    seen->progress_ps = SIM_MAX(seen->progress_ps, known->progress_ps);
    seen->progress += known->progress;
    seen->work += known->work;
    seen->upkeep += known->upkeep;
    return true;
}

void sim__ranks_count_alone(sim_t *sim)
{
    sim->ranks->alone_count++;
    sim->ranks->cost.alone++;
}

void sim__agree_seen(sim_t *sim, sim__seen_t *seen)
{
    if (sim->ranks == NULL) {
        return;
    }
    sim_ranks_view_t view = view_of(sim, seen);
    agree(sim, &view);
    learn(sim, &view, seen);
}

void sim__ranks_agree_threads(sim_t *sim)
{
    sim->options.threads = (unsigned)sim__agree_least(sim, sim->options.threads);
}

void sim__ranks_collect(sim_t *sim, const sim_buffer_t *bytes, sim_ranks_take_fn take, void *ctx)
{
    struct sim__ranks *const ranks = sim->ranks;
    const uint64_t began_ns = sim__share_clock_ns();
    ranks->ranks->ops->collect(ranks->ranks->ctx, bytes->bytes, bytes->count, take, ctx);
    ranks->waited_ns += sim__share_clock_ns() - began_ns;
}

uint32_t sim__ranks_place(const sim_t *sim, const sim_node_t *node)
{
    return sim->ranks == NULL ? 0 : sim->ranks->place_of[node->rank];
}

// -- leaving

// Writes the oldest message that waits into the buffer for its rank.
static void write_oldest(sim_thread_t *thread)
{
    const sim_t *const sim = thread->sim;
    const sim_leaving_t *const oldest = &thread->leaving[thread->left_count++ % SIM_LEAVING];
    sim_buffer_t *const away = &thread->away[oldest->place];
    const head_t head = {oldest->node, oldest->window, oldest->key};
    sim_buffer_put(away, &head, sizeof(head));
    sim->codec->leave(sim->codec_ctx, oldest->from, oldest->message, away);
}

void sim__ranks_send(sim_node_t *from, const sim_channel_t *channel, sim_time_t arrive_ps,
                     void *message)
{
    sim_thread_t *const thread = sim__thread_of(from);
    const sim_worker_t *const worker = &thread->worker;
    const sim_t *const sim = thread->sim;
    SIM_CHECK(arrive_ps >= worker->ahead[0].start_ps);
    const sim_time_t ahead_ps = arrive_ps - worker->ahead[0].start_ps;
    const uint64_t skipped = ahead_ps < worker->window_ps ? 0 : ahead_ps / worker->window_ps;
    const uint64_t ahead = 1 + skipped * worker->stride;
    const sim_time_t within_ps = ahead_ps - skipped * worker->window_ps;
    const bool far = ahead >= SIM_SLOTS;
    // With colours a far message may arrive a window later than this one.
    const uint64_t window = far ? arrive_ps / sim->window_ps : sim->window + ahead;
    uint64_t *const due = &thread->away_due[channel->place];
    __builtin_prefetch(message);
    if (thread->away_count - thread->left_count >= SIM_LEAVING / 2) {
        const uint64_t half = thread->away_count - SIM_LEAVING / 2;
        sim->codec->warm(sim->codec_ctx, thread->leaving[half % SIM_LEAVING].message);
    }
    if (thread->away_count - thread->left_count == SIM_LEAVING) {
        write_oldest(thread);
    }
    thread->leaving[thread->away_count++ % SIM_LEAVING] = (sim_leaving_t){
        .from = from,
        .message = message,
        .place = channel->place,
        .node = channel->unit_index,
        .window = far ? FAR + channel->port : (uint32_t)window & (FAR - 1),
        .key = far ? arrive_ps : (within_ps << SIM_PORT_BITS) | channel->port,
    };
    *due = sim__least(window, *due);
}

// Brings what all threads send to thread 0's buffers, which go to the other ranks.
static void gather_messages(sim_t *sim)
{
    struct sim__ranks *const ranks = sim->ranks;
    for (unsigned t = 0; t < sim->thread_count; t++) {
        sim_thread_t *const thread = sim->threads[t];
        while (thread->left_count < thread->away_count) {
            write_oldest(thread);
        }
        for (size_t i = 0; i < ranks->other_count && t > 0; i++) {
            sim_buffer_t *const from = &thread->away[i];
            sim_buffer_put(&sim->threads[0]->away[i], from->bytes + SIM_RANKS_HEAD,
                           from->count - SIM_RANKS_HEAD);
            clear(from);
        }
    }
}

// -- arriving

// Messages that were made, and wait until their mailboxes are in the cache.
#define LANDING 8u // a power of two
typedef struct landing {
    uint64_t count; // all, and those that are in their mailboxes
    uint64_t landed;
    struct {
        uint32_t node;
        uint32_t slot;
        sim_mail_t mail;
    } items[LANDING];
} landing_t;

static void land_oldest(sim_t *sim, landing_t *landing)
{
    const uint64_t at = landing->landed++ % LANDING;
    sim__mailbox_put(sim->threads[0], landing->items[at].slot, landing->items[at].node,
                     landing->items[at].mail);
}

static void take_message(sim_t *sim, landing_t *landing, sim_reader_t *reader)
{
    sim_thread_t *const thread = sim->threads[0];
    head_t head;
    sim_reader_get(reader, &head, sizeof(head));
    SIM_CHECK(head.node < sim->node_count && sim->rank_of[head.node] == sim->rank);
    sim_node_t *const to = sim->nodes[head.node];
    if ((head.window & FAR) != 0) {
        sim_channel_t *const channel = find_channel(sim, head.node, head.window - FAR);
        sim__parcel_send(thread, channel, head.key, sim->codec->arrive(sim->codec_ctx, to, reader));
        return;
    }
    const uint32_t ahead = (head.window - (uint32_t)sim->window) & (FAR - 1);
    SIM_CHECK(ahead > 0 && ahead < SIM_SLOTS);
    const uint32_t slot = head.window & (SIM_SLOTS - 1);
    __builtin_prefetch(&thread->worker.boxes[slot][head.node], 1);
    if (landing->count - landing->landed == LANDING) {
        land_oldest(sim, landing);
    }
    const uint64_t half = landing->count - LANDING / 2;
    if (landing->count - landing->landed > LANDING / 2) {
        const uint64_t at = half % LANDING;
        const sim_mailbox_t *const box =
            &thread->worker.boxes[landing->items[at].slot][landing->items[at].node];
        __builtin_prefetch((const char *)box->mail + box->filled_bytes, 1);
    }
    const uint64_t at = landing->count++ % LANDING;
    landing->items[at].node = head.node;
    landing->items[at].slot = slot;
    landing->items[at].mail =
        (sim_mail_t){head.key, sim->codec->arrive(sim->codec_ctx, to, reader)};
}

static void take_all(sim_t *sim, const sim_buffer_t *in)
{
    SIM_CHECK(in->count >= SIM_RANKS_HEAD);
    sim_reader_t reader = {in->bytes + SIM_RANKS_HEAD, in->count - SIM_RANKS_HEAD};
    landing_t landing = {0};
    while (reader.left > 0) {
        take_message(sim, &landing, &reader);
    }
    while (landing.landed < landing.count) {
        land_oldest(sim, &landing);
    }
}

void sim__ranks_begin_exchange(sim_t *sim, const sim__seen_t *seen)
{
    struct sim__ranks *const ranks = sim->ranks;
    gather_messages(sim);
    sim_buffer_t *const out = sim->threads[0]->away;
    for (size_t i = 0; i < ranks->other_count; i++) {
        ranks->cost.bytes_out += out[i].count - SIM_RANKS_HEAD;
    }
    ranks->view = view_of(sim, seen);
    const uint64_t began_ns = sim__share_clock_ns();
    ranks->ranks->ops->begin_exchange(ranks->ranks->ctx, ranks->others, ranks->other_count, out,
                                      ranks->in, &ranks->view);
    ranks->waited_ns += sim__share_clock_ns() - began_ns;
}

void sim__ranks_poll(const sim_t *sim)
{
    const sim_ranks_t *const ranks = sim->ranks->ranks;
    ranks->ops->poll(ranks->ctx);
}

void sim__ranks_finish_exchange(sim_t *sim, sim__seen_t *seen)
{
    struct sim__ranks *const ranks = sim->ranks;
    sim_buffer_t *const out = sim->threads[0]->away;
    const bool early = seen->early; // this rank
    const uint64_t began_ns = sim__share_clock_ns();
    ranks->ranks->ops->finish_exchange(ranks->ranks->ctx);
    ranks->waited_ns += sim__share_clock_ns() - began_ns;
    SIM_CHECK(!early || ranks->view.latest[0] == sim->window);
    catch_up(sim, &ranks->view);
    learn(sim, &ranks->view, seen);
    for (size_t i = 0; i < ranks->other_count; i++) {
        clear(&out[i]);
        for (unsigned t = 0; t < sim->thread_count; t++) {
            sim->threads[t]->away_due[i] = SIM_NO_WINDOW;
        }
        take_all(sim, &ranks->in[i]);
    }
    // A window that has begun is run to its end first.
    for (unsigned t = 0; t < sim->thread_count && !early; t++) {
        sim__publish_next(sim->threads[t]);
    }
    ranks->cost.windows++;
    ranks->cost.early += early;
}
