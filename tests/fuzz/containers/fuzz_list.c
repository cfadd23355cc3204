// SPDX-License-Identifier: Apache-2.0
// labels: clang
// tests/fuzz/containers/fuzz_list.c - a list beside an array of the same items.
//
// Each byte is an operation: two bits choose it, six bits an item. An item that is in the list
// leaves it, one that is not enters it.
#include "kernel/list.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

#define ITEMS 64

typedef struct item {
    bool listed;
    sim_link_t link;
} item_t;

typedef struct model {
    item_t *order[ITEMS];
    size_t count;
} model_t;

static size_t place_of(const model_t *model, const item_t *item)
{
    size_t at = 0;
    while (at < model->count && model->order[at] != item) {
        at++;
    }
    return at;
}

static void insert(model_t *model, size_t at, item_t *item)
{
    memmove((void *)&model->order[at + 1], (const void *)&model->order[at],
            (model->count++ - at) * sizeof(*model->order));
    model->order[at] = item;
}

static void compare(const model_t *model, const sim_list_t *list)
{
    size_t at = 0;
    for (const item_t *item = SIM_LIST_FIRST(list, item_t, link); item != NULL;
         item = SIM_LIST_NEXT(item, item_t, link)) {
        SIM_CHECK(at < model->count && model->order[at++] == item);
    }
    SIM_CHECK(at == model->count);
    for (const item_t *item = SIM_LIST_LAST(list, item_t, link); item != NULL;
         item = SIM_LIST_PREVIOUS(item, item_t, link)) {
        SIM_CHECK(model->order[--at] == item);
    }
    SIM_CHECK(at == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    item_t items[ITEMS] = {{.listed = false}};
    sim_list_t list = {NULL, NULL};
    model_t model = {.count = 0};
    for (size_t i = 0; i < size; i++) {
        item_t *const item = &items[data[i] % ITEMS];
        if (item->listed) {
            const size_t at = place_of(&model, item);
            sim_list_remove(&list, &item->link);
            memmove((void *)&model.order[at], (const void *)&model.order[at + 1],
                    (--model.count - at) * sizeof(*model.order));
        } else if (data[i] / ITEMS == 0) {
            sim_list_push_first(&list, &item->link);
            insert(&model, 0, item);
        } else if (data[i] / ITEMS == 1) {
            sim_list_push_last(&list, &item->link);
            insert(&model, model.count, item);
        } else {
            const size_t at = data[i] / ITEMS == 2 ? model.count / 2 : model.count;
            sim_list_insert(&list, &item->link, at < model.count ? &model.order[at]->link : NULL);
            insert(&model, at, item);
        }
        item->listed = !item->listed;
        compare(&model, &list);
    }
    return 0;
}
