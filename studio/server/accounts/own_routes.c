// SPDX-License-Identifier: Apache-2.0
// studio/server/accounts/own_routes.c - routes for one's own account: login, logout, password,
// sessions and tokens.
#include "studio/server/accounts/accounts.h"
#include "studio/server/http/body.h"
#include "studio/server/http/cookie.h"
#include "studio/server/http/route.h"
#include "studio/server/store/database.h"

#include <stdio.h>
#include <string.h>

#define DAY_MS INT64_C(86400000)

static json_t *me_json(const studio_user_t *user, const char *session)
{
    studio_secret_t csrf;
    if (session != NULL) {
        studio_secret_csrf(session, &csrf);
    }
    return json_pack("{s:{s:I, s:s, s:s}, s:o}", "user", "id", (json_int_t)user->id, "name",
                     user->name, "role", studio_role_name(user->role), "csrf",
                     session == NULL ? json_null() : json_string(csrf.text));
}

// -- logging in

// Begins a new session at each login, whatever cookie came with the request.
static int begin_session(studio_request_t *request, studio_response_t *response, int64_t id)
{
    studio_t *const studio = studio_request_studio(request);
    const char *const agent = studio_request_header(request, "User-Agent");
    studio_user_t user = {0};
    studio_secret_t secret;
    if (studio_cookie_of(request) != NULL &&
        studio_session_find(studio, studio_cookie_of(request), &user)) {
        studio_session_end(studio, user.session);
    }
    if (!studio_session_create(studio, id, studio_request_address(request),
                               agent == NULL ? "" : agent, &secret) ||
        !studio_session_find(studio, secret.text, &user)) {
        return studio_response_store_failed(response, studio);
    }
    (void)studio_store_do(studio->store, "UPDATE users SET seen_ms = ? WHERE id = ?", "ii",
                          studio_now_ms(), id);
    studio_audit(studio, &user, studio_request_address(request), "login", "%s", user.name);
    studio_cookie_set(request, response, secret.text, STUDIO_SESSION_WHOLE_MS / 1000);
    return studio_response_json(response, 200, me_json(&user, secret.text));
}

static int login_by_link(studio_request_t *request, studio_response_t *response, const char *link)
{
    studio_t *const studio = studio_request_studio(request);
    const char *const name = studio_body_text(request, "name", STUDIO_NAME_BYTES_MAX);
    const char *const password = studio_body_text(request, "password", STUDIO_PASSWORD_BYTES_MAX);
    const char *message = "a password is needed";
    const int64_t user = password == NULL ? 0
                                          : studio_link_use(studio, link, name == NULL ? "" : name,
                                                            password, &message);
    if (user == 0) {
        return studio_response_error(response, 400, "%s", message);
    }
    return begin_session(request, response, user);
}

// Records a lock at most once a minute per address, so that an attacker cannot fill the disk.
static void audit_lock(studio_t *studio, const char *address, const char *name)
{
    if (studio_store_int(studio->store, 0,
                         "SELECT count(*) FROM audit WHERE action = 'login.locked' AND address = ?"
                         " AND at_ms > ?",
                         "si", address, studio_now_ms() - 60000) == 0) {
        studio_audit(studio, NULL, address, "login.locked", "%s", name);
    }
}

