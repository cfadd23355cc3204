// SPDX-License-Identifier: Apache-2.0
// apps/programs/management/groups.c - the sorted list of the members of multicast groups.
#include "apps/programs/management/groups.h"

#include "kernel/base.h"

#include <string.h>

bool app__is_group(const uint8_t address[16])
{
    static const uint8_t v4[12] = {[10] = 0xff, [11] = 0xff};
    return memcmp(address, v4, sizeof(v4)) == 0 ? address[12] >> 4 == 14 : address[0] == 0xff;
}

static int compare(const app__member_t *a, const app__member_t *b)
{
    const int groups = memcmp(a->group, b->group, sizeof(a->group));
    if (groups != 0) {
        return groups;
    }
    if (a->interface != b->interface) {
        return a->interface < b->interface ? -1 : 1;
    }
    return a->qp_num == b->qp_num ? 0 : a->qp_num < b->qp_num ? -1 : 1;
}

bool app__groups_change(app__groups_t *groups, const app__member_t *member, bool joins)
{
    size_t at = 0;
    while (at < groups->count && compare(&groups->members[at], member) < 0) {
        at++;
    }
    const bool is_there = at < groups->count && compare(&groups->members[at], member) == 0;
    size_t others = 0;
    (void)app__groups_find(groups, member->group, &others);
    if (is_there == joins || (joins && others >= APP__GROUP_MEMBERS_MAX)) {
        return false;
    }
    const size_t behind = groups->count - at - (is_there ? 1 : 0);
    if (joins) {
        SIM_APPEND(groups->members, groups->count, groups->capacity, *member);
        memmove(&groups->members[at + 1], &groups->members[at], behind * sizeof(*member));
        groups->members[at] = *member;
    } else {
        memmove(&groups->members[at], &groups->members[at + 1], behind * sizeof(*member));
        groups->count--;
    }
    return true;
}

const app__member_t *app__groups_find(const app__groups_t *groups, const uint8_t group[16],
                                      size_t *count)
{
    size_t first = 0;
    while (first < groups->count && memcmp(groups->members[first].group, group, 16) != 0) {
        first++;
    }
    *count = 0;
    while (first + *count < groups->count &&
           memcmp(groups->members[first + *count].group, group, 16) == 0) {
        (*count)++;
    }
    return *count == 0 ? NULL : &groups->members[first];
}

void app__groups_fini(app__groups_t *groups)
{
    sim_free(groups->members);
}
