// SPDX-License-Identifier: Apache-2.0
// results/outputs_page.h - the reference of the result files.
#ifndef RESULTS_OUTPUTS_PAGE_H
#define RESULTS_OUTPUTS_PAGE_H

#include "kernel/base.h"

#include <stdio.h>

SIM_C_BEGIN

// Prints the reference page docs/formats/outputs.md.
void results_outputs_markdown(FILE *out);

SIM_C_END

#endif // RESULTS_OUTPUTS_PAGE_H
