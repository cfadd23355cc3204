// SPDX-License-Identifier: Apache-2.0
// nic/transport/mrc/evs.c - the states of entropy values. Sources: docs/models/mrc.md.
#include "nic/transport/mrc/evs.h"

#include <stdlib.h>
#include <string.h>

#define PROBE_DOUBLINGS 20u

// -- the list of denied values

typedef struct range {
    uint32_t first;
    uint32_t last;
} range_t;

// Reads the next range of the list. Returns false at its end, or where it is wrong.
static bool next_range(const char **at, range_t *range)
{
    const char *text = *at + strspn(*at, " ,");
    char *end = NULL;
    if (*text < '0' || *text > '9') {
        *at = text;
        return false;
    }
    const unsigned long first = strtoul(text, &end, 10);
    unsigned long last = first;
    if (*end == '-' && end[1] >= '0' && end[1] <= '9') {
        last = strtoul(end + 1, &end, 10);
    }
    if (first > last || last >= NIC_EVS_MAX || strspn(end, " ,") + (*end == '\0') == 0) {
        return false;
    }
    *range = (range_t){(uint32_t)first, (uint32_t)last};
    *at = end;
    return true;
}

sim_err_t nic__evs_check(const nic_evs_config_t *config, sim_message_t *message)
{
    const char *const text = config->denied;
    const char *at = text;
    range_t range;
    uint64_t denied = 0;
    while (next_range(&at, &range)) {
        denied += range.last - range.first + 1;
    }
    if (*at != '\0') {
        return sim_fail_about(message, SIM_ERR_INVALID, "nic.mrc.denied",
                              ": \"%s\", expected numbers below %u and ranges of them, such as "
                              "\"3, 8-11\"",
                              text, NIC_EVS_MAX);
    }
    if (denied >= config->active + config->backup) {
        return sim_fail_about(message, SIM_ERR_INVALID, "nic.mrc.denied",
                              ": %" PRIu64 " of %" PRIu64 " entropy values are denied, expected "
                              "fewer",
                              denied, config->active + config->backup);
    }
    return SIM_OK;
}

// -- states

static uint32_t block_start(const nic_evs_t *evs, uint32_t plane)
{
    return plane * evs->block;
}

static void shuffle(nic_evs_t *evs, nic_evs_plane_t *plane)
{
    plane->next = 0;
    plane->mask = (uint32_t)sim_random_below(&evs->random, evs->round);
}

static bool is_usable(const nic_ev_t *ev)
{
    return ev->state == NIC_EV_GOOD || ev->state == NIC_EV_SKIP;
}

static void deny(nic_evs_t *evs)
{
    const char *at = evs->config->denied;
    range_t range;
    while (next_range(&at, &range)) {
        for (uint32_t i = range.first; i <= range.last && i < evs->block * evs->plane_count; i++) {
            evs->evs[i].state = NIC_EV_DENIED;
        }
    }
}

// Makes the first EVs of a plane active that are not denied, as many as there are to be.
static void choose_active(nic_evs_t *evs, uint32_t plane)
{
    uint16_t *const order = evs->order + (size_t)plane * evs->active;
    uint32_t chosen = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < evs->block && chosen < evs->active; i++) {
            nic_ev_t *const ev = &evs->evs[block_start(evs, plane) + i];
            if ((ev->state == NIC_EV_DENIED) == (pass == 1)) {
                ev->active = true;
                order[chosen++] = (uint16_t)i;
                evs->planes[plane].usable += pass == 0;
            }
        }
    }
}

void nic__evs_init(nic_evs_t *evs, const nic_evs_config_t *config, uint32_t planes, uint64_t seed,
                   uint64_t id)
{
    const uint32_t active = (uint32_t)((config->active + planes - 1) / planes);
    const uint32_t backup = (uint32_t)((config->backup + planes - 1) / planes);
    *evs = (nic_evs_t){.config = config,
                       .plane_count = planes,
                       .block = active + backup,
                       .active = active,
                       .round = 1};
    while (evs->round < active) {
        evs->round *= 2;
    }
    sim_random_init(&evs->random, seed, id, "mrc-evs");
    evs->evs = sim_alloc_array((size_t)evs->block * planes, sizeof(*evs->evs));
    evs->order = sim_alloc_array((size_t)active * planes, sizeof(*evs->order));
    evs->planes = sim_alloc_array(planes, sizeof(*evs->planes));
    deny(evs);
    for (uint32_t plane = 0; plane < planes; plane++) {
        choose_active(evs, plane);
        shuffle(evs, &evs->planes[plane]);
    }
}

