// SPDX-License-Identifier: Apache-2.0
// world/yaml/parse.c - libfyaml's event stream made into a tree, within limits.
//
// Events rather than libfyaml's own documents: the depth is bounded before anything recurses, and
// nothing is ever expanded.
#include "world/yaml/yaml_internal.h"

#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

typedef struct level {
    world_tree_t *tree;
    world_tree_t *key; // waits for its value
} level_t;

typedef struct parse {
    world_document_t *document;
    world_error_t *error;
    world_place_t place; // of the event at hand; the last known one where an event has none
    level_t levels[WORLD_YAML_DEPTH_MAX];
    size_t depth;
    size_t part_count;
    size_t document_count;
    world_tree_t *root;
    bool lines;
} parse_t;

static sim_err_t fail(parse_t *parse, const char *text)
{
    return world_fail(parse->error, SIM_ERR_INVALID, &parse->place, "%s", text);
}

static bool is_null_text(const char *text)
{
    return *text == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0 ||
           strcmp(text, "Null") == 0 || strcmp(text, "NULL") == 0;
}

static int compare_entries(const void *a, const void *b)
{
    const world_tree_entry_t *const x = a;
    const world_tree_entry_t *const y = b;
    const int order = strcmp(x->key->text, y->key->text);
    if (order != 0) {
        return order;
    }
    if (x->key->place.line != y->key->place.line) {
        return x->key->place.line < y->key->place.line ? -1 : 1;
    }
    return x->key->place.column - y->key->place.column;
}

// Leaves out an entry of a mapping, since its key comes again.
static void leave_out(world_document_t *document, world_tree_t *map, const world_tree_t *key,
                      const world_tree_t *again)
{
    size_t i = 0;
    while (map->entries[i].key != key) {
        i++;
    }
    map->count--;
    memmove(map->entries + i, map->entries + i + 1, (map->count - i) * sizeof(*map->entries));
    if (document->repeat_count++ == 0) {
        document->repeated = again->place;
    }
}

static sim_err_t check_unique_keys(parse_t *parse, world_tree_t *map)
{
    if (map->count < 2) {
        return SIM_OK;
    }
    world_tree_entry_t *const sorted = sim_alloc_array(map->count, sizeof(*sorted));
    memcpy(sorted, map->entries, map->count * sizeof(*sorted));
    qsort(sorted, map->count, sizeof(*sorted), compare_entries);
    sim_err_t result = SIM_OK;
    const size_t count = map->count;
    for (size_t i = 1; i < count && result == SIM_OK; i++) {
        const world_tree_t *const key = sorted[i].key;
        const world_tree_t *const first = sorted[i - 1].key;
        if (strcmp(first->text, key->text) == 0 && parse->document->keeps_last) {
            leave_out(parse->document, map, first, key);
        } else if (strcmp(first->text, key->text) == 0) {
            world_shown_t shown;
            result = world_fail(parse->error, SIM_ERR_EXISTS, &key->place,
                                "'%s' is given twice, expected each key once",
                                world_show(&shown, key->text));
            if (first->place.line > 0) {
                world_error_add(parse->error, " (the other is at %d:%d)", first->place.line,
                                first->place.column);
            }
        }
    }
    sim_free(sorted);
    return result;
}

// Hangs a finished scalar or a begun collection where it belongs.
static sim_err_t attach(parse_t *parse, world_tree_t *tree)
{
    if (++parse->part_count > WORLD_YAML_PARTS_MAX) {
        world_fail(parse->error, SIM_ERR_RANGE, &parse->place,
                   "more than %u keys and values, expected a smaller scenario",
                   WORLD_YAML_PARTS_MAX);
        return SIM_ERR_RANGE;
    }
    if (parse->depth == 0) {
        parse->root = tree;
        return SIM_OK;
    }
    level_t *const level = &parse->levels[parse->depth - 1];
    if (level->tree->kind == WORLD_TREE_LIST) {
        world_tree_add(level->tree, NULL, tree);
        return SIM_OK;
    }
    if (level->key != NULL) {
        world_tree_add(level->tree, level->key, tree);
        level->key = NULL;
        return SIM_OK;
    }
    if (tree->kind != WORLD_TREE_SCALAR) {
        return fail(parse, "a key is a list or a mapping, expected a name");
    }
    if (strcmp(tree->text, "<<") == 0) {
        return fail(parse, "merge keys (<<) are not supported, expected a name");
    }
    level->key = tree;
    return SIM_OK;
}

