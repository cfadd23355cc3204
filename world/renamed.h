// SPDX-License-Identifier: Apache-2.0
// world/renamed.h - attributes that had other names: scenarios that say those still mean them.
#ifndef WORLD_RENAMED_H
#define WORLD_RENAMED_H

// The path that an attribute has now; NULL: it never had that name.
const char *world_renamed(const char *path);

#endif // WORLD_RENAMED_H
