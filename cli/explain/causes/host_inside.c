// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/host_inside.c - finds limits inside hosts: of the caches, PCIe and processing
// units of detailed NICs, and of the memory and links of hosts.
//
// Each part has a closed form for the share of the time in which it was busy: what counters say
// that went through it, times its cost. A part is reported if it was busy most of the time, and if
// flows of the host took long or, where no flows are listed, if the part is slower than that of
// its profile. Cache misses are reported by their own share.
#include "cli/explain/causes/host_inside.h"
#include "cli/explain/explain_internal.h"
#include "cli/explain/run_data.h"
#include "world/names.h"

#include "nic/detail.h"
#include "world/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUSY_LEAST 0.7    // share of the time from which a part holds the traffic
#define MISSES_LEAST 0.2  // share of lookups that miss, from which a cache is too small
#define MISSES_MOST 0.5   // likewise, where nothing else shows what they cost
#define MISSES_COST 0.1   // share of the time that misses take
#define EXCESS_LEAST 0.25 // share of the time of a host's flows that nothing else explains
#define MTU_LARGE 4096u   // the largest of RoCE
#define LINE_BYTES 64.0
#define SEVERAL_LEAST 0.9 // share of the time from which several cores hold the traffic
#define ROUNDING 0.05     // share of a core's time that is no work of a further one

// A part of a NIC or host, and how busy it was.
typedef struct part {
    explain_kind_t kind;
    const char *what; // the part, in words
    double busy;      // share of the time; 0: unknown
    const char *path; // attribute that is set too low or too high
    uint64_t value;   // of it
    uint64_t usual;   // the profile's; 0: it has none
    bool slower;      // the value is worse than the profile's
} part_t;

// A host's NIC with its counters and time.
typedef struct inside {
    explain_t *explain;
    uint32_t interface;
    const nic_config_t *config;
    const json_t *counters; // of a detailed NIC; NULL: it is none
    nic_detail_t detail;
    nic_detail_t profile;
    double time_ps;   // of all traffic of the NIC
    double out_ps;    // of what it sends
    double in_ps;     // of what it receives
    double units;     // that its queue pairs use
    double excess_ps; // of its flows
    double flows_ps;
} inside_t;

static double counted(const inside_t *nic, const char *name)
{
    return json_number_value(json_object_get(nic->counters, name));
}

static const json_t *counters_of(const explain_t *explain, const char *name)
{
    const json_t *const list = json_object_get(explain->summary, "nics");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const one = json_array_get(list, i);
        const char *const own = json_string_value(json_object_get(one, "name"));
        if (own != NULL && strcmp(own, name) == 0 && json_object_get(one, "wqes_posted") != NULL) {
            return one;
        }
    }
    return NULL;
}

// A span of time that grows.
typedef struct reach {
    sim_time_t from_ps;
    sim_time_t to_ps;
} reach_t;

static void extend(reach_t *reach, const explain_flow_t *flow)
{
    reach->from_ps = SIM_MIN(flow->start_ps, reach->from_ps);
    reach->to_ps = SIM_MAX(flow->end_ps, reach->to_ps);
}

static double length_ps(reach_t reach)
{
    return reach.to_ps > reach.from_ps ? (double)(reach.to_ps - reach.from_ps) : 0;
}

// Sums the flows of the NIC, and finds the time from the first start to the last end of them. Where
// no flows are listed, it is the time of the whole run.
static void take_time(inside_t *nic)
{
    const explain_t *const explain = nic->explain;
    const reach_t none = {SIM_TIME_NEVER, 0};
    reach_t all = none;
    reach_t out = none;
    reach_t in = none;
    for (size_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        if (flow->source == nic->interface || flow->destination == nic->interface) {
            extend(&all, flow);
            extend(flow->source == nic->interface ? &out : &in, flow);
            nic->excess_ps += flow->excess_ps;
            nic->flows_ps += (double)(flow->end_ps - flow->begin_ps);
        }
    }
    const bool listed = explain->flow_count > 0;
    nic->time_ps = listed ? length_ps(all) : (double)explain->end_ps;
    nic->out_ps = listed && length_ps(out) > 0 ? length_ps(out) : nic->time_ps;
    nic->in_ps = listed && length_ps(in) > 0 ? length_ps(in) : nic->time_ps;
}

