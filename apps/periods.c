// SPDX-License-Identifier: Apache-2.0
// apps/periods.c - decides when to look for periods, and jumps over them.
//
// While all messages have much left to send, one port is watched. When its frames repeat, the state
// of the network is taken at two moments so far apart, then 16 times as far: ties take so long to
// repeat. Equal states prove that all repeats, and the rest of the periods is added at once. Looks
// and failures cost three per cent of a run at most, or what jumps have gained.
// docs/models/fast-forward.md
#include "apps/periods.h"

#include "nic/fast_forward.h"
#include "nic/fast_forward_period.h"

#define WATCH_PACKETS 96u // left to send when a watch begins
#define JUMP_PACKETS 32u  // and when the first moment is taken
#define MISSED_MOST 64u   // looks without such messages make a refusal
#define MULTIPLES 16u     // periods between two moments, at most
#define LOOK_PS (SIM_PS_PER_US / 2)
#define LOOK_MOST_PS (128 * SIM_PS_PER_US)
#define WAIT_PS (4 * SIM_PS_PER_US)
#define WAIT_MOST_PS (4 * SIM_PS_PER_MS)
// Bytes of a moment, and nodes and queue pairs looked at, that cost as much as a packet-hop,
// about; and hops to be simulated for each hop that was lost in this way.
#define HOP_BYTES 48u
#define HOP_LOOKS 4u
#define HOPS_BETWEEN 30u
#define CHECKED 16u // the first jumps, and one in this number of later ones, are checked

struct app_periods {
    const net_t *net;
    app_skips_t *skips;
    sim_time_t next_ps; // of the next look
    sim_time_t wait_ps; // after a failure; doubles
    sim_time_t look_ps; // until the next look; doubles while least_hops is ahead
    uint32_t missed;    // looks in a row that found nothing to watch
    nic_watch_t *watch; // NULL: nobody watches a port
    nic_moment_t *first;
    sim_time_t period_ps; // of the port
    uint32_t multiple;    // number of periods to the second moment
    uint32_t tried;       // the multiple of the last jump, which comes first
    size_t from;          // node at which the last look for a watch ended
    uint64_t seen;        // nodes and queue pairs looked at, not yet paid
    uint64_t cost_hops;   // of moments, not yet paid
    uint64_t gain_hops;   // of jumps, not yet spent
    uint64_t least_hops;  // hops_of() when somebody looks again
};

// Returns about how many packet-hops the run has made: a hop takes two events.
static uint64_t hops_of(const app_periods_t *periods)
{
    uint64_t events = 0;
    for (size_t i = 0; i < net_node_count(periods->net); i++) {
        events += net_node_at(periods->net, i)->sim.events;
    }
    return events / 2;
}

static void stop(app_periods_t *periods)
{
    nic_watch_end(periods->watch);
    nic_moment_free(periods->first);
    periods->watch = NULL;
    periods->first = NULL;
    sim_split_window_at(net_sim(periods->net), SIM_TIME_NEVER);
    sim_colour(net_sim(periods->net));
}

// Pays for looks and moments by what jumps have gained. The rest the run simulates first.
static void pay(app_periods_t *periods)
{
    const uint64_t cost_hops = periods->cost_hops + periods->seen / HOP_LOOKS;
    periods->cost_hops = periods->seen = 0;
    if (cost_hops <= periods->gain_hops) {
        periods->gain_hops -= cost_hops;
    } else {
        periods->least_hops = hops_of(periods) + HOPS_BETWEEN * (cost_hops - periods->gain_hops);
        periods->gain_hops = 0;
    }
}

static void fail(app_periods_t *periods, sim_time_t now_ps, const char *why)
{
    stop(periods);
    if (why != NULL) {
        app_skips_refuse(periods->skips, why);
    }
    pay(periods);
    periods->next_ps = now_ps + periods->wait_ps;
    periods->wait_ps = periods->wait_ps < WAIT_MOST_PS ? 2 * periods->wait_ps : WAIT_MOST_PS;
}

static nic_moment_t *take(app_periods_t *periods, sim_time_t now_ps)
{
    nic_moment_t *const moment = nic_moment_take(periods->net, now_ps, NULL);
    periods->cost_hops += nic_moment_bytes(moment) / HOP_BYTES;
    return moment;
}

static void cut_next(const app_periods_t *periods)
{
    const nic_moment_t *const first = periods->first;
    sim_split_window_at(net_sim(periods->net),
                        nic_moment_time_ps(first) + periods->multiple * periods->period_ps);
}

