// SPDX-License-Identifier: Apache-2.0
// tests/kernel/containers/test_heap.c - heaps return their items in order.
//
// Goal: items leave in the order of their keys, whatever the order in which they came; an item can
// leave from the middle and change its key; the callback knows the place of every item; items of
// equal keys leave as from a std::priority_queue of C++.
// Method: the permutations of seven keys; a fixed sequence of equal keys whose result was taken
// from a C++ program. (fuzz_heap.c compares long sequences with a naive search.)
// Not pinned: the order of items inside the array.
#include "kernel/heap.h"

#include "tests/check_main.h"

#define COUNT 7

typedef struct item {
    uint32_t key;
    uint32_t number;
} item_t;

static size_t places[64]; // by number of an item

static bool is_before(const void *a, const void *b, const void *ctx)
{
    (void)ctx;
    return ((const item_t *)a)->key < ((const item_t *)b)->key;
}

static void note_place(const void *item, size_t at, const void *ctx)
{
    (void)ctx;
    places[((const item_t *)item)->number] = at;
}

static const sim_heap_order_t order = {sizeof(item_t), is_before, note_place};

static void check_places(const item_t *heap, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        SIM_CHECK(places[heap[i].number] == i); // millions of times: ck_assert takes too long
        SIM_CHECK(i == 0 || heap[(i - 1) / 2].key <= heap[i].key);
    }
}

// Fills a heap with the keys 0 to COUNT - 1 in the permutation of a number.
static void fill(item_t *heap, uint32_t permutation)
{
    bool used[COUNT] = {false};
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t skip = permutation % (COUNT - i);
        permutation /= COUNT - i;
        uint32_t key = 0;
        while (used[key] || skip-- > 0) {
            key++;
        }
        used[key] = true;
        heap[i] = (item_t){key, i};
        sim_heap_push(&order, NULL, heap, i + 1);
        check_places(heap, i + 1);
    }
}

START_TEST(items_leave_in_order)
{
    for (uint32_t permutation = 0; permutation < 5040; permutation++) {
        item_t heap[COUNT];
        fill(heap, permutation);
        for (uint32_t key = 0; key < COUNT; key++) {
            ck_assert_uint_eq(heap[0].key, key);
            sim_heap_pop(&order, NULL, heap, COUNT - key, 0);
            ck_assert_uint_eq(heap[COUNT - key - 1].key, key);
            check_places(heap, COUNT - key - 1);
        }
    }
}
END_TEST

START_TEST(any_item_leaves_or_changes)
{
    for (uint32_t permutation = 0; permutation < 5040; permutation += 7) {
        for (size_t at = 0; at < COUNT; at++) {
            item_t heap[COUNT];
            fill(heap, permutation);
            const item_t item = heap[at];
            sim_heap_pop(&order, NULL, heap, COUNT, at);
            ck_assert_uint_eq(heap[COUNT - 1].number, item.number);
            check_places(heap, COUNT - 1);
            for (uint32_t key = 0; key < COUNT; key += 3) {
                fill(heap, permutation);
                heap[at].key = key;
                sim_heap_update(&order, NULL, heap, COUNT, at);
                check_places(heap, COUNT);
            }
        }
    }
}
END_TEST

// Two pushes for each pop, then pops only. The numbers are the output of this program in C++ (GCC
// 12):
//     auto later = [](item a, item b) { return a.key > b.key; };
//     std::priority_queue<item, std::vector<item>, decltype(later)> heap(later);
//     for (unsigned i = 0; i < 16; i++) {
//         heap.push({i * 7 % 3, i}); if (i % 2) { print(heap.top().number); heap.pop(); }
//     }
//     for (; !heap.empty(); heap.pop()) print(heap.top().number);
START_TEST(equal_items_leave_as_in_c_plus_plus)
{
    static const uint32_t numbers[] = {0, 3, 1, 6, 9, 4, 12, 15, 10, 7, 13, 5, 11, 2, 8, 14};
    item_t heap[16];
    size_t count = 0;
    size_t popped = 0;
    for (uint32_t i = 0; i < 16; i++) {
        heap[count++] = (item_t){i * 7 % 3, i};
        sim_heap_push(&order, NULL, heap, count);
        if (i % 2 == 1) {
            ck_assert_uint_eq(heap[0].number, numbers[popped++]);
            sim_heap_pop(&order, NULL, heap, count--, 0);
        }
    }
    while (count > 0) {
        ck_assert_uint_eq(heap[0].number, numbers[popped++]);
        sim_heap_pop(&order, NULL, heap, count--, 0);
    }
    ck_assert_uint_eq(popped, SIM_COUNT_OF(numbers));
}
END_TEST

CHECK_MAIN(CHECK_TEST(items_leave_in_order), CHECK_TEST(any_item_leaves_or_changes),
           CHECK_TEST(equal_items_leave_as_in_c_plus_plus))