// Keeps the busier part, whose attribute has the value and the profile's.
static void consider(part_t *worst, explain_kind_t kind, const char *what, double busy,
                     const char *path, uint64_t value, uint64_t usual, bool more_is_slower)
{
    if (busy > worst->busy) {
        *worst = (part_t){
            kind, what, busy, path, value, usual, more_is_slower ? value > usual : value < usual};
    }
}

// Returns the rate of the PCIe link for bytes with their headers.
static double pcie_bps(const nic_detail_t *detail)
{
    return (double)detail->lanes * (double)detail->lane_rate_bps /
           (1 + (double)detail->overhead_permille / 1000);
}

static void consider_pcie(const inside_t *nic, part_t *worst)
{
    const nic_detail_t *const own = &nic->detail;
    const nic_detail_t *const usual = &nic->profile;
    const double up = counted(nic, "pcie_up_bytes");
    const double down = counted(nic, "pcie_down_bytes");
    const double busy = SIM_MAX(up / nic->in_ps, down / nic->out_ps) * 8e12 / pcie_bps(own);
    if (own->lane_rate_bps != usual->lane_rate_bps) {
        consider(worst, EXPLAIN_PCIE, "the PCIe link", busy, "pcie.lane-rate", own->lane_rate_bps,
                 usual->lane_rate_bps, false);
    } else {
        consider(worst, EXPLAIN_PCIE, "the PCIe link", busy, "pcie.lanes", own->lanes, usual->lanes,
                 false);
    }
    const double reads = down / (double)SIM_MAX(own->read_max_bytes, 1) *
                         (double)own->read_latency_ps / (double)SIM_MAX(own->tags, 1);
    const bool latent = own->read_latency_ps > usual->read_latency_ps;
    consider(worst, EXPLAIN_PCIE, "the reads that PCIe has under way", reads / nic->out_ps,
             latent ? "pcie.read-latency" : "pcie.tags", latent ? own->read_latency_ps : own->tags,
             latent ? usual->read_latency_ps : usual->tags, latent);
}

// Returns the cost of a data packet on the shared receiving side: of an answer to a READ, or of a
// WRITE or SEND. Where no flows are listed, it is the lowest of them.
static uint64_t packet_ps(const inside_t *nic)
{
    const explain_t *const explain = nic->explain;
    const nic_detail_t *const own = &nic->detail;
    for (size_t f = 0; f < explain->flow_count; f++) {
        if (explain->flows[f].destination == nic->interface) {
            return explain->flows[f].reads ? own->rx_response_ps
                                           : SIM_MAX(own->rx_put_ps, own->rx_request_ps);
        }
    }
    const uint64_t request_ps = SIM_MIN(own->rx_put_ps, own->rx_request_ps);
    return SIM_MIN(request_ps, own->rx_response_ps);
}

static void consider_units(const inside_t *nic, part_t *worst)
{
    const nic_detail_t *const own = &nic->detail;
    const nic_detail_t *const usual = &nic->profile;
    const explain_nic_t *const counts = &nic->explain->nics[nic->interface];
    const double wqes = counted(nic, "wqes_posted");
    const bool fetched = counted(nic, "doorbells") > counted(nic, "mmio_lines");
    const uint64_t send_ps = fetched ? own->pu_send_fetched_ps : own->pu_send_ps;
    const uint64_t usual_ps = fetched ? usual->pu_send_fetched_ps : usual->pu_send_ps;
    const bool few = own->pu_count < usual->pu_count && send_ps <= usual_ps &&
                     own->pu_receive_ps <= usual->pu_receive_ps;
    consider(worst, EXPLAIN_UNITS, "the processing units that send",
             wqes * (double)send_ps / nic->out_ps / nic->units,
             few       ? "pu.count"
             : fetched ? "pu.send-fetched"
                       : "pu.send",
             few ? own->pu_count : send_ps, few ? usual->pu_count : usual_ps, !few);
    consider(worst, EXPLAIN_UNITS, "the processing units that receive",
             (double)counts->received_packets * (double)own->pu_receive_ps / nic->time_ps /
                 nic->units,
             few ? "pu.count" : "pu.receive", few ? own->pu_count : own->pu_receive_ps,
             few ? usual->pu_count : usual->pu_receive_ps, !few);
    // The shared sides: the lowest cost of a packet, and that of its lines.
    const double tx_ps =
        (double)counts->sent_packets * (double)SIM_MIN(own->tx_send_ps, own->tx_ack_ps) +
        (double)counts->sent_bytes / LINE_BYTES * (double)own->tx_line_ps;
    consider(worst, EXPLAIN_UNITS, "the shared sending side", tx_ps / nic->time_ps, "tx.send",
             own->tx_send_ps, usual->tx_send_ps, true);
    const double data = (double)counts->received_bytes / (double)nic->config->mtu_bytes;
    const double rx_ps = SIM_MIN(data, (double)counts->received_packets) * (double)packet_ps(nic) +
                         (double)counts->received_bytes / LINE_BYTES * (double)own->rx_put_line_ps;
    consider(worst, EXPLAIN_UNITS, "the shared receiving side", rx_ps / nic->time_ps, "rx.put",
             own->rx_put_ps, usual->rx_put_ps, true);
}

