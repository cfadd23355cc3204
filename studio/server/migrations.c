// SPDX-License-Identifier: Apache-2.0
// studio/server/migrations.c - joins the lists of steps that create and change the rooms' tables.
#include "studio/server/store/database.h"

const studio_migrations_t studio_migrations_all[] = {
    {"store", studio_store_migrations},
    {"runs", studio_run_migrations},
    {"data", studio_data_migrations},
    {NULL, NULL},
};
