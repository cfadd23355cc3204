// SPDX-License-Identifier: Apache-2.0
// cli/library/find.c - finds the library beside the program, and reads which scenarios it has.
#include "cli/library.h"

#include "cli/params.h"

#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_BYTES 8192u // of a file, in which its first comment and its description are
#define SWEEP ".sweep.yaml"
#define LEVELS_MAX 4u // folders above the program in which the library is looked for

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool cli_library_is_sweep(const char *path)
{
    return sim_ends_with(path, SWEEP);
}

// Returns the folder of the library: $ROCESIM_SCENARIOS, share/rocesim/scenarios of the
// installation, or scenarios of the source tree in which the program lies. NULL: there is none.
static char *find_folder(void)
{
    static const char *const places[] = {"share/rocesim/scenarios", "scenarios"};
    const char *const named = getenv("ROCESIM_SCENARIOS");
    if (named != NULL) {
        return is_folder(named) ? sim_strdup(named) : NULL;
    }
    char folder[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
    folder[SIM_MAX(0, length)] = '\0';
    for (unsigned level = 0; level <= LEVELS_MAX; level++) {
        char *const slash = strrchr(folder, '/');
        if (slash == NULL) {
            break;
        }
        *slash = '\0';
        for (size_t i = 0; i < SIM_COUNT_OF(places); i++) {
            char *const path = sim_format("%s/%s", folder, places[i]);
            char *const known = sim_format("%s/quickstart.yaml", path);
            const bool found = is_file(known);
            sim_free(known);
            if (found) {
                return path;
            }
            sim_free(path);
        }
    }
    return NULL;
}

// Reads the first bytes of a file. Returns "" for a file that cannot be read. Free with sim_free.
static char *read_head(const char *path)
{
    char *const text = sim_alloc(HEAD_BYTES + 1);
    FILE *const file = fopen(path, "re");
    size_t size = 0;
    if (file != NULL) {
        size = fread(text, 1, HEAD_BYTES, file);
        (void)fclose(file);
    }
    text[size] = '\0';
    return text;
}

// Returns the rest of the first line that begins with `begin`; NULL: there is none.
static char *line_behind(const char *text, const char *begin)
{
    const size_t size = strlen(begin);
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, begin, size) == 0) {
            return sim_format("%.*s", (int)strcspn(line + size, "\n"), line + size);
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return NULL;
}

