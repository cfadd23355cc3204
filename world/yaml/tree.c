// SPDX-License-Identifier: Apache-2.0
// world/yaml/tree.c - the tree of a scenario file: memory, look-up, reading files.
#include "world/yaml_tree.h"

#include "world/yaml/yaml_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

world_document_t *world_document_create(void)
{
    return sim_alloc(sizeof(world_document_t));
}

void world_document_keep_last(world_document_t *document)
{
    document->keeps_last = true;
}

size_t world_document_repeats(const world_document_t *document, world_place_t *place)
{
    *place = document->repeated;
    return document->repeat_count;
}

void world_document_destroy(world_document_t *document)
{
    if (document == NULL) {
        return;
    }
    for (size_t i = 0; i < document->tree_count; i++) {
        SIM_FREE_ALL(document->trees[i]->text, document->trees[i]->entries, document->trees[i]);
    }
    sim_free_each(document->texts, document->text_count);
    SIM_FREE_ALL(document->trees, document->texts, document);
}

const char *world_document_text(world_document_t *document, const char *text)
{
    SIM_GROW(document->texts, document->text_count, &document->text_capacity);
    document->texts[document->text_count] = sim_strdup(text);
    return document->texts[document->text_count++];
}

world_tree_t *world_tree_new(world_document_t *document, world_tree_kind_t kind,
                             world_place_t place)
{
    world_tree_t *const tree = sim_alloc(sizeof(*tree));
    tree->kind = kind;
    tree->place = place;
    SIM_APPEND(document->trees, document->tree_count, document->tree_capacity, tree);
    return tree;
}

world_tree_t *world_tree_new_scalar(world_document_t *document, world_place_t place,
                                    const char *text)
{
    world_tree_t *const tree = world_tree_new(document, WORLD_TREE_SCALAR, place);
    tree->text = sim_strdup(text);
    return tree;
}

void world_tree_add(world_tree_t *tree, world_tree_t *key, world_tree_t *value)
{
    SIM_CHECK(tree->kind != WORLD_TREE_SCALAR);
    SIM_CHECK((key != NULL) == (tree->kind == WORLD_TREE_MAP));
    SIM_APPEND(tree->entries, tree->count, tree->capacity, (world_tree_entry_t){key, value});
}

world_tree_t *world_tree_copy(world_document_t *document, const world_tree_t *tree)
{
    world_tree_t *const made = world_tree_new(document, tree->kind, tree->place);
    made->is_null = tree->is_null;
    made->text = tree->text != NULL ? sim_strdup(tree->text) : NULL;
    for (size_t i = 0; i < tree->count; i++) {
        const world_tree_entry_t *const entry = &tree->entries[i];
        world_tree_add(made, entry->key != NULL ? world_tree_copy(document, entry->key) : NULL,
                       world_tree_copy(document, entry->value));
    }
    return made;
}

void world_tree_merge(world_tree_t *into, const world_tree_t *from)
{
    SIM_CHECK(into->kind == WORLD_TREE_MAP && from->kind == WORLD_TREE_MAP);
    for (size_t i = 0; i < from->count; i++) {
        world_tree_entry_t *const there = world_tree_find(into, from->entries[i].key->text);
        world_tree_t *const value = from->entries[i].value;
        if (there == NULL) {
            world_tree_add(into, from->entries[i].key, value);
        } else if (there->value->kind == WORLD_TREE_MAP && value->kind == WORLD_TREE_MAP) {
            world_tree_merge(there->value, value);
        } else {
            there->value = value;
        }
    }
}

world_tree_entry_t *world_tree_find(const world_tree_t *map, const char *key)
{
    SIM_CHECK(map->kind == WORLD_TREE_MAP);
    for (size_t i = 0; i < map->count; i++) {
        if (strcmp(map->entries[i].key->text, key) == 0) {
            return &map->entries[i];
        }
    }
    return NULL;
}

world_tree_t *world_tree_value(const world_tree_t *map, const char *key)
{
    const world_tree_entry_t *const entry = world_tree_find(map, key);
    return entry == NULL ? NULL : entry->value;
}

const char *world_tree_kind_text(const world_tree_t *tree)
{
    if (tree->is_null) {
        return "nothing";
    }
    switch (tree->kind) {
    case WORLD_TREE_SCALAR:
        return "a value";
    case WORLD_TREE_LIST:
        return tree->count == 0 ? "an empty list" : "a list";
    case WORLD_TREE_MAP:
        break;
    }
    return tree->count == 0 ? "an empty mapping" : "a mapping";
}

#define DEVICE_BYTES_MAX ((size_t)1 << 16)

