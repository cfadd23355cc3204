// SPDX-License-Identifier: Apache-2.0
// kernel/engine/sort.c - sorts a node's mail of one window, from the order in which it was sent to
// that of (time, tie rank).
#include "kernel/engine/sort.h"
#include "kernel/engine/thread.h"
#include "kernel/engine/unit.h"
#include "kernel/order/rotor.h"

#include <string.h>

#define RANK_SORT_MAX 8u
#define INSERTION_SORT_MAX 48u // messages of one instant; more are sorted by merging
#define PORT_MASK ((1u << SIM_PORT_BITS) - 1)

// Sorts by key and returns whether two entries are of one instant. Such an entry is next to one of
// its instant when it finds its place. The latest key so far is kept in a register.
static bool insertion_sort(sim_mail_t *mail, size_t count)
{
    const sim_mail_t *const end = mail + count;
    uint64_t least = UINT64_MAX; // the least difference (XOR) of neighbours
    uint64_t latest = mail->key;
    for (sim_mail_t *place = mail + 1; place < end; place++) {
        const uint64_t key = place->key;
        if (SIM_LIKELY(latest <= key)) {
            const uint64_t other = latest ^ key;
            least = SIM_MIN(other, least);
            latest = key;
            continue;
        }
        void *const message = place->message;
        sim_mail_t *to = place;
        do {
            *to = to[-1];
            to--;
        } while (to > mail && to[-1].key > key);
        *to = (sim_mail_t){key, message};
        const uint64_t right = to[1].key ^ key;
        const uint64_t left = to > mail ? to[-1].key ^ key : UINT64_MAX;
        least = SIM_MIN(right, least);
        least = SIM_MIN(left, least);
    }
    return least <= PORT_MASK;
}

// Copies each entry to the place that is the number of entries before it. That takes more
// comparisons than insertion but no branch that can be mispredicted, which is what sorting a few
// random keys costs otherwise. Equal keys keep the order in which they were sent.
static void rank_sort(const sim_mail_t *from, size_t count, sim_mail_t *to)
{
    uint32_t rank[RANK_SORT_MAX] = {0};
    for (size_t i = 1; i < count; i++) {
        const uint64_t key = from[i].key;
        uint32_t smaller = 0;
        for (size_t j = 0; j < i; j++) {
            const uint32_t is_smaller = from[j].key <= key;
            smaller += is_smaller;
            rank[j] += 1 - is_smaller;
        }
        rank[i] = smaller;
    }
    for (size_t i = 0; i < count; i++) {
        to[rank[i]] = from[i];
    }
}

#define ENTRY_BYTES ((uint32_t)sizeof(sim_mail_t))

// Puts an entry at *at_bytes, where the next entry of a bucket goes, and moves that on.
static SIM_ALWAYS_INLINE void put(sim_mail_t *to, uint32_t *at_bytes, sim_mail_t entry)
{
    const uint32_t at = *at_bytes;
    *at_bytes = at + ENTRY_BYTES;
    *(sim_mail_t *)(void *)((char *)to + at) = entry;
}

// Sorts count entries from `from` into `to`: spreads them over about as many buckets as there are
// entries, then sorts by insertion. Returns false if no two are of one instant.
static bool sort_mail(sim_thread_t *thread, const sim_mail_t *from, size_t count, sim_mail_t *to)
{
    if (count <= RANK_SORT_MAX) {
        rank_sort(from, count, to);
        return true; // two may be of one instant
    }
    const unsigned needed_bits = 64 - (unsigned)__builtin_clzll(count - 1);
    const unsigned bucket_bits = needed_bits < 4 ? 4 : SIM_MIN(16, needed_bits);
    const unsigned key_bits =
        SIM_PORT_BITS + 64 - (unsigned)__builtin_clzll(thread->worker.window_ps);
    const unsigned shift = key_bits - bucket_bits;
    const size_t bucket_count = (size_t)1 << bucket_bits;
    if (thread->histogram_capacity < bucket_count) {
        thread->histogram =
            sim_realloc_array(thread->histogram, bucket_count, sizeof(*thread->histogram));
        thread->histogram_capacity = bucket_count;
    }
    uint32_t *const starts = thread->histogram;
    memset(starts, 0, bucket_count * sizeof(*starts));
    const sim_mail_t *const even_end = from + (count & ~(size_t)1); // two at a time
    // All messages are prefetched here. In order of time they come from all senders, so fetching
    // the first of the mailbox, or a few ahead, would be too late.
    for (const sim_mail_t *mail = from; mail != even_end; mail += 2) {
        starts[mail[0].key >> shift] += ENTRY_BYTES;
        __builtin_prefetch(mail[0].message);
        starts[mail[1].key >> shift] += ENTRY_BYTES;
        __builtin_prefetch(mail[1].message);
    }
    if ((count & 1) != 0) {
        starts[even_end->key >> shift] += ENTRY_BYTES;
    }
    uint32_t sum = 0;
    for (size_t b = 0; b < bucket_count; b += 4) {
        const uint32_t second = sum + starts[b];
        const uint32_t third = second + starts[b + 1];
        const uint32_t fourth = third + starts[b + 2];
        const uint32_t end = fourth + starts[b + 3];
        starts[b] = sum;
        starts[b + 1] = second;
        starts[b + 2] = third;
        starts[b + 3] = fourth;
        sum = end;
    }
    for (const sim_mail_t *mail = from; mail != even_end; mail += 2) {
        put(to, &starts[mail[0].key >> shift], mail[0]);
        put(to, &starts[mail[1].key >> shift], mail[1]);
    }
    if ((count & 1) != 0) {
        put(to, &starts[even_end->key >> shift], *even_end);
    }
    return insertion_sort(to, count);
}

