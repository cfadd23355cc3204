// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/table_internal.h - what writing and reading of tables share.
#ifndef STUDIO_SERVER_DATA_IMPORT_TABLE_INTERNAL_H
#define STUDIO_SERVER_DATA_IMPORT_TABLE_INTERNAL_H

// At the head and at the end of each file; another number, another format.
#define STUDIO_TABLE_MAGIC "rocesim table 1\n"
#define STUDIO_TABLE_MAGIC_BYTES 16u

#endif // STUDIO_SERVER_DATA_IMPORT_TABLE_INTERNAL_H
