// SPDX-License-Identifier: Apache-2.0
// cli/explain/order.h - sorts many numbers.
#ifndef CLI_EXPLAIN_ORDER_H
#define CLI_EXPLAIN_ORDER_H

#include "kernel/base.h"

// Sorts keys in ascending order, and a value of each key with it; equal keys keep their order.
// `values` may be NULL. Time is proportional to count (radix sort), or less if they are in order.
void cli__explain_sort(uint64_t *keys, uint32_t *values, size_t count);

#endif // CLI_EXPLAIN_ORDER_H
