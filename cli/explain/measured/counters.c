// SPDX-License-Identifier: Apache-2.0
// cli/explain/measured/counters.c - explains pause counters of a real network.
// The finding is the same tree as for a run, as far as counters show.
#include "cli/explain/measured/counters.h"
#include "cli/explain/measured/counters_internal.h"

#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

#define CHILDREN_MAX 8u
#define DEPTH_MAX 16u
#define STORM_DUTY 0.97   // of each interval, at least, that a storm stops a port
#define PARENT_SHARE 0.02 // of a port's stopped time, at least, for a port that stopped it

// -- the tree

// Returns how much of a port's pauses falls into intervals in which another port is stopped, too.
static double together(const meter_t *meter, uint32_t port, uint32_t other)
{
    double sum = 0;
    for (size_t t = 0; t < meter->time_count; t++) {
        const double mine = (double)meter->active[port * meter->time_count + t];
        sum += meter->active[other * meter->time_count + t] > 0 ? mine : 0;
    }
    return sum;
}

static void find_parents(meter_t *meter)
{
    meter->parents = sim_alloc_array(meter->port_count + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < meter->port_count; i++) {
        const meter_port_t *const port = &meter->ports[i];
        meter->parents[i] = EXPLAIN_NONE;
        if (port->stopped_us <= 0 || port->peer == EXPLAIN_NONE) {
            continue;
        }
        const uint32_t node = meter->ports[port->peer].node;
        // At least half of the pauses must fall together with those of the next port.
        double most = port->stopped_us / 2;
        for (uint32_t j = 0; j < meter->port_count; j++) {
            // A port that was stopped for a small part of that time does not explain it.
            if (meter->ports[j].node == node && j != port->peer &&
                meter->ports[j].stopped_us > PARENT_SHARE * port->stopped_us) {
                const double both = together(meter, i, j);
                // Within one interval all are together. The one nearest to the root stops longest.
                const uint32_t now = meter->parents[i];
                const bool longer = now != EXPLAIN_NONE && both >= most &&
                                    meter->ports[j].stopped_us > meter->ports[now].stopped_us;
                const bool more = both > most || longer;
                most = more ? both : most;
                meter->parents[i] = more ? j : meter->parents[i];
            }
        }
    }
}

// Finds a circle of ports that wait for each other, cuts it at one of them, and returns the names
// in it; NULL: there is none. The caller frees it.
static char *cut_circle(meter_t *meter)
{
    for (uint32_t i = 0; i < meter->port_count; i++) {
        uint32_t at = meter->parents[i];
        for (size_t steps = 0; at != EXPLAIN_NONE && at != i && steps < meter->port_count;
             steps++) {
            at = meter->parents[at];
        }
        if (at != i) {
            continue;
        }
        char *names = sim_strdup(meter->ports[i].name);
        for (at = meter->parents[i]; at != i; at = meter->parents[at]) {
            char *const longer = sim_format("%s, %s", names, meter->ports[at].name);
            sim_free(names);
            names = longer;
        }
        meter->parents[i] = EXPLAIN_NONE;
        return names;
    }
    return NULL;
}

// A node at which pauses began.
typedef struct origin {
    uint32_t node;
    double weight; // of the ports that it stopped itself
    uint32_t ports;
    uint32_t storm; // port; EXPLAIN_NONE: the pauses are no storm
} origin_t;

