// SPDX-License-Identifier: Apache-2.0
// results/report/story.c - says in sentences what happened in a run.
//
// The sentences are made of summary.json alone, so that they can be made of any result folder.
#include "results/story.h"

#include "results/runner.h"
#include "world/format.h"

#include <string.h>

static void say(json_t *story, char *text)
{
    json_array_append_new(story, json_string(text));
    sim_free(text);
}

// Says a sentence with a value in the place of its only "%s".
static void say_one(json_t *story, const char *sentence, const char *value)
{
    const char *const place = strstr(sentence, "%s");
    say(story, sim_format("%.*s%s%s", (int)(place - sentence), sentence, value, place + 2));
}

// Returns a number of the summary; 0 where it has none.
static double number_at(const json_t *object, const char *path)
{
    return json_number_value(results_json_at(object, path));
}

static const char *count_at(world_text_t *text, const json_t *object, const char *path)
{
    return world_format_number(text, number_at(object, path));
}

static const char *time_at(world_text_t *text, const json_t *object, const char *path)
{
    return world_format_time(text, (sim_time_t)number_at(object, path));
}

static const char *bytes_at(world_text_t *text, const json_t *object, const char *path)
{
    return world_format_size(text, number_at(object, path));
}

// Returns the end of a word that says what a number counts.
static const char *plural_at(const json_t *object, const char *path)
{
    return sim_plural((uint64_t)number_at(object, path));
}

// Returns the sentence about the end of the run.
static const char *end_of(const char *ended)
{
    static const char *const sentences[][2] = {
        {"done", "All work was done after %s of simulated time."},
        {"until", "The run ended at its time limit of %s."},
        {"interrupted", "The run was interrupted at %s. The results cover the time until then."},
        {"stalled", "The run stalled at %s: work was left, but nothing made progress."},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(sentences); i++) {
        if (ended != NULL && strcmp(sentences[i][0], ended) == 0) {
            return sentences[i][1];
        }
    }
    return "The run ended at %s.";
}

static void say_run(json_t *story, const json_t *summary)
{
    world_text_t text[2];
    const double accelerators = number_at(summary, "network.accelerators");
    const double switches =
        number_at(summary, "network.nodes") - number_at(summary, "network.hosts") - accelerators;
    const char *const control = json_string_value(results_json_at(summary, "congestion_control"));
    say(story, sim_format("The network has %s host%s, %.0f switch%s and %s link%s.",
                          count_at(&text[0], summary, "network.hosts"),
                          plural_at(summary, "network.hosts"), switches,
                          (uint64_t)switches == 1 ? "" : "es",
                          count_at(&text[1], summary, "network.links"),
                          plural_at(summary, "network.links")));
    if (accelerators > 0) {
        say(story, sim_format("%s accelerators are nodes of the network.",
                              count_at(&text[0], summary, "network.accelerators")));
    }
    if (control != NULL) {
        say(story, strcmp(control, "none") == 0
                       ? sim_strdup("NICs use no congestion control.")
                       : sim_format("NICs use %s for congestion control.", control));
    }
    say_one(story, end_of(json_string_value(results_json_at(summary, "ended"))),
            time_at(&text[0], summary, "sim_time_ps"));
}

static void say_flows(json_t *story, const json_t *summary)
{
    world_text_t text[4];
    if (number_at(summary, "flows.count") > 0) {
        say(story, sim_format("%s of %s flow%s over the network completed and delivered %s.",
                              count_at(&text[0], summary, "flows.completed"),
                              count_at(&text[1], summary, "flows.count"),
                              plural_at(summary, "flows.count"),
                              bytes_at(&text[2], summary, "flows.delivered_bytes")));
    }
    if (number_at(summary, "flows.failed") > 0) {
        say(story, sim_format("%s flow%s failed.", count_at(&text[0], summary, "flows.failed"),
                              plural_at(summary, "flows.failed")));
    }
    if (number_at(summary, "flows.slowdown.p50") > 0) {
        say(story, sim_format("Half of these flows took at most %.3g times their ideal time, and "
                              "99 %% took at most %.3g times.",
                              number_at(summary, "flows.slowdown.p50"),
                              number_at(summary, "flows.slowdown.p99")));
    }
    if (number_at(summary, "local_flows.count") > 0) {
        say(story, sim_format("%s message%s stayed within hosts, over NVLink or in memory, and "
                              "moved %s.",
                              count_at(&text[0], summary, "local_flows.count"),
                              plural_at(summary, "local_flows.count"),
                              bytes_at(&text[1], summary, "local_flows.delivered_bytes")));
    }
    if (number_at(summary, "flows.left_out") > 0) {
        say(story, sim_format("flows-max left %s more message%s out of this list.",
                              count_at(&text[0], summary, "flows.left_out"),
                              plural_at(summary, "flows.left_out")));
        say(story, sim_format("NICs received %s of payload in all.",
                              bytes_at(&text[1], summary, "nic_counters.rx_data_bytes")));
    }
}

