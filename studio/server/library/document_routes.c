// SPDX-License-Identifier: Apache-2.0
// studio/server/library/document_routes.c - routes for saved work: scenarios, queries, analyses,
// figures.
//
// A document has a kind, a name and a JSON body that only the page and its tools understand. A
// change names the version it started from, so that concurrent changes are detected.
#include "studio/server/accounts/accounts.h"
#include "studio/server/http/body.h"
#include "studio/server/http/route.h"
#include "studio/server/library/library.h"
#include "studio/server/store/database.h"

#include <stdlib.h>
#include <string.h>

#define BODY_BYTES_MAX ((size_t)1 << 20)
#define DOCUMENTS_MAX 10000

static const char *const kinds[] = {"scenario", "query", "analysis", "figure", "view"};

static bool kind_good(const char *kind)
{
    for (size_t i = 0; kind != NULL && i < SIM_COUNT_OF(kinds); i++) {
        if (strcmp(kinds[i], kind) == 0) {
            return true;
        }
    }
    return false;
}

typedef struct document {
    int64_t owner;
    int64_t version;
    bool trashed;
} document_t;

// Finds a document; returns false if it does not exist or the user may not see it.
static bool find(studio_t *studio, const studio_user_t *user, int64_t id, document_t *document)
{
    studio_rows_t *const rows =
        studio_rows_open(studio->store,
                         "SELECT owner, version, trashed_ms IS NOT NULL FROM documents"
                         " WHERE id = ?"
                         " AND (? OR owner = ? OR (shared AND trashed_ms IS NULL))",
                         "iii", id, (int64_t)(user->role == STUDIO_ROLE_ADMINISTRATOR), user->id);
    const bool found = studio_rows_next(rows);
    if (found) {
        document->owner = studio_rows_int(rows, 0);
        document->version = studio_rows_int(rows, 1);
        document->trashed = studio_rows_int(rows, 2) != 0;
    }
    return studio_rows_close(rows) && found;
}

static bool may_change(const studio_user_t *user, const document_t *document)
{
    return user->role == STUDIO_ROLE_ADMINISTRATOR || user->id == document->owner;
}

#define COLUMNS                                                                                \
    "d.id, d.kind, d.name, d.owner, u.name, d.shared, d.created_ms, d.changed_ms, d.version, " \
    "d.trashed_ms"

static json_t *row_json(const studio_rows_t *rows)
{
    return json_pack(
        "{s:I, s:s, s:s, s:{s:I, s:s}, s:b, s:I, s:I, s:I, s:o}", "id",
        (json_int_t)studio_rows_int(rows, 0), "kind", studio_rows_text(rows, 1), "name",
        studio_rows_text(rows, 2), "owner", "id", (json_int_t)studio_rows_int(rows, 3), "name",
        studio_rows_text(rows, 4), "shared", (int)studio_rows_int(rows, 5), "created_ms",
        (json_int_t)studio_rows_int(rows, 6), "changed_ms", (json_int_t)studio_rows_int(rows, 7),
        "version", (json_int_t)studio_rows_int(rows, 8), "trashed_ms",
        studio_rows_is_null(rows, 9) ? json_null() : json_integer(studio_rows_int(rows, 9)));
}

static json_t *document_json(studio_t *studio, int64_t id)
{
    json_t *json = NULL;
    studio_rows_t *const rows = studio_rows_open(
        studio->store,
        "SELECT " COLUMNS ", d.body FROM documents d JOIN users u ON u.id = d.owner WHERE d.id = ?",
        "i", id);
    if (studio_rows_next(rows)) {
        json = row_json(rows);
        (void)json_object_set_new(json, "body",
                                  json_loads(studio_rows_text(rows, 10), JSON_DECODE_ANY, NULL));
    }
    (void)studio_rows_close(rows);
    return json;
}

char *studio_document_yaml(studio_t *studio, const studio_user_t *user, int64_t id)
{
    document_t document;
    if (!find(studio, user, id, &document)) {
        return NULL;
    }
    json_t *const json = document_json(studio, id);
    const char *const yaml =
        json_string_value(json_object_get(json_object_get(json, "body"), "yaml"));
    char *const copy = yaml == NULL ? NULL : sim_strdup(yaml);
    json_decref(json);
    return copy;
}

// -- routes