// Reads until the end of the file or size_max + 1 bytes, whichever is first. waits: for the other
// end of a pipe or terminal.
static sim_err_t read_all(int file, bool waits, size_t size_max, char **bytes, size_t *size)
{
    size_t capacity = 1 << 16;
    char *buffer = sim_alloc(capacity + 1);
    size_t used = 0;
    while (used <= size_max) {
        if (used == capacity) {
            capacity *= 2;
            buffer = sim_realloc_array(buffer, capacity + 1, 1);
        }
        const ssize_t got = read(file, buffer + used, capacity - used);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 && errno == EAGAIN && waits) { // its other end is late
            struct pollfd late = {file, POLLIN, 0};
            (void)poll(&late, 1, -1);
            continue;
        }
        if (got < 0) {
            sim_free(buffer);
            return SIM_ERR_IO;
        }
        if (got == 0) {
            break;
        }
        used += (size_t)got;
    }
    buffer[used] = '\0';
    *bytes = buffer;
    *size = used;
    return SIM_OK;
}

static sim_err_t too_large(const char *file_name, size_t size_max, bool device,
                           world_error_t *error)
{
    return device ? world_fail(error, SIM_ERR_RANGE, WORLD_FILE(file_name),
                               "is a device that does not end, expected a file")
                  : world_fail(error, SIM_ERR_RANGE, WORLD_FILE(file_name),
                               "the file is too large, expected at most %zu MiB", size_max >> 20);
}

sim_err_t world_read_file(const char *file_name, size_t size_max, char **bytes, size_t *size,
                          world_error_t *error)
{
    const world_place_t place = {file_name, 0, 0};
    *bytes = NULL;
    *size = 0;
    // Not blocking: a named pipe without a writer must not hang the program.
    const int file = strcmp(file_name, "-") == 0
                         ? dup(STDIN_FILENO)
                         : open(file_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return world_fail(error, SIM_ERR_IO, &place, "cannot open: %s", strerror(errno));
    }
    struct stat status = {0};
    (void)fstat(file, &status);
    const bool waits = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || isatty(file) == 1;
    // A device other than a terminal may never end, so little of it is read.
    const bool device = !waits && (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode));
    const size_t most = device && size_max > DEVICE_BYTES_MAX ? DEVICE_BYTES_MAX : size_max;
    sim_err_t result = SIM_OK;
    if (S_ISDIR(status.st_mode)) {
        result = world_fail(error, SIM_ERR_IO, &place, "is a folder, expected a file");
    } else if (S_ISREG(status.st_mode) && status.st_size > (off_t)size_max) {
        result = too_large(file_name, size_max, device, error);
    } else if (read_all(file, waits, most, bytes, size) != SIM_OK) {
        result = world_fail(error, SIM_ERR_IO, &place, "cannot read: %s", strerror(errno));
    } else if (*size == 0 && S_ISFIFO(status.st_mode) && strcmp(file_name, "-") != 0) {
        result = world_fail(error, SIM_ERR_IO, &place,
                            "is an empty pipe, or one that nobody writes into yet, expected a file "
                            "or a pipe with its writer");
    } else if (*size > most) {
        result = too_large(file_name, size_max, device, error);
    } else {
        result = world__unpack(file_name, size_max, bytes, size, error);
    }
    close(file);
    if (result != SIM_OK) {
        sim_free(*bytes);
        *bytes = NULL;
        *size = 0;
    }
    return result;
}

sim_err_t world_yaml_read(world_document_t *document, const char *file_name, world_tree_t **tree,
                          world_error_t *error)
{
    char *bytes = NULL;
    size_t size = 0;
    sim_err_t result = world_read_file(file_name, WORLD_YAML_BYTES_MAX, &bytes, &size, error);
    if (result != SIM_OK) {
        return result;
    }
    const char *const origin = world_document_text(document, file_name);
    result = world_yaml_parse(document, origin, true, bytes, size, tree, error);
    sim_free(bytes);
    return result;
}

sim_err_t world_tree_fail(const world_tree_t *tree, const char *key, const char *expected,
                          world_error_t *error)
{
    return world_fail(error, SIM_ERR_INVALID, &tree->place, "%s is %s, expected %s", key,
                      world_tree_kind_text(tree), expected);
}

sim_err_t world_tree_check_keys(const world_tree_t *map, const char *what, const char *const *keys,
                                size_t count, const char *page, world_error_t *error)
{
    for (size_t i = 0; i < map->count; i++) {
        const world_tree_t *const key = map->entries[i].key;
        bool known = false;
        for (size_t k = 0; k < count; k++) {
            known = known || strcmp(keys[k], key->text) == 0;
        }
        if (!known) {
            world_shown_t shown;
            world_fail(error, SIM_ERR_UNKNOWN, &key->place, "unknown key '%s' in %s",
                       world_show(&shown, key->text), what);
            world_error_add_nearest(error, key->text, keys, count);
            world_error_add_names(error, keys, count, page);
            return SIM_ERR_UNKNOWN;
        }
    }
    return SIM_OK;
}
