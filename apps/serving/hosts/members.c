// SPDX-License-Identifier: Apache-2.0
// apps/serving/hosts/members.c - messages between the leader of an instance and its other hosts
// (docs/models/serving.md).
//
// A message is sent until it is answered, for 30 s at most. Messages of a pair of hosts have
// numbers: each is handled once, and in its order. If one does not get through, or data cannot be
// moved between two hosts of the instance, the router takes the instance for lost.
#include "apps/serving/hosts/members.h"

#include "apps/serving/hosts/part.h"
#include "apps/serving/job.h"
#include "apps/serving/messages.h"
#include "apps/serving/transfers/cache.h"

#include <string.h>

#define TIMEOUT_PS (100 * SIM_PS_PER_MS)
#define RETRIES 4u // of one call
#define CALLS 60u
#define HEAD_WORDS 5u // APP__SERVING_INSIDE, number, what, and two words
#define STEP_WORDS 3u // time, tokens, kind
#define SHARE_WORDS 3u

typedef struct letter {
    app__serving_node_t *from;
    uint32_t to; // node
    uint32_t calls;
    size_t size;
    char body[];
} letter_t;

typedef struct early {
    sim_link_t link;
    uint64_t number;
    size_t size;
    char body[];
} early_t;

static app__serving_link_t *link_to(const app__serving_node_t *node, uint32_t other)
{
    const uint32_t number = node->serving->nodes[other].place.number;
    return &node->links[node->place.number == 0 ? number - 1 : 0];
}

// -- sending

static void call(const letter_t *letter);

static void answered(int32_t status, const char *body, size_t size, void *ctx)
{
    (void)body;
    (void)size;
    letter_t *const letter = ctx;
    if (status == SIM_OK || letter->from->lost || letter->from->broken) {
        return;
    }
    if (++letter->calls < CALLS) {
        call(letter);
    } else {
        app__serving_break(letter->from);
    }
}

static void call(const letter_t *letter)
{
    letter_t *const copy = sim_alloc(sizeof(*copy) + letter->size);
    memcpy(copy, letter, sizeof(*copy) + letter->size);
    const app__mc_message_t message = {APP__MC_PROGRAM, "serving", copy->body, copy->size};
    app__mc_ask(copy->from->station, 1 + copy->to, &message, TIMEOUT_PS, RETRIES, answered, copy,
                true);
}

static void send(app__serving_node_t *node, uint32_t to, const uint64_t *words, size_t count)
{
    letter_t *const letter = sim_alloc(sizeof(*letter) + count * sizeof(uint64_t));
    *letter = (letter_t){.from = node, .to = to, .size = count * sizeof(uint64_t)};
    for (size_t i = 0; i < count; i++) {
        const uint64_t word = i == 0   ? APP__SERVING_INSIDE
                              : i == 1 ? link_to(node, to)->sent++
                                       : words[i];
        app__mc_put64(letter->body + i * sizeof(uint64_t), word);
    }
    call(letter);
    sim_free(letter);
}

void app__serving_send_to_host(app__serving_node_t *node, uint32_t to, app__serving_inside_t what,
                               uint64_t first, uint64_t second)
{
    const uint64_t words[HEAD_WORDS] = {0, 0, what, first, second};
    send(node, to, words, HEAD_WORDS);
}

void app__serving_send_to_members(app__serving_node_t *leader, app__serving_inside_t what,
                                  uint64_t first, uint64_t second)
{
    for (uint32_t i = 1; i < leader->place.host_count; i++) {
        app__serving_send_to_host(leader, app__serving_host_of(leader->serving, leader->index, i),
                                  what, first, second);
    }
}

void app__serving_send_step(app__serving_node_t *leader, const app__serving_step_t *step)
{
    uint64_t *const words =
        sim_alloc_array(HEAD_WORDS + STEP_WORDS + SHARE_WORDS * step->share_count, sizeof(*words));
    uint64_t *at = words + HEAD_WORDS;
    words[2] = APP__SERVING_STEP;
    words[3] = step->id;
    *at++ = step->step_ps;
    *at++ = step->tokens;
    *at++ = step->kind;
    for (size_t i = 0; i < step->share_count; i++) {
        const app__serving_share_t *const share = &step->shares[i];
        if (share->sends) {
            *at++ = share->number | (uint64_t)share->peer << 32;
            *at++ = share->before;
            *at++ = share->tokens << 1 | share->granted;
            words[4]++;
        }
    }
    for (uint32_t i = 1; i < leader->place.host_count; i++) {
        send(leader, app__serving_host_of(leader->serving, leader->index, i), words,
             (size_t)(at - words));
    }
    sim_free(words);
}