// Considers the cores that post WQEs to a NIC and take its CQEs: one, unless the work is more than
// that of one. Several are considered only where they have hardly any time left.
static void consider_cores(const inside_t *nic, part_t *worst)
{
    const nic_detail_t *const own = &nic->detail;
    const nic_detail_t *const usual = &nic->profile;
    if (nic->config->posting != NIC_POSTING_FREE) {
        return; // the GPU's threads or a core for them
    }
    const double wqes = counted(nic, "wqes_posted");
    const double lines = counted(nic, "mmio_lines");
    const double doorbells = counted(nic, "doorbells");
    const double writes = doorbells + SIM_MIN(lines, wqes);
    const double work_ps = wqes * (double)own->cpu_post_ps + lines * (double)own->cpu_line_ps +
                           doorbells * (double)own->cpu_doorbell_ps +
                           writes * (double)own->cpu_fence_ps +
                           counted(nic, "cqes_polled") * (double)own->cpu_cqe_ps;
    const double cores = SIM_MAX(ceil(work_ps / nic->out_ps - ROUNDING), 1.0);
    const double busy = work_ps / nic->out_ps / cores;
    if (cores > 1 && busy < SEVERAL_LEAST) {
        return;
    }
    const bool fences = own->cpu_fence_ps > own->cpu_post_ps;
    consider(worst, EXPLAIN_POSTING_CORE, cores > 1 ? "the posting cores" : "the posting core",
             busy, fences ? "cpu.mmio-fence" : "cpu.post",
             fences ? own->cpu_fence_ps : own->cpu_post_ps,
             fences ? usual->cpu_fence_ps : usual->cpu_post_ps, true);
}

// -- caches

typedef struct cache {
    const char *name; // of its counters
    const char *what;
    const char *path;
    size_t entries; // offsets in nic_detail_t
    size_t stall;
} cache_t;

static const cache_t caches[] = {
    {"context", "contexts of queue pairs", "context.entries",
     offsetof(nic_detail_t, context_entries), offsetof(nic_detail_t, context_stall_ps)},
    {"translation", "page translations (MTT)", "translation.entries",
     offsetof(nic_detail_t, translation_entries), offsetof(nic_detail_t, translation_stall_ps)},
    {"wqe", "WQEs", "wqe.entries", offsetof(nic_detail_t, wqe_entries),
     offsetof(nic_detail_t, wqe_stall_ps)},
    {"cq", "contexts of completion queues", "cq.entries", offsetof(nic_detail_t, cq_entries),
     offsetof(nic_detail_t, cq_stall_ps)},
    {"key", "memory keys", "key.entries", offsetof(nic_detail_t, key_entries),
     offsetof(nic_detail_t, key_stall_ps)},
};

static uint64_t detail_at(const nic_detail_t *detail, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)detail + offset, sizeof(value));
    return value;
}

// The lookups of a cache.
typedef struct lookups {
    double misses;
    double all;
    double stalls; // share of the time for which misses stop a side of the NIC
    double cost;   // share of the time that misses take, with their reads one after the other
} lookups_t;

