// SPDX-License-Identifier: Apache-2.0
// tests/rank_hub.c - ranks that are threads of one process talk through memory.
#include "tests/rank_hub.h"

static void meet(const rank_hub_member_t *member)
{
    (void)pthread_barrier_wait(&member->hub->barrier);
}

static void agree(void *ctx, sim_ranks_view_t *view)
{
    const rank_hub_member_t *const member = ctx;
    rank_hub_t *const hub = member->hub;
    hub->views[member->ranks.rank] = *view;
    meet(member);
    *view = hub->views[0];
    for (unsigned r = 1; r < hub->count; r++) {
        sim_ranks_combine(&hub->views[r], view);
    }
    meet(member);
}

static void begin_exchange(void *ctx, const unsigned *others, size_t count, sim_buffer_t *out,
                           sim_buffer_t *in, sim_ranks_view_t *view)
{
    rank_hub_member_t *const member = ctx;
    rank_hub_t *const hub = member->hub;
    hub->others[member->ranks.rank] = others;
    hub->out[member->ranks.rank] = out;
    member->count = count;
    member->in = in;
    member->view = view;
}

static void poll(void *ctx)
{
    (void)ctx;
}

static void finish_exchange(void *ctx)
{
    rank_hub_member_t *const member = ctx;
    rank_hub_t *const hub = member->hub;
    const unsigned *const others = hub->others[member->ranks.rank];
    sim_buffer_t *const in = member->in;
    meet(member);
    for (size_t i = 0; i < member->count; i++) {
        size_t mine = 0;
        while (hub->others[others[i]][mine] != member->ranks.rank) {
            mine++;
        }
        const sim_buffer_t *const from = &hub->out[others[i]][mine];
        in[i].count = 0;
        sim_buffer_put(&in[i], from->bytes, from->count);
    }
    meet(member);
    agree(ctx, member->view);
}

static void collect(void *ctx, const void *bytes, size_t size, sim_ranks_take_fn take,
                    void *take_ctx)
{
    const rank_hub_member_t *const member = ctx;
    rank_hub_t *const hub = member->hub;
    hub->bytes[member->ranks.rank] = bytes;
    hub->sizes[member->ranks.rank] = size;
    meet(member);
    for (unsigned r = 0; r < hub->count && member->ranks.rank == 0; r++) {
        take(r, hub->bytes[r], hub->sizes[r], take_ctx);
    }
    meet(member);
}

static const sim_ranks_ops_t ops = {
    .begin_exchange = begin_exchange,
    .poll = poll,
    .finish_exchange = finish_exchange,
    .agree = agree,
    .collect = collect,
};

void rank_hub_init(rank_hub_t *hub, unsigned count)
{
    SIM_CHECK(count <= RANK_HUB_MAX);
    *hub = (rank_hub_t){.count = count};
    SIM_CHECK(pthread_barrier_init(&hub->barrier, NULL, count) == 0);
    for (unsigned r = 0; r < count; r++) {
        hub->members[r] =
            (rank_hub_member_t){.hub = hub, .ranks = {&ops, &hub->members[r], r, count}};
    }
}

void rank_hub_fini(rank_hub_t *hub)
{
    (void)pthread_barrier_destroy(&hub->barrier);
}
