// SPDX-License-Identifier: Apache-2.0
// studio/server/accounts/sessions.c - finds the user of a session cookie or a token.
#include "studio/server/accounts/accounts.h"

#include "studio/server/store/database.h"

#include <stdio.h>
#include <string.h>

// The time of a user's last request is written at most this often.
#define SEEN_MS INT64_C(60000)

bool studio_session_create(studio_t *studio, int64_t user, const char *address, const char *agent,
                           studio_secret_t *secret)
{
    studio_hash_t hash;
    SIM_CHECK(user > 0);
    const int64_t now_ms = studio_now_ms();
    char cut[121];
    snprintf(cut, sizeof(cut), "%s", agent);
    for (char *c = cut; *c != '\0'; c++) {
        *c = (char)(*c < 0x20 || *c > 0x7e ? '?' : *c); // a header may contain any bytes
    }
    studio_secret_make(secret);
    studio_secret_hash(secret->text, &hash);
    (void)studio_store_do(studio->store,
                          "DELETE FROM sessions WHERE user = ? AND id NOT IN (SELECT id FROM"
                          " sessions WHERE user = ? ORDER BY id DESC LIMIT ?)",
                          "iii", user, user, (int64_t)STUDIO_SESSIONS_MAX - 1);
    return studio_store_insert(studio->store,
                               "INSERT INTO sessions(hash, user, created_ms, seen_ms, expires_ms,"
                               " address, agent) VALUES (?, ?, ?, ?, ?, ?, ?)",
                               "biiiiss", (const void *)hash.bytes, sizeof(hash.bytes), user,
                               now_ms, now_ms, now_ms + STUDIO_SESSION_WHOLE_MS, address, cut) != 0;
}

static void take_user(studio_rows_t *rows, studio_user_t *user)
{
    memset(user, 0, sizeof(*user));
    user->id = studio_rows_int(rows, 0);
    snprintf(user->name, sizeof(user->name), "%s", studio_rows_text(rows, 1));
    user->role = (studio_role_t)studio_rows_int(rows, 2);
}

bool studio_session_find(studio_t *studio, const char *secret, studio_user_t *user)
{
    studio_hash_t hash;
    const int64_t now_ms = studio_now_ms();
    studio_secret_hash(secret, &hash);
    studio_rows_t *const rows =
        studio_rows_open(studio->store,
                         "SELECT u.id, u.name, u.role, s.id, s.seen_ms FROM sessions s"
                         " JOIN users u ON u.id = s.user WHERE s.hash = ? AND u.disabled = 0"
                         " AND s.expires_ms > ? AND s.seen_ms > ?",
                         "bii", (const void *)hash.bytes, sizeof(hash.bytes), now_ms,
                         now_ms - STUDIO_SESSION_IDLE_MS);
    int64_t seen_ms = now_ms;
    const bool found = studio_rows_next(rows);
    if (found) {
        take_user(rows, user);
        user->session = studio_rows_int(rows, 3);
        seen_ms = studio_rows_int(rows, 4);
    }
    if (!studio_rows_close(rows) || !found) {
        return false;
    }
    if (seen_ms < now_ms - SEEN_MS) {
        (void)studio_store_do(studio->store, "UPDATE sessions SET seen_ms = ? WHERE id = ?", "ii",
                              now_ms, user->session);
    }
    return true;
}

bool studio_token_find(studio_t *studio, const char *secret, studio_user_t *user)
{
    studio_hash_t hash;
    const int64_t now_ms = studio_now_ms();
    studio_secret_hash(secret, &hash);
    studio_rows_t *const rows =
        studio_rows_open(studio->store,
                         "SELECT u.id, u.name, min(u.role, t.role), t.id, coalesce(t.used_ms, 0)"
                         " FROM tokens t JOIN users u ON u.id = t.user"
                         " WHERE t.hash = ? AND u.disabled = 0 AND t.expires_ms > ?",
                         "bi", (const void *)hash.bytes, sizeof(hash.bytes), now_ms);
    int64_t used_ms = now_ms;
    const bool found = studio_rows_next(rows);
    if (found) {
        take_user(rows, user);
        user->token = studio_rows_int(rows, 3);
        used_ms = studio_rows_int(rows, 4);
    }
    if (!studio_rows_close(rows) || !found) {
        return false;
    }
    if (used_ms < now_ms - SEEN_MS) {
        (void)studio_store_do(studio->store, "UPDATE tokens SET used_ms = ? WHERE id = ?", "ii",
                              now_ms, user->token);
    }
    return true;
}

bool studio_user_holds(studio_t *studio, const studio_user_t *user)
{
    const int64_t now_ms = studio_now_ms();
    const char *const sql =
        user->session != 0 ? "SELECT 1 FROM sessions s JOIN users u ON u.id = s.user WHERE s.id = ?"
                             " AND s.expires_ms > ? AND u.disabled = 0 AND u.role >= ?"
                           : "SELECT 1 FROM tokens t JOIN users u ON u.id = t.user WHERE t.id = ?"
                             " AND t.expires_ms > ? AND u.disabled = 0 AND u.role >= ?";
    return studio_store_int(studio->store, 0, sql, "iii",
                            user->session != 0 ? user->session : user->token, now_ms,
                            (int64_t)user->role) == 1;
}

void studio_session_end(studio_t *studio, int64_t session)
{
    (void)studio_store_do(studio->store, "DELETE FROM sessions WHERE id = ?", "i", session);
}

bool studio_session_end_all(studio_t *studio, int64_t user, int64_t but)
{
    return studio_store_do(studio->store, "DELETE FROM sessions WHERE user = ? AND id <> ?", "ii",
                           user, but);
}

json_t *studio_sessions_json(studio_t *studio, const studio_user_t *user)
{
    json_t *const list = json_array();
    studio_rows_t *const rows = studio_rows_open(
        studio->store,
        "SELECT id, created_ms, seen_ms, expires_ms, address, agent FROM sessions"
        " WHERE user = ? AND expires_ms > ? AND seen_ms > ?"
        " ORDER BY seen_ms DESC LIMIT 100",
        "iii", user->id, studio_now_ms(), studio_now_ms() - STUDIO_SESSION_IDLE_MS);
    while (studio_rows_next(rows)) {
        (void)json_array_append_new(
            list, json_pack("{s:I, s:I, s:I, s:I, s:s, s:s, s:b}", "id",
                            (json_int_t)studio_rows_int(rows, 0), "created_ms",
                            (json_int_t)studio_rows_int(rows, 1), "seen_ms",
                            (json_int_t)studio_rows_int(rows, 2), "expires_ms",
                            (json_int_t)studio_rows_int(rows, 3), "address",
                            studio_rows_text(rows, 4), "agent", studio_rows_text(rows, 5),
                            "current", studio_rows_int(rows, 0) == user->session));
    }
    (void)studio_rows_close(rows);
    return list;
}

void studio_sessions_clean(studio_t *studio)
{
    const int64_t now_ms = studio_now_ms();
    (void)studio_store_do(studio->store, "DELETE FROM sessions WHERE expires_ms < ? OR seen_ms < ?",
                          "ii", now_ms, now_ms - STUDIO_SESSION_IDLE_MS);
    (void)studio_store_do(studio->store, "DELETE FROM links WHERE expires_ms < ?", "i", now_ms);
}
