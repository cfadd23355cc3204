// SPDX-License-Identifier: Apache-2.0
// apps/workload/collective/loads.c - says before a run what the messages of collectives amount to:
// their programs are read, not run.
#include "apps/workload/collective/call_plan.h"
#include "apps/workload/collective/collectives.h"
#include "apps/workload/collective/estimate.h"
#include "apps/workload/collective/member_channels.h"
#include "apps/workload/domains.h"
#include "apps/workload/port.h"
#include "apps/workload/rank.h"
#include "apps/workload/workload.h"

#define SAMPLED_RANKS 128u // of a group: the others are alike
#define CLEAR_TO_SEND_BYTES 64.0

// The messages of one block to one peer on one lane.
typedef struct stream {
    uint32_t peer; // APP__NO_RANK: none yet
    uint32_t lane;
    double messages;
    double bytes; // on the wire
    bool spread;  // by the NVSwitch
} stream_t;

typedef struct pass {
    const app__collectives_t *all;
    const app__coll_plan_t *plan;
    double calls; // of the plan
    double times; // calls, times the ranks that a sampled one stands for
    const app__member_t *own;
    app__coll_load_t *load; // of the plan
    double out_bytes;       // of the member, to other nodes
    double in_bytes;        // of the member, to its node
    double spread_bytes;    // of the member, to its node, by receivers' links
    double serial_s;        // of all blocks, to other nodes
    double inside_s;        // of a member, within its node: its blocks share a link
    double blocks;
    double *port_bytes; // of all calls, by port of the workload; NULL: nobody asks
    app_load_fn fn;     // NULL: nobody asks
    void *ctx;
} pass_t;

// Sets the rates at which a rank sends to other nodes and within its own.
static void rates_of(const app__rank_t *rank, const app__coll_plan_t *plan, double *out_bps,
                     double *in_bps)
{
    *out_bps = (double)app__fabric_bps(rank);
    *in_bps = rank->domain == NULL ? (double)plan->local_bps : (double)app__domain_bps(rank);
}

static void take_stream(pass_t *pass, const stream_t *stream)
{
    const app__workload_t *const workload = pass->all->workload;
    const app__member_t *const other = &pass->all->groups[pass->own->group].members[stream->peer];
    const app__port_t *from = NULL;
    const app__port_t *to = NULL;
    app__member_channel_ports(pass->own, other, stream->lane, 0, &from, &to);
    const bool local = pass->own->rank->node == other->rank->node;
    double out_bps = 0;
    double in_bps = 0;
    rates_of(pass->own->rank, pass->plan, &out_bps, &in_bps);
    if (pass->own->rank->domain != NULL ? pass->own->rank->domain == other->rank->domain : local) {
        *(stream->spread ? &pass->spread_bytes : &pass->in_bytes) += stream->bytes;
    } else {
        pass->out_bytes += stream->bytes;
        pass->serial_s += stream->bytes * 8 / out_bps;
    }
    pass->load->messages += stream->messages * pass->times;
    pass->load->bytes += stream->bytes * pass->times;
    pass->load->streams += pass->times / pass->calls;
    pass->load->local_streams += local ? pass->times / pass->calls : 0;
    pass->load->local_messages += local ? stream->messages * pass->times : 0;
    if (!local && pass->load->from == APP__NO_RANK) {
        pass->load->from = from->endpoint->interface;
        pass->load->to = to->endpoint->interface;
    }
    if (!local && pass->port_bytes != NULL) {
        pass->port_bytes[from - workload->ports] += stream->bytes * pass->calls;
    }
    if (pass->fn == NULL) {
        return;
    }
    nic_qp_attr_t attr;
    nic_qp_attr_default(from->endpoint->nic, &attr);
    const app_load_t load = {
        .source = from->endpoint->interface,
        .destination = to->endpoint->interface,
        .mtu_bytes = attr.path_mtu,
        .priority = attr.priority,
        .dscp = attr.dscp,
        .local = local,
        .messages = stream->messages * pass->times,
        .bytes = stream->bytes * pass->times,
        .start_ps = workload->options.start_ps,
    };
    pass->fn(&load, pass->ctx);
    if (pass->plan->protocol != APP__PROTOCOL_PLAIN && !local) {
        const app_load_t permits = {
            .source = load.destination,
            .destination = load.source,
            .mtu_bytes = load.mtu_bytes,
            .priority = load.priority,
            .dscp = load.dscp,
            .messages = load.messages,
            .bytes = load.messages * CLEAR_TO_SEND_BYTES,
            .start_ps = load.start_ps,
        };
        pass->fn(&permits, pass->ctx);
    }
}

static void add_step(stream_t *stream, const app__coll_plan_t *plan, const app__step_t *step,
                     uint64_t bytes, uint32_t loops)
{
    uint64_t slice_bytes = 0;
    stream->messages += (double)loops * app__coll_slices(plan, bytes, &slice_bytes);
    stream->bytes += (double)loops * (double)app__coll_wire_bytes(plan, bytes, step->what);
    stream->spread = (step->what & APP__STEP_SPREAD) != 0;
}

