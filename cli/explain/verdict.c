// SPDX-License-Identifier: Apache-2.0
// cli/explain/verdict.c - says what is to be thought of the whole run: whether a cause explains it.
#include "cli/explain/verdict.h"
#include "cli/explain/explain_internal.h"
#include "cli/explain/run_data.h"
#include "kernel/digits.h"

#include "world/format.h"

#include <string.h>

#define NEAR_IDEAL 1.25    // mean of times to ideal times, up to which nothing slowed a run down
#define COMPUTES_LEAST 0.5 // share of the time that ranks compute, from which they are named
#define UNEXPLAINED 0.25   // share of the flows' time that nothing explains, if no cause is known

static const char *const names[] = {[EXPLAIN_HAS_CAUSE] = "cause",
                                    [EXPLAIN_HEALTHY] = "healthy",
                                    [EXPLAIN_FAIR_SHARES] = "fair-shares",
                                    [EXPLAIN_UNEXPLAINED] = "unexplained",
                                    [EXPLAIN_NO_FLOWS] = "no-flows"};

const char *cli__explain_verdict_name(explain_verdict_t verdict)
{
    return names[verdict];
}

// Returns the requests of serving systems that had not ended when the run did.
static double unfinished_requests(const explain_t *explain)
{
    const json_t *const apps = json_object_get(explain->summary, "apps");
    double sum = 0;
    for (size_t i = 0; i < json_array_size(apps); i++) {
        sum += json_number_value(json_object_get(json_array_get(apps, i), "unfinished"));
    }
    return sum;
}

double cli__explain_slowdown(const explain_t *explain)
{
    return explain->ideal_ps > 0 ? explain->flows_ps / explain->ideal_ps : 1;
}

static double slowdown_of(const explain_app_t *app)
{
    return app->ideal_ps > 0 ? app->flows_ps / app->ideal_ps : 1;
}

// Returns the application whose flows were slowed most; NULL: there are no flows.
static const explain_app_t *slowest_app(const explain_t *explain)
{
    const explain_app_t *slowest = NULL;
    for (size_t i = 0; i < explain->app_count; i++) {
        if (slowest == NULL || slowdown_of(&explain->apps[i]) > slowdown_of(slowest)) {
            slowest = &explain->apps[i];
        }
    }
    return slowest;
}

// Says how long flows took; of several applications, names the one whose flows were slowed most.
static char *times_text(const explain_t *explain)
{
    const double slowdown = cli__explain_slowdown(explain);
    const explain_app_t *const slowest = slowest_app(explain);
    return slowest != NULL && slowdown_of(slowest) > NEAR_IDEAL * slowdown
               ? sim_format("%s times their ideal time (those of %s: %s times)",
                            SIM_DIGITS(slowdown, 3), slowest->name,
                            SIM_DIGITS(slowdown_of(slowest), 3))
               : sim_format("%s times their ideal time", SIM_DIGITS(slowdown, 3));
}

// Returns the time that neither fair shares nor the recovery of rates explain.
static double unexplained_ps(const explain_t *explain)
{
    double ps = explain->excess_ps;
    for (size_t i = 0; i < explain->finding_count; i++) {
        const explain_finding_t *const finding = &explain->findings[i];
        ps -= finding->kind == EXPLAIN_RATE_RECOVERY ? finding->score_ps : 0;
    }
    return ps;
}

explain_verdict_t cli__explain_verdict(const explain_t *explain)
{
    if (explain->finding_count > 0 && !explain->findings[0].minor) {
        return EXPLAIN_HAS_CAUSE;
    }
    bool whole = !explain->stalled; // flows that the end of the run cuts are usual
    for (size_t f = 0; f < explain->flow_count; f++) {
        whole &= !explain->flows[f].failed;
    }
    return explain->flow_count == 0                                   ? EXPLAIN_NO_FLOWS
           : whole && slowdown_of(slowest_app(explain)) <= NEAR_IDEAL ? EXPLAIN_HEALTHY
           : whole && unexplained_ps(explain) <= UNEXPLAINED * explain->flows_ps
               ? EXPLAIN_FAIR_SHARES
               : EXPLAIN_UNEXPLAINED;
}

