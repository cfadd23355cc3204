// SPDX-License-Identifier: Apache-2.0
// cli/library/command.c - `rocesim list`, `show` and `new`: the library for people and programs.
#include "cli/library.h"

#include "cli/command.h"
#include "cli/output.h"
#include "world/parameters.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX ((size_t)64 << 20) // of a file that `new` copies

// -- list

static bool is_wanted(const cli_library_entry_t *entry, const char *word)
{
    return word == NULL || strstr(entry->name, word) != NULL ||
           strstr(entry->question, word) != NULL;
}

static json_t *entry_json(const cli_library_entry_t *entry)
{
    json_t *const json = json_pack("{s:s, s:s, s:s, s:s}", "name", entry->name, "kind",
                                   entry->is_study ? "study" : "scenario", "question",
                                   entry->question, "path", entry->path);
    SIM_CHECK(json != NULL);
    if (entry->seconds >= 0) {
        json_object_set_new(json, "seconds", json_real(entry->seconds));
    }
    return json;
}

static const char *cost_text(const cli_library_entry_t *entry, char *text, size_t size)
{
    if (entry->seconds < 0) {
        return entry->is_study ? "" : "-";
    }
    if (entry->seconds < 0.95) {
        return "< 1 s";
    }
    (void)snprintf(text, size, "%.0f s", entry->seconds);
    return text;
}

static void print_entries(const cli_library_t *library, bool studies, const char *word)
{
    bool first = true;
    for (size_t i = 0; i < library->count; i++) {
        const cli_library_entry_t *const entry = &library->entries[i];
        char cost[32];
        if (entry->is_study != studies || !is_wanted(entry, word)) {
            continue;
        }
        if (first && studies) {
            printf(
                "\nStudies run many simulations (rocesim sweep NAME -o DIR; a script: rocesim show "
                "NAME says how):\n");
        }
        first = false;
        printf("%-28s %6s  %s\n", entry->name, cost_text(entry, cost, sizeof(cost)),
               entry->question);
    }
}

static int without_library(void)
{
    fprintf(stderr, "rocesim: no folder of scenarios was found beside the program; expected "
                    "share/rocesim/scenarios of an installation, or a folder that the environment "
                    "variable ROCESIM_SCENARIOS names\n");
    return CLI_EXIT_BAD_INPUT;
}

int cli_command_list(const cli_args_t *args)
{
    const char *const word = args->operand_count > 0 ? args->operands[0] : NULL;
    cli_library_t library;
    cli_library_load(&library);
    if (library.folder == NULL) {
        return without_library();
    }
    if (args->json) {
        json_t *const json = json_array();
        for (size_t i = 0; i < library.count; i++) {
            if (is_wanted(&library.entries[i], word)) {
                json_array_append_new(json, entry_json(&library.entries[i]));
            }
        }
        cli_print_json(json);
    } else {
        print_entries(&library, false, word);
        print_entries(&library, true, word);
    }
    cli_library_fini(&library);
    return cli_finish_output(CLI_EXIT_DONE);
}

// -- show

// Returns the bytes of a file and their number. Returns NULL with an error. Free with sim_free.
static char *read_file(const char *path, size_t *size, world_error_t *error)
{
    FILE *const file = fopen(path, "re");
    if (file == NULL) {
        world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "cannot be read: %s", strerror(errno));
        return NULL;
    }
    struct stat status = {.st_size = 0};
    (void)fstat(fileno(file), &status);
    const size_t room = SIM_MIN((size_t)status.st_size, FILE_BYTES_MAX);
    char *const bytes = sim_alloc(room + 1);
    *size = fread(bytes, 1, room, file);
    bytes[*size] = '\0';
    (void)fclose(file);
    return bytes;
}

// Returns the study of this name that is a script; NULL: there is none.
static const cli_library_entry_t *find_study(const cli_library_t *library, const char *name)
{
    for (size_t i = 0; i < library->count; i++) {
        if (library->entries[i].is_study && !cli_library_is_sweep(library->entries[i].path) &&
            strcmp(library->entries[i].name, name) == 0) {
            return &library->entries[i];
        }
    }
    return NULL;
}

