// SPDX-License-Identifier: Apache-2.0
// studio/server/runs/orders/routes.c - routes that order runs.
//
// An order is stored completely or not at all: its folders are on the disk before the transaction
// that inserts its rows, and are marked as uncommitted until it has committed.
#include "studio/server/runs/orders/orders.h"

#include "studio/server/accounts/accounts.h"
#include "studio/server/http/body.h"
#include "studio/server/library/library.h"
#include "studio/server/library/order.h"
#include "studio/server/library/scenario_check.h"
#include "studio/server/library/study_check.h"
#include "studio/server/runs/consistency/label.h"
#include "studio/server/runs/consistency/numbers.h"
#include "studio/server/runs/events.h"
#include "studio/server/runs/finish.h"
#include "studio/server/runs/queue.h"
#include "studio/server/runs/study.h"
#include "studio/server/store/database.h"
#include "studio/server/store/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Every run stores all settings and sends them whenever its state changes.
#define SETTINGS_BYTES_MAX ((size_t)16 << 20)

#define NAME_BYTES_MAX 200u
#define TRIALS_MAX 20u // of a study's settings

// Members of an order that only scenarios take.
static const char *const of_scenarios[] = {"yaml", "document", "library", "grid", "seeds"};

typedef struct order {
    const studio_user_t *user;
    const char *name;
    char *yaml;
    studio_place_t place; // where its file names start
    const char *study;    // name of a study instead of a scenario, or NULL
    json_t *runs;
    bool shared;
    char *limits; // JSON text
    int64_t group;
    int64_t first; // number of the first run
    size_t made;   // number of folders that this order has made
} order_t;

static void fini(order_t *order)
{
    sim_free(order->yaml);
    json_decref(order->runs);
    free(order->limits);
}

// -- folders

static bool write_file(const char *path, const char *text)
{
    SIM_CHECK(text != NULL);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    const size_t length = strlen(text);
    const ssize_t written = fd < 0 ? -1 : write(fd, text, length);
    if (written >= 0 && (size_t)written < length) {
        errno = ENOSPC; // the disk took only a part of it
    }
    const bool good = written == (ssize_t)length && fsync(fd) == 0;
    const int reason = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    errno = reason;
    return good;
}

static char *folder_of(const studio_t *studio, int64_t run)
{
    return sim_format("%s/runs/%" PRId64, studio->options.data, run);
}

// Returns the name of a run, freed with sim_free: that of the order with the settings by which its
// runs differ, as far as they fit. Values of a grid differ between its first and its last run.
static char *name_of(const order_t *order, size_t index)
{
    const json_t *const first = json_array_get(order->runs, 0);
    const json_t *const last = json_array_get(order->runs, json_array_size(order->runs) - 1);
    const json_t *const own = json_array_get(order->runs, index);
    char *name = sim_strdup(order->name);
    const char *between = ": ";
    for (size_t i = 0; i < json_array_size(own); i++) {
        if (!json_equal(json_array_get(first, i), json_array_get(last, i))) {
            char *const longer =
                sim_format("%s%s%s", name, between, json_string_value(json_array_get(own, i)));
            if (strlen(longer) > NAME_BYTES_MAX) {
                sim_free(longer);
                break;
            }
            sim_free(name);
            name = longer;
            between = ", ";
        }
    }
    return name;
}

static json_t *label_of(const order_t *order, int64_t run)
{
    const size_t index = (size_t)(run - order->first);
    char *const name = name_of(order, index);
    json_t *const label =
        json_pack("{s:s, s:s, s:I, s:O, s:o, s:I, s:s*, s:s*, s:s*}", "name", name, "owner",
                  order->user->name, "group", (json_int_t)order->group, "set",
                  json_array_get(order->runs, index), "limits", json_loads(order->limits, 0, NULL),
                  "created_ms", (json_int_t)studio_now_ms(), "library", order->place.entry, "study",
                  order->study, "folder", order->place.folder);
    SIM_CHECK(label != NULL);
    sim_free(name);
    return label;
}

// Writes a run's label and its scenario: written for the first run of an order, hard-linked for the
// others. A study has none.
static bool fill_folder(const studio_t *studio, const order_t *order, int64_t run)
{
    char *const folder = folder_of(studio, run);
    char *const first = folder_of(studio, order->first);
    char *const path = sim_format("%s/scenario.yaml", folder);
    char *const from = sim_format("%s/scenario.yaml", first);
    json_t *const label = label_of(order, run);
    const bool good = studio_label_write(folder, label) &&
                      (order->yaml == NULL || (run != order->first && link(from, path) == 0) ||
                       write_file(path, order->yaml));
    const int reason = errno;
    json_decref(label);
    SIM_FREE_ALL(from, path, first, folder);
    errno = reason;
    return good;
}