static int by_weight(const void *a, const void *b)
{
    const origin_t *const x = a;
    const origin_t *const y = b;
    if (x->weight < y->weight || x->weight > y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    return (x->node > y->node) - (x->node < y->node);
}

static bool is_host(const meter_t *meter, uint32_t node)
{
    return meter->nodes[node].links == 1 || meter->nodes[node].is_host;
}

// Returns the port that a host's pauses stopped throughout two intervals or more in a row;
// EXPLAIN_NONE: there is none. One interval before and one behind them may have a part of the
// pauses.
static uint32_t stormed_port(const meter_t *meter, uint32_t host)
{
    for (uint32_t i = 0; i < meter->port_count && meter->snapshots == 0; i++) {
        const meter_port_t *const port = &meter->ports[i];
        if (port->peer == EXPLAIN_NONE || meter->ports[port->peer].node != host ||
            !port->has_durations) {
            continue;
        }
        const float *const row = &meter->active[i * meter->time_count];
        size_t whole = 0;
        size_t longest = 0;
        size_t some = 0;
        for (size_t t = 1; t < meter->time_count; t++) {
            const double us = 1e6 * (meter->times[t] - meter->times[t - 1]);
            whole = (double)row[t] >= STORM_DUTY * us ? whole + 1 : 0;
            longest = SIM_MAX(longest, whole);
            some += row[t] > 0;
        }
        if (longest >= 2 && some <= longest + 2) {
            return i;
        }
    }
    return EXPLAIN_NONE;
}

static size_t find_origins(const meter_t *meter, origin_t *origins)
{
    size_t count = 0;
    for (uint32_t i = 0; i < meter->port_count; i++) {
        const meter_port_t *const port = &meter->ports[i];
        if (port->stopped_us <= 0 || port->peer == EXPLAIN_NONE ||
            meter->parents[i] != EXPLAIN_NONE) {
            continue;
        }
        const uint32_t node = meter->ports[port->peer].node;
        size_t at = 0;
        while (at < count && origins[at].node != node) {
            at++;
        }
        if (at == count) {
            origins[count++] = (origin_t){.node = node};
        }
        origins[at].weight += port->stopped_us;
        origins[at].ports++;
    }
    for (size_t i = 0; i < count; i++) {
        const bool host = is_host(meter, origins[i].node);
        origins[i].storm = host ? stormed_port(meter, origins[i].node) : EXPLAIN_NONE;
    }
    if (count > 0) {
        qsort(origins, count, sizeof(*origins), by_weight);
    }
    return count;
}

// Returns whether a node that pauses is the end of a link: a NIC, and not a switch.
// -- losses

#define LOSSES_MIN 10.0    // fewer frames are noise
#define LOSS_SHARE 0.001   // of a port's frames: fewer are noise
#define FRAME_BYTES 1000.0 // of a frame, where ports count bytes alone
#define HOST_SHARE 0.05    // of the stops of the first origin, at least, of a host before it
#define OVER_OTHERS 5.0    // times as many as at any port elsewhere

// Returns the number of frames that a port sent, about.
static double frames_sent(const meter_t *meter, uint32_t port)
{
    return port == EXPLAIN_NONE ? 0 : meter->ports[port].sent_bytes / FRAME_BYTES;
}

// Returns the port at which a link damages clearly more frames than others do; EXPLAIN_NONE: none
// does. Ports without bytes are taken by their number of errors alone.
static uint32_t damaged_port(const meter_t *meter)
{
    uint32_t worst = EXPLAIN_NONE;
    double others = 0;
    for (uint32_t i = 0; i < meter->port_count; i++) {
        if (worst == EXPLAIN_NONE || meter->ports[i].errors > meter->ports[worst].errors) {
            worst = i;
        }
    }
    if (worst == EXPLAIN_NONE) {
        return EXPLAIN_NONE;
    }
    const meter_port_t *const port = &meter->ports[worst];
    for (uint32_t i = 0; i < meter->port_count; i++) {
        others = i != worst && i != port->peer ? SIM_MAX(meter->ports[i].errors, others) : others;
    }
    return port->errors >= SIM_MAX(LOSSES_MIN, OVER_OTHERS * others) &&
                   port->errors >= LOSS_SHARE * frames_sent(meter, port->peer)
               ? worst
               : EXPLAIN_NONE;
}

// Returns the port of a switch that drops clearly more frames than ports of other switches do;
// EXPLAIN_NONE: none does. *dropped is the number of frames that its switch dropped.
static uint32_t dropping_port(const meter_t *meter, double *dropped)
{
    uint32_t worst = EXPLAIN_NONE;
    double others = 0;
    double frames = 0;
    for (uint32_t i = 0; i < meter->port_count; i++) {
        if (!is_host(meter, meter->ports[i].node) &&
            (worst == EXPLAIN_NONE || meter->ports[i].drops > meter->ports[worst].drops)) {
            worst = i;
        }
    }
    *dropped = 0;
    for (uint32_t i = 0; i < meter->port_count && worst != EXPLAIN_NONE; i++) {
        const meter_port_t *const port = &meter->ports[i];
        const bool own = port->node == meter->ports[worst].node;
        *dropped += own ? port->drops : 0;
        frames += own ? frames_sent(meter, i) : 0;
        others = own || is_host(meter, port->node) ? others : SIM_MAX(port->drops, others);
    }
    return worst != EXPLAIN_NONE && *dropped >= LOSS_SHARE * frames &&
                   meter->ports[worst].drops >= SIM_MAX(LOSSES_MIN, OVER_OTHERS * others)
               ? worst
               : EXPLAIN_NONE;
}

// Returns whether a node stops its peers.
static bool stops_peers(const meter_t *meter, uint32_t node)
{
    for (uint32_t i = 0; i < meter->port_count; i++) {
        const uint32_t peer = meter->ports[i].peer;
        if (peer != EXPLAIN_NONE && meter->ports[peer].node == node &&
            meter->ports[i].stopped_us > 0) {
            return true;
        }
    }
    return false;
}

// -- sentences

// Returns the port of a switch that sent most: the likely bottleneck.
static uint32_t busiest_port(const meter_t *meter, uint32_t node)
{
    uint32_t best = EXPLAIN_NONE;
    for (uint32_t i = 0; i < meter->port_count && meter->has_bytes; i++) {
        const meter_port_t *const port = &meter->ports[i];
        if (port->node == node && port->sent_bytes > 0 &&
            (best == EXPLAIN_NONE || port->sent_bytes > meter->ports[best].sent_bytes)) {
            best = i;
        }
    }
    return best;
}

// Returns the port of a switch to the host that sent the most CNPs, if it is a host of the switch.
static uint32_t receiver_behind(const meter_t *meter, uint32_t node)
{
    uint32_t best = EXPLAIN_NONE;
    double most = 0;
    for (uint32_t i = 0; i < meter->port_count; i++) {
        const meter_port_t *const port = &meter->ports[i];
        const uint32_t peer = port->peer != EXPLAIN_NONE ? meter->ports[port->peer].node : node;
        if (is_host(meter, peer) && meter->nodes[peer].cnps > most) {
            most = meter->nodes[peer].cnps;
            best = port->node == node ? i : EXPLAIN_NONE;
        }
    }
    return best;
}

static char *sentence_of(const meter_t *meter, const origin_t *origin)
{
    const char *const name = meter->nodes[origin->node].name;
    if (origin->storm != EXPLAIN_NONE) {
        const meter_port_t *const port = &meter->ports[origin->storm];
        return sim_format("%s sends pause frames all the time: its NIC stops %s for %.1f us (a PFC "
                          "pause storm)",
                          name, port->name, port->stopped_us);
    }
    if (is_host(meter, origin->node)) {
        return sim_format("%s is a slow receiver or its NIC storms: it stops its switch itself",
                          name);
    }
    const uint32_t receiver = receiver_behind(meter, origin->node);
    if (receiver != EXPLAIN_NONE) {
        return sim_format("%s stops its peers while it is not stopped itself: most likely %s is "
                          "congested, because %s, which is behind it, sent the most CNPs (%.0f)",
                          name, meter->ports[receiver].name,
                          meter->nodes[meter->ports[meter->ports[receiver].peer].node].name,
                          meter->nodes[meter->ports[meter->ports[receiver].peer].node].cnps);
    }
    const uint32_t port = busiest_port(meter, origin->node);
    if (port != EXPLAIN_NONE) {
        return sim_format(
            "%s stops its peers while it is not stopped itself: most likely %s, which "
            "sent most, is congested (incast, a slow link or a hash collision)",
            name, meter->ports[port].name);
    }
    return sim_format("%s stops its peers while none of its ports is stopped: one of these is "
                      "congested (incast, a slow link or a hash collision)",
                      name);
}

static void print_branch(const meter_t *meter, uint32_t parent, uint32_t node, uint32_t depth)
{
    uint32_t shown = 0;
    uint32_t more = 0;
    for (uint32_t i = 0; i < meter->port_count; i++) {
        const meter_port_t *const port = &meter->ports[i];
        if (port->stopped_us <= 0 || port->peer == EXPLAIN_NONE || meter->parents[i] != parent ||
            meter->ports[port->peer].node != node) {
            continue;
        }
        if (shown++ >= CHILDREN_MAX) {
            more++;
            continue;
        }
        printf("    %*s%s stopped", (int)(2 * depth), "", port->name);
        if (port->has_durations) {
            printf(" for %.1f us", port->stopped_us);
        }
        printf(port->frames > 0 ? ", %.0f pause frames received\n" : "\n", port->frames);
        if (depth < DEPTH_MAX) {
            print_branch(meter, i, port->node, depth + 1);
        }
    }
    if (more > 0) {
        printf("    %*sand %u more port%s\n", (int)(2 * depth), "", more, sim_plural(more));
    }
}

static json_t *branch_json(const meter_t *meter, uint32_t parent, uint32_t node, uint32_t depth)
{
    json_t *const list = json_array();
    for (uint32_t i = 0; i < meter->port_count && depth <= DEPTH_MAX; i++) {
        const meter_port_t *const port = &meter->ports[i];
        if (port->stopped_us > 0 && port->peer != EXPLAIN_NONE && meter->parents[i] == parent &&
            meter->ports[port->peer].node == node) {
            json_array_append_new(list, json_pack("{s:s, s:f, s:f, s:o}", "port", port->name,
                                                  "stopped_us", port->stopped_us, "pause_frames",
                                                  port->frames, "stops",
                                                  branch_json(meter, i, port->node, depth + 1)));
        }
    }
    return list;
}

static char *limits_of(const meter_t *meter)
{
    const double step_s =
        (meter->times[meter->time_count - 1] - meter->times[0]) / (double)(meter->time_count - 1);
    uint32_t silent = 0;
    for (size_t i = 0; i < meter->port_count; i++) {
        silent += !meter->ports[i].has_samples && meter->ports[i].peer_sent <= 0;
    }
    char *const interval = meter->snapshots > 0
                               ? sim_strdup("the order of pauses between two snapshots")
                               : sim_format("the order of pauses within a sampling interval (%.6g "
                                            "s)",
                                            step_s);
    char *const unknown =
        meter->unknown_ports > 0
            ? sim_format("; values of ports that the topology lacks were left out, first %s",
                         meter->unknown_port)
            : sim_strdup("");
    char *const text =
        sim_format(meter->has_durations ? "counters cannot tell: which flows and queue pairs are "
                                          "behind it; bytes held; %s; and "
                                          "nothing of %u port%s without samples%s"
                                        : "counters cannot tell: which flows and queue pairs are "
                                          "behind it; bytes held; %s; how "
                                          "long a pause lasted (no duration counter); and "
                                          "nothing of %u port%s without samples%s",
                   interval, silent, sim_plural(silent), unknown);
    sim_free(interval);
    sim_free(unknown);
    return text;
}

// A cause that is no origin of pauses. Texts are owned.
typedef struct loss {
    const char *kind; // NULL: there is none
    char *place;
    char *sentence;
} loss_t;

// Names a link that damages frames, or a switch that drops them.
static loss_t find_loss(const meter_t *meter)
{
    const uint32_t damaged = damaged_port(meter);
    double dropped = 0;
    if (damaged != EXPLAIN_NONE) {
        const meter_port_t *const end = &meter->ports[damaged];
        const uint32_t own = end->node;
        const uint32_t far = end->peer != EXPLAIN_NONE ? meter->ports[end->peer].node : own;
        const bool turned = is_host(meter, own) && !is_host(meter, far); // switches come first
        const char *const a = meter->nodes[turned ? far : own].name;
        const char *const b = meter->nodes[turned ? own : far].name;
        return (loss_t){
            "corrupting-link", sim_format("%s--%s", a, b),
            sim_format("the link of %s and %s damages frames: %s received %.0f damaged ones", a, b,
                       end->name, end->errors)};
    }
    const uint32_t port = dropping_port(meter, &dropped);
    if (port == EXPLAIN_NONE) {
        return (loss_t){NULL, NULL, NULL};
    }
    const uint32_t node = meter->ports[port].node;
    const char *const name = meter->nodes[node].name;
    return (loss_t){
        "drops", sim_strdup(name),
        sim_format(stops_peers(meter, node)
                       ? "%s dropped %.0f frames, most at %s, though it stops its peers: "
                         "their headroom is too small, or another class is lossy"
                       : "%s dropped %.0f frames, most at %s, and stops nobody: it has "
                         "no PFC for their class",
                   name, dropped, meter->ports[port].name)};
}

static void print_loss(const loss_t *loss, size_t number, json_t *causes, bool json)
{
    if (json) {
        json_array_append_new(causes, json_pack("{s:s, s:s, s:s}", "kind", loss->kind, "place",
                                                loss->place, "sentence", loss->sentence));
    } else {
        if (number == 1) {
            printf("%s\n\n", loss->sentence);
        }
        printf("%zu. %s at %s\n  %s\n", number, loss->kind, loss->place, loss->sentence);
    }
}

// Returns how many origins come before a loss: hosts. A switch stops its peers for what it or its
// links lose, but what a host stops at a switch may be dropped there, by a PFC watchdog. Such a
// host becomes the first origin.
static size_t before_loss(const meter_t *meter, origin_t *origins, size_t count)
{
    size_t before = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_host(meter, origins[i].node) &&
            origins[i].weight >= HOST_SHARE * origins[0].weight) {
            const origin_t host = origins[i];
            memmove(&origins[before + 1], &origins[before], (i - before) * sizeof(*origins));
            origins[before++] = host;
            break;
        }
    }
    while (before > 0 && before < count && is_host(meter, origins[before].node)) {
        before++;
    }
    return before;
}