static int post_login(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const char *const link = studio_body_text(request, "link", STUDIO_SECRET_TEXT);
    const char *const name = studio_body_text(request, "name", STUDIO_NAME_BYTES_MAX);
    const char *const password = studio_body_text(request, "password", STUDIO_PASSWORD_BYTES_MAX);
    const char *const address = studio_request_address(request);
    int64_t user = 0;
    int64_t wait_s = 0;
    if (link != NULL) {
        return login_by_link(request, response, link);
    }
    if (name == NULL || password == NULL) {
        return studio_response_error(response, 400, "the login lacks the name or the password");
    }
    char seconds[24];
    const studio_login_t result = studio_login_try(studio, name, password, address, &user, &wait_s);
    snprintf(seconds, sizeof(seconds), "%" PRId64, wait_s);
    switch (result) {
    case STUDIO_LOGIN_GOOD:
        return begin_session(request, response, user);
    case STUDIO_LOGIN_LOCKED:
        audit_lock(studio, address, name);
        studio_response_header(response, "Retry-After", seconds);
        return studio_response_error(response, 429,
                                     "too many failed attempts; try again in %s seconds", seconds);
    case STUDIO_LOGIN_BUSY:
        studio_response_header(response, "Retry-After", seconds);
        return studio_response_error(response, 503, "too many logins are being checked; try again");
    case STUDIO_LOGIN_UNCOUNTED:
        return studio_response_store_failed(response, studio);
    case STUDIO_LOGIN_WRONG:
        break;
    }
    studio_audit(studio, NULL, address, "login.failed", "%s", name);
    return studio_response_error(response, 401, "the name or the password is wrong");
}

static int post_logout(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const studio_user_t *const user = studio_request_user(request);
    if (user->session != 0) {
        studio_session_end(studio, user->session);
        studio_cookie_set(request, response, "", 0);
        studio_audit(studio, user, studio_request_address(request), "logout", "%s", user->name);
    }
    return studio_response_none(response);
}

// -- oneself

static int get_me(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const studio_user_t *const user = studio_request_user(request);
    const studio_options_t *const options = &studio->options;
    json_t *const json = me_json(user, user->session == 0 ? NULL : studio_cookie_of(request));
    (void)json_object_set_new(json, "sessions", studio_sessions_json(studio, user));
    (void)json_object_set_new(json, "version", json_string(ROCESIM_VERSION));
    (void)json_object_set_new(
        json, "limits",
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "jobs", (json_int_t)options->jobs, "run_s",
                  (json_int_t)options->run_s_max, "run_bytes", (json_int_t)options->run_bytes_max,
                  "disk_bytes", (json_int_t)options->disk_bytes_max, "queue",
                  (json_int_t)options->queue_max, "group", (json_int_t)options->group_max));
    return studio_response_json(response, 200, json);
}

// Refuses requests that came with a token: a stolen token must not be able to create passwords,
// sessions or tokens. Returns 0 or the status of the answer.
static int refuse_tokens(studio_request_t *request, studio_response_t *response)
{
    return studio_request_user(request)->token == 0
               ? 0
               : studio_response_error(response, 403,
                                       "a token cannot do this; log in with the password");
}

// Changes the password. The old one is asked for and counts as a login, so that an unattended
// screen is not enough.
static int put_password(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const studio_user_t *const user = studio_request_user(request);
    const char *const old = studio_body_text(request, "old", STUDIO_PASSWORD_BYTES_MAX);
    const char *const new = studio_body_text(request, "new", STUDIO_PASSWORD_BYTES_MAX);
    const char *const address = studio_request_address(request);
    int64_t found = 0;
    int64_t wait_s = 0;
    const int refused_token = refuse_tokens(request, response);
    if (refused_token != 0) {
        return refused_token;
    }
    if (old == NULL || new == NULL) {
        return studio_response_error(response, 400, "expected the old password and the new one");
    }
    const char *const refused = studio_password_refuse(new, user->name);
    if (refused != NULL) {
        return studio_response_error(response, 400, "%s", refused);
    }
    const studio_login_t result =
        studio_login_try(studio, user->name, old, address, &found, &wait_s);
    if (result == STUDIO_LOGIN_UNCOUNTED) {
        return studio_response_store_failed(response, studio);
    }
    if (result != STUDIO_LOGIN_GOOD || found != user->id) {
        return studio_response_error(response, result == STUDIO_LOGIN_WRONG ? 403 : 429,
                                     "the old password is wrong%s",
                                     result == STUDIO_LOGIN_WRONG ? "" : "; wait and try again");
    }
    if (!studio_user_set_password(studio, user->id, new) ||
        !studio_session_end_all(studio, user->id, user->session)) {
        return studio_response_store_failed(response, studio);
    }
    studio_audit(studio, user, address, "password", "%s", user->name);
    return studio_response_none(response);
}

