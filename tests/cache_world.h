// SPDX-License-Identifier: Apache-2.0
// tests/cache_world.h - worlds for the tests of stores: a host with a detailed NIC runs contexts.
//
//     world_t world;
//     world_init(&world);
//     cache_world_run(&world, "cache.policy=lru", "tokens=100; pattern=scan");
//     cache_number(nic_of_interface(world.net, 0), "l1.hits");
//     world_fini(&world);
#ifndef TESTS_CACHE_WORLD_H
#define TESTS_CACHE_WORLD_H

#include "tests/app_fixture.h"

// Builds two hosts at a switch with the settings `nic` of detailed NICs, and runs the application
// contexts between them. All classes are lossless.
void cache_world_run(world_t *world, const char *nic, const char *program);
// Returns a number of the report of a NIC's store.
double cache_number(const nic_t *nic, const char *path);

#endif // TESTS_CACHE_WORLD_H
