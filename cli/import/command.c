// SPDX-License-Identifier: Apache-2.0
// cli/import/command.c - `rocesim import`: recognises files, reads them, writes a scenario.
#include "cli/import/import.h"

#include "cli/command.h"
#include "cli/import/format.h"
#include "cli/import/write.h"
#include "cli/output.h"
#include "results/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX ((size_t)256 << 20)
#define FILES_MAX 20000u
#define FOLDERS_MAX 8u // in each other

// In the order in which files are asked whether they are of a format. A server's inside comes last.
static const import_format_t *const formats[] = {
    &import_sonic,         &import_lldp_json,  &import_lldp_eos,
    &import_ibnetdiscover, &import_lldp_table, &import_lldp_text,
    &import_slurm,         &import_nccl,       &import_links,
};

typedef struct source {
    char *path;
    bool named; // by the user, not found in a folder
    char *text;
    import_file_t file;
    const import_format_t *format;
} source_t;

typedef struct import_job {
    source_t *sources;
    size_t count;
    size_t capacity;
    world_document_t *document;
    import_fabric_t fabric;
} import_job_t;

// Returns the part of a path between its last slash, or the one before if `upper`, and what
// follows.
static char *part_of(const char *path, bool upper)
{
    const char *end = path + strlen(path);
    const char *begin = strrchr(path, '/');
    if (upper) {
        end = begin != NULL ? begin : path;
        for (begin = end; begin > path && begin[-1] != '/';) {
            begin--;
        }
    } else {
        begin = begin != NULL ? begin + 1 : path;
    }
    return sim_format("%.*s", (int)(end - begin), begin);
}

char *import_name_of_file(const char *path)
{
    static const char *const endings[] = {".config_db", "-config_db", "_config_db", ".lldp",
                                          "-lldp",      "_lldp",      ".config",    ".conf"};
    static const char *const general[] = {"config_db",  "config",    "lldp",      "lldp_table",
                                          "lldp-table", "neighbors", "neighbours"};
    char *whole = part_of(path, false);
    char *const dot = strrchr(whole, '.');
    if (dot != NULL && dot != whole) {
        *dot = '\0';
    }
    for (size_t i = 0; i < SIM_COUNT_OF(endings); i++) {
        const size_t size = strlen(whole);
        const size_t end = strlen(endings[i]);
        if (size > end && strcmp(whole + size - end, endings[i]) == 0) {
            whole[size - end] = '\0';
            break;
        }
    }
    // leaf1/config_db.json has its name from the folder.
    char *const folder = part_of(path, true);
    bool is_general = false;
    for (size_t i = 0; i < SIM_COUNT_OF(general); i++) {
        is_general = is_general || strcmp(whole, general[i]) == 0;
    }
    if (is_general && folder[0] != '\0' && strcmp(folder, ".") != 0 && strcmp(folder, "..") != 0) {
        sim_free(whole);
        return folder;
    }
    sim_free(folder);
    return whole;
}

void import_note_key(import_fabric_t *fabric, const import_format_t *format, const char *table,
                     const char *field, const world_place_t *place)
{
    const import_key_t *found = NULL;
    bool whole = false; // a row stands for all fields of its table
    for (size_t i = 0; i < format->key_count; i++) {
        const import_key_t *const row = &format->keys[i];
        if (strcmp(row->table, table) == 0) {
            found = strcmp(row->field, field) == 0 ? row : found;
            whole = whole || (row->field[0] == '\0' && row->kind != IMPORT_BECAME);
        }
    }
    if (found != NULL) {
        import_note(fabric, found->kind, place, "%s%s%s: %s", table, field[0] != '\0' ? " " : "",
                    field, found->becomes);
    } else if (field[0] != '\0' && !whole) {
        import_note(fabric, IMPORT_IGNORED, place, "%s %.40s: not used", table, field);
    }
}

// -- files

static int by_name(const void *a, const void *b)
{
    return strcmp(((const source_t *)a)->path, ((const source_t *)b)->path);
}

static sim_err_t add_source(import_job_t *job, const char *path, bool named, world_error_t *error)
{
    if (job->count >= FILES_MAX) {
        return world_fail(error, SIM_ERR_RANGE, WORLD_FILE(path),
                          "more than %u files, expected fewer", FILES_MAX);
    }
    SIM_APPEND(job->sources, job->count, job->capacity,
               (source_t){.path = sim_format("%s", path), .named = named});
    return SIM_OK;
}

