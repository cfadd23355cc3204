// SPDX-License-Identifier: Apache-2.0
// studio/server/process/live_ports.c - reads the state of ports from a run's file of progress.
#include "studio/server/process/live_ports.h"

#include <stdlib.h>
#include <string.h>

typedef struct line {
    const char *name;
    size_t length;
    uint64_t numbers[4]; // queued, sent, drops, paused
} line_t;

// Reads one line "NAME<tab>N<tab>N<tab>N<tab>N"; returns the text behind it, or NULL.
static const char *take_line(const char *at, line_t *line)
{
    line->name = at;
    line->length = strcspn(at, "\t\n");
    at += line->length;
    for (size_t i = 0; i < SIM_COUNT_OF(line->numbers); i++) {
        char *end = NULL;
        if (*at != '\t') {
            return NULL;
        }
        line->numbers[i] = strtoull(at + 1, &end, 10);
        at = end;
    }
    return *at == '\n' ? at + 1 : NULL;
}

// Returns the first line of a port; NULL if the text has none or was overwritten during the read.
static const char *begin(const char *text, uint64_t *sim_ns, size_t *count)
{
    char *end = NULL;
    if (strncmp(text, "ports ", 6) != 0) {
        return NULL;
    }
    *sim_ns = strtoull(text + 6, &end, 10);
    *count = *end == ' ' ? (size_t)strtoull(end + 1, &end, 10) : 0;
    return *end == '\n' && *count > 0 ? end + 1 : NULL;
}

static bool ends_well(const char *at, uint64_t sim_ns)
{
    return strncmp(at, "end ", 4) == 0 && strtoull(at + 4, NULL, 10) == sim_ns;
}

static bool is_chosen(const char *chosen, const line_t *line)
{
    for (const char *at = chosen; at != NULL && *at != '\0';) {
        const size_t length = strcspn(at, ",");
        if (length == line->length && memcmp(at, line->name, length) == 0) {
            return true;
        }
        at += length + (at[length] == ',');
    }
    return false;
}

static json_t *line_json(const line_t *line)
{
    return json_pack("{s:s%, s:I, s:I, s:I, s:b}", "port", line->name, line->length, "queued_bytes",
                     (json_int_t)line->numbers[0], "sent_bytes", (json_int_t)line->numbers[1],
                     "drops", (json_int_t)line->numbers[2], "paused", line->numbers[3] != 0);
}

// Keeps the longest queues, sorted with the longest first.
static void keep_longest(line_t *longest, size_t *count, size_t most, const line_t *line)
{
    size_t at = *count;
    while (at > 0 && longest[at - 1].numbers[0] < line->numbers[0]) {
        at--;
    }
    if (at == most) {
        return;
    }
    const size_t moved = (*count < most ? *count : most - 1) - at;
    memmove(longest + at + 1, longest + at, moved * sizeof(*longest));
    longest[at] = *line;
    *count += *count < most;
}

json_t *studio_live_read(const char *text, const char *chosen, size_t top)
{
    line_t longest[STUDIO_LIVE_TOP_MAX];
    size_t longest_count = 0;
    uint64_t sim_ns = 0;
    size_t count = 0;
    const char *at = begin(text, &sim_ns, &count);
    json_t *const ports = json_array();
    top = SIM_MIN(top, STUDIO_LIVE_TOP_MAX);
    for (size_t i = 0; at != NULL && i < count; i++) {
        line_t line;
        at = take_line(at, &line);
        if (at != NULL && is_chosen(chosen, &line)) {
            (void)json_array_append_new(ports, line_json(&line));
        } else if (at != NULL && top > 0 && line.numbers[0] > 0) {
            keep_longest(longest, &longest_count, top, &line);
        }
    }
    if (at == NULL || !ends_well(at, sim_ns)) {
        json_decref(ports);
        return NULL;
    }
    for (size_t i = 0; i < longest_count; i++) {
        (void)json_array_append_new(ports, line_json(&longest[i]));
    }
    return json_pack("{s:I, s:I, s:o}", "sim_ns", (json_int_t)sim_ns, "count", (json_int_t)count,
                     "ports", ports);
}

json_t *studio_live_names(const char *text)
{
    uint64_t sim_ns = 0;
    size_t count = 0;
    const char *at = begin(text, &sim_ns, &count);
    json_t *const names = json_array();
    for (size_t i = 0; at != NULL && i < count; i++) {
        line_t line;
        at = take_line(at, &line);
        if (at != NULL) {
            (void)json_array_append_new(names, json_stringn(line.name, line.length));
        }
    }
    if (at == NULL || !ends_well(at, sim_ns)) {
        json_decref(names);
        return NULL;
    }
    return names;
}
