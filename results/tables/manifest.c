// SPDX-License-Identifier: Apache-2.0
// results/tables/manifest.c - manifest.json.
#include "results/manifest.h"

#include "results/report/part.h"
#include "results/tables/tables.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Returns what a file of the folder is, in words for people.
static const char *help_of(const char *name)
{
    static const struct {
        const char *name;
        const char *help;
    } files[] = {
        {"summary.json", "what the run amounts to"},
        {"scenario.yaml", "the scenario with every default filled in"},
        {"topology.json", "nodes, ports and links"},
        {"schema.json", "parameters, fields and columns: type, unit, meaning"},
        {"hosts", "names behind IP addresses, for Wireshark"},
        {"ethers", "names behind MAC addresses, for Wireshark"},
    };
    for (size_t i = 0; i < SIM_COUNT_OF(files); i++) {
        if (strcmp(files[i].name, name) == 0) {
            return files[i].help;
        }
    }
    for (size_t i = 0; results_tables[i] != NULL; i++) {
        if (strcmp(results_tables[i]->file_name, name) == 0) {
            return results_tables[i]->help;
        }
    }
    return "";
}

static int is_no_dot(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

// Adds the regular files of a folder, and those that links lead to, by name.
static void add_files(const char *folder, const char *prefix, json_t *list)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_no_dot, alphasort);
    for (int i = 0; i < count; i++) {
        char *const path = sim_format("%s/%s", folder, entries[i]->d_name);
        char *const name = sim_format("%s%s", prefix, entries[i]->d_name);
        struct stat status;
        if (stat(path, &status) == 0 && !S_ISDIR(status.st_mode)) {
            json_t *const file = json_object();
            json_object_set_new(file, "name", json_string(name));
            // The summary's depends on the digits of its wall_ values.
            const bool varies = strcmp(name, "summary.json") == 0;
            json_object_set_new(file, varies ? "wall_bytes" : "bytes",
                                results_json_whole((uint64_t)status.st_size));
            json_object_set_new(file, "help", json_string(help_of(name)));
            json_array_append_new(list, file);
        }
        sim_free(name);
        sim_free(path);
        free(entries[i]);
    }
    free(entries);
}

static json_t *time_of_day(time_t when)
{
    struct tm parts;
    char text[32] = "";
    if (gmtime_r(&when, &parts) != NULL) {
        (void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    return json_string(text);
}

static char *text_of(json_t *json)
{
    char *const dumped = json_dumps(json, JSON_INDENT(1));
    SIM_CHECK(dumped != NULL);
    char *const text = sim_format("%s\n", dumped);
    free(dumped);
    json_decref(json);
    return text;
}

char *results_manifest_text(const world_t *world, const results_t *results, const char *folder,
                            const results_clock_t *clock)
{
    const world_run_config_t *const run = &world->scenario->run;
    char digest[17];
    snprintf(digest, sizeof(digest), "%016" PRIx64, results->digest);
    json_t *const json = json_object();
    json_object_set_new(json, "format", json_integer(RESULTS_FORMAT));
    json_object_set_new(json, "version", json_string(ROCESIM_VERSION));
    json_object_set_new(json, "scenario", json_string(run->name));
    json_object_set_new(json, "seed", results_json_whole(run->seed));
    json_object_set_new(json, "digest", json_string(digest));
    json_object_set_new(json, "ended", json_string(results_ended_text(results->ended)));
    json_object_set_new(json, "sim_time_ps", results_json_whole(results->sim_time_ps));
    json_object_set_new(json, "wall_begun", time_of_day(clock->begun));
    json_object_set_new(json, "wall_ended", time_of_day(clock->ended));
    json_object_set_new(json, "wall_s", json_real(results->wall_s));
    json_t *const files = json_array();
    add_files(folder, "", files);
    char *const captures = sim_format("%s/captures", folder);
    add_files(captures, "captures/", files);
    sim_free(captures);
    json_object_set_new(json, "files", files);
    return text_of(json);
}
