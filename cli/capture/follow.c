// SPDX-License-Identifier: Apache-2.0
// cli/capture/follow.c - `rocesim capture follow`: shows one packet of a capture, hop by hop.
#include "cli/capture/follow_internal.h"
#include "cli/capture/follow_print.h"

#include "world/control_characters.h"

#include <stdlib.h>
#include <string.h>

// Reads "HOST QP NUMBER PSN NUMBER", and " TIME NUMBER" if it follows; numbers are decimal, or
// hexadecimal after 0x.
static bool read_packet(const char *text, follow_t *follow)
{
    static const char *const words[] = {" QP ", " PSN ", " TIME "};
    const char *const qp = strstr(text, words[0]);
    const char *const psn = qp != NULL ? strstr(qp, words[1]) : NULL;
    if (qp == NULL || psn == NULL || qp == text) {
        return false;
    }
    char *end = NULL;
    char *last = NULL;
    follow->qp = strtoull(qp + strlen(words[0]), &end, 0);
    follow->psn = strtoull(psn + strlen(words[1]), &last, 0);
    follow->host = sim_format("%.*s", (int)(qp - text), text);
    const bool has_psn = end == psn && last > psn + strlen(words[1]);
    if (strncmp(last, words[2], strlen(words[2])) == 0) {
        const char *const time = last + strlen(words[2]);
        follow->time = strtoull(time, &last, 0);
        return has_psn && last > time && *last == '\0' && follow->time > 0;
    }
    return has_psn && *last == '\0';
}

static void fini(follow_t *follow)
{
    for (size_t i = 0; i < follow->sight_count; i++) {
        sim_free(follow->sights[i].port);
        sim_free(follow->sights[i].comment);
    }
    for (size_t i = 0; i < follow->label_count; i++) {
        sim_free(follow->labels[i].receiver);
    }
    SIM_FREE_ALL(follow->labels, follow->sights, follow->hops, follow->journeys, follow->host);
}

// Keeps only the journey that was asked for.
static sim_err_t choose(follow_t *follow, world_error_t *error)
{
    if (follow->time > follow->journey_count) {
        return world_fail(
            error, SIM_ERR_RANGE, NULL, "%s: the packet was sent %zu time%s, expected TIME 1%s%zu",
            follow->path, follow->journey_count, sim_plural(follow->journey_count),
            follow->journey_count > 1 ? " to " : ", not more than ", follow->journey_count);
    }
    follow->journeys[0] = follow->journeys[follow->time - 1];
    follow->journey_count = 1;
    return SIM_OK;
}

sim_err_t cli_capture_follow(const char *path, const char *packet, bool json, world_error_t *error)
{
    world_shown_t shown;
    follow_t follow = {.path = path};
    sim_err_t result = SIM_OK;
    if (!read_packet(packet, &follow)) {
        result = world_fail(error, SIM_ERR_INVALID, NULL,
                            "rocesim capture follow --packet \"%s\": expected a packet such as "
                            "\"host3 QP 2 PSN 17\", with \"TIME 2\" behind it for the second time "
                            "that it was sent",
                            world_show(&shown, packet));
    }
    if (result == SIM_OK) {
        result = cli__follow_journeys(&follow, error);
    }
    if (result == SIM_OK && follow.journey_count == 0) {
        result = world_fail(error, SIM_ERR_INVALID, NULL,
                            "%s: no frame that %s sends to queue pair %" PRIu64 " with PSN %" PRIu64
                            ", expected a file of captures.fabric with that packet",
                            path, world_show(&shown, follow.host), follow.qp, follow.psn);
    }
    if (result == SIM_OK && follow.time > 0) {
        result = choose(&follow, error);
    }
    if (result == SIM_OK) {
        result = cli__follow_waits(&follow, error);
    }
    if (result == SIM_OK) {
        (json ? cli__follow_print_json : cli__follow_print_text)(&follow);
    }
    fini(&follow);
    return result;
}
