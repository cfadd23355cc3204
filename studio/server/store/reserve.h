// SPDX-License-Identifier: Apache-2.0
// studio/server/store/reserve.h - disk space that is kept for the moment when the disk is full.
//
// A file of the data folder holds it. When the disk is nearly full, the file gives its space back,
// so that the database can record ends of runs, logins and deletions. It takes the space again
// later.
#ifndef STUDIO_SERVER_STORE_RESERVE_H
#define STUDIO_SERVER_STORE_RESERVE_H

#include "kernel/base.h"

typedef struct studio_reserve studio_reserve_t;

// Creates the reserve in the folder `data`, which must exist, and looks at the disk once.
studio_reserve_t *studio_reserve_create(const char *data);
void studio_reserve_destroy(studio_reserve_t *reserve);
// Looks at the free space of the disk, and releases the reserve or takes it again. Any thread may
// call it; it costs one system call. Returns whether the disk is full: then only work that needs no
// disk space, or frees some, should go on.
bool studio_reserve_look(studio_reserve_t *reserve);

#endif // STUDIO_SERVER_STORE_RESERVE_H