static void for_folders(const studio_t *studio, const order_t *order, bool kept)
{
    for (size_t i = 0; i < order->made; i++) {
        char *const folder = folder_of(studio, order->first + (int64_t)i);
        if (kept) {
            studio_run_folder_commit(folder);
        } else {
            (void)studio_folder_remove(folder);
        }
        sim_free(folder);
    }
}

static bool sync_folder(const studio_t *studio)
{
    char *const path = sim_format("%s/runs", studio->options.data);
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool good = fd >= 0 && fsync(fd) == 0;
    const int reason = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    sim_free(path);
    errno = reason;
    return good;
}

// Makes the folders of all runs of the order. Returns false with errno if one could not be made;
// order->made then says how many were.
static bool make_folders(studio_t *studio, order_t *order)
{
    bool good = true;
    while (good && order->made < json_array_size(order->runs)) {
        const int64_t run = order->first + (int64_t)order->made;
        char *const folder = folder_of(studio, run);
        good = studio_run_folder_make(folder);
        const int reason = errno;
        sim_free(folder);
        errno = reason;
        if (good) {
            order->made++;
            good = fill_folder(studio, order, run);
        }
    }
    return good && sync_folder(studio);
}

// -- rows

static bool insert_run(studio_t *studio, const order_t *order, size_t index)
{
    char *const overrides = json_dumps(json_array_get(order->runs, index), JSON_COMPACT);
    char *const name = name_of(order, index);
    const bool good = studio_store_do(
        studio->store,
        "INSERT INTO runs(id, run_group, name, owner, shared, state, overrides,"
        " library, limits, created_ms, study, folder)"
        " VALUES (?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?)",
        "iisiisssiss", order->first + (int64_t)index, order->group, name, order->user->id,
        (int64_t)order->shared, overrides == NULL ? "[]" : overrides, order->place.entry,
        order->limits, studio_now_ms(), order->study, order->place.folder);
    sim_free(name);
    free(overrides);
    return good;
}

// Inserts the group of the order and returns its number; 0 on failure.
static int64_t insert_group(studio_t *studio, const order_t *order)
{
    char *const plan = sim_format("{\"runs\":%zu}", json_array_size(order->runs));
    const int64_t group = studio_store_insert(
        studio->store, "INSERT INTO run_groups(name, owner, created_ms, plan) VALUES (?, ?, ?, ?)",
        "siis", order->name, order->user->id, studio_now_ms(), plan);
    sim_free(plan);
    return group;
}

// -- the request

static int take_scenario(studio_request_t *request, studio_response_t *response, order_t *order)
{
    studio_t *const studio = studio_request_studio(request);
    const char *const yaml = studio_body_text(request, "yaml", STUDIO_YAML_BYTES_MAX);
    int64_t document = 0;
    const int status = studio_take_place(request, response, &order->place);
    if (status != 0) {
        return status;
    }
    if (!studio_body_number(request, "document", 0, 1, INT64_MAX, &document)) {
        return studio_response_error(response, 400, "document: expected a number");
    }
    if (yaml != NULL) {
        order->yaml = sim_strdup(yaml);
    } else if (document != 0) {
        order->yaml = studio_document_yaml(studio, order->user, document);
    } else if (order->place.entry != NULL) {
        order->yaml = sim_strdup(studio_library_yaml(studio->library, order->place.entry));
    }
    if (order->yaml == NULL) {
        return studio_response_error(response, document != 0 ? 404 : 400,
                                     document != 0 ? "there is no such saved scenario"
                                                   : "expected yaml (at most 512 KiB), document or "
                                                     "library");
    }
    return 0;
}