// Returns the reasons of drops with their numbers: "buffer 12, link 3". The caller frees it.
static char *reasons_of(const json_t *summary)
{
    char *reasons = sim_strdup("");
    const char *reason = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)results_json_at(summary, "drops"), reason, value)
    {
        world_text_t text;
        if (json_number_value(value) > 0) {
            char *const longer =
                sim_format("%s%s%s %s", reasons, reasons[0] == '\0' ? "" : ", ", reason,
                           world_format_number(&text, json_number_value(value)));
            sim_free(reasons);
            reasons = longer;
        }
    }
    return reasons;
}

static void say_losses(json_t *story, const json_t *summary)
{
    world_text_t text[2];
    if (number_at(summary, "packets.dropped") > 0) {
        char *const reasons = reasons_of(summary);
        say(story, sim_format("Ports dropped %s packet%s (%s).",
                              count_at(&text[0], summary, "packets.dropped"),
                              plural_at(summary, "packets.dropped"), reasons));
        sim_free(reasons);
    } else {
        say(story, sim_strdup("No packet was dropped."));
    }
    if (number_at(summary, "trimmed") > 0) {
        say(story,
            sim_format("Switches trimmed %s packet%s: the headers arrived, the payload had "
                       "to be sent again.",
                       count_at(&text[0], summary, "trimmed"), plural_at(summary, "trimmed")));
    }
    if (number_at(summary, "retransmitted_packets") > 0) {
        say(story, sim_format("NICs retransmitted %s packet%s.",
                              count_at(&text[1], summary, "retransmitted_packets"),
                              plural_at(summary, "retransmitted_packets")));
    }
}

static void say_pauses(json_t *story, const json_t *summary)
{
    world_text_t text[2];
    if (!(number_at(summary, "pfc.pauses") > 0)) {
        say(story, sim_strdup("PFC never paused a port."));
        return;
    }
    say(story,
        sim_format("PFC paused ports %s time%s, for %s in total.",
                   count_at(&text[0], summary, "pfc.pauses"), plural_at(summary, "pfc.pauses"),
                   time_at(&text[1], summary, "pfc.paused_ps")));
    const json_t *const root = json_array_get(results_json_at(summary, "pfc.roots"), 0);
    if (root != NULL) {
        say(story,
            sim_format("The pauses that lasted longest began at %s after %s. Number of ports "
                       "that they stopped: %.0f (of hosts: %.0f), up to %.0f links away.",
                       json_string_value(json_object_get(root, "port")),
                       time_at(&text[0], root, "first_ps"), number_at(root, "ports"),
                       number_at(root, "hosts"), number_at(root, "links_away")));
    }
}

static void say_queues(json_t *story, const json_t *summary)
{
    world_text_t text[2];
    if (number_at(summary, "ecn_marked") > 0) {
        say(story, sim_format("Switches marked %s packet%s with ECN.",
                              count_at(&text[0], summary, "ecn_marked"),
                              plural_at(summary, "ecn_marked")));
    }
    if (number_at(summary, "cnp_sent") > 0) {
        say(story,
            sim_format("Receivers sent %s congestion notification%s.",
                       count_at(&text[1], summary, "cnp_sent"), plural_at(summary, "cnp_sent")));
    }
    const json_t *const hot = json_array_get(results_json_at(summary, "hottest_ports"), 0);
    if (hot != NULL) {
        say(story, sim_format("The longest queue was at %s: %s. The utilisation of its link was "
                              "%.1f %%.",
                              json_string_value(json_object_get(hot, "port")),
                              bytes_at(&text[0], hot, "queue_bytes_max"),
                              100 * number_at(hot, "utilisation")));
    }
}

// Says which lists of the results are cut.
static void say_cuts(json_t *story, const json_t *summary)
{
    static const struct {
        const char *left_out;
        const char *sentence;
    } cuts[] = {
        {"events_csv.left_out", "events.csv lacks %s of the events (outputs.events-max)."},
        {"series_csv.left_out", "series.csv lacks %s of the rows (outputs.series-max)."},
        {"capture_frames_left_out", "The captures lack %s of their frames (captures.bytes-max)."},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(cuts); i++) {
        if (number_at(summary, cuts[i].left_out) > 0) {
            world_text_t text;
            say_one(story, cuts[i].sentence, count_at(&text, summary, cuts[i].left_out));
        }
    }
}

json_t *results_story(const json_t *summary)
{
    json_t *const story = json_array();
    say_run(story, summary);
    say_flows(story, summary);
    say_losses(story, summary);
    say_pauses(story, summary);
    say_queues(story, summary);
    say_cuts(story, summary);
    return story;
}