void nic__evs_fini(nic_evs_t *evs)
{
    SIM_FREE_ALL(evs->evs, evs->order, evs->planes);
    *evs = (nic_evs_t){0};
}

// -- the next packet

// Returns the EV at the present position of a plane's round, and moves on.
static uint32_t step(nic_evs_t *evs, uint32_t plane)
{
    nic_evs_plane_t *const at = &evs->planes[plane];
    for (;;) {
        const uint32_t index = at->next ^ at->mask;
        if (++at->next == evs->round) {
            shuffle(evs, at);
        }
        if (index < evs->active) {
            return block_start(evs, plane) + evs->order[(size_t)plane * evs->active + index];
        }
    }
}

// Returns whether an EV takes the packet. One to be skipped lets this one pass, and is good then.
static bool takes(const nic_evs_t *evs, nic_ev_t *ev, sim_time_t now_ps)
{
    if (ev->state != NIC_EV_SKIP) {
        return ev->state == NIC_EV_GOOD;
    }
    const bool by_time = evs->config->skip_ps != SIM_AUTO;
    const bool over = !by_time || now_ps >= ev->time_ps;
    ev->state = over ? NIC_EV_GOOD : NIC_EV_SKIP;
    return by_time && over;
}

uint32_t nic__evs_next(nic_evs_t *evs, uint32_t plane, sim_time_t now_ps)
{
    if (!nic__evs_usable(evs, plane)) {
        return NIC_EV_NONE;
    }
    uint32_t skipped = NIC_EV_NONE;
    for (uint32_t i = 0; i < 2 * evs->active; i++) {
        const uint32_t number = step(evs, plane);
        nic_ev_t *const ev = &evs->evs[number];
        if (takes(evs, ev, now_ps)) {
            return number;
        }
        skipped = is_usable(ev) ? number : skipped;
    }
    SIM_CHECK(skipped != NIC_EV_NONE);
    return skipped; // all are to be skipped for longer
}

// -- what became of packets

// Puts a good backup into the place of an active EV that is bad. Returns false if there is none.
static bool replace(nic_evs_t *evs, uint32_t bad, uint32_t plane)
{
    const uint32_t start = block_start(evs, plane);
    uint16_t *const order = evs->order + (size_t)plane * evs->active;
    for (uint32_t i = 0; i < evs->block; i++) {
        nic_ev_t *const ev = &evs->evs[start + i];
        if (ev->active || !is_usable(ev)) {
            continue;
        }
        for (uint32_t k = 0; k < evs->active; k++) {
            if (start + order[k] == bad) {
                order[k] = (uint16_t)i;
                ev->active = true;
                evs->evs[bad].active = false;
                return true;
            }
        }
    }
    return false;
}

static void skip(const nic_evs_t *evs, nic_ev_t *ev, sim_time_t now_ps)
{
    const sim_time_t skip_ps = evs->config->skip_ps;
    ev->state = NIC_EV_SKIP;
    ev->time_ps = skip_ps == SIM_AUTO ? now_ps : now_ps + skip_ps;
}

static void make_bad(nic_evs_t *evs, uint32_t number, sim_time_t now_ps)
{
    nic_ev_t *const ev = &evs->evs[number];
    const uint32_t plane = nic__evs_plane(evs, number);
    ev->state = NIC_EV_BAD;
    ev->answers = 0;
    ev->unanswered = 0;
    ev->probing = false;
    ev->time_ps = now_ps + evs->config->probe_ps;
    evs->bad++;
    if (ev->active && !replace(evs, number, plane)) {
        evs->planes[plane].usable--;
    }
}

bool nic__evs_heard(nic_evs_t *evs, uint32_t number, nic_ev_fate_t fate, sim_time_t now_ps)
{
    if (number >= evs->block * evs->plane_count) {
        return false;
    }
    nic_ev_t *const ev = &evs->evs[number];
    if (fate != NIC_EV_LOST) {
        ev->losses = 0;
        if (fate != NIC_EV_ARRIVED && ev->state == NIC_EV_GOOD) {
            skip(evs, ev, now_ps);
        }
        return false;
    }
    if (!is_usable(ev) || ++ev->losses < evs->config->losses) {
        return false;
    }
    make_bad(evs, number, now_ps);
    return true;
}

