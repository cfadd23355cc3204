// SPDX-License-Identifier: Apache-2.0
// apps/serving/router.c - gives each request its prefill and decode node when it arrives
// (docs/models/serving.md).
//
// The router knows what it has given to nodes and what they have reported since. It does not know
// how many tokens a request will generate.
#include "apps/serving/router.h"

#include "apps/hosts.h"
#include "apps/serving/job.h"
#include "apps/serving/messages.h"
#include "apps/serving/node.h"
#include "apps/serving/transfers/cache.h"

// -- closed-loop requests that are due, as a heap by time and number

static bool is_before(const app__serving_router_t *router, uint32_t a, uint32_t b)
{
    return router->due_ps[a] < router->due_ps[b] ||
           (router->due_ps[a] == router->due_ps[b] && a < b);
}

static void push_due(app__serving_router_t *router, uint32_t number)
{
    uint32_t *const heap = router->due;
    uint32_t at = router->due_count++;
    while (at > 0 && is_before(router, number, heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = number;
}

static uint32_t pop_due(app__serving_router_t *router)
{
    uint32_t *const heap = router->due;
    const uint32_t first = heap[0];
    const uint32_t last = heap[--router->due_count];
    uint32_t at = 0;
    while (2 * at + 1 < router->due_count) {
        uint32_t child = 2 * at + 1;
        child += child + 1 < router->due_count && is_before(router, heap[child + 1], heap[child]);
        if (!is_before(router, heap[child], last)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

// -- placing

// Returns the tokens that count for the choice of a node.
static uint64_t load_of(const app__serving_router_t *router, uint32_t node)
{
    const bool both = router->serving->node_count == router->serving->prefill_count;
    return node >= router->serving->prefill_count ? router->held[node]
           : both                                 ? router->load[node] + router->held[node]
                                                  : router->load[node];
}

// Returns the first node from `at` on, among [first, first + count), that is not lost.
static uint32_t alive_from(const app__serving_router_t *router, uint32_t first, uint32_t count,
                           uint32_t at)
{
    for (uint32_t i = 0; i < count && router->lost[first + at]; i++) {
        at = (at + 1) % count;
    }
    return first + at;
}

// Chooses one of the nodes [first, first + count).
static uint32_t choose(app__serving_router_t *router, uint32_t number, uint32_t first,
                       uint32_t count, uint64_t *turn)
{
    if (router->serving->config.route == APP__SERVING_ROUND_ROBIN) {
        return alive_from(router, first, count, (uint32_t)((*turn)++ % count));
    }
    if (router->serving->config.route == APP__SERVING_RANDOM) {
        return alive_from(router, first, count, (uint32_t)sim_random_below(&router->random, count));
    }
    // Among equal nodes, the router takes the one that has waited longest for a request.
    const bool aware = router->serving->config.route == APP__SERVING_CACHE_AWARE && first == 0;
    uint32_t best = first;
    uint64_t least = UINT64_MAX;
    for (uint32_t n = first; n < first + count; n++) {
        const uint64_t prompt = app__serving_request(router->serving, number)->prompt_tokens;
        const uint64_t cost =
            load_of(router, n) +
            (aware ? prompt - app__serving_cached(router->serving, n, number) : 0);
        if (!router->lost[n] &&
            (cost < least || (cost == least && router->last_given[n] < router->last_given[best]))) {
            best = n;
            least = cost;
        }
    }
    router->last_given[best] = router->arrived;
    return best;
}

bool app__serving_fits(const app__serving_t *serving, uint32_t number)
{
    const app__request_t *const request = &serving->requests.items[number];
    const uint64_t all = (uint64_t)request->prompt_tokens + request->output_tokens;
    return app__serving_pages(serving, request->prompt_tokens) <= serving->nodes[0].pages &&
           app__serving_pages(serving, all) <= serving->nodes[serving->node_count - 1].pages;
}

static void settle(app__serving_router_t *router, uint32_t number)
{
    const uint32_t next = router->followers[number];
    const sim_time_t now_ps = router->station->node->now_ps;
    router->serving->attempts[number].settled_ps = now_ps;
    router->settled++;
    if (next != APP__REQUEST_NONE) {
        const app__request_t *const request = &router->serving->requests.items[next];
        router->due_ps[next] =
            now_ps + request->arrival_ps +
            (router->serving->attempts[number].refused ? request->refused_ps : 0);
        push_due(router, next);
    }
}

static bool is_settled(const app__serving_router_t *router, uint32_t number)
{
    return router->serving->attempts[number].settled_ps != SIM_TIME_NEVER;
}

// Returns the latest attempt of a request.
static uint32_t attempt_of(const app__serving_router_t *router, uint32_t number)
{
    return router->retries[number] * router->serving->requests.count + number;
}

// Returns the node whose NICs fetch from the store for a request.
static uint32_t fetcher_of(const app__serving_attempt_t *attempt)
{
    return attempt->through_decode ? attempt->decode : attempt->prefill;
}

// Returns whether the store sends KV data for an attempt by its decode node.
static bool takes_second_path(app__serving_router_t *router, const app__serving_attempt_t *attempt)
{
    const uint32_t path = router->serving->config.storage_path;
    if (path == APP__SERVING_ALTERNATE) {
        return router->path_turn++ % 2 == 1;
    }
    return path == APP__SERVING_DUAL &&
           router->fetches[attempt->decode] < router->fetches[attempt->prefill];
}

// Adds an attempt to the load of its nodes, and informs its prefill node where cached KV data is.
static void place(app__serving_router_t *router, uint32_t number)
{
    app__serving_attempt_t *const attempt = &router->serving->attempts[number];
    const uint64_t prompt = app__serving_request(router->serving, number)->prompt_tokens;
    app__serving_cached_t cached;
    app__serving_find_cached(router->serving, number, &cached);
    attempt->reused = cached.own + cached.fetched;
    attempt->weight = prompt - attempt->reused;
    attempt->placed = true;
    router->load[attempt->prefill] += attempt->weight;
    router->held[attempt->decode] += prompt;
    router->placed[attempt->decode]++;
    if (cached.fetched > 0 && cached.source == router->serving->node_count) {
        attempt->through_decode = attempt->decode != attempt->prefill && cached.own == 0 &&
                                  takes_second_path(router, attempt);
        attempt->fetched = cached.fetched;
        router->fetches[fetcher_of(attempt)] += cached.fetched;
    }
    const uint64_t words[3] = {
        attempt->decode | (attempt->through_decode ? APP__SERVING_THROUGH_DECODE : 0),
        cached.own | cached.fetched << 32,
        cached.source,
    };
    app__serving_send(router->serving, router->station, 1 + attempt->prefill, APP__SERVING_JOB,
                      number, words);
}

// Takes the prompt of an attempt off the load of its prefill node.
static void count_computed(app__serving_router_t *router, app__serving_attempt_t *attempt)
{
    if (!attempt->computed) {
        attempt->computed = true;
        router->load[attempt->prefill] -= attempt->weight;
        router->fetches[fetcher_of(attempt)] -= attempt->fetched;
    }
}

// Takes an attempt off the load of its nodes.
static void take_off(app__serving_router_t *router, uint32_t number)
{
    app__serving_attempt_t *const attempt = &router->serving->attempts[number];
    count_computed(router, attempt);
    router->held[attempt->decode] -= app__serving_request(router->serving, number)->prompt_tokens;
    router->placed[attempt->decode]--;
    attempt->placed = false;
}

// Chooses the nodes of an attempt. False: none is left.
static bool choose_nodes(app__serving_router_t *router, uint32_t number)
{
    app__serving_attempt_t *const attempt = &router->serving->attempts[number];
    const uint32_t decodes = router->serving->node_count - router->serving->prefill_count;
    attempt->prefill = choose(router, number, 0, router->serving->prefill_count, &router->turn);
    attempt->decode = decodes == 0 ? attempt->prefill
                                   : choose(router, number, router->serving->prefill_count, decodes,
                                            &router->decode_turn);
    return !router->lost[attempt->prefill] && !router->lost[attempt->decode];
}

static void refuse(app__serving_router_t *router, uint32_t number)
{
    router->serving->attempts[number].refused = true;
    router->refused++;
    settle(router, number);
}

static void fail(app__serving_router_t *router, uint32_t number)
{
    router->serving->attempts[number].failed = true;
    sim_work_end(router->station->node, 1);
    settle(router, number);
}

static void arrive(app__serving_router_t *router, uint32_t number)
{
    router->serving->attempts[number].arrival_ps = router->station->node->now_ps;
    router->arrived++;
    if (!app__serving_fits(router->serving, number)) {
        router->too_long++;
        refuse(router, number);
        return;
    }
    const bool found = choose_nodes(router, number);
    if (found && !app__serving_admits(router, number)) {
        refuse(router, number);
        return;
    }
    sim_work_begin(router->station->node, 1);
    if (found) {
        place(router, number);
    } else {
        fail(router, number);
    }
}

// Places a request on other nodes, if it may be placed once more; else it fails.
static void place_again(app__serving_router_t *router, uint32_t number)
{
    const sim_time_t arrival_ps = router->serving->attempts[number].arrival_ps;
    take_off(router, attempt_of(router, number));
    if (router->retries[number] + 1u == router->serving->attempts_max) {
        fail(router, number);
        return;
    }
    router->retries[number]++;
    router->serving->attempts[attempt_of(router, number)].arrival_ps = arrival_ps;
    if (!choose_nodes(router, attempt_of(router, number))) {
        fail(router, number);
        return;
    }
    router->placed_again++;
    place(router, attempt_of(router, number));
}

static sim_time_t next_ps(const app__serving_router_t *router)
{
    sim_time_t first_ps = SIM_TIME_NEVER;
    if (router->next < router->serving->requests.count) {
        first_ps = router->serving->config.start_ps +
                   router->serving->requests.items[router->next].arrival_ps;
    }
    if (router->due_count > 0 && router->due_ps[router->due[0]] < first_ps) {
        first_ps = router->due_ps[router->due[0]];
    }
    return first_ps;
}

static void skip_followers(app__serving_router_t *router)
{
    const app__requests_t *const requests = &router->serving->requests;
    while (router->next < requests->count &&
           requests->items[router->next].after != APP__REQUEST_NONE) {
        router->next++;
    }
}

static void serve_arrivals(app__serving_router_t *router)
{
    sim_node_t *const node = router->station->node;
    while (next_ps(router) <= node->now_ps) {
        if (router->due_count > 0 && router->due_ps[router->due[0]] <= node->now_ps) {
            arrive(router, pop_due(router));
        } else {
            arrive(router, router->next++);
            skip_followers(router);
        }
    }
    if (next_ps(router) != SIM_TIME_NEVER) {
        sim_timer_arm(node, &router->timer, next_ps(router));
    }
}

void app__serving_router_lose(app__serving_router_t *router, uint32_t node)
{
    const uint64_t words[3] = {node, router->restarts[node], 0};
    if (router->lost[node]) {
        return;
    }
    router->lost[node] = true;
    app__serving_cache_forget(router->serving, node);
    for (uint32_t n = 0; n < router->serving->node_count; n++) {
        // One of several hosts may still be there, and must stop.
        if (!router->lost[n] || (n == node && router->serving->nodes[n].place.host_count > 1)) {
            app__serving_send(router->serving, router->station, 1 + n, APP__SERVING_LOST, 0, words);
        }
    }
    for (uint32_t i = 0; i < router->serving->requests.count; i++) {
        const app__serving_attempt_t *const attempt =
            &router->serving->attempts[attempt_of(router, i)];
        // A decode node knows whether it has the KV data of a computed prompt.
        if (attempt->placed && !is_settled(router, i) &&
            (attempt->decode == node || (attempt->prefill == node && !attempt->computed))) {
            place_again(router, i);
        }
    }
    serve_arrivals(router);
}

void app__serving_router_restore(app__serving_router_t *router, uint32_t node)
{
    SIM_CHECK(router->lost[node]);
    router->lost[node] = false;
    router->restarts[node]++;
    for (uint32_t n = 0; n < router->serving->node_count; n++) {
        const uint64_t back[3] = {node, router->restarts[node], 0};
        const uint64_t other[3] = {n, router->restarts[n], 0};
        if (!router->lost[n]) {
            app__serving_send(router->serving, router->station, 1 + n, APP__SERVING_BACK, 0, back);
        }
        // The node itself learns what it has missed.
        if (n != node && router->restarts[n] > 0) {
            app__serving_send(router->serving, router->station, 1 + node, APP__SERVING_BACK, 0,
                              other);
        }
        if (router->lost[n]) {
            app__serving_send(router->serving, router->station, 1 + node, APP__SERVING_LOST, 0,
                              other);
        }
    }
}

static void fired(sim_node_t *node, sim_timer_t *timer)
{
    app__serving_router_t *const router = SIM_CONTAINER_OF(timer, app__serving_router_t, timer);
    sim_progress(node);
    serve_arrivals(router);
}

// -- messages

static void on_computed(app__serving_router_t *router, uint32_t number)
{
    app__serving_attempt_t *const attempt = &router->serving->attempts[number];
    if (attempt->placed) {
        count_computed(router, attempt);
        app__serving_cache_keep(router->serving, number);
    }
}

static void on_ended(app__serving_router_t *router, uint32_t attempt, bool failed)
{
    const uint32_t number = attempt % router->serving->requests.count;
    if (is_settled(router, number) || (failed && attempt != attempt_of(router, number))) {
        return; // it was placed again
    }
    if (failed) {
        place_again(router, number);
    } else {
        if (router->serving->attempts[attempt_of(router, number)].placed) {
            take_off(router, attempt_of(router, number));
        }
        sim_work_end(router->station->node, 1);
        settle(router, number);
    }
    serve_arrivals(router);
}

// Places a request again, or lets it fail, since a message about it did not get through.
static void unreachable(app__serving_router_t *router, uint32_t number)
{
    const app__serving_attempt_t *const attempt = &router->serving->attempts[number];
    const uint32_t nodes[2] = {attempt->prefill, attempt->decode};
    for (uint32_t i = 0; i < 2 && (i == 0 || nodes[1] != nodes[0]); i++) {
        if (!router->lost[nodes[i]]) {
            app__serving_send(router->serving, router->station, 1 + nodes[i], APP__SERVING_GIVEN_UP,
                              number, NULL);
        }
    }
    on_ended(router, number, true);
}

static void on_message(app__mc_station_t *station, const app__mc_incoming_t *incoming, void *ctx)
{
    app__serving_router_t *const router = ctx;
    app__mc_answer(station, incoming->peer, incoming->id, SIM_OK, "", 0);
    const uint64_t kind = app__mc_get64(incoming->body);
    const uint32_t number = (uint32_t)app__mc_get64(incoming->body + 8);
    SIM_CHECK(number < router->serving->attempts_max * router->serving->requests.count);
    if (kind == APP__SERVING_BROKEN) {
        sim_progress(station->node);
        app__serving_router_lose(router, (uint32_t)app__mc_get64(incoming->body + 16));
        return;
    }
    uint16_t *const seen = &router->serving->jobs[number].seen_by_router;
    if (*seen & 1u << kind) {
        return; // a message that arrived twice
    }
    *seen |= (uint16_t)(1u << kind);
    sim_progress(station->node);
    if (kind == APP__SERVING_COMPUTED) {
        on_computed(router, number);
    } else {
        SIM_CHECK(kind == APP__SERVING_ENDED);
        if (app__mc_get64(incoming->body + 24) != 0) {
            unreachable(router, number);
            return;
        }
        on_ended(router, number, app__mc_get64(incoming->body + 16) != 0);
    }
}

void app__serving_router_begin(app__serving_t *serving, const app_context_t *context)
{
    app__serving_router_t *const router = sim_alloc(sizeof(*router));
    const uint32_t count = serving->requests.count;
    const uint32_t nodes = serving->node_count;
    *router = (app__serving_router_t){
        .serving = serving,
        .station = &serving->cluster->stations[0],
        .followers = sim_alloc_array(count, sizeof(*router->followers)),
        .due = sim_alloc_array(count, sizeof(*router->due)),
        .due_ps = sim_alloc_array(count, sizeof(*router->due_ps)),
        .load = sim_alloc_array(nodes, sizeof(*router->load)),
        .fetches = sim_alloc_array(nodes, sizeof(*router->fetches)),
        .lost = sim_alloc_array(nodes, sizeof(*router->lost)),
        .restarts = sim_alloc_array(nodes, sizeof(*router->restarts)),
        .retries = sim_alloc_array(count, sizeof(*router->retries)),
        .held = sim_alloc_array(nodes, sizeof(*router->held)),
        .placed = sim_alloc_array(nodes, sizeof(*router->placed)),
        .last_given = sim_alloc_array(nodes, sizeof(*router->last_given)),
    };
    serving->router = router;
    app__random_init(&router->random, context, 0, "serving");
    for (uint32_t i = 0; i < count; i++) {
        router->followers[i] = APP__REQUEST_NONE;
        if (serving->requests.items[i].after != APP__REQUEST_NONE) {
            router->followers[serving->requests.items[i].after] = i;
        }
    }
    app__mc_handle(router->station, APP__MC_PROGRAM, on_message, router);
    sim_timer_init(&router->timer, fired);
    skip_followers(router);
    if (next_ps(router) != SIM_TIME_NEVER) {
        sim_timer_arm(router->station->node, &router->timer, next_ps(router));
    }
}

void app__serving_router_fini(app__serving_router_t *router)
{
    if (router == NULL) {
        return;
    }
    SIM_FREE_ALL(router->followers, router->due, router->due_ps, router->load, router->last_given,
                 router->placed, router->held, router->lost, router->restarts, router->retries,
                 router->fetches, router);
}
