// SPDX-License-Identifier: Apache-2.0
// world/registry/renamed.h - attributes that had other names. A scenario with an old name still
// works, or the error says what to write instead.
#ifndef WORLD_REGISTRY_RENAMED_H
#define WORLD_REGISTRY_RENAMED_H

typedef struct world_renamed {
    const char *before;
    const char *now;     // its path today; NULL: there is no single one
    const char *instead; // what to write then
} world_renamed_t;

const world_renamed_t *world_renamed(const char *path); // NULL: it never had that name

#endif // WORLD_REGISTRY_RENAMED_H