// Adds the files of a folder, by name, and those of the folders in it.
static sim_err_t add_folder(import_job_t *job, const char *path, unsigned depth,
                            world_error_t *error)
{
    DIR *const folder = opendir(path);
    const size_t first = job->count;
    if (folder == NULL) {
        return world_fail(error, SIM_ERR_IO, WORLD_FILE(path), "%s", strerror(errno));
    }
    sim_err_t result = SIM_OK;
    for (const struct dirent *entry = readdir(folder); entry != NULL && result == SIM_OK;
         entry = readdir(folder)) {
        char *const name = sim_format("%s/%s", path, entry->d_name);
        struct stat status;
        if (entry->d_name[0] != '.' && stat(name, &status) == 0) {
            result = S_ISREG(status.st_mode) ? add_source(job, name, false, error)
                     : S_ISDIR(status.st_mode) && depth < FOLDERS_MAX
                         ? add_folder(job, name, depth + 1, error)
                         : SIM_OK;
        }
        sim_free(name);
    }
    (void)closedir(folder);
    if (job->count > first) {
        qsort(job->sources + first, job->count - first, sizeof(*job->sources), by_name);
    }
    return result;
}

static sim_err_t find_files(import_job_t *job, const cli_args_t *args, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < args->operand_count && result == SIM_OK; i++) {
        struct stat status;
        const char *const path = args->operands[i];
        result = stat(path, &status) == 0 && S_ISDIR(status.st_mode)
                     ? add_folder(job, path, 1, error)
                     : add_source(job, path, true, error);
    }
    return result;
}

static sim_err_t fail_unknown(const source_t *source, world_error_t *error)
{
    char *names = NULL;
    for (size_t f = 0; f < SIM_COUNT_OF(formats); f++) {
        char *const more = sim_format("%s%s%s", names != NULL ? names : "",
                                      names != NULL ? ", " : "", formats[f]->name);
        sim_free(names);
        names = more;
    }
    (void)world_fail(error, SIM_ERR_INVALID, WORLD_FILE(source->path),
                     "the file has none of the formats that import reads, expected %s", names);
    world_error_about(error, source->path, source->path);
    sim_free(names);
    return SIM_ERR_INVALID;
}

// Returns the text with a first line that is a prompt and a command ("leaf1#show lldp neighbors |
// json") in blanks, if JSON follows; places in it stay those of the file.
static const char *without_prompt(world_document_t *document, const char *text)
{
    const size_t line = strcspn(text, "\n");
    const char *const command = strstr(text, "show ");
    if (command == NULL || command > text + line ||
        text[line + strspn(text + line, " \t\r\n")] != '{') {
        return text;
    }
    char *const copy = sim_strdup(text);
    memset(copy, ' ', line);
    const char *const kept = world_document_text(document, copy);
    sim_free(copy);
    return kept;
}

// Reads the tree of a text that may have one, and finds the format; NULL: it has none of them.
static sim_err_t find_format(source_t *source, world_document_t *document, const char *text,
                             size_t size, world_error_t *error)
{
    source->file = (import_file_t){
        .name = world_document_text(document, source->path),
        .text = text,
        .size_bytes = size,
        .document = document,
    };
    const char *const bare = without_prompt(document, text);
    const char *const begin = bare + strspn(bare, " \t\r\n");
    if (*begin == '{') {
        world_tree_t *tree = NULL;
        const sim_err_t result =
            world_yaml_parse(document, source->file.name, true, bare, size, &tree, error);
        if (result != SIM_OK) {
            return result;
        }
        source->file.json = tree;
    } else if (*begin == '[' || strncmp(begin, "---", 3) == 0 || strncmp(begin, "- ", 2) == 0) {
        // Lists of links and tables of text may begin like this, too, and are no YAML then.
        world_tree_t *tree = NULL;
        world_error_t ignored;
        if (world_yaml_parse(document, source->file.name, true, text, size, &tree, &ignored) ==
                SIM_OK &&
            tree->kind == WORLD_TREE_LIST) {
            source->file.tree = tree;
        }
    }
    for (size_t f = 0; f < SIM_COUNT_OF(formats) && source->format == NULL; f++) {
        source->format = formats[f]->is(&source->file) ? formats[f] : NULL;
    }
    return SIM_OK;
}