static lookups_t lookups_of(const inside_t *nic, const cache_t *cache)
{
    char hits[32];
    char misses[32];
    snprintf(hits, sizeof(hits), "%s_hits", cache->name);
    snprintf(misses, sizeof(misses), "%s_misses", cache->name);
    lookups_t lookups = {.misses = counted(nic, misses)};
    lookups.all = counted(nic, hits) + lookups.misses;
    const double stall_ps = (double)detail_at(&nic->detail, cache->stall);
    lookups.stalls = lookups.misses * stall_ps / nic->time_ps;
    lookups.cost = lookups.misses * (stall_ps + (double)nic->detail.read_latency_ps) / nic->time_ps;
    return lookups;
}

// Returns whether misses cost much although some of their reads overlap: flows took long, the cache
// is smaller than its profile's, misses stop the NIC, or most contexts are missing.
static bool counts_for_much(const inside_t *nic, const cache_t *cache, const lookups_t *lookups)
{
    const bool wqes = cache->stall == offsetof(nic_detail_t, wqe_stall_ps); // its queue pair waits
    return nic->explain->flow_count > 0 ||
           detail_at(&nic->detail, cache->entries) < detail_at(&nic->profile, cache->entries) ||
           (!wqes &&
            (lookups->stalls >= MISSES_COST || lookups->misses >= MISSES_MOST * lookups->all));
}

static const cache_t *worst_cache(const inside_t *nic, lookups_t *worst)
{
    const cache_t *found = NULL;
    for (size_t i = 0; i < SIM_COUNT_OF(caches); i++) {
        const lookups_t lookups = lookups_of(nic, &caches[i]);
        if (lookups.misses >= MISSES_LEAST * lookups.all && lookups.cost >= MISSES_COST &&
            counts_for_much(nic, &caches[i], &lookups) &&
            (found == NULL || lookups.cost > worst->cost)) {
            found = &caches[i];
            *worst = lookups;
        }
    }
    return found;
}

// -- findings

static explain_finding_t *find_kind(explain_t *explain, explain_kind_t kind)
{
    for (size_t i = 0; i < explain->finding_count; i++) {
        if (explain->findings[i].kind == kind) {
            return &explain->findings[i];
        }
    }
    return NULL;
}

// Adds the NIC to the finding of its kind, with its flows. Takes the sentence, which is that of the
// finding if this NIC is the first. Returns the finding if it is.
static explain_finding_t *add_nic(const inside_t *nic, explain_kind_t kind, char *sentence)
{
    explain_t *const explain = nic->explain;
    const uint32_t host = explain->world->nics[nic->interface].host;
    explain_finding_t *finding = find_kind(explain, kind);
    const bool first = finding == NULL;
    explain->held_hosts[host] = true;
    if (first) {
        finding = cli__explain_add(
            explain, kind, 1, sim_strdup(world_interface_name(explain->world, nic->interface)));
        finding->sentence = sentence;
    } else {
        cli__explain_evidence(finding, sentence);
    }
    finding->score_ps += explain->flow_count == 0 ? nic->time_ps : nic->excess_ps;
    for (uint32_t f = 0; f < explain->flow_count; f++) {
        const explain_flow_t *const flow = &explain->flows[f];
        if (flow->source == nic->interface || flow->destination == nic->interface) {
            cli__explain_flow(finding, f);
        }
    }
    return first ? finding : NULL;
}

static void offer(const inside_t *nic, explain_finding_t *finding, const char *path, uint64_t value,
                  const char *unit, const char *why)
{
    char *const set = sim_format("detailed.%s=%" PRIu64 "%s", path, value, unit);
    cli__explain_nic_remedy(nic->explain, finding, nic->interface, set, why);
    sim_free(set);
}

static const char *unit_of(const char *path)
{
    return strcmp(path, "pcie.lane-rate") == 0 ? "bps"
           : strcmp(path, "pcie.lanes") == 0 || strcmp(path, "pcie.tags") == 0 ||
                   strcmp(path, "pu.count") == 0
               ? ""
               : "ps";
}

static bool is_slow(const inside_t *nic)
{
    return nic->excess_ps > EXCESS_LEAST * nic->flows_ps;
}

