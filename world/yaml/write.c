// SPDX-License-Identifier: Apache-2.0
// world/yaml/write.c - writes a tree as YAML that reads back to the same tree.
#include "world/scenario.h"
#include "world/yaml_text.h"

#include <stdio.h>
#include <string.h>

#define INDENT 2u

typedef struct text {
    char *bytes;
    size_t size;
    size_t capacity;
} text_t;

static void put(text_t *text, const char *bytes, size_t size)
{
    SIM_RESERVE(text->bytes, text->size + size + 1, &text->capacity);
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

static void put_text(text_t *text, const char *bytes)
{
    put(text, bytes, strlen(bytes));
}

static bool is_plain(const char *text)
{
    // Words, numbers with units, and lists of numbers mean the same without quotes.
    const bool list = text[0] == '[' && strchr(text, ']') == text + strlen(text) - 1;
    for (const char *p = text; *p != '\0'; p++) {
        // A list is read back as "[1, 2]", however it was spelled.
        if (list && ((*p == ',') != (p[1] == ' ') || (*p == ' ' && (p[1] < '0' || p[1] > '9')) ||
                     (*p == ',' && (p[-1] < '0' || p[-1] > '9')))) {
            return false;
        }
        const bool digit = *p >= '0' && *p <= '9';
        const bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        const bool special = list ? strchr("[], ", *p) != NULL : strchr("._/%-", *p) != NULL;
        if (!digit && !special && (list || !letter)) {
            return false;
        }
    }
    return text[0] != '\0' && strchr("-%.", text[0]) == NULL && strcmp(text, "null") != 0 &&
           strcmp(text, "Null") != 0 && strcmp(text, "NULL") != 0;
}

static void put_scalar(text_t *text, const world_tree_t *tree)
{
    if (tree->is_null) {
        put_text(text, "~");
        return;
    }
    if (is_plain(tree->text)) {
        put_text(text, tree->text);
        return;
    }
    put(text, "\"", 1);
    for (const char *p = tree->text; *p != '\0'; p++) {
        const unsigned char byte = (unsigned char)*p;
        if (byte == '"' || byte == '\\') {
            put(text, "\\", 1);
            put(text, p, 1);
        } else if (byte < 0x20 || byte == 0x7f) {
            char *const escape = sim_format("\\x%02x", (unsigned)byte);
            put_text(text, escape);
            sim_free(escape);
        } else if (byte == 0xc2 && (unsigned char)p[1] < 0xa0) {
            // Control characters of Latin-1 cannot stand in a file as they are.
            char *const escape = sim_format("\\x%02x", (unsigned)(unsigned char)p[1]);
            put_text(text, escape);
            sim_free(escape);
            p++;
        } else {
            put(text, p, 1);
        }
    }
    put(text, "\"", 1);
}

static void put_indent(text_t *text, size_t depth)
{
    for (size_t i = 0; i < depth * INDENT; i++) {
        put(text, " ", 1);
    }
}

static void put_tree(text_t *text, const world_tree_t *tree, size_t depth, bool at_line_start);

static void put_value(text_t *text, const world_tree_t *value, size_t depth)
{
    if (value->kind == WORLD_TREE_SCALAR) {
        put_text(text, " ");
        put_scalar(text, value);
        put_text(text, "\n");
    } else if (value->count == 0) {
        put_text(text, value->kind == WORLD_TREE_LIST ? " []\n" : " {}\n");
    } else {
        put_text(text, "\n");
        put_tree(text, value, depth + 1, true);
    }
}

// Writes a tree. Its depth is bounded: by WORLD_YAML_DEPTH_MAX in a file, and by the parts of paths
// that overrides add.
static void put_tree(text_t *text, const world_tree_t *tree, size_t depth, bool at_line_start)
{
    SIM_CHECK(tree->kind != WORLD_TREE_SCALAR && depth <= 2 * (size_t)WORLD_YAML_DEPTH_MAX);
    for (size_t i = 0; i < tree->count; i++) {
        const world_tree_entry_t *const entry = &tree->entries[i];
        if (i > 0 || at_line_start) {
            put_indent(text, depth);
        }
        if (tree->kind == WORLD_TREE_MAP) {
            put_scalar(text, entry->key);
            put_text(text, ":");
            put_value(text, entry->value, depth);
            continue;
        }
        put_text(text, "-");
        if (entry->value->kind == WORLD_TREE_MAP && entry->value->count > 0) {
            put_text(text, " ");
            put_tree(text, entry->value, depth + 1, false);
        } else {
            put_value(text, entry->value, depth);
        }
    }
}

char *world_yaml_text(const world_tree_t *tree)
{
    text_t text = {NULL, 0, 0};
    put(&text, "", 0);
    if (tree->kind == WORLD_TREE_SCALAR) {
        put_scalar(&text, tree);
        put_text(&text, "\n");
    } else if (tree->count == 0) {
        put_text(&text, tree->kind == WORLD_TREE_LIST ? "[]\n" : "{}\n");
    } else {
        put_tree(&text, tree, 0, true);
    }
    return text.bytes;
}