static int take_limits(studio_request_t *request, studio_response_t *response, order_t *order)
{
    const studio_options_t *const options = &studio_request_studio(request)->options;
    int64_t time_s = 0;
    int64_t memory_bytes = 0;
    if (!studio_body_number(request, "time_s", (int64_t)options->run_s_max, 1,
                            (int64_t)options->run_s_max, &time_s) ||
        !studio_body_number(request, "memory_bytes", (int64_t)options->run_bytes_max,
                            INT64_C(16) << 20, (int64_t)options->run_bytes_max, &memory_bytes)) {
        return studio_response_error(response, 400,
                                     "expected time_s up to %" PRIu64
                                     " and memory_bytes from 16777216 to "
                                     "%" PRIu64,
                                     options->run_s_max, options->run_bytes_max);
    }
    int64_t ranks = 1;
    if (!studio_body_number(request, "ranks", 1, 1, (int64_t)options->run_ranks, &ranks)) {
        return studio_response_error(response, 400,
                                     "ranks: this server allows 1 to %" PRIu64
                                     " processes of a run; its administrator sets --run-ranks",
                                     options->run_ranks);
    }
    json_t *const limits =
        json_pack("{s:I, s:I, s:I}", "time_s", (json_int_t)time_s, "memory_bytes",
                  (json_int_t)memory_bytes, "ranks", (json_int_t)ranks);
    order->limits = json_dumps(limits, JSON_COMPACT);
    json_decref(limits);
    return 0;
}

// Refuses a scenario that the run would refuse, and names the place of the error. A scenario with
// programs is sound, but only the command line runs it.
static int check(studio_t *studio, studio_response_t *response, const order_t *order)
{
    json_t *const checked = studio_check(studio, order->user, STUDIO_CHECK_ALL, order->yaml,
                                         order->runs, &order->place, NULL);
    const json_t *const error = json_array_get(json_object_get(checked, "errors"), 0);
    const json_t *const refusal = json_object_get(checked, "refusal");
    int status = 0;
    if (json_object_get(checked, "busy") != NULL) {
        status = studio_response_error(response, 503, "%s",
                                       json_string_value(json_object_get(error, "message")));
    } else if (error != NULL) {
        const char *const message = json_string_value(json_object_get(error, "message"));
        status = studio_response_error_at(
            response, 422, (int)json_integer_value(json_object_get(error, "line")),
            (int)json_integer_value(json_object_get(error, "column")), NULL,
            message == NULL ? "the scenario cannot be run" : message);
    } else if (refusal != NULL) {
        status = studio_response_error(response, 422, "%s", json_string_value(refusal));
    }
    json_decref(checked);
    return status;
}

static size_t settings_bytes(const json_t *runs)
{
    size_t total = 0;
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *const set = json_array_get(runs, i);
        for (size_t j = 0; j < json_array_size(set); j++) {
            total += json_string_length(json_array_get(set, j));
        }
    }
    return total;
}

// Checks that the user's queue and quota have room for the runs of the order.
static int check_queue(studio_t *studio, studio_response_t *response, const order_t *order)
{
    const int64_t waiting = studio_store_int(studio->store, 0,
                                             "SELECT count(*) FROM runs WHERE owner = ?"
                                             " AND state = 'queued'",
                                             "i", order->user->id);
    const uint64_t taken = studio_runs_bytes(studio, order->user->id);
    if (taken >= studio->options.user_run_bytes) {
        return studio_response_error(response, 507,
                                     "the files of your runs take %" PRIu64 " of %" PRIu64
                                     " bytes; delete runs and empty the trash",
                                     taken, studio->options.user_run_bytes);
    }
    if ((uint64_t)waiting + json_array_size(order->runs) > studio->options.queue_max) {
        return studio_response_error(
            response, 429,
            "%" PRId64 " of your runs wait already, and a user can have at most %" PRIu64
            " waiting",
            waiting, studio->options.queue_max);
    }
    return 0;
}

static bool is_parameter(const json_t *parameters, const char *setting)
{
    bool found = false;
    for (size_t i = 0; i < json_array_size(parameters) && !found; i++) {
        const char *const name =
            json_string_value(json_object_get(json_array_get(parameters, i), "name"));
        const size_t length = name == NULL ? 0 : strlen(name);
        found = length > 0 && strncmp(setting, name, length) == 0 && setting[length] == '=';
    }
    return found;
}

// Returns a copy of the settings in which the list of values of each of the study's parameters has
// only the one of this index, or its last one. more is set if a list has further values.
static json_t *settings_at(const json_t *set, const json_t *parameters, size_t index, bool *more)
{
    json_t *const chosen = json_array();
    *more = false;
    for (size_t i = 0; i < json_array_size(set); i++) {
        const char *const text = json_string_value(json_array_get(set, i));
        const char *value = text + strcspn(text, "=") + 1;
        const size_t head = (size_t)(value - text);
        if (!is_parameter(parameters, text)) {
            (void)json_array_append_new(chosen, json_string(text));
            continue;
        }
        size_t length = strcspn(value, " ,");
        for (size_t v = 0; v < index && value[length] != '\0'; v++) {
            const char *const next = value + length + strspn(value + length, " ,");
            if (*next == '\0') {
                break;
            }
            value = next;
            length = strcspn(value, " ,");
        }
        *more = *more || value[length + strspn(value + length, " ,")] != '\0';
        char *const one = sim_format("%.*s%.*s", (int)head, text, (int)length, value);
        (void)json_array_append_new(chosen, json_string(one));
        sim_free(one);
    }
    return chosen;
}