static int get_documents(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const studio_user_t *const user = studio_request_user(request);
    json_t *const list = json_array();
    studio_rows_t *const rows = studio_rows_open(
        studio->store,
        "SELECT " COLUMNS " FROM documents d JOIN users u ON u.id = d.owner"
        " WHERE (d.owner = ?1 OR ?2 OR (d.shared AND d.trashed_ms IS NULL)) AND "
        "(?3 IS NULL OR d.kind = ?3)"
        " AND (d.trashed_ms IS NOT NULL) = ?4 AND (?5 IS NULL OR"
        " instr(lower(d.name), lower(?5)) > 0)"
        " ORDER BY d.changed_ms DESC, d.id DESC LIMIT 1000",
        "iisis", user->id, (int64_t)(user->role == STUDIO_ROLE_ADMINISTRATOR),
        studio_request_query(request, "kind"), (int64_t)studio_request_query_is(request, "trash"),
        studio_request_query(request, "search"));
    while (studio_rows_next(rows)) {
        (void)json_array_append_new(list, row_json(rows));
    }
    if (!studio_rows_close(rows)) {
        json_decref(list);
        return studio_response_store_failed(response, studio);
    }
    return studio_response_json(response, 200, json_pack("{s:o}", "documents", list));
}

static int post_documents(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const studio_user_t *const user = studio_request_user(request);
    const char *const kind = studio_body_text(request, "kind", 20);
    const char *name;
    const bool name_good = studio_body_name(request, "name", 200, &name);
    const json_t *const body = studio_body_member(request, "body");
    const int64_t now_ms = studio_now_ms();
    bool shared = false;
    if (!kind_good(kind) || !name_good || name == NULL || body == NULL) {
        return studio_response_error(
            response, 400,
            "expected kind (scenario, query, analysis, figure or view), a name "
            "of up to 200 bytes, and a body");
    }
    const int full = studio_response_disk_full(response, studio);
    if (full != 0) {
        return full;
    }
    (void)studio_body_bool(request, "shared", &shared);
    char *const text = json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY);
    const int64_t id =
        studio_store_insert(studio->store,
                            "INSERT INTO documents(kind, name, body, owner, shared, created_ms,"
                            " changed_ms, version) SELECT ?, ?, ?, ?, ?, ?, ?, 1 WHERE"
                            " (SELECT count(*) FROM documents WHERE owner = ?) < ?",
                            "sssiiiiii", kind, name, text, user->id, (int64_t)shared, now_ms,
                            now_ms, user->id, (int64_t)DOCUMENTS_MAX);
    free(text);
    if (id == 0) {
        return studio_response_store_failed(response, studio);
    }
    studio_audit(studio, user, studio_request_address(request), "document.create", "%s", name);
    return studio_response_json(response, 201, document_json(studio, id));
}

// Finds the document of the request; own: the user must be allowed to change it. Otherwise answers
// with *status and returns false.
static bool take(studio_request_t *request, studio_response_t *response, bool own, int64_t *id,
                 document_t *document, int *status)
{
    studio_t *const studio = studio_request_studio(request);
    const studio_user_t *const user = studio_request_user(request);
    if (!studio_request_number(request, "document", id) || !find(studio, user, *id, document)) {
        *status = studio_response_error(response, 404, "there is no such document");
        return false;
    }
    if (own && !may_change(user, document)) {
        *status = studio_response_error(response, 403, "this document belongs to another user");
        return false;
    }
    return true;
}

static int get_document(studio_request_t *request, studio_response_t *response)
{
    document_t document;
    int64_t id;
    int status;
    return take(request, response, false, &id, &document, &status)
               ? studio_response_json(response, 200,
                                      document_json(studio_request_studio(request), id))
               : status;
}

static int put_document(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    document_t document;
    int64_t id;
    int64_t version = 0;
    int status;
    if (!take(request, response, true, &id, &document, &status)) {
        return status;
    }
    status = studio_response_disk_full(response, studio);
    if (status != 0) {
        return status;
    }
    const char *name;
    const bool name_good = studio_body_name(request, "name", 200, &name);
    const json_t *const body = studio_body_member(request, "body");
    bool shared = false;
    const bool has_shared = studio_body_bool(request, "shared", &shared);
    if (!name_good ||
        !studio_body_number(request, "version", document.version, 1, INT64_MAX, &version)) {
        return studio_response_error(response, 400,
                                     "expected a name of up to 200 bytes and version, a number");
    }
    char *const text = body == NULL ? NULL : json_dumps(body, JSON_COMPACT | JSON_ENCODE_ANY);
    const int64_t changed = studio_store_change(
        studio->store,
        "UPDATE documents SET name = coalesce(?, name), body ="
        " coalesce(?, body), shared = CASE WHEN ? THEN ? ELSE shared END,"
        " changed_ms = ?, version = version + 1 WHERE id = ? AND version = ?",
        "ssiiiii", name, text, (int64_t)has_shared, (int64_t)shared, studio_now_ms(), id, version);
    free(text);
    if (changed < 0) {
        return studio_response_store_failed(response, studio);
    }
    if (changed == 0) {
        return studio_response_error(
            response, 409, "somebody else has changed the document; its version is now %" PRId64,
            document.version);
    }
    return studio_response_json(response, 200, document_json(studio, id));
}

