// SPDX-License-Identifier: Apache-2.0
// apps/herd/store/city_hash.h - CityHash128, version 1.0, of short strings: it makes HERD's keys.
//
// Version 1.1 of the function gives other values. The code follows the description of the
// algorithm. Strings of 128 bytes and more, which take another path in the original, are not
// supported.
#ifndef APPS_HERD_STORE_CITY_HASH_H
#define APPS_HERD_STORE_CITY_HASH_H

#include "kernel/base.h"

SIM_C_BEGIN

#define APP_CITY_BYTES_MAX 127u

typedef struct app_city128 {
    uint64_t low;
    uint64_t high;
} app_city128_t;

// Returns the hash of a string of at most APP_CITY_BYTES_MAX bytes.
app_city128_t app_city_hash128(const void *bytes, size_t length_bytes);

SIM_C_END

#endif // APPS_HERD_STORE_CITY_HASH_H
