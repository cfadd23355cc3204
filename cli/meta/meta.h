// SPDX-License-Identifier: Apache-2.0
// cli/meta/meta.h - `rocesim mooncake-meta`: copies the Transfer Engine's records to and from a
// real metadata service (docs/models/mooncake.md).
#ifndef CLI_META_META_H
#define CLI_META_META_H

#include "world/error.h"

#include <stdio.h>

typedef struct cli_meta_options {
    const char *action; // "export", "import", "dump"
    const char *from;   // export, dump: a result folder or a file of records; NULL: not given
    const char *etcd;   // URL; NULL: not given
    const char *memcached;
} cli_meta_options_t;

// Runs an action. export: stores the records that a run wrote in the service, and deletes there
// those that the run removed. import: prints the service's records whose keys begin with
// "mooncake/" to `out`, as JSON. dump: prints the records of a run to `out`. A record that the
// engine could not read is an error.
SIM_MUST_CHECK sim_err_t cli_meta(const cli_meta_options_t *options, FILE *out,
                                  world_error_t *error);

#endif // CLI_META_META_H