// Adds the messages of a block, stream by stream. All loops but the last send equally much.
static void take_block(pass_t *pass, uint32_t number)
{
    const app__coll_plan_t *const plan = pass->plan;
    const app__program_t *const program = &plan->program;
    const app__block_t block = program->algorithm->block(program, pass->own->number, number);
    stream_t stream = {.peer = APP__NO_RANK};
    uint32_t sends = 0;
    for (uint32_t i = 0; i < block.steps; i++) {
        const app__step_t step = app__program_step(program, pass->own->number, number, i);
        if ((step.what & APP__STEP_SEND) == 0) {
            continue;
        }
        const uint32_t lane = block.channel + step.send_lane;
        if (stream.peer != step.send_peer || stream.lane != lane) {
            if (stream.peer != APP__NO_RANK) {
                take_stream(pass, &stream);
            }
            stream = (stream_t){.peer = step.send_peer, .lane = lane};
        }
        const uint64_t bytes = app__coll_step_bytes(plan, &step, 0);
        add_step(&stream, plan, &step, bytes, plan->cut.loops - 1);
        add_step(&stream, plan, &step, app__coll_step_bytes(plan, &step, plan->cut.loops - 1), 1);
        sends += bytes > 0;
    }
    if (stream.peer != APP__NO_RANK) {
        take_stream(pass, &stream);
    }
    pass->blocks += sends > 0;
    pass->load->rounds = SIM_MAX(sends, pass->load->rounds);
}

// Notes the time in which the NICs and NVLink of a member can send what it sends.
static void note_times(pass_t *pass)
{
    double out_bps = 0;
    double in_bps = 0;
    rates_of(pass->own->rank, pass->plan, &out_bps, &in_bps);
    const double out_s = pass->out_bytes * 8 / out_bps;
    const double in_s = pass->in_bytes * 8 / in_bps;
    const double spread_s = pass->spread_bytes * 8 / in_bps;
    const double inside_s = SIM_MAX(in_s, spread_s);
    const double took_s = SIM_MAX(out_s, inside_s);
    const double fill_s = pass->in_bytes > 0 ? spread_s / pass->plan->cut.loops : 0;
    pass->inside_s = SIM_MAX(inside_s, pass->inside_s);
    pass->load->send_s = SIM_MAX(took_s, pass->load->send_s);
    pass->load->nic_s = SIM_MAX(out_s, pass->load->nic_s);
    pass->load->fill_s = SIM_MAX(fill_s, pass->load->fill_s);
}

app__coll_load_t app__coll_load(const app__collectives_t *all, const app__coll_plan_t *plan,
                                uint64_t calls, double *port_bytes, app_load_fn fn, void *ctx)
{
    const uint32_t ranks = plan->program.ranks;
    const uint32_t sampled = SIM_MIN(ranks, SAMPLED_RANKS);
    app__coll_load_t load = {.from = APP__NO_RANK};
    pass_t pass = {
        .all = all,
        .plan = plan,
        .calls = (double)calls,
        .times = (double)calls * ranks / sampled,
        .load = &load,
        .port_bytes = port_bytes,
        .fn = fn,
        .ctx = ctx,
    };
    for (uint32_t i = 0; i < sampled; i++) {
        const uint32_t r = (uint32_t)((uint64_t)i * ranks / sampled);
        const uint32_t blocks = plan->program.algorithm->blocks(&plan->program, r);
        pass.own = &all->groups[plan->group].members[r];
        pass.out_bytes = 0;
        pass.in_bytes = 0;
        pass.spread_bytes = 0;
        for (uint32_t b = 0; b < blocks; b++) {
            take_block(&pass, b);
        }
        note_times(&pass);
    }
    load.serial_s = pass.inside_s + (pass.blocks > 0 ? pass.serial_s / pass.blocks : 0);
    return load;
}

uint64_t *app__coll_calls(const app__collectives_t *all)
{
    uint64_t *const calls = sim_alloc_array(all->plan_count + 1, sizeof(*calls));
    for (size_t i = 0; i < all->workload->schedule->call_count; i++) {
        calls[all->plan_of[i]]++;
    }
    return calls;
}

void app__workload_loads(const app_t *app, app_load_fn fn, void *ctx)
{
    const app__workload_t *const workload = (const app__workload_t *)app;
    const app__collectives_t *const all = workload->collectives;
    if (all == NULL) {
        return;
    }
    uint64_t *const calls = app__coll_calls(all);
    for (size_t i = 0; i < all->plan_count; i++) {
        (void)app__coll_load(all, &all->plans[i], calls[i], NULL, fn, ctx);
    }
    sim_free(calls);
}
