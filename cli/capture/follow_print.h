// SPDX-License-Identifier: Apache-2.0
// cli/capture/follow_print.h - prints the journeys of a packet.
#ifndef CLI_CAPTURE_FOLLOW_PRINT_H
#define CLI_CAPTURE_FOLLOW_PRINT_H

#include "cli/capture/follow_internal.h"

void cli__follow_print_text(const follow_t *follow);
void cli__follow_print_json(const follow_t *follow);

#endif // CLI_CAPTURE_FOLLOW_PRINT_H