const char *cli_import_format(const char *path, const char *text, size_t size_bytes)
{
    world_document_t *const document = world_document_create();
    source_t source = {.path = sim_strdup(path)};
    world_error_t ignored;
    const sim_err_t result = find_format(&source, document, text, size_bytes, &ignored);
    sim_free(source.path);
    world_document_destroy(document);
    return result == SIM_OK && source.format != NULL && source.format != &import_links
               ? source.format->name
               : NULL;
}

// Reads a file into memory and finds its format. A file of a folder may have none.
static sim_err_t load(import_job_t *job, source_t *source, world_error_t *error)
{
    size_t size = 0;
    sim_err_t result = world_read_file(source->path, FILE_BYTES_MAX, &source->text, &size, error);
    if (result != SIM_OK) {
        return source->named ? result : SIM_OK;
    }
    result = find_format(source, job->document, source->text, size, error);
    return result == SIM_OK && source->format == NULL && source->named ? fail_unknown(source, error)
                                                                       : result;
}

static sim_err_t read_all(import_job_t *job, bool servers, world_error_t *error)
{
    sim_err_t result = SIM_OK;
    for (size_t i = 0; i < job->count && result == SIM_OK; i++) {
        const source_t *const source = &job->sources[i];
        if (source->format != NULL && (source->format == &import_nccl) == servers) {
            result = source->format->read(&job->fabric, &source->file, error);
        }
    }
    return result;
}

// -- what was done

static void print_notes(const import_fabric_t *fabric, FILE *out)
{
    static const char *const titles[] = {
        [IMPORT_BECAME] = "What the files say became this:",
        [IMPORT_ASSUMED] = "This was assumed:",
        [IMPORT_IGNORED] = "This has no effect:",
    };
    for (size_t kind = 0; kind < SIM_COUNT_OF(titles); kind++) {
        bool headed = false;
        for (size_t i = 0; i < fabric->note_count; i++) {
            const import_note_t *const note = &fabric->notes[i];
            if ((size_t)note->kind != kind) {
                continue;
            }
            if (!headed) {
                fprintf(out, "\n%s\n", titles[kind]);
            }
            headed = true;
            fprintf(out, "  %s", note->text);
            if (note->first.origin != NULL && note->first.line > 0) {
                fprintf(out, " (%s:%d:%d", note->first.origin, note->first.line,
                        note->first.column);
            } else if (note->first.origin != NULL) {
                fprintf(out, " (%s", note->first.origin);
            }
            if (note->first.origin != NULL) {
                fprintf(out, note->count > 1 ? ", and %zu more)" : ")", note->count - 1);
            }
            fputc('\n', out);
        }
    }
}

static void print_summary(const import_job_t *job, FILE *out)
{
    const import_fabric_t *const fabric = &job->fabric;
    size_t nodes[2] = {0, 0};
    for (size_t n = 0; n < fabric->node_count; n++) {
        nodes[fabric->nodes[n].kind == IMPORT_HOST]++;
    }
    fprintf(out, "%zu switch%s, %zu host%s and %zu link%s from these files:\n", nodes[0],
            nodes[0] == 1 ? "" : "es", nodes[1], sim_plural(nodes[1]), fabric->link_count,
            sim_plural(fabric->link_count));
    for (size_t i = 0; i < job->count; i++) {
        fprintf(out, "  %s: %s\n", job->sources[i].path,
                job->sources[i].format != NULL ? job->sources[i].format->name
                                               : "left out, it has none of the known formats");
    }
    print_notes(fabric, out);
}

static char *source_names(const import_job_t *job)
{
    char *names = sim_format("%s", "");
    size_t used = 0;
    for (size_t i = 0; i < job->count; i++) {
        if (job->sources[i].format == NULL) {
            continue;
        }
        const char *const slash = strrchr(job->sources[i].path, '/');
        char *const more = used == 8 ? sim_format("%s and others", names)
                                     : sim_format("%s%s%s", names, used > 0 ? ", " : "",
                                                  slash != NULL ? slash + 1 : job->sources[i].path);
        sim_free(names);
        names = more;
        if (used++ == 8) {
            break;
        }
    }
    return names;
}

// -- the command

