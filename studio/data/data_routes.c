// SPDX-License-Identifier: Apache-2.0
// studio/data/data_routes.c - the routes of what is in results.
#include "studio/http/route.h"
#include "studio/store/studio_store.h"

const studio_route_t studio_data_routes[] = {{0}};

const studio_migration_t studio_data_migrations[] = {{0, NULL}};