// Ends all sessions. Tokens stay valid: no screen is open for them.
static int post_logout_everywhere(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const studio_user_t *const user = studio_request_user(request);
    bool tokens = false;
    const int refused_token = refuse_tokens(request, response);
    if (refused_token != 0) {
        return refused_token;
    }
    (void)studio_body_bool(request, "tokens", &tokens);
    if (!studio_session_end_all(studio, user->id, 0) ||
        (tokens &&
         !studio_store_do(studio->store, "DELETE FROM tokens WHERE user = ?", "i", user->id))) {
        return studio_response_store_failed(response, studio);
    }
    studio_cookie_set(request, response, "", 0);
    studio_audit(studio, user, studio_request_address(request), "logout.everywhere", "%s",
                 tokens ? "sessions and tokens" : "sessions");
    return studio_response_none(response);
}

// -- tokens

static int get_tokens(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    json_t *const list = json_array();
    studio_rows_t *const rows =
        studio_rows_open(studio->store,
                         "SELECT id, name, role, created_ms, expires_ms, used_ms FROM tokens"
                         " WHERE user = ? ORDER BY id",
                         "i", studio_request_user(request)->id);
    while (studio_rows_next(rows)) {
        json_t *const used =
            studio_rows_is_null(rows, 5) ? json_null() : json_integer(studio_rows_int(rows, 5));
        (void)json_array_append_new(
            list, json_pack("{s:I, s:s, s:s, s:I, s:I, s:o}", "id",
                            (json_int_t)studio_rows_int(rows, 0), "name", studio_rows_text(rows, 1),
                            "role", studio_role_name((studio_role_t)studio_rows_int(rows, 2)),
                            "created_ms", (json_int_t)studio_rows_int(rows, 3), "expires_ms",
                            (json_int_t)studio_rows_int(rows, 4), "used_ms", used));
    }
    (void)studio_rows_close(rows);
    return studio_response_json(response, 200, json_pack("{s:o}", "tokens", list));
}

static int64_t make_token(studio_t *studio, const studio_user_t *user, const char *name,
                          studio_role_t role, int64_t days, studio_secret_t *secret)
{
    studio_hash_t hash;
    const int64_t now_ms = studio_now_ms();
    studio_secret_make(secret);
    studio_secret_hash(secret->text, &hash);
    return studio_store_insert(studio->store,
                               "INSERT INTO tokens(hash, user, name, role, created_ms, expires_ms)"
                               " SELECT ?, ?, ?, ?, ?, ? WHERE"
                               " (SELECT count(*) FROM tokens WHERE user = ?) < ?",
                               "bisiiiii", (const void *)hash.bytes, sizeof(hash.bytes), user->id,
                               name, (int64_t)role, now_ms, now_ms + days * DAY_MS, user->id,
                               (int64_t)STUDIO_TOKENS_MAX);
}

static int post_tokens(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const studio_user_t *const user = studio_request_user(request);
    const char *name;
    const bool name_good = studio_body_name(request, "name", 100, &name);
    const char *const role_name = studio_body_text(request, "role", 20);
    studio_role_t role = user->role;
    int64_t days = 0;
    const int refused_token = refuse_tokens(request, response);
    if (refused_token != 0) {
        return refused_token;
    }
    if (!name_good || name == NULL) {
        return studio_response_error(
            response, 400,
            "name: expected a text of 1 to 100 bytes that says what the token is for");
    }
    if ((role_name != NULL && !studio_role_find(role_name, &role)) || role > user->role) {
        return studio_response_error(response, 400,
                                     "role: a token cannot have more rights than its user");
    }
    if (!studio_body_number(request, "days", 90, 1, 366, &days)) {
        return studio_response_error(response, 400, "days: expected 1 to 366");
    }
    studio_secret_t secret;
    const int64_t id = make_token(studio, user, name, role, days, &secret);
    if (id == 0) {
        return studio_response_error(response, 409,
                                     "no token was created; a user can have at most %d tokens",
                                     STUDIO_TOKENS_MAX);
    }
    studio_audit(studio, user, studio_request_address(request), "token.create", "%s", name);
    return studio_response_json(response, 201,
                                json_pack("{s:I, s:s}", "id", (json_int_t)id,
                                          "token", // only this answer shows it
                                          secret.text));
}