static void find_in_nic(inside_t *nic)
{
    explain_t *const explain = nic->explain;
    const char *const name = world_interface_name(explain->world, nic->interface);
    const bool listed = explain->flow_count > 0;
    world_text_t busy;
    world_text_t share;
    lookups_t lookups = {0};
    const cache_t *const cache = worst_cache(nic, &lookups);
    part_t part = {.busy = 0};
    consider_pcie(nic, &part);
    consider_units(nic, &part);
    consider_cores(nic, &part);
    if (part.busy >= BUSY_LEAST && part.busy > explain->inside_busy) {
        sim_free(explain->inside_busiest);
        explain->inside_busiest = sim_format("%s of the NIC of %s", part.what, name);
        explain->inside_busy = SIM_MIN(part.busy, 1.0);
    }
    if (cache != NULL && (!listed || is_slow(nic)) && (lookups.cost > part.busy || !part.slower)) {
        const uint64_t entries = detail_at(&nic->detail, cache->entries);
        explain_finding_t *const finding = add_nic(
            nic, EXPLAIN_CACHE_MISSES,
            sim_format("cache misses: the NIC of %s did not find %.0f of %.0f %s (%s), since its "
                       "cache holds %" PRIu64 "; misses took %s of the time",
                       name, lookups.misses, lookups.all, cache->what,
                       world_format_percent(&share, lookups.misses / lookups.all), entries,
                       world_format_percent(&busy, SIM_MIN(lookups.cost, 1.0))));
        if (finding != NULL) {
            offer(nic, finding, cache->path, 16 * entries, "", "a larger cache");
        }
        return;
    }
    if (part.busy < BUSY_LEAST || (listed ? !is_slow(nic) : !part.slower)) {
        return;
    }
    const bool core = part.kind == EXPLAIN_POSTING_CORE;
    const bool many = part.what[strlen(part.what) - 1] == 's' || part.kind == EXPLAIN_UNITS;
    explain_finding_t *const finding =
        add_nic(nic, part.kind,
                sim_format("%s: %s of the NIC of %s %s busy %s of the time, by its counters and "
                           "nic.detailed.%s",
                           core                        ? "posting core"
                           : part.kind == EXPLAIN_PCIE ? "PCIe limit"
                                                       : "processing units",
                           part.what, name, many ? "were" : "was",
                           world_format_percent(&busy, SIM_MIN(part.busy, 1.0)), part.path));
    if (finding != NULL && core) {
        cli__explain_evidence(finding, sim_strdup("several WQEs in one post take less of its "
                                                  "time, and queue pairs of another thread none"));
    }
    if (finding != NULL && part.kind == EXPLAIN_UNITS && nic->config->mtu_bytes < MTU_LARGE) {
        cli__explain_nic_remedy(explain, finding, nic->interface, "mtu=4096",
                                "fewer and larger packets for the units");
    }
    if (finding != NULL && part.slower) {
        cli__explain_evidence(finding,
                              sim_format("nic.detailed.%s is %" PRIu64 "%s where its profile has "
                                         "%" PRIu64 "%s",
                                         part.path, part.value, unit_of(part.path), part.usual,
                                         unit_of(part.path)));
        offer(nic, finding, part.path, part.usual, unit_of(part.path), "the profile's value");
    }
}

// -- the host around its NICs

