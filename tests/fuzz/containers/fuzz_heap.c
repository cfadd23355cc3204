// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/containers/fuzz_heap.c - a heap beside a search for the first of all items.
//
// Each pair of bytes is an operation and a key: push, pop of the first item, removal or change of
// any item.
#include "kernel/heap.h"

#include "tests/fuzz/fuzz.h"

#define ITEMS_MAX 256

typedef struct item {
    uint8_t key;
    uint32_t number; // makes the order total
} item_t;

typedef struct state {
    item_t heap[ITEMS_MAX];
    size_t count;
    size_t *places; // by number
} state_t;

static bool is_before(const void *a, const void *b, const void *ctx)
{
    (void)ctx;
    const item_t *const one = a;
    const item_t *const two = b;
    return one->key != two->key ? one->key < two->key : one->number < two->number;
}

static void note_place(const void *item, size_t at, const void *ctx)
{
    ((const state_t *)ctx)->places[((const item_t *)item)->number] = at;
}

static const sim_heap_order_t order = {sizeof(item_t), is_before, note_place};

static void check(const state_t *state)
{
    for (size_t i = 0; i < state->count; i++) {
        SIM_CHECK(state->places[state->heap[i].number] == i);
        SIM_CHECK(i == 0 || is_before(&state->heap[0], &state->heap[i], NULL));
    }
}

static void change(state_t *state, uint8_t operation, uint8_t key, uint32_t number)
{
    const size_t at = state->count == 0 ? 0 : (operation >> 2) % state->count;
    if (operation % 4 < 2 && state->count < ITEMS_MAX) {
        state->heap[state->count++] = (item_t){key, number};
        sim_heap_push(&order, state, state->heap, state->count);
    } else if (state->count == 0) {
        return;
    } else if (operation % 4 == 2) {
        const item_t item = state->heap[at];
        sim_heap_pop(&order, state, state->heap, state->count--, at);
        SIM_CHECK(state->heap[state->count].number == item.number);
    } else {
        state->heap[at].key = key;
        sim_heap_update(&order, state, state->heap, state->count, at);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    state_t *const state = sim_alloc(sizeof(*state));
    state->places = sim_alloc_array(size + 1, sizeof(size_t));
    for (size_t i = 0; i + 1 < size; i += 2) {
        change(state, data[i], data[i + 1], (uint32_t)i);
        check(state);
    }
    for (item_t last = {0, 0}; state->count > 0; state->count--) {
        const item_t first = state->heap[0];
        SIM_CHECK(!is_before(&first, &last, NULL));
        last = first;
        sim_heap_pop(&order, state, state->heap, state->count, 0);
    }
    sim_free(state->places);
    sim_free(state);
    return 0;
}
