// SPDX-License-Identifier: Apache-2.0
// studio/server/library/folder.c - reads the folder of scenarios.
//
// NAME.yaml is a scenario; its first comment line is the title, "description:" the question.
// NAME.sweep.yaml is a study, its first comment line the question. A
// script whose third line is "# NAME - QUESTION" is a study, and GROUP/run beside it runs it.
#include "studio/server/library/library_internal.h"

#include "studio/server/http/target.h"

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

// Returns the unquoted text behind "key:" at the start of a line; freed with sim_free.
static char *value_of(const char *text, const char *key)
{
    const size_t length = strlen(key);
    for (const char *line = text; line != NULL;) {
        if (strncmp(line, key, length) == 0 && line[length] == ':') {
            line += length + 1;
            line += strspn(line, " \"'");
            size_t end = strcspn(line, "\n");
            while (end > 0 && strchr(" \"'\r", line[end - 1]) != NULL) {
                end--;
            }
            return sim_format("%.*s", (int)end, line);
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return sim_strdup("");
}

// Returns the first line of the first comment, or otherwise; freed with sim_free.
static char *title_of(const char *text, const char *otherwise)
{
    if (strncmp(text, "# ", 2) != 0) {
        return sim_strdup(otherwise);
    }
    size_t end = strcspn(text + 2, "\n");
    end -= end > 0 && text[2 + end - 1] == '.';
    return sim_format("%.*s", (int)end, text + 2);
}

static void add_scenario(studio_library_t *library, const char *name, char *text)
{
    SIM_APPEND(library->entries, library->count, library->capacity,
               (studio__entry_t){
                   .name = sim_strdup(name),
                   .title = title_of(text, name),
                   .question = value_of(text, "description"),
                   .text = text,
               });
}

// Adds a study to the library; takes the text.
static void add_study(studio_library_t *library, const char *name, char *text)
{
    const char *line = text;
    for (int i = 0; i < 2 && line != NULL; i++) {
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    const char *const dash = line == NULL ? NULL : strstr(line, " - ");
    if (line == NULL || strncmp(text, "#!", 2) != 0 || strncmp(line, "# ", 2) != 0 ||
        dash == NULL || dash > line + strcspn(line, "\n")) {
        sim_free(text);
        return;
    }
    SIM_APPEND(library->entries, library->count, library->capacity,
               (studio__entry_t){
                   .name = sim_strdup(name),
                   .is_study = true,
                   .title = sim_format("%.*s", (int)(dash - line - 2), line + 2),
                   .question = sim_format("%.*s", (int)strcspn(dash + 3, "\n"), dash + 3),
                   .text = text,
               });
}

// Adds a study that is a sweep to the library; takes the text.
static void add_sweep(studio_library_t *library, const char *name, char *text)
{
    SIM_APPEND(library->entries, library->count, library->capacity,
               (studio__entry_t){
                   .name = sim_strdup(name),
                   .is_study = true,
                   .is_sweep = true,
                   .title = sim_strdup(name),
                   .question = title_of(text, name),
                   .text = text,
               });
}

static void take_file(studio_library_t *library, const char *path, const char *name)
{
    const size_t length = strlen(name);
    const bool sweep = sim_ends_with(name, ".sweep.yaml");
    const bool yaml = length > 5 && strcmp(name + length - 5, ".yaml") == 0;
    const bool script = strchr(name, '/') != NULL && strchr(strrchr(name, '/'), '.') == NULL;
    const bool shell = length > 3 && strcmp(name + length - 3, ".sh") == 0;
    if ((!yaml && !script && !shell) || library->count == ENTRIES_MAX) {
        return;
    }
    char *const text = studio_read_text(path, TEXT_BYTES_MAX);
    if (text == NULL) {
        return;
    }
    char *const cut = sim_format("%.*s",
                                 (int)(length - (sweep   ? strlen(".sweep.yaml")
                                                 : yaml  ? 5
                                                 : shell ? 3
                                                         : 0)),
                                 name);
    if (sweep) {
        add_sweep(library, cut, text);
    } else if (yaml) {
        add_scenario(library, cut, text);
    } else {
        add_study(library, cut, text);
    }
    sim_free(cut);
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
                   strcmp(entry->d_name, "constants") != 0) { // calibrations, not scenarios
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
    if ((length == 3 && strncmp(slash + 1, "run", 3) == 0) ||
        memchr(slash + 1, '/', length) != NULL) {
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
    for (size_t i = 0; i < library->count; i++) {
        find_runner(&library->entries[i], folder);
    }
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
        sim_free(library->entries[i].name);
        sim_free(library->entries[i].title);
        sim_free(library->entries[i].question);
        sim_free(library->entries[i].text);
        sim_free(library->entries[i].runner);
        sim_free(library->entries[i].study);
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
