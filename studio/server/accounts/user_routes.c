// SPDX-License-Identifier: Apache-2.0
// studio/server/accounts/user_routes.c - routes for administrators: users and the audit.
//
// Users are disabled, never removed, so that their runs and audit records keep a name. The last
// administrator cannot be disabled or demoted.
#include "studio/server/accounts/accounts.h"
#include "studio/server/http/body.h"
#include "studio/server/http/route.h"
#include "studio/server/store/database.h"

static int get_users(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    json_t *const list = json_array();
    studio_rows_t *const rows =
        studio_rows_open(studio->store, "SELECT id FROM users ORDER BY name LIMIT 10000", "");
    while (studio_rows_next(rows)) {
        (void)json_array_append_new(list, studio_user_json(studio, studio_rows_int(rows, 0)));
    }
    if (!studio_rows_close(rows)) {
        json_decref(list);
        return studio_response_store_failed(response, studio);
    }
    return studio_response_json(response, 200, json_pack("{s:o}", "users", list));
}

// Answers with {user, link?}.
static int answer_user(studio_request_t *request, studio_response_t *response, int status,
                       int64_t user, const studio_secret_t *secret)
{
    json_t *const json =
        json_pack("{s:o}", "user", studio_user_json(studio_request_studio(request), user));
    if (secret != NULL) {
        char *const link = sim_format("%s/#once=%s", studio_request_origin(request), secret->text);
        (void)json_object_set_new(json, "link", json_string(link));
        sim_free(link);
    }
    return studio_response_json(response, status, json);
}

static int post_users(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const char *const name = studio_body_text(request, "name", STUDIO_NAME_BYTES_MAX);
    const char *const role_name = studio_body_text(request, "role", 20);
    const char *const password = studio_body_text(request, "password", STUDIO_PASSWORD_BYTES_MAX);
    studio_role_t role = STUDIO_ROLE_USER;
    const char *refused = name == NULL ? "name: expected a user name" : studio_name_refuse(name);
    if (refused == NULL && role_name != NULL && !studio_role_find(role_name, &role)) {
        refused = "role: expected viewer, user or administrator";
    }
    if (refused == NULL && studio_body_member(request, "password") != NULL) {
        refused = password == NULL ? "a password has 10 characters to 256 bytes"
                                   : studio_password_refuse(password, name);
    }
    if (refused != NULL) {
        return studio_response_error(response, 400, "%s", refused);
    }
    const int64_t user = studio_user_create(studio, name, role, password);
    if (user == 0) {
        return studio_store_is_conflict(studio->store)
                   ? studio_response_error(response, 409, "a user of this name exists already")
                   : studio_response_store_failed(response, studio);
    }
    studio_audit(studio, studio_request_user(request), studio_request_address(request),
                 "user.create", "%s, %s", name, studio_role_name(role));
    studio_secret_t secret;
    if (password == NULL && !studio_link_create(studio, user, &secret)) {
        return studio_response_store_failed(response, studio);
    }
    return answer_user(request, response, 201, user, password == NULL ? &secret : NULL);
}

// -- changing

// Returns whether the change would leave no administrator.
static bool is_last(studio_t *studio, int64_t user, studio_role_t role, bool disabled)
{
    return (role != STUDIO_ROLE_ADMINISTRATOR || disabled) &&
           studio_user_administrators(studio, user) == 0;
}

static bool find_user(studio_t *studio, int64_t user, studio_role_t *role, bool *disabled)
{
    studio_rows_t *const rows =
        studio_rows_open(studio->store, "SELECT role, disabled FROM users WHERE id = ?", "i", user);
    const bool found = studio_rows_next(rows);
    if (found) {
        *role = (studio_role_t)studio_rows_int(rows, 0);
        *disabled = studio_rows_int(rows, 1) != 0;
    }
    return studio_rows_close(rows) && found;
}

// Changes a user. Fewer rights end all sessions (end). A reset removes the password; a reset or
// disabling also removes tokens and links, so that nobody who knew them keeps access.
static bool change_user(studio_t *studio, int64_t user, studio_role_t role, bool disabled,
                        bool reset, bool end)
{
    return studio_store_do(studio->store, "UPDATE users SET role = ?, disabled = ? WHERE id = ?",
                           "iii", (int64_t)role, (int64_t)disabled, user) &&
           (!end || studio_session_end_all(studio, user, 0)) &&
           (!reset ||
            studio_store_do(studio->store, "UPDATE users SET password = NULL WHERE id = ?", "i",
                            user)) &&
           ((!disabled && !reset) ||
            (studio_store_do(studio->store, "DELETE FROM tokens WHERE user = ?", "i", user) &&
             studio_store_do(studio->store, "DELETE FROM links WHERE user = ?", "i", user)));
}

static int change(studio_request_t *request, studio_response_t *response, int64_t user,
                  studio_role_t role, bool disabled, bool reset)
{
    studio_t *const studio = studio_request_studio(request);
    studio_role_t old_role = role;
    bool old_disabled = disabled;
    studio_secret_t secret;
    if (!studio_store_begin(studio->store)) {
        return studio_response_store_failed(response, studio);
    }
    (void)find_user(studio, user, &old_role, &old_disabled);
    if (is_last(studio, user, role, disabled || reset)) {
        studio_store_rollback(studio->store);
        return studio_response_error(
            response, 409,
            reset ? "nobody can reset the last administrator's password; "
                    "change it under Account"
                  : "the last administrator cannot be disabled or get another role");
    }
    const bool less = role < old_role || (disabled && !old_disabled) || reset;
    const bool changed = change_user(studio, user, role, disabled, reset, less) &&
                         (!reset || studio_link_create(studio, user, &secret));
    if (!changed) {
        studio_store_rollback(studio->store);
        return studio_response_store_failed(response, studio);
    }
    if (!studio_store_commit(studio->store)) {
        return studio_response_store_failed(response, studio);
    }
    studio_audit(studio, studio_request_user(request), studio_request_address(request),
                 "user.change", "%" PRId64 ": %s%s%s", user, studio_role_name(role),
                 disabled ? ", disabled" : "", reset ? ", new link" : "");
    return answer_user(request, response, 200, user, reset ? &secret : NULL);
}

