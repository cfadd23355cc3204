// SPDX-License-Identifier: Apache-2.0
// studio/server/library/folder.c - reads the folder of scenarios.
//
// NAME.yaml is a scenario and NAME.sweep.yaml a study, whose first comment has the question. A
// script whose third line is "# NAME - QUESTION" is a study. GROUP/run runs the studies of its
// group; others are left out, since only their own scripts run them.
#include "studio/server/library/library_internal.h"

#include "studio/server/http/target.h"
#include "world/registry.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_MAX 1000u
#define DEPTH_MAX 3u
#define TEXT_BYTES_MAX ((size_t)524288)

char *studio_read_text(const char *path, size_t bytes_max)
{
    FILE *const file = fopen(path, "re");
    if (file == NULL) {
        return NULL;
    }
    char *text = sim_alloc(bytes_max + 2);
    const size_t length = fread(text, 1, bytes_max + 1, file);
    if (ferror(file) != 0 || length > bytes_max || !studio_text_is_clean(text, length)) {
        sim_free(text);
        text = NULL;
    }
    (void)fclose(file);
    return text;
}

// Returns the first question, or otherwise the first sentence, of the comment with which a text
// begins; freed with sim_free.
static char *question_of(const char *text)
{
    char *const comment = sim_alloc(strlen(text) + 1);
    size_t size = 0;
    for (; strncmp(text, "# ", 2) == 0; text += *text == '\n') {
        const size_t length = strcspn(text + 2, "\n");
        memcpy(comment + size, text + 2, length);
        comment[size + length] = ' ';
        size += length + 1;
        text += 2 + length;
    }
    comment[size - (size > 0)] = '\0';
    char *const question = strchr(comment, '?');
    char *const sentence = strstr(comment, ". ");
    if (question != NULL) {
        question[1] = '\0';
    } else if (sentence != NULL) {
        sentence[1] = '\0';
    }
    return comment;
}

// Returns the question of a script, freed with sim_free; NULL: the script is no study.
static char *question_of_script(const char *text)
{
    const char *line = text;
    for (int i = 0; i < 2 && line != NULL; i++) {
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    const char *const dash = line == NULL ? NULL : strstr(line, " - ");
    return dash == NULL || strncmp(text, "#!", 2) != 0 || strncmp(line, "# ", 2) != 0 ||
                   dash > line + strcspn(line, "\n")
               ? NULL
               : sim_format("%.*s", (int)strcspn(dash + 3, "\n"), dash + 3);
}

// Returns the command that runs a scenario in whose traffic processes of this machine take part;
// NULL: none take part.
static const char *command_of(const char *text, const world_registry_t *registry)
{
    for (const char *line = text; *line != '\0'; line += *line == '\n') {
        const char *const at = line + strspn(line, " ");
        char name[32];
        if (sscanf(at, "- %31[a-z-]:", name) == 1) {
            const app_ops_t *const app = world_registry_app(registry, name);
            if (app != NULL && app->machine_command != NULL) {
                return app->machine_command;
            }
        }
        line += strcspn(line, "\n");
    }
    return NULL;
}

static void take_file(studio_library_t *library, const char *path, const char *name)
{
    const bool sweep = sim_ends_with(name, ".sweep.yaml");
    const bool yaml = sim_ends_with(name, ".yaml");
    const char *const end = sweep ? ".sweep.yaml" : yaml ? ".yaml" : ".sh";
    if (!sim_ends_with(name, end) || library->count == ENTRIES_MAX) {
        return;
    }
    char *const text = studio_read_text(path, TEXT_BYTES_MAX);
    char *const question = text == NULL ? NULL
                           : yaml       ? question_of(text)
                                        : question_of_script(text);
    if (question == NULL) {
        sim_free(text);
        return;
    }
    char *const cut = sim_format("%.*s", (int)(strlen(name) - strlen(end)), name);
    SIM_APPEND(library->entries, library->count, library->capacity,
               (studio__entry_t){
                   .name = cut,
                   .is_study = sweep || !yaml,
                   .is_sweep = sweep,
                   .question = question,
                   .text = text,
               });
}

static void take_folder(studio_library_t *library, const char *path, const char *prefix,
                        unsigned depth)
{
    DIR *const folder = opendir(path);
    if (folder == NULL) {
        return;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        struct stat status;
        if (entry->d_name[0] == '.' ||
            fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        char *const inner = sim_format("%s/%s", path, entry->d_name);
        char *const name = sim_format("%s%s", prefix, entry->d_name);
        if (S_ISREG(status.st_mode)) {
            take_file(library, inner, name);
        } else if (S_ISDIR(status.st_mode) && depth < DEPTH_MAX &&
                   strcmp(entry->d_name, "constants") != 0 && // calibrations, not scenarios
                   strcmp(name, "templates") != 0) {          // copied by `rocesim new`
            char *const longer = sim_format("%s/", name);
            take_folder(library, inner, longer, depth + 1);
            sim_free(longer);
        }
        sim_free(name);
        sim_free(inner);
    }
    (void)closedir(folder);
}

// Finds GROUP/run, which runs the study GROUP/NAME or GROUP/NAME/run by its NAME.
static void find_runner(studio__entry_t *entry, const char *folder)
{
    const char *const slash = strchr(entry->name, '/');
    if (!entry->is_study || slash == NULL) {
        return;
    }
    size_t length = strlen(slash + 1);
    if (length > 4 && strcmp(slash + 1 + length - 4, "/run") == 0) {
        length -= 4;
    }
    if (memchr(slash + 1, '/', length) != NULL) {
        return;
    }
    char *const runner = sim_format("%.*s/run", (int)(slash - entry->name), entry->name);
    char *const path = sim_format("%s/%s", folder, runner);
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode)) {
        entry->runner = runner;
        entry->study = sim_format("%.*s", (int)length, slash + 1);
    } else {
        sim_free(runner);
    }
    sim_free(path);
}