static int set_trashed(studio_request_t *request, studio_response_t *response, bool trashed)
{
    studio_t *const studio = studio_request_studio(request);
    document_t document;
    int64_t id;
    int status;
    if (!take(request, response, true, &id, &document, &status)) {
        return status;
    }
    if (!studio_store_do(studio->store,
                         "UPDATE documents SET trashed_ms = nullif(?, 0) WHERE id = ?", "ii",
                         trashed ? studio_now_ms() : INT64_C(0), id)) {
        return studio_response_store_failed(response, studio);
    }
    studio_audit(studio, studio_request_user(request), studio_request_address(request),
                 trashed ? "document.delete" : "document.restore", "%" PRId64, id);
    return studio_response_json(response, 200, document_json(studio, id));
}

static int delete_document(studio_request_t *request, studio_response_t *response)
{
    return set_trashed(request, response, true);
}

static int post_restore(studio_request_t *request, studio_response_t *response)
{
    return set_trashed(request, response, false);
}

// clang-format off
static const studio_parameter_t list_parameters[] = {
    {"kind", STUDIO_IN_QUERY, "string", false, "scenario, query, analysis, figure or view"},
    {"search", STUDIO_IN_QUERY, "string", false, "text that names must contain"},
    {"trash", STUDIO_IN_QUERY, "boolean", false, "true: lists what is in the trash"},
    {0},
};
static const studio_parameter_t create_parameters[] = {
    {"kind", STUDIO_IN_BODY, "string", true, "scenario, query, analysis, figure or view"},
    {"name", STUDIO_IN_BODY, "string", true, "name of at most 200 bytes"},
    {"body", STUDIO_IN_BODY, "object", true, "any JSON object; for a scenario {yaml, ...}"},
    {"shared", STUDIO_IN_BODY, "boolean", false, "true: every user may see it"},
    {0},
};
static const studio_parameter_t change_parameters[] = {
    {"name", STUDIO_IN_BODY, "string", false, "name of at most 200 bytes"},
    {"body", STUDIO_IN_BODY, "object", false, "any JSON object"},
    {"shared", STUDIO_IN_BODY, "boolean", false, "true: every user may see it"},
    {"version", STUDIO_IN_BODY, "integer", false, "version that the change started from; status 409 if there is a newer one"},
    {0},
};
static const char answer[] =
    "{id, kind, name, owner: {id, name}, shared, created_ms, changed_ms, version, trashed_ms, body}";

const studio_route_t studio_document_routes[] = {
    {"GET", "/api/v1/documents", STUDIO_ROLE_VIEWER, "Lists the saved documents that the user may see", list_parameters, NULL,
     "{documents: [...]}, without bodies", get_documents, 0},
    {"POST", "/api/v1/documents", STUDIO_ROLE_USER, "Saves a new document", create_parameters, NULL, answer, post_documents,
     BODY_BYTES_MAX},
    {"GET", "/api/v1/documents/{document}", STUDIO_ROLE_VIEWER, "Returns one document", NULL, NULL, answer, get_document, 0},
    {"PUT", "/api/v1/documents/{document}", STUDIO_ROLE_USER, "Changes a document", change_parameters, NULL, answer,
     put_document, BODY_BYTES_MAX},
    {"DELETE", "/api/v1/documents/{document}", STUDIO_ROLE_USER, "Moves it to the trash, which keeps it for a week", NULL, NULL, answer,
     delete_document, 0},
    {"POST", "/api/v1/documents/{document}/restore", STUDIO_ROLE_USER, "Takes it out of the trash", NULL, NULL, answer,
     post_restore, 0},
    {0},
};
// clang-format on