// Takes the first moment, if the port's frames repeat.
static void begin(app_periods_t *periods, sim_time_t now_ps)
{
    bool over = false;
    bool steady = false;
    if (periods->period_ps == 0) {
        periods->period_ps = nic_watch_period_ps(periods->watch, &over, &periods->seen);
    }
    if (periods->period_ps == 0 && over) {
        fail(periods, now_ps, "no period");
        return;
    }
    if (periods->period_ps == 0 || !sim_level(net_sim(periods->net))) {
        return;
    }
    if (!nic_watch_holds(periods->watch, JUMP_PACKETS, &periods->seen, &steady)) {
        stop(periods); // a message ends
        pay(periods);
        periods->next_ps = now_ps + LOOK_PS;
        return;
    }
    if (!steady) {
        return;
    }
    nic_watch_end(periods->watch);
    periods->watch = NULL;
    periods->first = take(periods, now_ps);
    const char *const refused = nic_moment_refused(periods->first);
    if (refused != NULL) {
        fail(periods, now_ps, refused);
        return;
    }
    periods->multiple = periods->tried;
    cut_next(periods);
}

// Compares with the first moment. Jumps if all repeats.
static void compare(app_periods_t *periods, sim_time_t now_ps)
{
    const char *why = NULL;
    nic_moment_t *const second = take(periods, now_ps);
    if (nic_moment_repeats(periods->first, second, &why)) {
        const uint64_t count = nic_moment_most(periods->first, second);
        const sim_time_t period_ps = now_ps - nic_moment_time_ps(periods->first);
        if (count > 0) {
            const uint64_t jumps = periods->skips->jumps;
            const bool check = jumps < CHECKED || jumps % CHECKED == 0;
            const uint64_t hops = nic_moment_jump(periods->first, second, count, check);
            periods->gain_hops += hops;
            periods->skips->hops_skipped += hops;
            periods->skips->jumps++;
            periods->cost_hops += check ? nic_moment_bytes(second) / HOP_BYTES : 0;
        }
        stop(periods);
        pay(periods);
        periods->tried = periods->multiple;
        periods->wait_ps = WAIT_PS;
        periods->next_ps = now_ps + count * period_ps + LOOK_PS;
    } else if (periods->multiple == MULTIPLES) {
        fail(periods, now_ps, why);
    } else {
        periods->multiple = MULTIPLES;
        cut_next(periods);
    }
    nic_moment_free(second);
}

// Looks at the network between windows. Nothing is before now_ps that has not happened.
static void look(sim_time_t now_ps, void *ctx)
{
    app_periods_t *const periods = ctx;
    if (periods->skips->held && (periods->watch != NULL || periods->first != NULL)) {
        stop(periods);
        pay(periods);
    }
    if (now_ps < periods->next_ps || periods->skips->held) {
        return;
    }
    if (periods->first != NULL) {
        const sim_time_t due_ps =
            nic_moment_time_ps(periods->first) + periods->multiple * periods->period_ps;
        if (now_ps >= due_ps) {
            compare(periods, due_ps); // nothing happens from due_ps to now_ps
        }
    } else if (periods->watch != NULL) {
        begin(periods, now_ps);
    } else if (hops_of(periods) < periods->least_hops) {
        periods->next_ps = now_ps + periods->look_ps;
        periods->look_ps = periods->look_ps < LOOK_MOST_PS ? 2 * periods->look_ps : LOOK_MOST_PS;
    } else {
        periods->seen += net_node_count(periods->net) / HOP_LOOKS; // for hops_of
        periods->watch =
            nic_watch_begin(periods->net, WATCH_PACKETS, &periods->seen, &periods->from);
        periods->period_ps = 0;
        periods->look_ps = LOOK_PS;
        periods->next_ps = periods->watch != NULL ? now_ps : now_ps + LOOK_PS;
        periods->missed = periods->watch == NULL ? periods->missed + 1 : 0;
        if (periods->watch == NULL) {
            pay(periods);
        }
        if (periods->missed == MISSED_MOST) {
            app_skips_refuse(periods->skips, "short messages");
            periods->missed = 0;
        }
    }
}

app_periods_t *app_periods_create(const net_t *net, app_skips_t *skips)
{
    app_periods_t *const periods = sim_alloc(sizeof(*periods));
    *periods = (app_periods_t){.net = net,
                               .skips = skips,
                               .wait_ps = WAIT_PS,
                               .look_ps = LOOK_PS,
                               .tried = 1,
                               .next_ps = WAIT_PS};
    sim_on_window(net_sim(net), look, periods);
    return periods;
}

void app_periods_destroy(app_periods_t *periods)
{
    if (periods != NULL) {
        nic_watch_end(periods->watch);
        nic_moment_free(periods->first);
        sim_free(periods);
    }
}