static sim_err_t take_scalar(parse_t *parse, const struct fy_event *event)
{
    size_t size = 0;
    const char *text = NULL;
    enum fy_scalar_style style = FYSS_PLAIN;
    if (event->scalar.value != NULL) {
        text = fy_token_get_text(event->scalar.value, &size);
        style = fy_token_scalar_style(event->scalar.value);
    }
    if (parse->lines && (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED)) {
        parse->place.column--; // libfyaml points after the quote
    }
    world_tree_t *const tree = world_tree_new(parse->document, WORLD_TREE_SCALAR, parse->place);
    if (world__yaml_unshield(text != NULL ? text : "", size, &tree->text) != SIM_OK) {
        return fail(parse, "a value contains a zero byte, expected text");
    }
    tree->is_null = style == FYSS_PLAIN && is_null_text(tree->text);
    return attach(parse, tree);
}

static sim_err_t open_level(parse_t *parse, world_tree_kind_t kind)
{
    if (parse->depth == WORLD_YAML_DEPTH_MAX) {
        return world_fail(parse->error, SIM_ERR_RANGE, &parse->place,
                          "nested more than %u deep, expected a flatter scenario",
                          WORLD_YAML_DEPTH_MAX);
    }
    world_tree_t *const tree = world_tree_new(parse->document, kind, parse->place);
    const sim_err_t result = attach(parse, tree);
    if (result == SIM_OK) {
        parse->levels[parse->depth++] = (level_t){tree, NULL};
    }
    return result;
}

static sim_err_t close_level(parse_t *parse)
{
    SIM_CHECK(parse->depth > 0);
    world_tree_t *const tree = parse->levels[--parse->depth].tree;
    return tree->kind == WORLD_TREE_MAP ? check_unique_keys(parse, tree) : SIM_OK;
}

static sim_err_t check_decorations(parse_t *parse, const struct fy_token *anchor, const void *tag)
{
    if (anchor != NULL) {
        return fail(parse, "anchors (&name) are not supported, expected a plain value");
    }
    if (tag != NULL) {
        return fail(parse, "tags (!name) are not supported, expected a plain value");
    }
    return SIM_OK;
}

static sim_err_t take_event(parse_t *parse, const struct fy_event *event)
{
    sim_err_t result = SIM_OK;
    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (++parse->document_count > 1) {
            return fail(parse, "a second document begins, expected one");
        }
        return SIM_OK;
    case FYET_SCALAR:
        result = check_decorations(parse, event->scalar.anchor, event->scalar.tag);
        return result != SIM_OK ? result : take_scalar(parse, event);
    case FYET_SEQUENCE_START:
        result = check_decorations(parse, event->sequence_start.anchor, event->sequence_start.tag);
        return result != SIM_OK ? result : open_level(parse, WORLD_TREE_LIST);
    case FYET_MAPPING_START:
        result = check_decorations(parse, event->mapping_start.anchor, event->mapping_start.tag);
        return result != SIM_OK ? result : open_level(parse, WORLD_TREE_MAP);
    case FYET_SEQUENCE_END:
    case FYET_MAPPING_END:
        return close_level(parse);
    case FYET_ALIAS:
        return fail(parse, "aliases (*name) are not supported, expected a plain value");
    case FYET_NONE:
    case FYET_STREAM_START:
    case FYET_STREAM_END:
    case FYET_DOCUMENT_END:
        break;
    }
    return SIM_OK;
}

