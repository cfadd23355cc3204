// SPDX-License-Identifier: Apache-2.0
// cli/meta/meta.h - `rocesim mooncake-meta`: the records of the Transfer Engine go to a
// real metadata service and come from there (docs/models/mooncake.md).
#ifndef CLI_META_META_H
#define CLI_META_META_H

#include "world/error.h"

#include <stdio.h>

typedef struct cli_meta_options {
    const char *action; // "export", "import", "dump"
    const char *from;   // export, dump: a result folder or a file of records; NULL: none
    const char *etcd;   // URL; NULL: none
    const char *memcached;
} cli_meta_options_t;

// export: what a run's metadata node held, into the service. import: all records of the service
// whose keys begin with "mooncake/", as JSON, to out. dump: of a run, as JSON, to out. Every record
// is read as the engine reads it: one that it would refuse is an error.
SIM_MUST_CHECK sim_err_t cli_meta(const cli_meta_options_t *options,
                                  FILE *out,
                                  world_error_t *error);

#endif // CLI_META_META_H