static void show_study(const cli_library_t *library, const cli_library_entry_t *study)
{
    const size_t group = strcspn(study->name, "/");
    printf("%s: %s\n\nThis study is a script, since it compares many simulations with each other "
           "or with\npublished figures. --quick makes fewer of them. Run it with:\n\n"
           "    %s/%.*s/run %s -o out/%.*s\n",
           study->name, study->question, library->folder, (int)group, study->name,
           study->name + group + (study->name[group] == '/'), (int)group, study->name);
}

// Prints the parameters of a scenario as JSON beside what `list --json` says about it.
static int show_json(const char *path, world_error_t *error)
{
    if (cli_library_is_sweep(path)) {
        (void)world_fail(error, SIM_ERR_INVALID, WORLD_FILE(path),
                         "a sweep has no parameters of its own, expected the name of a scenario");
        return cli_report_failure(error, CLI_EXIT_BAD_INPUT);
    }
    world_scenario_t *scenario = NULL;
    if (world_scenario_load(NULL, path, NULL, 0, &scenario, error) != SIM_OK) {
        return cli_report_failure(error, CLI_EXIT_BAD_INPUT);
    }
    json_t *const json =
        json_pack("{s:s, s:s, s:s, s:o}", "name", scenario->run.name, "path", path, "description",
                  scenario->run.description, "parameters", world_parameters_json(scenario->root));
    SIM_CHECK(json != NULL);
    world_scenario_destroy(scenario);
    cli_print_json(json);
    return CLI_EXIT_DONE;
}

int cli_command_show(const cli_args_t *args)
{
    world_error_t error;
    cli_library_t library;
    cli_library_load(&library);
    const cli_library_entry_t *const study = find_study(&library, args->operands[0]);
    if (study != NULL && !args->json) {
        show_study(&library, study);
    }
    const bool shown = study != NULL && !args->json;
    cli_library_fini(&library);
    if (shown) {
        return cli_finish_output(CLI_EXIT_DONE);
    }
    char *const path = cli_library_find(args->operands[0], &error);
    if (path == NULL) {
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    int status = CLI_EXIT_DONE;
    if (args->json) {
        status = show_json(path, &error);
    } else {
        size_t size = 0;
        char *const text = read_file(path, &size, &error);
        if (text != NULL) {
            fwrite(text, 1, size, stdout);
        } else {
            status = cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
        }
        sim_free(text);
    }
    sim_free(path);
    return status == CLI_EXIT_DONE ? cli_finish_output(status) : status;
}

// -- new

// Writes bytes into a file that does not exist yet.
static sim_err_t write_new(const char *path, const char *bytes, size_t size, world_error_t *error)
{
    FILE *const file = fopen(path, "wxe");
    if (file == NULL) {
        return errno == EEXIST ? world_fail(error, SIM_ERR_STATE, WORLD_FILE(path),
                                            "exists, expected the name of a new file")
                               : world_fail(error, SIM_ERR_IO, WORLD_FILE(path),
                                            "cannot be written: %s", strerror(errno));
    }
    const bool written = fwrite(bytes, 1, size, file) == size;
    const bool whole = fclose(file) == 0 && written;
    return whole ? SIM_OK
                 : world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "cannot be written: %s",
                              strerror(errno));
}

// Copies a file beside the new scenario, unless the same file is there already.
static sim_err_t copy_beside(const char *from, const char *to, world_error_t *error)
{
    size_t size = 0;
    char *const bytes = read_file(from, &size, error);
    if (bytes == NULL) {
        return SIM_ERR_IO;
    }
    size_t there_size = 0;
    world_error_t missing;
    char *const there = read_file(to, &there_size, &missing);
    sim_err_t result = SIM_OK;
    if (there == NULL) {
        result = write_new(to, bytes, size, error);
        if (result == SIM_OK) {
            printf("%s\n", to);
        }
    } else if (there_size != size || memcmp(there, bytes, size) != 0) {
        result = world_fail(error, SIM_ERR_STATE, WORLD_FILE(to),
                            "is another file than that of the library; expected a folder without "
                            "a file of this name");
    }
    sim_free(there);
    sim_free(bytes);
    return result;
}

