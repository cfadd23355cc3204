// SPDX-License-Identifier: Apache-2.0
// cli/explain/causes/programs.c - finds programs that are slow themselves: ranks that compute
// longer than their peers, computations that others wait for, requests that come faster than they
// are served.
//
// The applications report what explain needs: the rank that computed for the longest time beyond
// its peers, and where requests of a serving system wait (apps of summary.json).
#include "cli/explain/causes/programs.h"
#include "cli/explain/explain_internal.h"
#include "cli/explain/run_data.h"
#include "kernel/digits.h"

#include "results/runner.h"
#include "world/format.h"

#include <string.h>

#define LONGER 1.3     // computations of a rank to those of its peers
#define COST_LEAST 0.1 // share of the time until the last rank finished, by which it is late
#define ONE_CALC 0.5   // share of what a rank computes longer, in one computation
#define ALIKE_MOST 8.0 // one rank in so many may compute as long: a stage of a pipeline has several
#define QUEUES_LEAST 2.0    // time that requests wait for a node, to the time that it serves them
#define BUSY_LEAST 90.0     // percent of the time that a node works
#define BACKLOG_LEAST 20.0  // requests that wait when the run ends
#define TRANSFERS_LEAST 2.0 // time of KV transfers to that of their bytes at the rate of the NICs
#define TRANSFERS_SHARE 0.1 // share of a request's time that they take

static double number_at(const json_t *json, const char *path)
{
    return json_number_value(results_json_at(json, path));
}

// Reports the rank of a workload that computed for longer than its peers did.
static void find_straggler(explain_t *explain, const json_t *app)
{
    const char *const host = json_string_value(results_json_at(app, "slowest_rank.host"));
    const double calc_ms = number_at(app, "slowest_rank.calc_ms");
    const double peers_ms = number_at(app, "slowest_rank.peers_ms");
    const double longest_ms = number_at(app, "slowest_rank.longest_ms");
    const double ranks = number_at(app, "ranks");
    const double late_ms = calc_ms - peers_ms;
    const double alike = number_at(app, "slowest_rank.alike");
    if (host == NULL || (alike > 1 && alike > ranks / ALIKE_MOST) || calc_ms < LONGER * peers_ms ||
        late_ms * 1000 < COST_LEAST * number_at(app, "finish_us.max")) {
        return;
    }
    const bool once = longest_ms > ONE_CALC * late_ms;
    const long long rank = (long long)number_at(app, "slowest_rank.rank");
    explain_finding_t *const finding = cli__explain_add(
        explain, once ? EXPLAIN_LATE_DEPENDENCY : EXPLAIN_STRAGGLER, 2, sim_strdup(host));
    world_text_t calc;
    world_text_t peers;
    world_text_t longest;
    world_format_time(&calc, (sim_time_t)(calc_ms * SIM_PS_PER_MS));
    world_format_time(&peers, (sim_time_t)(peers_ms * SIM_PS_PER_MS));
    world_format_time(&longest, (sim_time_t)(longest_ms * SIM_PS_PER_MS));
    finding->score_ps = late_ms * SIM_PS_PER_MS * ranks;
    finding->sentence =
        once ? sim_format("late dependency: one computation of rank %lld (%s) took %s, and %.0f "
                          "ranks wait for what depends on it; its peers compute for %s in all",
                          rank, host, longest.text, ranks - 1, peers.text)
             : sim_format("straggler: rank %lld (%s) computed for %s, its peers for %s each; the "
                          "other %.0f ranks wait for it",
                          rank, host, calc.text, peers.text, ranks - 1);
    cli__explain_evidence(
        finding, sim_format("slowest_rank of the application in summary.json; processors were busy "
                            "%.0f %% of the time, mean of all ranks",
                            100 * number_at(app, "busy")));
}

// Returns the node of that role that worked for the largest share of the time.
static const json_t *busiest_node(const json_t *app, const char *role)
{
    const json_t *const nodes = json_object_get(app, "nodes");
    const json_t *best = NULL;
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *const node = json_array_get(nodes, i);
        const char *const own = json_string_value(json_object_get(node, "role"));
        if (own != NULL && (strcmp(own, role) == 0 || strcmp(own, "both") == 0) &&
            (best == NULL || number_at(node, "busy_percent") > number_at(best, "busy_percent"))) {
            best = node;
        }
    }
    return best;
}