// Tries the settings of a study, once for each place in their lists of values. Returns 0 or the
// status of the answer.
static int try_study(studio_t *studio, studio_response_t *response, const order_t *order)
{
    sim_message_t message;
    json_t *const parameters = studio_library_parameters(studio->library, order->study);
    bool more = json_array_size(json_array_get(order->runs, 0)) > 0;
    int status = 0;
    for (size_t i = 0; more && status == 0 && i < TRIALS_MAX; i++) {
        json_t *const set = settings_at(json_array_get(order->runs, 0), parameters, i, &more);
        char **const line = studio_study_line(studio, order->study, set);
        if (!studio_study_check(studio, order->user, (const char *const *)line, &message)) {
            status = studio_response_error(response, 422, "%s", message.text);
        }
        for (size_t at = 0; line[at] != NULL; at++) {
            sim_free(line[at]);
        }
        sim_free(line);
        json_decref(set);
    }
    json_decref(parameters);
    return status;
}

// Reads an order of a study: one run with the study's settings.
static int take_study(studio_request_t *request, studio_response_t *response, order_t *order)
{
    studio_t *const studio = studio_request_studio(request);
    const char *runner;
    const char *name;
    sim_message_t message;
    bool quick = false;
    order->study = studio_body_text(request, "study", 512);
    if (order->study == NULL ||
        !studio_library_study(studio->library, order->study, &runner, &name)) {
        return studio_response_error(
            response, 404, "study: the library has no such study that the studio can run");
    }
    for (size_t i = 0; i < SIM_COUNT_OF(of_scenarios); i++) {
        if (studio_body_member(request, of_scenarios[i]) != NULL) {
            return studio_response_error(response, 400,
                                         "%s: a study takes quick and set, expected no %s",
                                         of_scenarios[i], of_scenarios[i]);
        }
    }
    order->runs = studio_order_expand(studio_body_member(request, "set"), NULL, NULL, 1, &message);
    if (order->runs == NULL || !studio_library_settings(studio->library, order->study,
                                                        json_array_get(order->runs, 0), &message)) {
        return studio_response_error(response, 400, "%s", message.text);
    }
    (void)studio_body_bool(request, "quick", &quick);
    if (quick) {
        (void)json_array_insert_new(json_array_get(order->runs, 0), 0,
                                    json_string(STUDIO_STUDY_QUICK));
    }
    int status = take_limits(request, response, order);
    status = status == 0 ? check_queue(studio, response, order) : status;
    return status == 0 ? try_study(studio, response, order) : status;
}

static int take_order(studio_request_t *request, studio_response_t *response, order_t *order)
{
    studio_t *const studio = studio_request_studio(request);
    sim_message_t message;
    if (!studio_body_name(request, "name", NAME_BYTES_MAX, &order->name) || order->name == NULL) {
        return studio_response_error(response, 400, "name: expected a text of 1 to 200 bytes");
    }
    (void)studio_body_bool(request, "shared", &order->shared);
    if (studio_body_member(request, "study") != NULL) {
        return take_study(request, response, order);
    }
    int status = take_scenario(request, response, order);
    if (status == 0) {
        status = take_limits(request, response, order);
    }
    if (status != 0) {
        return status;
    }
    order->runs = studio_order_expand(
        studio_body_member(request, "set"), studio_body_member(request, "grid"),
        studio_body_member(request, "seeds"), studio->options.group_max, &message);
    if (order->runs == NULL) {
        return studio_response_error(response, 400, "%s", message.text);
    }
    if (settings_bytes(order->runs) > SETTINGS_BYTES_MAX) {
        return studio_response_error(
            response, 413,
            "the settings of all runs are too long, expected at most %zu bytes together",
            SETTINGS_BYTES_MAX);
    }
    status = check_queue(studio, response, order);
    return status == 0 ? check(studio, response, order) : status;
}

