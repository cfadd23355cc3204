// SPDX-License-Identifier: Apache-2.0
// apps/serving/router.c - gives each request its prefill and decode node when it arrives
// (docs/models/serving.md).
//
// The router knows what it has given to nodes and what they have told it since. It does not know
// how many tokens a request will generate.
#include "apps/serving/serving.h"

// -- closed-loop requests that are due, as a heap by time and number

static bool is_before(const app__serving_t *serving, uint32_t a, uint32_t b)
{
    return serving->due_ps[a] < serving->due_ps[b] ||
           (serving->due_ps[a] == serving->due_ps[b] && a < b);
}

static void push_due(app__serving_t *serving, uint32_t number)
{
    uint32_t *const heap = serving->due;
    uint32_t at = serving->due_count++;
    while (at > 0 && is_before(serving, number, heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = number;
}

static uint32_t pop_due(app__serving_t *serving)
{
    uint32_t *const heap = serving->due;
    const uint32_t first = heap[0];
    const uint32_t last = heap[--serving->due_count];
    uint32_t at = 0;
    while (2 * at + 1 < serving->due_count) {
        uint32_t child = 2 * at + 1;
        child += child + 1 < serving->due_count && is_before(serving, heap[child + 1], heap[child]);
        if (!is_before(serving, heap[child], last)) {
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
static uint64_t load_of(const app__serving_t *serving, uint32_t node)
{
    const bool both = serving->node_count == serving->prefill_count;
    return node >= serving->prefill_count ? serving->held[node]
           : both                         ? serving->load[node] + serving->held[node]
                                          : serving->load[node];
}

// Returns the first node from `at` on, among [first, first + count), that is not lost.
static uint32_t alive_from(const app__serving_t *serving, uint32_t first, uint32_t count,
                           uint32_t at)
{
    for (uint32_t i = 0; i < count && serving->lost[first + at]; i++) {
        at = (at + 1) % count;
    }
    return first + at;
}

// Chooses one of the nodes [first, first + count).
static uint32_t choose(app__serving_t *serving, uint32_t number, uint32_t first, uint32_t count,
                       uint64_t *turn)
{
    if (serving->config.route == APP__SERVING_ROUND_ROBIN) {
        return alive_from(serving, first, count, (uint32_t)((*turn)++ % count));
    }
    if (serving->config.route == APP__SERVING_RANDOM) {
        return alive_from(serving, first, count,
                          (uint32_t)sim_random_below(&serving->random, count));
    }
    // Among equal nodes, the router takes the one that has waited longest for a request.
    const bool aware = serving->config.route == APP__SERVING_CACHE_AWARE && first == 0;
    uint32_t best = first;
    uint64_t least = UINT64_MAX;
    for (uint32_t n = first; n < first + count; n++) {
        const uint64_t prompt = app__serving_request(serving, number)->prompt_tokens;
        const uint64_t cost =
            load_of(serving, n) + (aware ? prompt - app__serving_cached(serving, n, number) : 0);
        if (!serving->lost[n] &&
            (cost < least || (cost == least && serving->turns[n] < serving->turns[best]))) {
            best = n;
            least = cost;
        }
    }
    serving->turns[best] = serving->arrived;
    return best;
}

bool app__serving_fits(const app__serving_t *serving, uint32_t number)
{
    const app__request_t *const request = &serving->requests.items[number];
    const uint64_t all = (uint64_t)request->prompt_tokens + request->output_tokens;
    return app__serving_pages(serving, request->prompt_tokens) <= serving->nodes[0].pages &&
           app__serving_pages(serving, all) <= serving->nodes[serving->node_count - 1].pages;
}

static void settle(app__serving_t *serving, uint32_t number)
{
    const uint32_t next = serving->followers[number];
    const sim_time_t now_ps = serving->router->node->now_ps;
    serving->attempts[number].settled_ps = now_ps;
    serving->settled++;
    if (next != APP__REQUEST_NONE) {
        const app__request_t *const request = &serving->requests.items[next];
        serving->due_ps[next] = now_ps + request->arrival_ps +
                                (serving->attempts[number].refused ? request->refused_ps : 0);
        push_due(serving, next);
    }
}

static bool is_settled(const app__serving_t *serving, uint32_t number)
{
    return serving->attempts[number].settled_ps != SIM_TIME_NEVER;
}

// Returns the latest attempt of a request.
static uint32_t attempt_of(const app__serving_t *serving, uint32_t number)
{
    return serving->retries[number] * serving->requests.count + number;
}

// Returns the node whose NICs fetch from the store for a request.
static uint32_t fetcher_of(const app__serving_attempt_t *attempt)
{
    return attempt->through_decode ? attempt->decode : attempt->prefill;
}

// Returns whether the store sends KV data for a attempt by its decode node.
static bool takes_second_path(app__serving_t *serving, const app__serving_attempt_t *attempt)
{
    const uint32_t path = serving->config.storage_path;
    if (path == APP__SERVING_ALTERNATE) {
        return serving->path_turn++ % 2 == 1;
    }
    return path == APP__SERVING_DUAL &&
           serving->fetches[attempt->decode] < serving->fetches[attempt->prefill];
}

// Adds a attempt to the load of its nodes, and tells its prefill node where cached KV data is.
static void place(app__serving_t *serving, uint32_t number)
{
    app__serving_attempt_t *const attempt = &serving->attempts[number];
    const uint64_t prompt = app__serving_request(serving, number)->prompt_tokens;
    app__serving_cached_t cached;
    app__serving_find_cached(serving, number, &cached);
    attempt->reused = cached.own + cached.fetched;
    attempt->weight = prompt - attempt->reused;
    attempt->placed = true;
    serving->load[attempt->prefill] += attempt->weight;
    serving->held[attempt->decode] += prompt;
    serving->placed[attempt->decode]++;
    if (cached.fetched > 0 && cached.source == serving->node_count) {
        attempt->through_decode = attempt->decode != attempt->prefill && cached.own == 0 &&
                                  takes_second_path(serving, attempt);
        attempt->fetched = cached.fetched;
        serving->fetches[fetcher_of(attempt)] += cached.fetched;
    }
    const uint64_t words[3] = {
        attempt->decode | (attempt->through_decode ? APP__SERVING_THROUGH_DECODE : 0),
        cached.own | cached.fetched << 32,
        cached.source,
    };
    app__serving_send(serving, serving->router, 1 + attempt->prefill, APP__SERVING_JOB, number,
                      words);
}

// Takes the prompt of an attempt off the load of its prefill node.
static void count_computed(app__serving_t *serving, app__serving_attempt_t *attempt)
{
    if (!attempt->computed) {
        attempt->computed = true;
        serving->load[attempt->prefill] -= attempt->weight;
        serving->fetches[fetcher_of(attempt)] -= attempt->fetched;
    }
}

// Takes a attempt off the load of its nodes.
static void take_off(app__serving_t *serving, uint32_t number)
{
    app__serving_attempt_t *const attempt = &serving->attempts[number];
    count_computed(serving, attempt);
    serving->held[attempt->decode] -= app__serving_request(serving, number)->prompt_tokens;
    serving->placed[attempt->decode]--;
    attempt->placed = false;
}

// Chooses the nodes of an attempt. False: none is left.
static bool choose_nodes(app__serving_t *serving, uint32_t number)
{
    app__serving_attempt_t *const attempt = &serving->attempts[number];
    const uint32_t decodes = serving->node_count - serving->prefill_count;
    attempt->prefill = choose(serving, number, 0, serving->prefill_count, &serving->turn);
    attempt->decode = decodes == 0 ? attempt->prefill
                                   : choose(serving, number, serving->prefill_count, decodes,
                                            &serving->decode_turn);
    return !serving->lost[attempt->prefill] && !serving->lost[attempt->decode];
}

static void refuse(app__serving_t *serving, uint32_t number)
{
    serving->attempts[number].refused = true;
    serving->refused++;
    settle(serving, number);
}

static void fail(app__serving_t *serving, uint32_t number)
{
    serving->attempts[number].failed = true;
    sim_work_end(serving->router->node, 1);
    settle(serving, number);
}

static void arrive(app__serving_t *serving, uint32_t number)
{
    serving->attempts[number].arrival_ps = serving->router->node->now_ps;
    serving->arrived++;
    if (!app__serving_fits(serving, number)) {
        serving->too_long++;
        refuse(serving, number);
        return;
    }
    const bool found = choose_nodes(serving, number);
    if (found && !app__serving_admits(serving, number)) {
        refuse(serving, number);
        return;
    }
    sim_work_begin(serving->router->node, 1);
    if (found) {
        place(serving, number);
    } else {
        fail(serving, number);
    }
}

// Places a request on other nodes, if it may be placed once more; else it fails.
static void place_again(app__serving_t *serving, uint32_t number)
{
    const sim_time_t arrival_ps = serving->attempts[number].arrival_ps;
    take_off(serving, attempt_of(serving, number));
    if (serving->retries[number] + 1u == serving->attempts_max) {
        fail(serving, number);
        return;
    }
    serving->retries[number]++;
    serving->attempts[attempt_of(serving, number)].arrival_ps = arrival_ps;
    if (!choose_nodes(serving, attempt_of(serving, number))) {
        fail(serving, number);
        return;
    }
    serving->placed_again++;
    place(serving, attempt_of(serving, number));
}

static sim_time_t next_ps(const app__serving_t *serving)
{
    sim_time_t first_ps = SIM_TIME_NEVER;
    if (serving->next < serving->requests.count) {
        first_ps = serving->config.start_ps + serving->requests.items[serving->next].arrival_ps;
    }
    if (serving->due_count > 0 && serving->due_ps[serving->due[0]] < first_ps) {
        first_ps = serving->due_ps[serving->due[0]];
    }
    return first_ps;
}

static void skip_followers(app__serving_t *serving)
{
    const app__requests_t *const requests = &serving->requests;
    while (serving->next < requests->count &&
           requests->items[serving->next].after != APP__REQUEST_NONE) {
        serving->next++;
    }
}

static void serve_arrivals(app__serving_t *serving)
{
    sim_node_t *const node = serving->router->node;
    while (next_ps(serving) <= node->now_ps) {
        if (serving->due_count > 0 && serving->due_ps[serving->due[0]] <= node->now_ps) {
            arrive(serving, pop_due(serving));
        } else {
            arrive(serving, serving->next++);
            skip_followers(serving);
        }
    }
    if (next_ps(serving) != SIM_TIME_NEVER) {
        sim_timer_arm(node, &serving->timer, next_ps(serving));
    }
}

void app__serving_router_lose(app__serving_t *serving, uint32_t node)
{
    const uint64_t words[3] = {node, serving->restarts[node], 0};
    if (serving->lost[node]) {
        return;
    }
    serving->lost[node] = true;
    app__serving_cache_forget(serving, node);
    for (uint32_t n = 0; n < serving->node_count; n++) {
        // One of several hosts may still be there, and must stop.
        if (!serving->lost[n] || (n == node && serving->nodes[n].place.host_count > 1)) {
            app__serving_send(serving, serving->router, 1 + n, APP__SERVING_LOST, 0, words);
        }
    }
    for (uint32_t i = 0; i < serving->requests.count; i++) {
        const app__serving_attempt_t *const attempt = &serving->attempts[attempt_of(serving, i)];
        // A decode node knows whether it has the KV data of a computed prompt.
        if (attempt->placed && !is_settled(serving, i) &&
            (attempt->decode == node || (attempt->prefill == node && !attempt->computed))) {
            place_again(serving, i);
        }
    }
    serve_arrivals(serving);
}

void app__serving_router_restore(app__serving_t *serving, uint32_t node)
{
    SIM_CHECK(serving->lost[node]);
    serving->lost[node] = false;
    serving->restarts[node]++;
    for (uint32_t n = 0; n < serving->node_count; n++) {
        const uint64_t back[3] = {node, serving->restarts[node], 0};
        const uint64_t other[3] = {n, serving->restarts[n], 0};
        if (!serving->lost[n]) {
            app__serving_send(serving, serving->router, 1 + n, APP__SERVING_BACK, 0, back);
        }
        // The node itself learns what it has missed.
        if (n != node && serving->restarts[n] > 0) {
            app__serving_send(serving, serving->router, 1 + node, APP__SERVING_BACK, 0, other);
        }
        if (serving->lost[n]) {
            app__serving_send(serving, serving->router, 1 + node, APP__SERVING_LOST, 0, other);
        }
    }
}

static void fired(sim_node_t *node, sim_timer_t *timer)
{
    app__serving_t *const serving = SIM_CONTAINER_OF(timer, app__serving_t, timer);
    sim_progress(node);
    serve_arrivals(serving);
}

// -- messages

static void on_computed(app__serving_t *serving, uint32_t number)
{
    app__serving_attempt_t *const attempt = &serving->attempts[number];
    if (attempt->placed) {
        count_computed(serving, attempt);
        app__serving_cache_keep(serving, number);
    }
}

static void on_ended(app__serving_t *serving, uint32_t attempt, bool failed)
{
    const uint32_t number = attempt % serving->requests.count;
    if (is_settled(serving, number) || (failed && attempt != attempt_of(serving, number))) {
        return; // it was placed again
    }
    if (failed) {
        place_again(serving, number);
    } else {
        if (serving->attempts[attempt_of(serving, number)].placed) {
            take_off(serving, attempt_of(serving, number));
        }
        sim_work_end(serving->router->node, 1);
        settle(serving, number);
    }
    serve_arrivals(serving);
}

void app__serving_router_unreachable(app__serving_t *serving, uint32_t number)
{
    const app__serving_attempt_t *const attempt = &serving->attempts[number];
    const uint32_t nodes[2] = {attempt->prefill, attempt->decode};
    for (uint32_t i = 0; i < 2 && (i == 0 || nodes[1] != nodes[0]); i++) {
        if (!serving->lost[nodes[i]]) {
            app__serving_send(serving, serving->router, 1 + nodes[i], APP__SERVING_GIVEN_UP, number,
                              NULL);
        }
    }
    on_ended(serving, number, true);
}

static void on_message(app__mc_station_t *station, const app__mc_incoming_t *incoming, void *ctx)
{
    app__serving_t *const serving = ctx;
    app__mc_answer(station, incoming->peer, incoming->id, SIM_OK, "", 0);
    const uint64_t kind = app__mc_get64(incoming->body);
    const uint32_t number = (uint32_t)app__mc_get64(incoming->body + 8);
    SIM_CHECK(number < serving->attempts_max * serving->requests.count);
    if (kind == APP__SERVING_BROKEN) {
        sim_progress(station->node);
        app__serving_router_lose(serving, (uint32_t)app__mc_get64(incoming->body + 16));
        return;
    }
    uint16_t *const seen = &serving->jobs[number].seen_by_router;
    if (*seen & 1u << kind) {
        return; // a message that arrived twice
    }
    *seen |= (uint16_t)(1u << kind);
    sim_progress(station->node);
    if (kind == APP__SERVING_COMPUTED) {
        on_computed(serving, number);
    } else {
        SIM_CHECK(kind == APP__SERVING_ENDED);
        if (app__mc_get64(incoming->body + 24) != 0) {
            app__serving_router_unreachable(serving, number);
            return;
        }
        on_ended(serving, number, app__mc_get64(incoming->body + 16) != 0);
    }
}

void app__serving_router_begin(app__serving_t *serving)
{
    const uint32_t count = serving->requests.count;
    serving->router = &serving->cluster->stations[0];
    serving->followers = sim_alloc_array(count, sizeof(*serving->followers));
    serving->due = sim_alloc_array(count, sizeof(*serving->due));
    serving->due_ps = sim_alloc_array(count, sizeof(*serving->due_ps));
    serving->load = sim_alloc_array(serving->node_count, sizeof(*serving->load));
    serving->fetches = sim_alloc_array(serving->node_count, sizeof(*serving->fetches));
    serving->lost = sim_alloc_array(serving->node_count, sizeof(*serving->lost));
    serving->restarts = sim_alloc_array(serving->node_count, sizeof(*serving->restarts));
    serving->retries = sim_alloc_array(count, sizeof(*serving->retries));
    serving->held = sim_alloc_array(serving->node_count, sizeof(*serving->held));
    serving->placed = sim_alloc_array(serving->node_count, sizeof(*serving->placed));
    serving->turns = sim_alloc_array(serving->node_count, sizeof(*serving->turns));
    for (uint32_t i = 0; i < count; i++) {
        serving->followers[i] = APP__REQUEST_NONE;
        if (serving->requests.items[i].after != APP__REQUEST_NONE) {
            serving->followers[serving->requests.items[i].after] = i;
        }
    }
    app__mc_handle(serving->router, APP__MC_PROGRAM, on_message, serving);
    sim_timer_init(&serving->timer, fired);
    skip_followers(serving);
    if (next_ps(serving) != SIM_TIME_NEVER) {
        sim_timer_arm(serving->router->node, &serving->timer, next_ps(serving));
    }
}

void app__serving_router_fini(app__serving_t *serving)
{
    sim_free(serving->followers);
    sim_free(serving->due);
    sim_free(serving->due_ps);
    sim_free(serving->load);
    sim_free(serving->turns);
    sim_free(serving->placed);
    sim_free(serving->held);
    sim_free(serving->lost);
    sim_free(serving->restarts);
    sim_free(serving->retries);
    sim_free(serving->fetches);
}
