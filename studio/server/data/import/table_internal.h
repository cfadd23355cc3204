// SPDX-License-Identifier: Apache-2.0
// studio/server/data/import/table_internal.h - shared by the writer and the reader of tables.
#ifndef STUDIO_SERVER_DATA_IMPORT_TABLE_INTERNAL_H
#define STUDIO_SERVER_DATA_IMPORT_TABLE_INTERNAL_H

// Stands at the start and the end of each file; a new format gets a new number.
#define STUDIO_TABLE_MAGIC "rocesim table 1\n"
#define STUDIO_TABLE_MAGIC_BYTES 16u

#endif // STUDIO_SERVER_DATA_IMPORT_TABLE_INTERNAL_H
