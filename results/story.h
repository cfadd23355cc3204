// SPDX-License-Identifier: Apache-2.0
// results/story.h - a run in sentences, for people.
#ifndef RESULTS_STORY_H
#define RESULTS_STORY_H

#include <jansson.h>

#include "kernel/base.h"

SIM_C_BEGIN

// Returns the sentences about a run in the order in which they are read, as a list of texts. They
// are made of the fields of summary.json; fields that it lacks are not mentioned.
json_t *results_story(const json_t *summary);

SIM_C_END

#endif // RESULTS_STORY_H