// Reports nodes of a serving system that requests wait for, longer than they are served.
static void find_overload(explain_t *explain, const json_t *app)
{
    const struct {
        const char *role;
        const char *waits;
        const char *served;
    } roles[] = {{"prefill", "stages.prefill_queue_ms", "stages.prefill_ms"},
                 {"decode", "stages.decode_queue_ms", "stages.decode_ms"},
                 {"decode", "stages.memory_wait_ms", "stages.decode_ms"}};
    for (size_t i = 0; i < SIM_COUNT_OF(roles); i++) {
        const double waits_ms = number_at(app, roles[i].waits);
        const double served_ms = number_at(app, roles[i].served);
        const json_t *const node = busiest_node(app, roles[i].role);
        const bool memory = strstr(roles[i].waits, "memory") != NULL;
        if (node == NULL || waits_ms <= 0 || waits_ms < QUEUES_LEAST * served_ms ||
            (!memory && number_at(node, "busy_percent") < BUSY_LEAST)) {
            continue;
        }
        const char *const name = json_string_value(json_object_get(node, "node"));
        explain_finding_t *const finding =
            cli__explain_add(explain, EXPLAIN_OVERLOAD, 2, sim_strdup(name != NULL ? name : "?"));
        const double requests = number_at(app, "requests");
        finding->score_ps = waits_ms * SIM_PS_PER_MS * requests;
        finding->sentence =
            sim_format("overload: requests wait %s ms for %s of %s nodes and are served there in "
                       "%s ms, on "
                       "average: more requests come than these nodes can serve",
                       SIM_DIGITS(waits_ms, 4), memory ? "memory" : "a turn", roles[i].role,
                       SIM_DIGITS(served_ms, 4));
        cli__explain_evidence(
            finding,
            sim_format("%s worked %.3g %% of the time; the network took %.2g %% of the requests' "
                       "time (network_share)",
                       finding->place, number_at(node, "busy_percent"),
                       100 * number_at(app, "network_share")));
    }
}

// Reports KV transfers of a serving system that take much longer than their bytes do on idle NICs,
// at the port that was used for the largest share of the time.
static void find_slow_transfers(explain_t *explain, const json_t *app)
{
    const double kv_ms = number_at(app, "kv_ms.mean");
    const double formula_ms = number_at(app, "kv_formula_ms");
    const double request_ms = number_at(app, "e2e_ms.mean");
    const uint32_t port = cli__explain_busiest_port(explain);
    if (port == EXPLAIN_NONE || formula_ms <= 0 || kv_ms < TRANSFERS_LEAST * formula_ms ||
        kv_ms < TRANSFERS_SHARE * request_ms) {
        return;
    }
    const char *const name = cli__explain_port_name(explain, port);
    explain_finding_t *const finding =
        cli__explain_add(explain, EXPLAIN_KV_TRANSFERS, 2, sim_strdup(name));
    world_text_t used;
    finding->score_ps = (kv_ms - formula_ms) * SIM_PS_PER_MS * number_at(app, "requests");
    finding->sentence = sim_format(
        "KV transfers wait for the network: a request's KV cache takes %s ms on average, and %s ms "
        "if its NICs had nothing else to carry",
        SIM_DIGITS(kv_ms, 4), SIM_DIGITS(formula_ms, 4));
    cli__explain_evidence(
        finding, sim_format("%s is the port that was used for the largest share of the time, %s; "
                            "KV transfers took %.2g %% of the requests' time",
                            name, world_format_percent(&used, explain->ports[port].utilisation),
                            100 * kv_ms / SIM_MAX(request_ms, kv_ms)));
}

// Returns the requests that waited for a turn at nodes of that role when the run ended.
static double waiting_at(const json_t *app, const char *role)
{
    const json_t *const nodes = json_object_get(app, "nodes");
    double sum = 0;
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *const node = json_array_get(nodes, i);
        const char *const own = json_string_value(json_object_get(node, "role"));
        sum += own != NULL && strcmp(own, role) == 0 ? number_at(node, "waiting") : 0;
    }
    return sum;
}

// Reports nodes of a serving system at which, when the run ended, more requests waited than had
// been served: a run that is cut has no figure of their waits.
static void find_backlog(explain_t *explain, const json_t *app)
{
    static const char *const roles[] = {"prefill", "decode", "both"};
    const double served = number_at(app, "requests");
    for (size_t i = 0; i < SIM_COUNT_OF(roles); i++) {
        const double waiting = waiting_at(app, roles[i]);
        const json_t *const node = busiest_node(app, roles[i]);
        if (node == NULL || waiting < BACKLOG_LEAST || waiting < served ||
            (served > 0 && number_at(node, "busy_percent") < BUSY_LEAST)) {
            continue;
        }
        const char *const name = json_string_value(json_object_get(node, "node"));
        explain_finding_t *const finding =
            cli__explain_add(explain, EXPLAIN_OVERLOAD, 2, sim_strdup(name != NULL ? name : "?"));
        finding->score_ps = waiting * (double)explain->end_ps / 2;
        finding->sentence =
            sim_format("overload: %.0f requests waited for a turn at nodes of the role %s when the "
                       "run ended, and %.0f had been served: more requests come than these nodes "
                       "can serve",
                       waiting, roles[i], served);
        cli__explain_evidence(finding, sim_format("%s worked %.3g %% of the time", finding->place,
                                                  number_at(node, "busy_percent")));
        return;
    }
}

void cli__explain_programs(explain_t *explain)
{
    const json_t *const apps = json_object_get(explain->summary, "apps");
    for (size_t i = 0; i < json_array_size(apps); i++) {
        const json_t *const app = json_array_get(apps, i);
        find_straggler(explain, app);
        const size_t before = explain->finding_count;
        find_overload(explain, app);
        if (explain->finding_count == before) {
            find_backlog(explain, app);
        }
        find_slow_transfers(explain, app);
    }
}