// -- probes

// Notes that a probe leaves. Each one without an answer doubles the time until the next: all paths
// would else probe a peer that is gone for ever.
static void note_probe(const nic_evs_t *evs, nic_ev_t *ev, sim_time_t now_ps)
{
    const sim_time_t most_ps = evs->config->probe_max_ps;
    const sim_time_t first_ps = evs->config->probe_ps;
    ev->answers = ev->probing ? 0 : ev->answers; // the last one was lost
    ev->unanswered =
        (uint8_t)(ev->probing ? ev->unanswered + (ev->unanswered < PROBE_DOUBLINGS) : 0);
    ev->probing = true;
    const bool most = first_ps > most_ps >> ev->unanswered;
    const sim_time_t wait_ps = most ? most_ps : first_ps << ev->unanswered;
    ev->time_ps = now_ps + SIM_MAX(wait_ps, first_ps);
}

uint32_t nic__evs_probe(nic_evs_t *evs, sim_time_t now_ps)
{
    for (uint32_t i = 0; evs->bad != 0 && i < evs->block * evs->plane_count; i++) {
        nic_ev_t *const ev = &evs->evs[i];
        if (ev->state == NIC_EV_BAD && ev->time_ps <= now_ps) {
            note_probe(evs, ev, now_ps);
            return i;
        }
    }
    return NIC_EV_NONE;
}

sim_time_t nic__evs_probe_due_ps(const nic_evs_t *evs)
{
    sim_time_t due_ps = SIM_TIME_NEVER;
    for (uint32_t i = 0; evs->bad != 0 && i < evs->block * evs->plane_count; i++) {
        const nic_ev_t *const ev = &evs->evs[i];
        if (ev->state == NIC_EV_BAD && ev->time_ps < due_ps) {
            due_ps = ev->time_ps;
        }
    }
    return due_ps;
}

// Makes a recovered EV active if its plane has an active one that is not usable, or takes back the
// place that a backup holds for it.
static void take_place(nic_evs_t *evs, uint32_t number)
{
    const uint32_t plane = nic__evs_plane(evs, number);
    uint16_t *const order = evs->order + (size_t)plane * evs->active;
    nic_ev_t *const ev = &evs->evs[number];
    if (ev->active) {
        evs->planes[plane].usable++;
        return;
    }
    for (uint32_t k = 0; k < evs->active; k++) {
        const uint32_t other = block_start(evs, plane) + order[k];
        if (!is_usable(&evs->evs[other]) && replace(evs, other, plane)) {
            evs->planes[plane].usable++;
            return;
        }
    }
    const uint32_t index = number - block_start(evs, plane);
    for (uint32_t k = 0; index < evs->active && k < evs->active; k++) {
        if (order[k] >= evs->active) {
            evs->evs[block_start(evs, plane) + order[k]].active = false;
            order[k] = (uint16_t)index;
            ev->active = true;
            return;
        }
    }
}

bool nic__evs_probed(nic_evs_t *evs, uint32_t number, bool marked, sim_time_t now_ps)
{
    if (number >= evs->block * evs->plane_count || evs->evs[number].state != NIC_EV_BAD) {
        return false;
    }
    nic_ev_t *const ev = &evs->evs[number];
    ev->probing = false;
    if (++ev->answers < evs->config->probes) {
        return false;
    }
    ev->losses = 0;
    ev->state = NIC_EV_GOOD;
    evs->bad--;
    if (marked && evs->config->marked == NIC_EVS_MARKED_SKIP) {
        skip(evs, ev, now_ps);
    }
    take_place(evs, number);
    return true;
}

void nic__evs_reset(nic_evs_t *evs)
{
    for (uint32_t i = 0; evs->bad != 0 && i < evs->block * evs->plane_count; i++) {
        nic_ev_t *const ev = &evs->evs[i];
        if (ev->state == NIC_EV_BAD) {
            ev->answers = (uint8_t)(evs->config->probes - 1);
            (void)nic__evs_probed(evs, i, false, 0);
        }
    }
}
