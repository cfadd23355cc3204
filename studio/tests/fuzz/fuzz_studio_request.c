// SPDX-License-Identifier: Apache-2.0
// labels: clang
// studio/tests/fuzz/fuzz_studio_request.c - fuzzes the parsers of requests: targets, routes,
// ranges, host names, orders of runs in JSON.
//
// The first byte chooses which. Whatever is accepted keeps its promises: no segment leads
// elsewhere, texts are UTF-8, ranges lie inside, an order is no larger than was allowed.
#include "studio/server/http/target.h"
#include "studio/server/library/order.h"

#include <string.h>

#include "tests/fuzz/fuzz.h"

static void try_target(const char *text)
{
    static const char *const routes[] = {
        "/api/v1/runs",
        "/api/v1/runs/{run}",
        "/api/v1/runs/{run}/files/{path...}",
    };
    studio_target_t target;
    if (!studio_target_parse(text, &target)) {
        return;
    }
    for (size_t i = 0; i < target.segment_count; i++) {
        const char *const segment = target.segments[i];
        SIM_CHECK(segment[0] != '\0' && strcmp(segment, ".") != 0 && strcmp(segment, "..") != 0);
        SIM_CHECK(strchr(segment, '/') == NULL && strchr(segment, '\\') == NULL);
        SIM_CHECK(studio_text_is_clean(segment, strlen(segment)));
    }
    for (size_t i = 0; i < target.value_count; i++) {
        SIM_CHECK(target.values[i].name[0] != '\0');
        SIM_CHECK(studio_text_is_clean(target.values[i].text, strlen(target.values[i].text)));
        SIM_CHECK(studio_target_value(&target, target.values[i].name, 0) != NULL);
    }
    for (size_t i = 0; i < SIM_COUNT_OF(routes); i++) {
        if (studio_target_matches(&target, routes[i])) {
            char *const run = studio_target_segment(&target, routes[i], "run");
            char *const path = studio_target_segment(&target, routes[i], "path");
            SIM_CHECK((run != NULL) == (i > 0) && (path != NULL) == (i == 2));
            SIM_CHECK(path == NULL || (path[0] != '/' && strstr(path, "/../") == NULL));
            sim_free(run);
            sim_free(path);
        }
    }
    studio_target_fini(&target);
}

static void try_range(const char *text, uint64_t size_bytes)
{
    uint64_t first = 0;
    uint64_t count = 0;
    const studio_range_kind_t kind = studio_range_parse(text, size_bytes, &first, &count);
    SIM_CHECK(first <= size_bytes && count <= size_bytes - first);
    SIM_CHECK(kind != STUDIO_RANGE_PART || count > 0);
    SIM_CHECK(kind != STUDIO_RANGE_WHOLE || (first == 0 && count == size_bytes));
}

static void try_order(const char *text, size_t size)
{
    sim_message_t message;
    json_t *const json = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    json_t *const runs =
        studio_order_expand(json_object_get(json, "set"), json_object_get(json, "grid"),
                            json_object_get(json, "seeds"), 100, &message);
    SIM_CHECK(runs == NULL || (json_array_size(runs) >= 1 && json_array_size(runs) <= 100));
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *const run = json_array_get(runs, i);
        for (size_t s = 0; s < json_array_size(run); s++) {
            const char *const setting = json_string_value(json_array_get(run, s));
            SIM_CHECK(setting != NULL && strchr(setting, '=') > setting);
        }
    }
    json_decref(runs);
    json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    char *const text = sim_alloc(size);
    memcpy(text, data + 1, size - 1);
    switch (data[0] % 4) {
    case 0:
        try_target(text);
        break;
    case 1:
        try_range(text, data[0]);
        break;
    case 2:
        (void)studio_host_allowed(text, "studio.example,other");
        break;
    default:
        try_order(text, size - 1);
        break;
    }
    sim_free(text);
    return 0;
}