static int delete_token(studio_request_t *request, studio_response_t *response)
{
    studio_t *const studio = studio_request_studio(request);
    const studio_user_t *const user = studio_request_user(request);
    int64_t id;
    const int refused_token = refuse_tokens(request, response);
    if (refused_token != 0) {
        return refused_token;
    }
    if (!studio_request_number(request, "token", &id)) {
        return studio_response_error(response, 404, "there is no such token");
    }
    const int64_t changed = studio_store_change(
        studio->store, "DELETE FROM tokens WHERE id = ? AND user = ?", "ii", id, user->id);
    if (changed < 0) {
        return studio_response_store_failed(response, studio);
    }
    if (changed == 0) {
        return studio_response_error(response, 404, "there is no such token");
    }
    studio_audit(studio, user, studio_request_address(request), "token.delete", "%" PRId64, id);
    return studio_response_none(response);
}

// clang-format off
static const studio_parameter_t login_parameters[] = {
    {"name", STUDIO_IN_BODY, "string", false, "user name; with the link of the first administrator: the new name"},
    {"password", STUDIO_IN_BODY, "string", true, "the password; with a one-time link: the new password"},
    {"link", STUDIO_IN_BODY, "string", false, "the text behind #once= in a one-time link"},
    {0},
};
static const studio_parameter_t password_parameters[] = {
    {"old", STUDIO_IN_BODY, "string", true, "the present password"},
    {"new", STUDIO_IN_BODY, "string", true, "the new password: at least 10 characters, at most 256 bytes"},
    {0},
};
static const studio_parameter_t everywhere_parameters[] = {
    {"tokens", STUDIO_IN_BODY, "boolean", false, "true: ends the tokens as well"},
    {0},
};
static const studio_parameter_t token_parameters[] = {
    {"name", STUDIO_IN_BODY, "string", true, "name that says what the token is for"},
    {"role", STUDIO_IN_BODY, "string", false, "role of the token, at most the user's own"},
    {"days", STUDIO_IN_BODY, "integer", false, "days until the token expires, 1 to 366 (default 90)"},
    {0},
};

const studio_route_t studio_account_routes[] = {
    {"POST", "/api/v1/login", STUDIO_ROLE_NONE, "Logs in, or uses a one-time link", login_parameters, NULL,
     "{user: {id, name, role}, csrf} and the cookie", post_login, 4096},
    {"POST", "/api/v1/logout", STUDIO_ROLE_VIEWER, "Ends this session", NULL, NULL, NULL, post_logout, 0},
    {"GET", "/api/v1/me", STUDIO_ROLE_VIEWER, "Returns the user of the request", NULL, NULL,
     "{user, csrf, sessions, version, limits}", get_me, 0},
    {"PUT", "/api/v1/me/password", STUDIO_ROLE_VIEWER, "Changes the user's password; other sessions end",
     password_parameters, NULL, NULL, put_password, 4096},
    {"POST", "/api/v1/me/logout-everywhere", STUDIO_ROLE_VIEWER, "Ends all sessions of the user",
     everywhere_parameters, NULL, NULL, post_logout_everywhere, 4096},
    {"GET", "/api/v1/tokens", STUDIO_ROLE_VIEWER, "Lists the user's tokens for scripts", NULL, NULL,
     "{tokens: [{id, name, role, created_ms, expires_ms, used_ms}]}", get_tokens, 0},
    {"POST", "/api/v1/tokens", STUDIO_ROLE_VIEWER, "Creates a token", token_parameters, NULL,
     "{id, token}: only this answer shows the token", post_tokens, 4096},
    {"DELETE", "/api/v1/tokens/{token}", STUDIO_ROLE_VIEWER, "Deletes a token", NULL, NULL, NULL, delete_token, 0},
    {0},
};
// clang-format on