static int write_scenario(const char *name, const char *text)
{
    FILE *const out = name == NULL || strcmp(name, "-") == 0 ? stdout : fopen(name, "we");
    bool good = out != NULL && fputs(text, out) >= 0 && fflush(out) == 0;
    const int reason = errno;
    if (out != NULL && out != stdout) {
        good = fclose(out) == 0 && good;
    }
    if (!good) {
        fprintf(stderr, "rocesim import: cannot write %s: %s\n",
                name == NULL ? "the standard output" : name, strerror(reason));
        return CLI_EXIT_FAILED;
    }
    return CLI_EXIT_DONE;
}

// Writes the links with the names of their ports.
static sim_err_t write_links(const import_fabric_t *fabric, const char *name, world_error_t *error)
{
    results_file_t *file = NULL;
    const sim_err_t result = results_file_open(name, &file, error);
    if (result != SIM_OK) {
        return result;
    }
    results_file_put(file, "a_node,a_port,b_node,b_port\n");
    for (size_t i = 0; i < fabric->link_count; i++) {
        for (size_t end = 0; end < 2; end++) {
            const import_node_t *const node = &fabric->nodes[fabric->links[i].nodes[end]];
            results_file_put_csv(file, node->name);
            results_file_put(file, ",");
            results_file_put_csv(file, node->ports[fabric->links[i].ports[end]].name);
            results_file_put(file, end == 0 ? "," : "\n");
        }
    }
    return results_file_close(file, error);
}

// Prints what each key of each format becomes, as docs/formats/import.md has it.
static void print_keys(void)
{
    static const char *const kinds[] = {"", "assumed: ", "no effect: "};
    for (size_t f = 0; f < SIM_COUNT_OF(formats); f++) {
        printf("%s### %s\n\n| key | becomes |\n|---|---|\n", f > 0 ? "\n" : "", formats[f]->name);
        for (size_t k = 0; k < formats[f]->key_count; k++) {
            const import_key_t *const row = &formats[f]->keys[k];
            printf("| `%s%s%s` | %s%s |\n", row->table, row->field[0] != '\0' ? " " : "",
                   row->field, kinds[row->kind], row->becomes);
        }
    }
}

static void job_fini(import_job_t *job)
{
    for (size_t i = 0; i < job->count; i++) {
        sim_free(job->sources[i].path);
        sim_free(job->sources[i].text);
    }
    sim_free(job->sources);
    import_fabric_fini(&job->fabric);
    world_document_destroy(job->document);
}

int cli_command_import(const cli_args_t *args)
{
    world_error_t error;
    if (args->markdown) {
        print_keys();
        return cli_finish_output(CLI_EXIT_DONE);
    }
    if (args->operand_count == 0) {
        fprintf(stderr, "rocesim import: no file, expected files or folders\n");
        return CLI_EXIT_BAD_INPUT;
    }
    import_job_t job = {.document = world_document_create()};
    world_document_keep_last(job.document);
    sim_err_t result = find_files(&job, args, &error);
    for (size_t i = 0; i < job.count && result == SIM_OK; i++) {
        result = load(&job, &job.sources[i], &error);
    }
    result = result != SIM_OK ? result : read_all(&job, false, &error);
    result = result != SIM_OK ? result : read_all(&job, true, &error);
    world_place_t place;
    if (world_document_repeats(job.document, &place) > 0) {
        import_note(&job.fabric, IMPORT_ASSUMED, &place,
                    "a key is given twice in a mapping of JSON: the last one counts, as in SONiC");
    }
    result = result != SIM_OK ? result : import_fabric_join(&job.fabric, !args->no_hosts, &error);
    int status = CLI_EXIT_BAD_INPUT;
    if (result != SIM_OK) {
        (void)cli_report_failure(&error, status);
    } else {
        char *const names = source_names(&job);
        char *const text = import_scenario_text(&job.fabric, names);
        status = write_scenario(args->folder, text);
        if (status == CLI_EXIT_DONE && args->links != NULL &&
            write_links(&job.fabric, args->links, &error) != SIM_OK) {
            status = cli_report_failure(&error, CLI_EXIT_FAILED);
        }
        const bool to_stdout = args->folder == NULL || strcmp(args->folder, "-") == 0;
        if (status == CLI_EXIT_DONE && !args->quiet) {
            print_summary(&job, to_stdout ? stderr : stdout);
        }
        sim_free(names);
        sim_free(text);
    }
    job_fini(&job);
    return cli_finish_output(status);
}