static void find_in_host(inside_t *nic)
{
    explain_t *const explain = nic->explain;
    const nic_host_config_t *const host = &nic->config->host;
    const explain_nic_t *const counts = &explain->nics[nic->interface];
    const double out_bps = (double)counts->sent_bytes * 8e12 / nic->out_ps;
    const double in_bps = (double)counts->received_bytes * 8e12 / nic->in_ps;
    const double most_bps = SIM_MAX(out_bps, in_bps);
    const double both_bps = SIM_MAX(
        (double)(counts->sent_bytes + counts->received_bytes) * 8e12 / nic->time_ps, most_bps);
    const struct {
        const char *path;
        const char *what;
        uint64_t rate_bps;
        double used_bps;
    } limits[] = {
        {"nic-link", "the link of its NIC inside the host", host->nic_bps, most_bps},
        {"memory-bandwidth", "its memory", host->memory_bps, both_bps},
        {"switch-uplink", "the uplink of its PCIe switch", host->uplink_bps, most_bps},
        {"socket-link", "the link between its sockets", host->socket_link_bps, most_bps},
        {"gpu-link", "the link of its GPU", host->gpu_bps, most_bps},
        {"peer-rate", "the root between its NICs and GPUs", host->peer_bps, most_bps},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(limits); i++) {
        const double could_bps = (double)limits[i].rate_bps;
        if (limits[i].rate_bps == SIM_AUTO || limits[i].used_bps < BUSY_LEAST * could_bps ||
            (explain->flow_count > 0 && !is_slow(nic))) {
            continue;
        }
        world_text_t busy;
        world_text_t rate;
        explain_finding_t *const finding = add_nic(
            nic, EXPLAIN_HOST_PATH,
            sim_format("%s is a slow host: %s carries %s and was busy %s of the time",
                       world_interface_name(explain->world, nic->interface), limits[i].what,
                       world_format_rate(&rate, limits[i].rate_bps),
                       world_format_percent(&busy, SIM_MIN(limits[i].used_bps / could_bps, 1.0))));
        if (finding != NULL) {
            char *const set = sim_format("host.%s=auto", limits[i].path);
            cli__explain_evidence(finding, sim_format("nic.host.%s, and the payload that nics.csv "
                                                      "counts",
                                                      limits[i].path));
            cli__explain_nic_remedy(explain, finding, nic->interface, set,
                                    "a host without this limit");
            sim_free(set);
        }
        return;
    }
}

static bool has_limits(const nic_host_config_t *host)
{
    return host->nic_bps != SIM_AUTO || host->memory_bps != SIM_AUTO ||
           host->uplink_bps != SIM_AUTO || host->socket_link_bps != SIM_AUTO ||
           host->gpu_bps != SIM_AUTO || host->peer_bps != SIM_AUTO;
}

// Orders NICs by the unexplained time of their flows, the longest first: a slow NIC makes those of
// its peers look slow, and its own flows lose more than each of theirs.
static int by_excess(const void *left, const void *right)
{
    const inside_t *const a = left;
    const inside_t *const b = right;
    return a->excess_ps > b->excess_ps ? -1
           : a->excess_ps < b->excess_ps
               ? 1
               : (a->interface > b->interface) - (a->interface < b->interface);
}

// Returns the number of NICs that it writes to nics: those that have counters or a limit of their
// host, and traffic.
static size_t nics_to_look_at(explain_t *explain, inside_t *nics)
{
    const bool detailed = json_array_size(json_object_get(explain->summary, "nics")) > 0;
    size_t count = 0;
    for (uint32_t i = 0; i < explain->world->nic_count; i++) {
        inside_t nic = {.explain = explain, .interface = i};
        nic.config = nic_config_of_interface(explain->world->net, i);
        if (!detailed && !has_limits(&nic.config->host)) {
            continue;
        }
        take_time(&nic);
        if (nic.time_ps > 0) {
            nics[count++] = nic;
        }
    }
    qsort(nics, count, sizeof(*nics), by_excess);
    return count;
}

void cli__explain_inside(explain_t *explain)
{
    explain->held_hosts = sim_alloc(net_node_count(explain->world->net) + 1);
    memset(explain->held_hosts, 0, net_node_count(explain->world->net) + 1);
    inside_t *const nics = sim_alloc_array(explain->world->nic_count + 1, sizeof(*nics));
    const size_t count = nics_to_look_at(explain, nics);
    for (size_t i = 0; i < count; i++) {
        inside_t *const nic = &nics[i];
        const uint64_t pairs = explain->nics[nic->interface].queue_pairs;
        nic->counters = counters_of(explain, world_interface_name(explain->world, nic->interface));
        if (nic->counters != NULL) {
            nic_detail_resolve(nic->config, &nic->detail);
            nic_detail_profile(nic->config->profile, &nic->profile);
            nic->units = (double)SIM_MAX(SIM_MIN(nic->detail.pu_count, pairs), 1);
            find_in_nic(nic);
        }
        if (has_limits(&nic->config->host)) {
            find_in_host(nic);
        }
    }
    sim_free(nics);
}