void app__serving_break(app__serving_node_t *node)
{
    if (node->broken || node->lost) {
        return;
    }
    node->broken = true;
    const uint64_t words[3] = {node->place.leader, 0, 0};
    app__serving_send(node->serving, node->station, 0, APP__SERVING_BROKEN, 0, words);
}

// -- receiving

static app__serving_step_t *read_step(const char *body, size_t size)
{
    const size_t count = app__mc_get64(body + 32);
    SIM_CHECK(size == (HEAD_WORDS + STEP_WORDS + SHARE_WORDS * count) * sizeof(uint64_t));
    const char *at = body + HEAD_WORDS * sizeof(uint64_t);
    app__serving_step_t *const step = sim_alloc(sizeof(*step));
    *step = (app__serving_step_t){
        .id = app__mc_get64(body + 24),
        .step_ps = app__mc_get64(at),
        .tokens = app__mc_get64(at + 8),
        .kind = (uint8_t)app__mc_get64(at + 16),
        .shares = sim_alloc_array(count + 1, sizeof(app__serving_share_t)),
        .share_count = count,
        .share_capacity = count + 1,
    };
    at += STEP_WORDS * sizeof(uint64_t);
    for (size_t i = 0; i < count; i++) {
        const uint64_t who = app__mc_get64(at);
        const uint64_t tokens = app__mc_get64(at + 16);
        step->shares[i] = (app__serving_share_t){
            .number = (uint32_t)who,
            .peer = (uint32_t)(who >> 32),
            .before = app__mc_get64(at + 8),
            .tokens = tokens >> 1,
            .sends = true,
            .granted = (tokens & 1) != 0,
        };
        at += SHARE_WORDS * sizeof(uint64_t);
    }
    return step;
}

static void handle(app__serving_node_t *node, const char *body, size_t size)
{
    const uint64_t first = app__mc_get64(body + 24);
    const uint64_t second = app__mc_get64(body + 32);
    switch ((app__serving_inside_t)app__mc_get64(body + 16)) {
    case APP__SERVING_STEP:
        app__serving_step_arrived(node, read_step(body, size));
        break;
    case APP__SERVING_PART_GO:
        app__serving_part_granted(node, (uint32_t)first);
        break;
    case APP__SERVING_PART_DROP:
        app__serving_part_drop(node, (uint32_t)first);
        break;
    case APP__SERVING_PEER_LOST:
        node->lost_peers[first] = true;
        break;
    case APP__SERVING_PART_READ:
        app__serving_fetch_part(node, (uint32_t)first, second, (uint32_t)(first >> 32));
        break;
    case APP__SERVING_PART_KEEP:
        app__serving_store_part(node, (uint32_t)first, second);
        break;
    case APP__SERVING_PART_GOT:
        app__serving_member_fetched(node, (uint32_t)first, second != 0);
        break;
    case APP__SERVING_STEP_DONE:
        app__serving_step_done(node, first);
        break;
    case APP__SERVING_PART_SENT:
        app__serving_member_sent(node, (uint32_t)first, second != 0);
        break;
    }
}

void app__serving_inside_arrived(app__serving_node_t *node, uint32_t from, const char *body,
                                 size_t size)
{
    app__serving_link_t *const link = link_to(node, from);
    const uint64_t number = app__mc_get64(body + 8);
    if (number != link->taken) {
        early_t *const early = sim_alloc(sizeof(*early) + size);
        *early = (early_t){.number = number, .size = size};
        memcpy(early->body, body, size);
        sim_list_push_last(&link->early, &early->link); // one that was handled is freed below
    } else {
        link->taken++;
        handle(node, body, size);
    }
    early_t *at = SIM_LIST_FIRST(&link->early, early_t, link);
    while (at != NULL) {
        early_t *const early = at;
        at = SIM_LIST_NEXT(early, early_t, link);
        if (early->number > link->taken) {
            continue;
        }
        const bool next = early->number == link->taken;
        sim_list_remove(&link->early, &early->link);
        if (next) {
            link->taken++;
            handle(node, early->body, early->size);
            at = SIM_LIST_FIRST(&link->early, early_t, link);
        }
        sim_free(early);
    }
}

// -- creation

static uint32_t link_count(const app__serving_node_t *node)
{
    return node->place.host_count <= 1 ? 0
           : node->place.number == 0   ? node->place.host_count - 1
                                       : 1;
}

void app__serving_links_init(app__serving_node_t *node)
{
    node->links = sim_alloc_array((size_t)link_count(node) + 1, sizeof(app__serving_link_t));
}

void app__serving_links_fini(app__serving_node_t *node)
{
    for (uint32_t i = 0; i < link_count(node) && node->links != NULL; i++) {
        early_t *early = NULL;
        while ((early = SIM_LIST_POP(&node->links[i].early, early_t, link)) != NULL) {
            sim_free(early);
        }
    }
    sim_free(node->links);
}