// Sorts many entries. Equal keys, which are of one channel, keep their order, unlike with qsort.
static void merge_sort(sim_mail_t *mail, size_t count, sim_mail_t *scratch)
{
    if (count <= INSERTION_SORT_MAX) {
        (void)insertion_sort(mail, count);
        return;
    }
    const size_t half = count / 2;
    merge_sort(mail, half, scratch);
    merge_sort(mail + half, count - half, scratch);
    memcpy(scratch, mail, half * sizeof(*mail));
    const sim_mail_t *left = scratch;
    const sim_mail_t *right = mail + half;
    for (sim_mail_t *to = mail; left < scratch + half; to++) {
        const bool from_left = right == mail + count || left->key <= right->key;
        *to = from_left ? *left++ : *right++;
    }
}

// Puts messages of one instant into the order of their tie ranks (sim__tie_rank), or in reverse.
static SIM_ALWAYS_INLINE void sort_at(const sim_node_t *node, sim_mail_t *mail, size_t count,
                                      uint64_t instant, bool reverse)
{
    const uint64_t flip = reverse ? ~(uint64_t)PORT_MASK : 0;
    const uint64_t time_key = mail[0].key & ~(uint64_t)PORT_MASK;
    for (size_t i = 0; i < count; i++) {
        mail[i].key =
            sim__tie_rank(node->tie_key, instant, (uint32_t)mail[i].key & PORT_MASK) ^ flip;
    }
    if (count <= INSERTION_SORT_MAX) {
        (void)insertion_sort(mail, count);
    } else {
        sim_mail_t *const scratch = sim_alloc_array(count / 2, sizeof(*scratch));
        merge_sort(mail, count, scratch);
        sim_free(scratch);
    }
    for (size_t i = 0; i < count; i++) {
        mail[i].key = time_key | (mail[i].key & PORT_MASK);
    }
}

static inline sim_time_t time_of(const sim_node_t *node, const sim_mail_t *mail)
{
    return node->window_start_ps + (mail->key >> SIM_PORT_BITS);
}

void sim__sort_by_rank(sim_node_t *node, sim_mail_t *mail, size_t count)
{
    sort_at(node, mail, count, time_of(node, mail), false);
}

void sim__add_ties(sim_node_t *node, uint64_t count)
{
    node->ties = (node->ties + count) % SIM__ROTOR_TURNS;
}

void sim__sort_by_rotor(sim_node_t *node, sim_mail_t *mail, size_t count)
{
    const sim_time_t time_ps = time_of(node, mail);
    if (time_ps < node->worker->window_end_ps) {
        const bool turns = node->alone && !node->ops->keeps_order;
        const uint64_t turn = turns ? sim__rotor_turn(node, time_ps) : 0;
        if (SIM_UNLIKELY(node->ties_watched) && turns &&
            !(node->ties_matter && node->ties_mattered) &&
            (node->ops->ties_matter == NULL || node->ops->ties_matter(node, mail, count))) {
            node->ties_matter = node->ties_mattered = true;
        }
        sort_at(node, mail, count, turn / 2, (turn & 1) != 0);
    }
}

// Puts all messages of a window that tie, which are sorted by (time, port), into their order.
static void order_ties(sim_node_t *node, sim_mail_t *mail, size_t count)
{
    void (*const sort_ties)(sim_node_t *, sim_mail_t *, size_t) = node->sim->order->sort_ties;
    for (size_t i = 1; i < count; i++) {
        SIM_ASSERT(mail[i - 1].key <= mail[i].key);
        if ((mail[i].key ^ mail[i - 1].key) > PORT_MASK) {
            continue;
        }
        const size_t first = i - 1;
        while (i < count && ((mail[i].key ^ mail[first].key) >> SIM_PORT_BITS) == 0) {
            i++;
        }
        sort_ties(node, mail + first, i - first);
    }
}

void sim__sort_mail(sim_thread_t *thread, sim_node_t *node, const sim_mail_t *from, size_t count,
                    sim_mail_t *to)
{
    if (count > 0 && sort_mail(thread, from, count, to)) {
        order_ties(node, to, count);
    }
}