// Returns whether the line or the one before is indented by a tab, the likeliest reason for an
// error there.
static bool indented_by_tab(const char *bytes, size_t size, int line)
{
    int at = 1;
    bool in_indentation = true;
    for (size_t i = 0; i < size && at <= line; i++) {
        if (bytes[i] == '\n') {
            at++;
            in_indentation = true;
        } else if (in_indentation && bytes[i] == '\t' && at >= line - 1) {
            return true;
        } else if (bytes[i] != ' ') {
            in_indentation = false;
        }
    }
    return false;
}

static sim_err_t syntax_error(parse_t *parse, struct fy_diag *diag, const char *bytes, size_t size)
{
    void *position = NULL;
    const struct fy_diag_error *const found = fy_diag_errors_iterate(diag, &position);
    const char *text = "syntax error";
    if (found != NULL) {
        text = found->msg;
        if (parse->lines && found->line > 0) {
            parse->place.line = found->line;
            parse->place.column = found->column > 0 ? found->column : 1;
        }
    }
    world_fail(parse->error, SIM_ERR_INVALID, &parse->place, "not valid YAML: %s", text);
    if (parse->lines && indented_by_tab(bytes, size, parse->place.line)) {
        world_error_add(parse->error, ", expected spaces, not tabs, as indentation");
    } else {
        world_error_add(parse->error, ", expected YAML 1.2");
    }
    return SIM_ERR_INVALID;
}

static void note_place(parse_t *parse, struct fy_event *event)
{
    const struct fy_mark *const mark = fy_event_start_mark(event);
    if (parse->lines && mark != NULL && mark->line >= 0) {
        parse->place.line = mark->line + 1;
        parse->place.column = mark->column + 1;
    }
}

static sim_err_t run_parser(parse_t *parse, const char *bytes, size_t size)
{
    struct fy_diag_cfg diag_config;
    fy_diag_cfg_default(&diag_config);
    diag_config.fp = NULL;
    struct fy_diag *const diag = fy_diag_create(&diag_config);
    SIM_CHECK(diag != NULL);
    fy_diag_set_collect_errors(diag, true);
    const struct fy_parse_cfg config = {
        .flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DEFAULT_VERSION_1_2 | FYPCF_JSON_NONE,
        .diag = diag,
    };
    struct fy_parser *const parser = fy_parser_create(&config);
    SIM_CHECK(parser != NULL);
    SIM_CHECK(fy_parser_set_string(parser, bytes, size) == 0);

    sim_err_t result = SIM_OK;
    bool ended = false;
    while (result == SIM_OK && !ended) {
        struct fy_event *const event = fy_parser_parse(parser);
        if (event == NULL) {
            result = syntax_error(parse, diag, bytes, size);
            break;
        }
        note_place(parse, event);
        ended = event->type == FYET_STREAM_END;
        result = take_event(parse, event);
        fy_parser_event_free(parser, event);
    }
    fy_parser_destroy(parser);
    fy_diag_destroy(diag);
    return result;
}

sim_err_t world_yaml_parse(world_document_t *document, const char *origin, bool lines,
                           const char *bytes, size_t size, world_tree_t **tree,
                           world_error_t *error)
{
    parse_t parse = {
        .document = document,
        .error = error,
        .place = {origin, lines ? 1 : 0, lines ? 1 : 0},
        .lines = lines,
    };
    if (size > WORLD_YAML_BYTES_MAX) {
        return world_fail(error, SIM_ERR_RANGE, &parse.place,
                          "the scenario is too large, expected at most %zu MiB",
                          WORLD_YAML_BYTES_MAX >> 20);
    }
    char *shielded = NULL;
    size_t shielded_size = 0;
    sim_err_t result =
        world__yaml_shield(&parse.place, bytes, size, &shielded, &shielded_size, error);
    if (result != SIM_OK) {
        return result;
    }
    result = run_parser(&parse, shielded, shielded_size);
    sim_free(shielded);
    if (result == SIM_OK && parse.root == NULL) {
        result = world_fail(error, SIM_ERR_INVALID, &parse.place, "no content, expected YAML");
    }
    *tree = parse.root;
    return result;
}