static void free_entry(studio__entry_t *entry)
{
    SIM_FREE_ALL(entry->name, entry->question, entry->text, entry->runner, entry->study);
}

static int by_name(const void *a, const void *b)
{
    const studio__entry_t *const left = a;
    const studio__entry_t *const right = b;
    const int order = strcmp(left->name, right->name);
    return order != 0 ? order : (int)left->is_study - (int)right->is_study;
}

studio_library_t *studio_library_load(const char *folder)
{
    studio_library_t *const library = sim_alloc(sizeof(*library));
    SIM_CHECK(pthread_mutex_init(&library->gate, NULL) == 0);
    SIM_CHECK(pthread_cond_init(&library->gate_free, NULL) == 0);
    take_folder(library, folder, "", 0);
    world_registry_t *const registry = world_registry_create();
    size_t kept = 0;
    for (size_t i = 0; i < library->count; i++) {
        studio__entry_t entry = library->entries[i];
        find_runner(&entry, folder);
        entry.command = entry.is_study ? NULL : command_of(entry.text, registry);
        if (entry.is_study && entry.runner == NULL) {
            free_entry(&entry);
        } else {
            library->entries[kept++] = entry;
        }
    }
    world_registry_destroy(registry);
    library->count = kept;
    if (library->count > 0) {
        qsort(library->entries, library->count, sizeof(*library->entries), by_name);
    }
    return library;
}

void studio_library_destroy(studio_library_t *library)
{
    if (library == NULL) {
        return;
    }
    for (size_t i = 0; i < library->count; i++) {
        free_entry(&library->entries[i]);
    }
    (void)pthread_cond_destroy(&library->gate_free);
    (void)pthread_mutex_destroy(&library->gate);
    sim_free(library->entries);
    sim_free(library);
}

const char *studio_library_yaml(const studio_library_t *library, const char *name)
{
    for (size_t i = 0; i < library->count; i++) {
        if (!library->entries[i].is_study && strcmp(library->entries[i].name, name) == 0) {
            return library->entries[i].text;
        }
    }
    return NULL;
}

bool studio_library_study(const studio_library_t *library, const char *name, const char **runner,
                          const char **study)
{
    for (size_t i = 0; i < library->count; i++) {
        const studio__entry_t *const entry = &library->entries[i];
        if (entry->runner != NULL && strcmp(entry->name, name) == 0) {
            *runner = entry->runner;
            *study = entry->study;
            return true;
        }
    }
    return false;
}