static int patch_user(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const char *const role_name = studio_body_text(request, "role", 20);
    studio_role_t role = STUDIO_ROLE_NONE;
    bool disabled = false;
    bool reset = false;
    int64_t user;
    if (!studio_request_number(request, "user", &user) ||
        !find_user(studio, user, &role, &disabled)) {
        return studio_response_error(response, 404, "there is no such user");
    }
    if (studio_body_member(request, "role") != NULL &&
        (role_name == NULL || !studio_role_find(role_name, &role))) {
        return studio_response_error(response, 400, "role: expected viewer, user or administrator");
    }
    (void)studio_body_bool(request, "disabled", &disabled);
    (void)studio_body_bool(request, "reset", &reset);
    return change(request, response, user, role, disabled, reset && !disabled);
}

static int delete_user(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    studio_role_t role = STUDIO_ROLE_NONE;
    bool disabled = false;
    int64_t user;
    if (!studio_request_number(request, "user", &user) ||
        !find_user(studio, user, &role, &disabled)) {
        return studio_response_error(response, 404, "there is no such user");
    }
    return change(request, response, user, role, true, false);
}

// -- audit

static int get_audit(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const char *const action = studio_request_query(request, "action");
    const char *const name = studio_request_query(request, "name");
    int64_t before;
    int64_t limit;
    if (!studio_request_query_number(request, "before", INT64_MAX, 1, INT64_MAX, &before) ||
        !studio_request_query_number(request, "limit", 100, 1, 1000, &limit)) {
        return studio_response_error(response, 400,
                                     "before, limit: expected numbers, limit <= 1000");
    }
    json_t *const list = json_array();
    studio_rows_t *const rows =
        studio_rows_open(studio->store,
                         "SELECT id, at_ms, name, address, action, object FROM audit"
                         " WHERE id < ?1 AND (?2 IS NULL OR action = ?2 OR substr(action, 1,"
                         " length(?2) + 1) = ?2 || '.') AND (?3 IS NULL OR name = ?3)"
                         " ORDER BY id DESC LIMIT ?4",
                         "issi", before, action, name, limit);
    while (studio_rows_next(rows)) {
        (void)json_array_append_new(
            list,
            json_pack("{s:I, s:I, s:s, s:s, s:s, s:s}", "id", (json_int_t)studio_rows_int(rows, 0),
                      "at_ms", (json_int_t)studio_rows_int(rows, 1), "name",
                      studio_rows_text(rows, 2), "address", studio_rows_text(rows, 3), "action",
                      studio_rows_text(rows, 4), "object", studio_rows_text(rows, 5)));
    }
    if (!studio_rows_close(rows)) {
        json_decref(list);
        return studio_response_store_failed(response, studio);
    }
    return studio_response_json(response, 200, json_pack("{s:o}", "audit", list));
}

// clang-format off
static const studio_parameter_t create_parameters[] = {
    {"name", STUDIO_IN_BODY, "string", true, "name of 1 to 64 bytes"},
    {"role", STUDIO_IN_BODY, "string", false, "viewer, user (default) or administrator"},
    {"password", STUDIO_IN_BODY, "string", false, "without it the answer has a one-time link for the new user"},
    {0},
};
static const studio_parameter_t change_parameters[] = {
    {"role", STUDIO_IN_BODY, "string", false, "viewer, user or administrator"},
    {"disabled", STUDIO_IN_BODY, "boolean", false, "true: the user cannot log in; sessions and tokens end"},
    {"reset", STUDIO_IN_BODY, "boolean", false, "true: makes a one-time link for a new password; the old password, sessions and tokens end"},
    {0},
};
static const studio_parameter_t audit_parameters[] = {
    {"action", STUDIO_IN_QUERY, "string", false, "an action such as run.delete, or a group of actions such as user"},
    {"name", STUDIO_IN_QUERY, "string", false, "name of the user who acted"},
    {"before", STUDIO_IN_QUERY, "integer", false, "entries before this id"},
    {"limit", STUDIO_IN_QUERY, "integer", false, "number of entries (default 100), at most 1000"},
    {0},
};

const studio_route_t studio_user_routes[] = {
    {"GET", "/api/v1/users", STUDIO_ROLE_ADMINISTRATOR, "Lists all users", NULL, NULL,
     "{users: [{id, name, role, created_ms, seen_ms, disabled, has_password}]}", get_users, 0},
    {"POST", "/api/v1/users", STUDIO_ROLE_ADMINISTRATOR, "Adds a user", create_parameters, NULL,
     "{user, link?}", post_users, 4096},
    {"PATCH", "/api/v1/users/{user}", STUDIO_ROLE_ADMINISTRATOR, "Changes a user's role, disables a user, or makes a new link",
     change_parameters, NULL, "{user, link?}", patch_user, 4096},
    {"DELETE", "/api/v1/users/{user}", STUDIO_ROLE_ADMINISTRATOR,
     "Disables a user; PATCH with disabled: false enables the user again", NULL, NULL, "{user}", delete_user, 0},
    {"GET", "/api/v1/audit", STUDIO_ROLE_ADMINISTRATOR, "Lists who did what, newest first", audit_parameters, NULL,
     "{audit: [{id, at_ms, name, address, action, object}]}", get_audit, 0},
    {0},
};
// clang-format on
