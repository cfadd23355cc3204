// SPDX-License-Identifier: Apache-2.0
// tests/kernel/containers/test_list.c - intrusive lists keep the order of insertions.
//
// Goal: items stand where they were inserted, from both ends; removal from anywhere leaves the
// others; an item is in two lists at a time; a list of zeros is empty.
// Method: a few items whose order is written as text. (fuzz_list.c compares long
// sequences of operations with an array.)
// Not pinned: the fields of links.
#include "kernel/list.h"

#include <string.h>

#include "tests/check_main.h"

typedef struct item {
    char name;
    sim_link_t link; // not first, so that its offset counts
    sim_link_t other;
} item_t;

static item_t items[] = {{.name = 'a'}, {.name = 'b'}, {.name = 'c'}, {.name = 'd'}};

// Checks the names of a list from the first to the last and back.
static void expect(const sim_list_t *list, const char *names)
{
    const size_t count = strlen(names);
    size_t i = 0;
    for (const item_t *item = SIM_LIST_FIRST(list, item_t, link); item != NULL;
         item = SIM_LIST_NEXT(item, item_t, link)) {
        ck_assert_uint_lt(i, count);
        ck_assert_int_eq(item->name, names[i++]);
    }
    ck_assert_uint_eq(i, count);
    for (const item_t *item = SIM_LIST_LAST(list, item_t, link); item != NULL;
         item = SIM_LIST_PREVIOUS(item, item_t, link)) {
        ck_assert_int_eq(item->name, names[--i]);
    }
    ck_assert_uint_eq(i, 0);
}

START_TEST(items_stand_where_they_were_inserted)
{
    sim_list_t list = {NULL, NULL};
    expect(&list, "");
    sim_list_push_last(&list, &items[0].link);
    expect(&list, "a");
    sim_list_push_last(&list, &items[1].link);
    sim_list_push_first(&list, &items[2].link);
    expect(&list, "cab");
    sim_list_insert(&list, &items[3].link, &items[1].link);
    expect(&list, "cadb");
}
END_TEST

START_TEST(removal_leaves_the_others)
{
    sim_list_t list = {NULL, NULL};
    for (size_t i = 0; i < 4; i++) {
        sim_list_push_last(&list, &items[i].link);
    }
    sim_list_remove(&list, &items[1].link); // in the middle
    expect(&list, "acd");
    sim_list_remove(&list, &items[3].link); // the last one
    expect(&list, "ac");
    sim_list_remove(&list, &items[0].link); // the first one
    expect(&list, "c");
    sim_list_remove(&list, &items[2].link); // the only one
    expect(&list, "");
    sim_list_push_first(&list, &items[1].link);
    expect(&list, "b");
}
END_TEST

START_TEST(an_item_is_in_two_lists)
{
    sim_list_t list = {NULL, NULL};
    sim_list_t other = {NULL, NULL};
    for (size_t i = 0; i < 3; i++) {
        sim_list_push_last(&list, &items[i].link);
        sim_list_push_first(&other, &items[i].other);
    }
    sim_list_remove(&other, &items[1].other);
    expect(&list, "abc");
    ck_assert_ptr_eq(SIM_LIST_FIRST(&other, item_t, other), &items[2]);
    ck_assert_ptr_eq(SIM_LIST_LAST(&other, item_t, other), &items[0]);
}
END_TEST

CHECK_MAIN(CHECK_TEST(items_stand_where_they_were_inserted), CHECK_TEST(removal_leaves_the_others),
           CHECK_TEST(an_item_is_in_two_lists))
