// SPDX-License-Identifier: Apache-2.0
// apps/herd/notes.c - warnings before the run about settings of HERD that are hardly intended
// (docs/models/herd.md).
#include <inttypes.h>
#include <stdio.h>

#include "apps/herd/herd.h"
#include "kernel/digits.h"

#define FRAME_BYTES 128u // approximate size of a request or answer

static bool loses_frames(const net_t *net)
{
    for (size_t i = 0; i < net_link_count(net); i++) {
        if (net_link_config(net, i)->loss_rate.num > 0) {
            return true;
        }
    }
    return false;
}

// Warns of a timeout beyond the measured time on lossy links: each lost frame blocks a client's
// oldest request for a timeout, so clients would stop one after the other.
static void note_timeout(const app__herd_t *herd, const app_context_t *context)
{
    const app__herd_config_t *const config = &herd->config;
    if (context->note == NULL || config->timeout_ps < config->span.measure_ps ||
        !loses_frames(context->net)) {
        return;
    }
    char text[256];
    (void)snprintf(
        text, sizeof(text),
        "traffic %" PRIu32
        ", herd: links lose frames, and a lost request is only sent again after `timeout` "
        "(%s us), which is longer than `measure` (%s us): set a shorter timeout",
        context->index, SIM_DIGITS((double)config->timeout_ps / 1e6, 6),
        SIM_DIGITS((double)config->span.measure_ps / 1e6, 6));
    context->note(text, context->ctx);
}

// Warns of a timeout below the round trip between the last client's machine and the first server.
static void note_round_trip(const app__herd_t *herd, const app_context_t *context)
{
    const uint32_t server = herd->machines[0].endpoint->interface;
    const uint32_t client = herd->machines[herd->machine_count - 1].endpoint->interface;
    net_path_t there;
    net_path_t back;
    if (context->note == NULL || server == client ||
        !net_path_of(context->net, client, server, 0, &there) ||
        !net_path_of(context->net, server, client, 0, &back)) {
        return;
    }
    const sim_time_t trip_ps =
        net_path_time_ps(&there, 1, FRAME_BYTES, 0) + net_path_time_ps(&back, 1, FRAME_BYTES, 0);
    if (trip_ps < herd->config.timeout_ps) {
        return;
    }
    char text[256];
    (void)snprintf(text, sizeof(text),
                   "traffic %" PRIu32
                   ", herd: a round trip takes %s us, longer than `timeout` (%s us), so every "
                   "request is sent again, and late answers are taken for those of other requests "
                   "(wrong_values): set a longer timeout",
                   context->index, SIM_DIGITS((double)trip_ps / 1e6, 6),
                   SIM_DIGITS((double)herd->config.timeout_ps / 1e6, 6));
    context->note(text, context->ctx);
}

void app__herd_note(const app__herd_t *herd, const app_context_t *context)
{
    note_timeout(herd, context);
    note_round_trip(herd, context);
}
