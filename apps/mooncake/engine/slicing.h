// SPDX-License-Identifier: Apache-2.0
// apps/mooncake/engine/slicing.h - slices of a request, and the choice among NICs and buffers.
#ifndef APPS_MOONCAKE_ENGINE_SLICING_H
#define APPS_MOONCAKE_ENGINE_SLICING_H

#include "apps/mooncake_descriptions.h"

// Number of slices of slice_bytes; a tail shorter than fragment_bytes joins the last slice.
uint64_t app__mooncake_slice_count(uint64_t length, uint64_t slice_bytes, uint64_t fragment_bytes);
uint64_t app__mooncake_slice_length(uint64_t length, uint64_t slice_bytes, uint64_t fragment_bytes,
                                    uint64_t index);

// Number of NICs in the two lists of a location.
typedef struct app__mooncake_choice {
    uint32_t preferred;
    uint32_t available;
} app__mooncake_choice_t;
// Returns the position of a NIC in the two lists, one after the other. The first attempt takes a
// random one of the first list (of the second if the first is empty). Each retry takes another one,
// the rest of the first list before the second. `first` is the result of the first attempt.
uint32_t app__mooncake_choose(const app__mooncake_choice_t *choice, uint32_t retry, uint64_t random,
                              uint32_t first);
// Returns the index of the NIC that a name means: the number it ends with.
bool app__mooncake_nic_index(const char *name, uint32_t *index);

const app_mooncake_priority_t *app__mooncake_priority(const app_mooncake_matrix_t *matrix,
                                                      const char *location);
void app__mooncake_matrix_copy(app_mooncake_matrix_t *to, const app_mooncake_matrix_t *from);
// Returns the buffer that holds the whole range, or NULL.
const app_mooncake_buffer_t *app__mooncake_buffer_of(const app_mooncake_segment_desc_t *desc,
                                                     uint64_t address, uint64_t length);

#endif // APPS_MOONCAKE_ENGINE_SLICING_H