// Inserts the rows of the runs, if the user's queue still has room for them; returns 0 or the
// status of the answer.
static int insert(studio_t *studio, studio_response_t *response, const order_t *order)
{
    if (!studio_store_begin(studio->store)) {
        return studio_response_store_failed(response, studio);
    }
    // Another order may have come first.
    const int refused = check_queue(studio, response, order);
    bool good = refused == 0;
    for (size_t i = 0; good && i < json_array_size(order->runs); i++) {
        good = insert_run(studio, order, i);
    }
    if (!good) {
        studio_store_rollback(studio->store);
        return refused != 0 ? refused : studio_response_store_failed(response, studio);
    }
    return studio_store_commit(studio->store) ? 0 : studio_response_store_failed(response, studio);
}

static int answer_unmade(studio_response_t *response)
{
    const int reason = errno;
    return reason == ENOSPC || reason == EDQUOT || reason == EFBIG
               ? studio_response_error(response, 507, "the disk is full, so no run was ordered")
               : studio_response_error(response, 500,
                                       "the folder of a run cannot be made, so no run was "
                                       "ordered: %s",
                                       strerror(reason));
}

// Numbers the runs of the order, makes their folders and inserts their rows.
static int store(studio_t *studio, studio_response_t *response, order_t *order)
{
    const size_t count = json_array_size(order->runs);
    int status = check_queue(studio, response, order);
    status = status != 0 ? status : studio_response_disk_full(response, studio);
    if (status != 0) {
        return status;
    }
    order->first = studio_numbers_take(studio->numbers, count);
    order->group = order->first == 0 ? 0 : insert_group(studio, order);
    if (order->group == 0) {
        return studio_response_store_failed(response, studio);
    }
    errno = 0;
    status =
        make_folders(studio, order) ? insert(studio, response, order) : answer_unmade(response);
    for_folders(studio, order, status == 0);
    return status;
}

static int keep(studio_request_t *request, studio_response_t *response, order_t *order)
{
    studio_t *const studio = studio_request_studio(request);
    const int status = store(studio, response, order);
    if (status != 0) {
        return status;
    }
    const int64_t first = order->first;
    const size_t count = json_array_size(order->runs);
    studio_audit(studio, order->user, studio_request_address(request), "run.create",
                 "%" PRId64 "%s%s", first, count > 1 ? " and further: " : ": ", order->name);
    json_t *const list = json_array();
    for (size_t i = 0; i < count; i++) {
        studio_run_tell_state(studio, first + (int64_t)i);
        (void)json_array_append_new(list, studio_run_json(studio, first + (int64_t)i));
    }
    studio_runs_wake(studio->runs);
    return studio_response_json(
        response, 201, json_pack("{s:I, s:o}", "group", (json_int_t)order->group, "runs", list));
}

int studio__post_runs(studio_request_t *request, studio_response_t *response)
{
    order_t order = {.user = studio_request_user(request)};
    int status = take_order(request, response, &order);
    if (status == 0) {
        status = keep(request, response, &order);
    }
    fini(&order);
    return status;
}

// -- again: a new run of the same scenario and settings

int studio__post_again(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    order_t order = {.user = studio_request_user(request)};
    studio_run_t run;
    int64_t id;
    if (!studio_request_number(request, "run", &id) ||
        !studio_run_find(studio, order.user, id, &run) || run.trashed) {
        return studio_response_error(response, 404, "there is no such run");
    }
    char *const path = sim_format("%s/scenario.yaml", run.folder);
    json_t *const json = studio_run_json(studio, id);
    order.study = json_string_value(json_object_get(json, "study"));
    order.yaml = studio_read_text(path, STUDIO_YAML_BYTES_MAX);
    sim_free(path);
    order.name = json_string_value(json_object_get(json, "name"));
    order.place.entry = json_string_value(json_object_get(json, "library"));
    order.place.folder = json_string_value(json_object_get(json, "folder"));
    if (order.place.folder == NULL && order.study == NULL) {
        order.place.folder = "";
    }
    order.runs = json_array();
    (void)json_array_append(order.runs, json_object_get(json, "set"));
    int status = order.yaml == NULL && order.study == NULL
                     ? studio_response_error(response, 404,
                                             "the scenario of this run is missing in its folder")
                     : take_limits(request, response, &order);
    if (status == 0 && order.study == NULL) {
        status = check(studio, response, &order);
    }
    if (status == 0) {
        status = keep(request, response, &order);
    }
    json_decref(json);
    fini(&order);
    return status;
}
