// SPDX-License-Identifier: Apache-2.0
// studio/server/accounts/users.c - users, and the one-time links that set their passwords.
#include "studio/server/accounts/accounts.h"

#include "studio/server/http/target.h"
#include "studio/server/store/database.h"

#include <string.h>
#include <time.h>

const char *studio_name_refuse(const char *name)
{
    const size_t length = strlen(name);
    if (length == 0 || length > STUDIO_NAME_BYTES_MAX) {
        return "the name is empty or too long, expected 1 to 64 bytes";
    }
    if (!studio_text_is_clean(name, length) || !studio_text_is_plain(name) ||
        strpbrk(name, "/\\:\"<>") != NULL || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        name[0] == ' ' || name[length - 1] == ' ') {
        return "the name contains a character that is not allowed, expected letters (Latin, "
               "Chinese, Japanese or Korean), digits, '.', '-', '_', '@', and spaces only between "
               "them";
    }
    return NULL;
}

int64_t studio_user_create(studio_t *studio, const char *name, studio_role_t role,
                           const char *password)
{
    SIM_CHECK(role > STUDIO_ROLE_NONE && role <= STUDIO_ROLE_ADMINISTRATOR);
    studio_password_t hash;
    if (password != NULL && !studio_password_hash(password, &hash)) {
        return 0;
    }
    return studio_store_insert(studio->store,
                               "INSERT INTO users(name, role, password, created_ms)"
                               " VALUES (?, ?, ?, ?)",
                               "sisi", name, (int64_t)role, password == NULL ? NULL : hash.text,
                               studio_now_ms());
}

int64_t studio_user_create_first(studio_t *studio, const char *name, const char *password)
{
    const int64_t user = studio_store_int(
        studio->store, 0, "SELECT id FROM users WHERE name = ? AND password IS NULL", "s", name);
    if (user == 0) {
        return studio_user_create(studio, name, STUDIO_ROLE_ADMINISTRATOR, password);
    }
    return studio_user_set_password(studio, user, password) &&
                   studio_store_do(studio->store,
                                   "UPDATE users SET role = ?, disabled = 0 WHERE id = ?", "ii",
                                   (int64_t)STUDIO_ROLE_ADMINISTRATOR, user)
               ? user
               : 0;
}

bool studio_user_set_password(studio_t *studio, int64_t user, const char *password)
{
    studio_password_t hash;
    return studio_password_hash(password, &hash) &&
           studio_store_change(studio->store, "UPDATE users SET password = ? WHERE id = ?", "si",
                               hash.text, user) == 1;
}

bool studio_user_any(studio_t *studio)
{
    return studio_user_administrators(studio, 0) > 0;
}

int64_t studio_user_administrators(studio_t *studio, int64_t but)
{
    return studio_store_int(studio->store, 0,
                            "SELECT count(*) FROM users WHERE role = ? AND disabled = 0"
                            " AND password IS NOT NULL AND id <> ?",
                            "ii", (int64_t)STUDIO_ROLE_ADMINISTRATOR, but);
}

json_t *studio_user_json(studio_t *studio, int64_t user)
{
    json_t *json = NULL;
    studio_rows_t *const rows =
        studio_rows_open(studio->store,
                         "SELECT name, role, created_ms, seen_ms, disabled, password IS NOT NULL"
                         " FROM users WHERE id = ?",
                         "i", user);
    if (studio_rows_next(rows)) {
        json = json_pack("{s:I, s:s, s:s, s:I, s:o, s:b, s:b}", "id", (json_int_t)user, "name",
                         studio_rows_text(rows, 0), "role",
                         studio_role_name((studio_role_t)studio_rows_int(rows, 1)), "created_ms",
                         (json_int_t)studio_rows_int(rows, 2), "seen_ms",
                         studio_rows_is_null(rows, 3) ? json_null()
                                                      : json_integer(studio_rows_int(rows, 3)),
                         "disabled", (int)studio_rows_int(rows, 4), "has_password",
                         (int)studio_rows_int(rows, 5));
    }
    (void)studio_rows_close(rows);
    return json;
}

// -- links

bool studio_link_create(studio_t *studio, int64_t user, studio_secret_t *secret)
{
    studio_hash_t hash;
    studio_secret_make(secret);
    studio_secret_hash(secret->text, &hash);
    // Only the newest link of a user is valid.
    return studio_store_do(studio->store, "DELETE FROM links WHERE user IS nullif(?, 0)", "i",
                           user) &&
           studio_store_do(studio->store, "INSERT INTO links VALUES (?, nullif(?, 0), ?)", "bii",
                           (const void *)hash.bytes, sizeof(hash.bytes), user,
                           studio_now_ms() + STUDIO_LINK_MS);
}

// Finds a link and its user, 0 for the first administrator; returns false if there is none.
static bool find_link(studio_t *studio, const studio_hash_t *hash, int64_t *user)
{
    studio_rows_t *const rows = studio_rows_open(
        studio->store, "SELECT coalesce(user, 0) FROM links WHERE hash = ? AND expires_ms > ?",
        "bi", (const void *)hash->bytes, sizeof(hash->bytes), studio_now_ms());
    const bool found = studio_rows_next(rows);
    *user = found ? studio_rows_int(rows, 0) : 0;
    return studio_rows_close(rows) && found;
}

// Sets the password that the link allows; returns the user's number. Runs inside a transaction.
static int64_t fulfil(studio_t *studio, int64_t user, const char *name, const char *password)
{
    if (user == 0) {
        return studio_user_any(studio) ? 0 : studio_user_create_first(studio, name, password);
    }
    return studio_user_set_password(studio, user, password) &&
                   studio_session_end_all(studio, user, 0)
               ? user
               : 0;
}

int64_t studio_link_use(studio_t *studio, const char *secret, const char *name,
                        const char *password, const char **message)
{
    studio_hash_t hash;
    studio_secret_hash(secret, &hash);
    *message = "the link is not valid, was used, or has expired";
    if (!studio_store_begin(studio->store)) {
        return 0;
    }
    int64_t user = 0;
    const bool found = find_link(studio, &hash, &user);
    const char *const bad_name = user == 0 ? studio_name_refuse(name) : NULL;
    const char *const bad_password = studio_password_refuse(password, name);
    if (found && (bad_name != NULL || bad_password != NULL)) {
        *message = bad_name != NULL ? bad_name : bad_password;
    }
    int64_t done = 0;
    if (found && bad_name == NULL && bad_password == NULL &&
        studio_store_do(studio->store, "DELETE FROM links WHERE hash = ?", "b",
                        (const void *)hash.bytes, sizeof(hash.bytes))) {
        done = fulfil(studio, user, name, password);
    }
    if (done == 0) {
        studio_store_rollback(studio->store);
        return 0;
    }
    return studio_store_commit(studio->store) ? done : 0;
}