// Returns the first question or, without one, the first sentence of the comment with which a text
// begins. Free with sim_free.
static char *first_question(const char *text)
{
    char *const comment = sim_alloc(strlen(text) + 1);
    size_t size = 0;
    while (strncmp(text, "# ", 2) == 0) {
        const size_t length = strcspn(text + 2, "\n");
        memcpy(comment + size, text + 2, length);
        size += length;
        comment[size++] = ' ';
        text += 2 + length;
        text += *text == '\n';
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

// Returns the question that a scenario or a study answers. NULL: the file is neither.
static char *question_of(const char *path, bool is_study)
{
    char *const text = read_head(path);
    char *question = NULL;
    if (!is_study || cli_library_is_sweep(path)) {
        question =
            strncmp(text, "# ", 2) == 0 ? first_question(text) : line_behind(text, "description: ");
        question = question != NULL ? question : sim_strdup("");
    } else if (strncmp(text, "#!", 2) == 0) {
        // "# NAME - QUESTION" is the third line of a study, behind the licence.
        const char *line = strchr(text, '\n');
        line = line != NULL ? strchr(line + 1, '\n') : NULL;
        const char *const dash = line != NULL ? strstr(line, " - ") : NULL;
        if (dash != NULL && dash < line + 1 + strcspn(line + 1, "\n")) {
            question = sim_format("%.*s", (int)strcspn(dash + 3, "\n"), dash + 3);
        }
    }
    sim_free(text);
    return question;
}

static void add_file(cli_library_t *library, const char *path)
{
    const char *const inside = path + strlen(library->folder) + 1;
    const bool is_sweep = cli_library_is_sweep(inside);
    const bool is_study = is_sweep || sim_ends_with(inside, ".sh");
    if ((!is_study && !sim_ends_with(inside, ".yaml")) || strstr(inside, "constants/") != NULL ||
        strncmp(inside, "templates/", strlen("templates/")) == 0) {
        return;
    }
    char *const question = question_of(path, is_study);
    if (question == NULL) {
        return;
    }
    // The study GROUP/NAME/run.sh is called GROUP/NAME.
    const char *const end = is_sweep                           ? SWEEP
                            : sim_ends_with(inside, "/run.sh") ? "/run.sh"
                            : is_study                         ? ".sh"
                                                               : ".yaml";
    char *const name = sim_format("%.*s", (int)(strlen(inside) - strlen(end)), inside);
    SIM_APPEND(library->entries, library->count, library->capacity,
               (cli_library_entry_t){name, sim_strdup(path), question, is_study, -1});
}

static int by_name(const void *a, const void *b)
{
    const cli_library_entry_t *const left = a;
    const cli_library_entry_t *const right = b;
    return left->is_study != right->is_study ? (int)left->is_study - (int)right->is_study
                                             : strcmp(left->name, right->name);
}

// Fills the measured times from the file costs.csv of the library, with lines NAME,SECONDS.
static void read_costs(cli_library_t *library)
{
    char *const path = sim_format("%s/costs.csv", library->folder);
    char *const text = read_head(path);
    for (size_t i = 0; i < library->count; i++) {
        char *const begin = sim_format("%s,", library->entries[i].name);
        char *const seconds = line_behind(text, begin);
        if (seconds != NULL && !library->entries[i].is_study) {
            library->entries[i].seconds = strtod(seconds, NULL);
        }
        sim_free(seconds);
        sim_free(begin);
    }
    sim_free(text);
    sim_free(path);
}

void cli_library_load(cli_library_t *library)
{
    *library = (cli_library_t){.folder = find_folder()};
    if (library->folder == NULL) {
        return;
    }
    char *const folders[] = {library->folder, NULL};
    FTS *const tree = fts_open(folders, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    for (FTSENT *entry; tree != NULL && (entry = fts_read(tree)) != NULL;) {
        if (entry->fts_info == FTS_F) {
            add_file(library, entry->fts_path);
        }
    }
    if (tree != NULL) {
        (void)fts_close(tree);
    }
    if (library->count > 0) {
        qsort(library->entries, library->count, sizeof(*library->entries), by_name);
    }
    read_costs(library);
}

void cli_library_fini(cli_library_t *library)
{
    for (size_t i = 0; i < library->count; i++) {
        SIM_FREE_ALL(library->entries[i].name, library->entries[i].path,
                     library->entries[i].question);
    }
    sim_free(library->entries);
    sim_free(library->folder);
    *library = (cli_library_t){.folder = NULL};
}

// Returns the file of the scenario or sweep with this name, which may end in .yaml; NULL: there is
// none.
static char *file_of(const cli_library_t *library, const char *name)
{
    const size_t size = strlen(name) - (sim_ends_with(name, ".yaml") ? strlen(".yaml") : 0);
    for (size_t i = 0; i < library->count; i++) {
        const cli_library_entry_t *const entry = &library->entries[i];
        if (!sim_ends_with(entry->path, ".sh") && strlen(entry->name) == size &&
            strncmp(entry->name, name, size) == 0) {
            return sim_strdup(entry->path);
        }
    }
    return NULL;
}

// Writes why there is no such scenario: it is a study, or similar names exist.
static void fail_unknown(const cli_library_t *library, const char *name, world_error_t *error)
{
    world_shown_t shown;
    const char **const names = sim_alloc_array(library->count + 1, sizeof(*names));
    size_t count = 0;
    const char *same_end = NULL;
    world_fail(error, SIM_ERR_UNKNOWN, NULL,
               "'%s' is neither a file nor the name of a scenario that comes with rocesim",
               world_show(&shown, name));
    for (size_t i = 0; i < library->count; i++) {
        const cli_library_entry_t *const entry = &library->entries[i];
        const char *const slash = strrchr(entry->name, '/');
        if (entry->is_study && strcmp(entry->name, name) == 0) {
            world_error_add(error, "; it is a study, a script: rocesim show %s says how to run it",
                            entry->name);
            sim_free(names);
            return;
        }
        if (!sim_ends_with(entry->path, ".sh")) {
            names[count++] = entry->name;
            same_end = slash != NULL && strcmp(slash + 1, name) == 0 ? entry->name : same_end;
        }
    }
    if (same_end != NULL) {
        world_error_add(error, ", did you mean '%s'?", same_end);
    } else {
        (void)world_error_add_nearest(error, name, names, count);
    }
    world_error_add_expected(error, library->folder != NULL
                                        ? "a name that rocesim list prints, or a file"
                                        : "a file, since no folder of scenarios was found beside "
                                          "the program");
    sim_free(names);
}

// Returns whether a name can only be meant as a file's: its last part has a dot, or it begins as
// paths do.
static bool looks_like_file(const char *name)
{
    const char *const slash = strrchr(name, '/');
    return name[0] == '\0' || strchr("/.-", name[0]) != NULL ||
           strchr(slash != NULL ? slash : name, '.') != NULL;
}

char *cli_library_find(const char *name, world_error_t *error)
{
    if (is_file(name) || strcmp(name, "-") == 0) {
        return sim_strdup(name);
    }
    cli_library_t library;
    cli_library_load(&library);
    char *path = file_of(&library, name);
    if (path == NULL && (looks_like_file(name) || is_folder(name))) {
        path = sim_strdup(name); // reading it says what is wrong
    } else if (path == NULL) {
        fail_unknown(&library, name, error);
    }
    cli_library_fini(&library);
    return path;
}

char *cli_library_beside(const char *beside, const char *name)
{
    const char *const slash = strrchr(beside, '/');
    char *const path = name[0] == '/' || slash == NULL
                           ? sim_strdup(name)
                           : sim_format("%.*s/%s", (int)(slash - beside), beside, name);
    if (is_file(path)) {
        return path;
    }
    cli_library_t library;
    cli_library_load(&library);
    char *const known = file_of(&library, name);
    cli_library_fini(&library);
    if (known == NULL) {
        return path;
    }
    sim_free(path);
    return known;
}

char *cli_library_template(const char *name)
{
    char *const library = find_folder();
    char *const folder = library != NULL && strchr(name, '/') == NULL && name[0] != '.'
                             ? sim_format("%s/templates/%s", library, name)
                             : NULL;
    sim_free(library);
    if (folder != NULL && is_folder(folder)) {
        return folder;
    }
    sim_free(folder);
    return NULL;
}

bool cli_library_has(const char *name)
{
    cli_library_t library;
    cli_library_load(&library);
    char *const path = file_of(&library, name);
    cli_library_fini(&library);
    sim_free(path);
    return path != NULL;
}

sim_err_t cli_library_resolve(cli_args_t *args, world_error_t *error)
{
    const bool takes_scenario = args->command == CLI_RUN || args->command == CLI_CHECK ||
                                args->command == CLI_TOPO || args->command == CLI_SERVE ||
                                args->command == CLI_WHAT_IF || args->command == CLI_HEADROOM;
    const bool takes_sweep = args->command == CLI_SWEEP;
    const bool may_be_scenario =
        args->command == CLI_PARAMS && args->operand_count > 0 &&
        (cli_params_is_file(args->operands[0]) || cli_library_has(args->operands[0]));
    if (!takes_scenario && !takes_sweep && !may_be_scenario) {
        return SIM_OK;
    }
    char *const path = cli_library_find(args->operands[0], error);
    if (path == NULL) {
        return SIM_ERR_UNKNOWN;
    }
    SIM_APPEND(args->texts, args->text_count, args->text_capacity, path);
    if (takes_scenario && cli_library_is_sweep(path)) {
        return world_fail(
            error, SIM_ERR_INVALID, NULL,
            "%s is a sweep of many runs, expected a scenario: rocesim sweep %s -o DIR",
            args->operands[0], args->operands[0]);
    }
    args->operands[0] = path;
    return SIM_OK;
}