// Copies the files that the text of a scenario names and that lie beside it in the library.
static sim_err_t copy_named_files(const char *text, const char *path, const char *to,
                                  world_error_t *error)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    const char *const from_slash = strrchr(path, '/');
    const char *const to_slash = strrchr(to, '/');
    sim_err_t result = SIM_OK;
    while (*text != '\0' && result == SIM_OK) {
        text += strcspn(text, letters);
        const size_t size = strspn(text, letters);
        if (size > 0 && memchr(text, '.', size) != NULL && text[0] != '.') {
            char *const from =
                sim_format("%.*s/%.*s", (int)(from_slash - path), path, (int)size, text);
            char *const beside = sim_format(
                "%.*s%.*s", to_slash != NULL ? (int)(to_slash + 1 - to) : 0, to, (int)size, text);
            struct stat status;
            if (strcmp(from, path) != 0 && stat(from, &status) == 0 && S_ISREG(status.st_mode)) {
                result = copy_beside(from, beside, error);
            }
            sim_free(beside);
            sim_free(from);
        }
        text += size;
    }
    return result;
}

// Returns the text without its comments, so that files which only a comment names are not copied.
static char *without_comments(const char *text)
{
    char *const bare = sim_strdup(text);
    for (char *p = bare; *p != '\0'; p++) {
        if (*p == '#' && (p == bare || strchr(" \n", p[-1]) != NULL)) {
            const size_t size = strcspn(p, "\n");
            memset(p, ' ', size);
        }
    }
    return bare;
}

// Copies the files of a template into a new folder.
static sim_err_t copy_template(const char *folder, const char *to, world_error_t *error)
{
    if (mkdir(to, 0777) != 0) {
        return errno == EEXIST ? world_fail(error, SIM_ERR_STATE, WORLD_FILE(to),
                                            "exists, expected the name of a new folder")
                               : world_fail(error, SIM_ERR_IO, WORLD_FILE(to),
                                            "cannot make the folder: %s", strerror(errno));
    }
    struct dirent **files = NULL;
    const int count = scandir(folder, &files, NULL, alphasort);
    sim_err_t result = SIM_OK;
    for (int i = 0; i < count; i++) {
        char *const from = sim_format("%s/%s", folder, files[i]->d_name);
        char *const copy = sim_format("%s/%s", to, files[i]->d_name);
        if (files[i]->d_name[0] != '.' && result == SIM_OK) {
            result = copy_beside(from, copy, error);
        }
        sim_free(copy);
        sim_free(from);
        free(files[i]);
    }
    free(files);
    return result;
}

int cli_command_new(const cli_args_t *args)
{
    world_error_t error;
    char *const template = cli_library_template(args->operands[0]);
    if (template != NULL) {
        const sim_err_t copied = copy_template(template, args->operands[1], &error);
        sim_free(template);
        return copied == SIM_OK ? cli_finish_output(CLI_EXIT_DONE)
                                : cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    const char *const to = args->operands[1];
    char *const path = cli_library_find(args->operands[0], &error);
    if (path == NULL) {
        return cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
    }
    size_t size = 0;
    char *const text = read_file(path, &size, &error);
    char *const bare = text != NULL ? without_comments(text) : NULL;
    sim_err_t result = text != NULL ? write_new(to, text, size, &error) : SIM_ERR_IO;
    if (result == SIM_OK) {
        printf("%s\n", to);
        result = strchr(path, '/') != NULL ? copy_named_files(bare, path, to, &error) : SIM_OK;
    }
    SIM_FREE_ALL(bare, text, path);
    return result == SIM_OK ? cli_finish_output(CLI_EXIT_DONE)
                            : cli_report_failure(&error, CLI_EXIT_BAD_INPUT);
}