// Says what the counters show of a run whose cause is not known.
static char *known_text(const explain_t *explain)
{
    const uint32_t busiest = cli__explain_busiest_port(explain);
    sim_time_t paused_ps = 0;
    uint64_t discards = 0;
    uint64_t marked = 0;
    uint64_t again = 0;
    size_t open = 0;
    for (uint32_t i = 0; i < explain->port_count; i++) {
        const explain_port_t *const port = &explain->ports[i];
        paused_ps += port->paused_ps;
        discards += port->discards;
        marked += port->marked;
    }
    for (size_t f = 0; f < explain->flow_count; f++) {
        again += explain->flows[f].retransmitted;
        open += !explain->flows[f].ended;
    }
    world_text_t used;
    world_text_t paused;
    return sim_format(
        "the busiest port, %s, was used %s; ports were stopped for %s in all; %" PRIu64
        " packets were dropped, %" PRIu64 " marked, %" PRIu64 " sent again; %zu of %zu flows did "
        "not end; fair shares explain %.0f %% of the time of all flows, their ideal times %.0f %%",
        busiest != EXPLAIN_NONE ? cli__explain_port_name(explain, busiest) : "none",
        world_format_percent(&used,
                             busiest != EXPLAIN_NONE ? explain->ports[busiest].utilisation : 0),
        world_format_time(&paused, paused_ps), discards, marked, again, open, explain->flow_count,
        100 * (explain->flows_ps - explain->ideal_ps - explain->excess_ps) /
            SIM_MAX(explain->flows_ps, 1.0),
        100 * explain->ideal_ps / SIM_MAX(explain->flows_ps, 1.0));
}

// Says how much of an application's time its own computations take, if that is most of it: no
// network makes it faster. Returns NULL if no application is like that.
static char *computing_text(const explain_t *explain)
{
    const json_t *const apps = json_object_get(explain->summary, "apps");
    for (size_t i = 0; i < json_array_size(apps); i++) {
        const json_t *const app = json_array_get(apps, i);
        const double share = json_number_value(json_object_get(app, "busy"));
        if (share > COMPUTES_LEAST) {
            return sim_format(
                "the application %s itself takes the time: its ranks computed %.0f %% of it",
                json_string_value(json_object_get(app, "kind")), 100 * share);
        }
    }
    return NULL;
}

// Says that nothing is to blame, or that nothing is known, for how long flows took.
static char *text_of_flows(const explain_t *explain, explain_verdict_t verdict)
{
    char *const times = times_text(explain);
    const char *const more = explain->finding_count > 0 ? "; what follows costs little" : "";
    char *const computing = computing_text(explain);
    char *text = NULL;
    if (verdict != EXPLAIN_UNEXPLAINED && computing != NULL) {
        text = sim_format("%s; flows took %s%s", computing, times, more);
    } else if (verdict == EXPLAIN_HEALTHY) {
        text = sim_format("nothing slowed this run down: flows took %s%s", times, more);
    } else if (verdict == EXPLAIN_FAIR_SHARES) {
        text = sim_format("nothing is wrong: flows took %s, since they share links fairly, as "
                          "this traffic asks for, or come back to their rates after marks%s",
                          times, more);
    } else {
        char *const known = known_text(explain);
        text = sim_format("no known cause explains it: flows took %s. Known is: %s", times, known);
        sim_free(known);
    }
    sim_free(times);
    sim_free(computing);
    return text;
}

char *cli__explain_verdict_text(const explain_t *explain)
{
    const explain_verdict_t verdict = cli__explain_verdict(explain);
    switch (verdict) {
    case EXPLAIN_HAS_CAUSE:
        return sim_format("main cause: %s", explain->findings[0].sentence);
    case EXPLAIN_HEALTHY:
    case EXPLAIN_FAIR_SHARES:
    case EXPLAIN_UNEXPLAINED:
        return text_of_flows(explain, verdict);
    case EXPLAIN_NO_FLOWS:
        break;
    }
    const double unfinished = unfinished_requests(explain);
    if (unfinished > 0) {
        return sim_format("no cause was found that costs much to the requests that ended. %.0f "
                          "had not ended when the run did, and no figure has their waits: a later "
                          "`until` shows them",
                          unfinished);
    }
    if (explain->finding_count > 0) {
        return sim_strdup("no cause was found that costs much; what follows costs little. "
                          "flows.csv has no flows, so nothing tells which ports were shared");
    }
    const uint32_t busiest = cli__explain_busiest_port(explain);
    const double port_used = busiest != EXPLAIN_NONE ? explain->ports[busiest].utilisation : 0;
    world_text_t used;
    world_text_t busy;
    if (explain->inside_busy > port_used) {
        return sim_format(
            "no cause was found: no port was stopped or lost packets, and the busiest one, %s, was "
            "used %s. What bounds the run is inside a host: %s was busy %s of the time",
            busiest != EXPLAIN_NONE ? cli__explain_port_name(explain, busiest) : "none",
            world_format_percent(&used, port_used), explain->inside_busiest,
            world_format_percent(&busy, explain->inside_busy));
    }
    return sim_format(
        "no cause was found: no port was stopped or lost packets. flows.csv has no flows, so "
        "nothing tells which ports were shared; the busiest port, %s, was used %s",
        busiest != EXPLAIN_NONE ? cli__explain_port_name(explain, busiest) : "none",
        world_format_percent(&used, port_used));
}