static void print_all(const meter_t *meter, origin_t *origins, size_t count, const char *circle,
                      bool json)
{
    loss_t loss = find_loss(meter);
    const size_t at = loss.kind == NULL ? SIZE_MAX : before_loss(meter, origins, count);
    size_t number = 0;
    char *const limits = limits_of(meter);
    json_t *const causes = json_array();
    if (circle != NULL && json) {
        json_array_append_new(
            causes,
            json_pack("{s:s, s:s, s:s}", "kind", "deadlock", "place", circle, "sentence",
                      "these ports stop each other in a circle, a PFC deadlock if it lasts"));
    } else if (circle != NULL) {
        printf("main cause: these ports stop each other in a circle, a PFC deadlock if it lasts: "
               "%s\n\n",
               circle);
    } else if (!json) {
        printf(count > 0 || loss.kind != NULL ? "main cause: " : "no port received a pause\n");
    }
    for (size_t i = 0; i <= count; i++) {
        if (i == at) {
            print_loss(&loss, ++number, causes, json);
        }
        if (i == count) {
            break;
        }
        char *const sentence = sentence_of(meter, &origins[i]);
        const char *const name = meter->nodes[origins[i].node].name;
        if (json) {
            json_array_append_new(causes,
                                  json_pack("{s:s, s:s, s:s, s:o}", "kind",
                                            origins[i].storm != EXPLAIN_NONE  ? "pause-storm"
                                            : is_host(meter, origins[i].node) ? "slow-receiver"
                                                                              : "congested-switch",
                                            "place", name, "sentence", sentence, "stops",
                                            branch_json(meter, EXPLAIN_NONE, origins[i].node, 0)));
        } else {
            if (++number == 1 && circle == NULL) {
                printf("%s\n\n", sentence);
            }
            printf("%zu. pauses began at %s: it stopped %u port%s itself\n  %s\n", number, name,
                   origins[i].ports, sim_plural(origins[i].ports), sentence);
            print_branch(meter, EXPLAIN_NONE, origins[i].node, 0);
        }
        sim_free(sentence);
    }
    if (json) {
        json_t *const all = json_pack("{s:O, s:s}", "causes", causes, "limits", limits);
        cli_print_json(all);
    } else {
        printf("\n%s\n", limits);
    }
    json_decref(causes);
    SIM_FREE_ALL(limits, loss.place, loss.sentence);
}

sim_err_t cli__explain_counters(const char *const *counters, size_t count, const char *topology,
                                bool json, world_error_t *error)
{
    meter_t meter = {.nodes = NULL};
    sim_err_t result = cli__meter_links(&meter, topology, error);
    if (result == SIM_OK) {
        result = count == 1 ? cli__meter_samples(&meter, counters[0], error)
                            : cli__meter_snapshots(&meter, counters, count, error);
    }
    if (result == SIM_OK) {
        find_parents(&meter);
        origin_t *const origins = sim_alloc_array(meter.node_count + 1, sizeof(*origins));
        char *const circle = cut_circle(&meter);
        const size_t found = find_origins(&meter, origins);
        print_all(&meter, origins, found, circle, json);
        sim_free(circle);
        sim_free(origins);
    }
    cli__meter_fini(&meter);
    return result;
}
