// SPDX-License-Identifier: Apache-2.0
// test_effects.c - the table of attributes that need others names attributes that exist.
//
// Goal: every path and every condition of world/inspect/effects.c is that of an attribute, so that
// no row is left behind when an attribute gets another name. Method: all tables of the registry.
// Not pinned: whether a condition is right; tests/cli/run/test_cli_effects.sh has examples.
#include <string.h>

#include "tests/check_main.h"
#include "world/attributes.h"
#include "world/inspect/effects.h"

// Returns whether some attribute has the path: a name, with * for any rest or any kind of traffic.
static bool exists(const char *path, size_t size)
{
    const sim_attr_table_t **tables = NULL;
    world_registry_t *const registry = world_registry_create();
    const size_t count = world_attr_tables(registry, &tables);
    static const char *const facts[] = {"reliable", "changes", "series", "planes"}; // no attributes
    bool found = false;
    for (size_t i = 0; i < SIM_COUNT_OF(facts); i++) {
        found = found || (size == strlen(facts[i]) && strncmp(path, facts[i], size) == 0);
    }
    for (size_t t = 0; t < count && !found; t++) {
        for (size_t i = 0; tables[t] != NULL && i < tables[t]->count && !found; i++) {
            const char *at = tables[t]->attrs[i].path;
            const char *p = path;
            const char *const end = path + size;
            for (; p < end && (*p == *at || *p == '*'); p++, at++) {
                at = *p != '*' ? at : p + 1 == end ? at + strlen(at) - 1 : strchr(at, '.') - 1;
            }
            found = p == end && *at == '\0';
        }
    }
    sim_free(tables);
    world_registry_destroy(registry);
    return found;
}

START_TEST(names_exist)
{
    size_t count = 0;
    const world_effect_t *const effects = world__effects(&count);
    for (size_t i = 0; i < count; i++) {
        for (const char *at = effects[i].paths; *at != '\0'; at += strspn(at, " ")) {
            const size_t size = strcspn(at, " ");
            ck_assert_msg(exists(at, size), "%.*s", (int)size, at);
            at += size;
        }
        for (const char *at = effects[i].needs; *at != '\0'; at += strspn(at, " ")) {
            const size_t size = strcspn(at, " ");
            const size_t path = strcspn(at, "!= ");
            ck_assert_msg(path == size || exists(at, path), "%.*s", (int)size, at);
            ck_assert_msg(path < size || strncmp(at, "and ", 4) == 0 || strncmp(at, "or ", 3) == 0,
                          "%s", effects[i].needs);
            at += size;
        }
    }
}
END_TEST

CHECK_MAIN(CHECK_TEST(names_exist))
