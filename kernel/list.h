// SPDX-License-Identifier: Apache-2.0
// kernel/list.h - a doubly linked list whose links lie in its items.
//
// An item embeds a sim_link_t for each list that it can be in at the same time. The list allocates
// nothing and owns nothing: items must leave the list before they are freed. All zeros is an empty
// list. Every operation costs O(1). An item must not move in memory while it is in a list.
//
//     for (job_t *job = SIM_LIST_FIRST(&jobs, job_t, link); job != NULL;
//          job = SIM_LIST_NEXT(job, job_t, link)) {
#ifndef KERNEL_LIST_H
#define KERNEL_LIST_H

#include "kernel/base.h"

SIM_C_BEGIN

typedef struct sim_link {
    struct sim_link *previous; // NULL: this item is the first one
    struct sim_link *next;     // NULL: this item is the last one
} sim_link_t;

typedef struct sim_list {
    sim_link_t *first; // NULL: the list is empty
    sim_link_t *last;
} sim_list_t;

// Return the first or last item, or the neighbour of an item, as a pointer to its struct. They
// return NULL if there is none. `member` is the name of the item's link.
#define SIM_LIST_FIRST(list, type, member) \
    ((type *)sim__list_item((list)->first, offsetof(type, member)))
#define SIM_LIST_LAST(list, type, member) \
    ((type *)sim__list_item((list)->last, offsetof(type, member)))
#define SIM_LIST_NEXT(item, type, member) \
    ((type *)sim__list_item((item)->member.next, offsetof(type, member)))
#define SIM_LIST_PREVIOUS(item, type, member) \
    ((type *)sim__list_item((item)->member.previous, offsetof(type, member)))

static inline void *sim__list_item(sim_link_t *link, size_t offset_bytes)
{
    return link == NULL ? NULL : (char *)link - offset_bytes;
}

// Inserts a link that is in no list before `next`, a link of this list. NULL: at the end.
static inline void sim_list_insert(sim_list_t *list, sim_link_t *link, sim_link_t *next)
{
    sim_link_t *const previous = next == NULL ? list->last : next->previous;
    link->previous = previous;
    link->next = next;
    *(previous == NULL ? &list->first : &previous->next) = link;
    *(next == NULL ? &list->last : &next->previous) = link;
}

static inline void sim_list_push_first(sim_list_t *list, sim_link_t *link)
{
    sim_list_insert(list, link, list->first);
}

static inline void sim_list_push_last(sim_list_t *list, sim_link_t *link)
{
    sim_list_insert(list, link, NULL);
}

// Removes a link that is in this list. Both pointers of the link are NULL afterwards.
static inline void sim_list_remove(sim_list_t *list, sim_link_t *link)
{
    *(link->previous == NULL ? &list->first : &link->previous->next) = link->next;
    *(link->next == NULL ? &list->last : &link->next->previous) = link->previous;
    link->previous = link->next = NULL;
}

// Removes the first item and returns a pointer to its struct; NULL: the list is empty.
#define SIM_LIST_POP(list, type, member) \
    ((type *)sim__list_item(sim_list_pop(list), offsetof(type, member)))
static inline sim_link_t *sim_list_pop(sim_list_t *list)
{
    sim_link_t *const link = list->first;
    if (link != NULL) {
        sim_list_remove(list, link);
    }
    return link;
}

SIM_C_END

#endif // KERNEL_LIST_H
