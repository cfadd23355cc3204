// SPDX-License-Identifier: Apache-2.0
// studio/server/accounts/logins.c - checks names and passwords and limits wrong ones.
#include "studio/server/accounts/accounts.h"

#include "studio/server/store/database.h"

#include <pthread.h>
#include <string.h>

// Failures count for WINDOW_MS. Beyond a threshold each failure locks for twice the time of the one
// before.
#define WINDOW_MS INT64_C(900000)
#define LOCK_MS INT64_C(60000)
#define LOCK_MS_MAX INT64_C(900000)
#define PAIR_MAX 5      // failures of one name from one address
#define ANYWHERE_MAX 30 // failures of one name from all addresses
#define ADDRESS_MAX 50  // failures of all names from one address

// A user who logged in from an address in this time is known there: wrong passwords of others, and
// for other names, do not lock this user out.
#define KNOWN_MS (INT64_C(30) * 86400000)

// argon2 uses 64 MiB during one check.
#define CHECKED_AT_ONCE 2u
#define WAITING_MAX 16u

struct studio_logins {
    pthread_mutex_t lock;
    pthread_cond_t free;
    unsigned checked;
    unsigned waiting;
    studio_password_t nobody; // compared with the password of an unknown name
};

studio_logins_t *studio_logins_create(void)
{
    studio_logins_t *const logins = sim_alloc(sizeof(*logins));
    studio_secret_t secret;
    SIM_CHECK(pthread_mutex_init(&logins->lock, NULL) == 0);
    SIM_CHECK(pthread_cond_init(&logins->free, NULL) == 0);
    studio_secret_make(&secret);
    if (!studio_password_hash(secret.text, &logins->nobody)) {
        sim_out_of_memory(1, STUDIO_PASSWORD_MEMORY_BYTES);
    }
    return logins;
}

void studio_logins_destroy(studio_logins_t *logins)
{
    if (logins != NULL) {
        (void)pthread_cond_destroy(&logins->free);
        (void)pthread_mutex_destroy(&logins->lock);
        sim_free(logins);
    }
}

static bool enter(studio_logins_t *logins)
{
    SIM_CHECK(pthread_mutex_lock(&logins->lock) == 0);
    const bool room = logins->waiting < WAITING_MAX;
    if (room) {
        logins->waiting++;
        while (logins->checked == CHECKED_AT_ONCE) {
            (void)pthread_cond_wait(&logins->free, &logins->lock);
        }
        logins->waiting--;
        logins->checked++;
    }
    SIM_CHECK(pthread_mutex_unlock(&logins->lock) == 0);
    return room;
}

static void leave(studio_logins_t *logins)
{
    SIM_CHECK(pthread_mutex_lock(&logins->lock) == 0);
    logins->checked--;
    (void)pthread_cond_signal(&logins->free);
    SIM_CHECK(pthread_mutex_unlock(&logins->lock) == 0);
}

// -- counting

// Counts one more try of (name, address); returns the number of tries in the window.
static int64_t count_try(studio_t *studio, const char *name, const char *address, int64_t now_ms)
{
    (void)studio_store_do(studio->store,
                          "INSERT INTO failures VALUES (lower(?), ?, 1, ?, 0)"
                          " ON CONFLICT DO UPDATE SET count = CASE WHEN last_ms < ? THEN 1"
                          " ELSE count + 1 END, last_ms = excluded.last_ms",
                          "ssii", name, address, now_ms, now_ms - WINDOW_MS);
    return studio_store_int(studio->store, INT64_MAX / 2,
                            "SELECT count FROM failures WHERE name = lower(?) AND address = ?",
                            "ss", name, address);
}

static void lock_out(studio_t *studio, const char *name, const char *address, int64_t count,
                     int64_t most, int64_t now_ms)
{
    if (count < most) {
        return;
    }
    const int64_t doublings = SIM_MIN(10, count - most);
    const int64_t lock_ms = LOCK_MS << doublings;
    (void)studio_store_do(studio->store,
                          "UPDATE failures SET until_ms = ? WHERE name = lower(?) AND address = ?",
                          "iss", now_ms + SIM_MIN(lock_ms, LOCK_MS_MAX), name, address);
}

typedef struct tries {
    int64_t pair;
    int64_t name;
    int64_t address;
} tries_t;

static bool is_known(studio_t *studio, const char *name, const char *address, int64_t now_ms)
{
    return studio_store_int(studio->store, 0,
                            "SELECT count(*) FROM known WHERE name = lower(?) AND address = ?"
                            " AND last_ms > ?",
                            "ssi", name, address, now_ms - KNOWN_MS) > 0;
}

static int64_t locked_until(studio_t *studio, const char *name, const char *address, bool known)
{
    return studio_store_int(studio->store, 0,
                            "SELECT coalesce(max(until_ms), 0) FROM failures WHERE"
                            " (name = lower(?1) AND (address = ?2 OR (address = '' AND NOT ?3))) OR"
                            " (name = '' AND address = ?2 AND NOT ?3)",
                            "ssi", name, address, (int64_t)known);
}

// Counts a try and returns whether the password may be checked: STUDIO_LOGIN_GOOD,
// STUDIO_LOGIN_LOCKED (for *wait_s) or STUDIO_LOGIN_UNCOUNTED. The lock is set before the check, so
// that parallel tries are limited like consecutive ones, also at the moment a lock ends.
static studio_login_t begin_try(studio_t *studio, const char *name, const char *address,
                                tries_t *tries, int64_t *wait_s)
{
    const int64_t now_ms = studio_now_ms();
    *wait_s = 5;
    if (!studio_store_begin(studio->store)) {
        return STUDIO_LOGIN_UNCOUNTED;
    }
    const bool known = is_known(studio, name, address, now_ms);
    const int64_t until_ms = locked_until(studio, name, address, known);
    bool allowed = until_ms <= now_ms;
    if (!allowed) {
        *wait_s = (until_ms - now_ms + 999) / 1000;
    } else {
        tries->pair = count_try(studio, name, address, now_ms);
        tries->name = count_try(studio, name, "", now_ms);
        tries->address = count_try(studio, "", address, now_ms);
        // After a lock one try is allowed; before the first lock, as many as the limits say.
        allowed = until_ms > 0 ||
                  (tries->pair <= PAIR_MAX &&
                   (known || (tries->name <= ANYWHERE_MAX && tries->address <= ADDRESS_MAX)));
        lock_out(studio, name, address, tries->pair, PAIR_MAX + 1, now_ms);
        lock_out(studio, name, "", tries->name, ANYWHERE_MAX + 1, now_ms);
        lock_out(studio, "", address, tries->address, ADDRESS_MAX + 1, now_ms);
    }
    if (!studio_store_commit(studio->store)) {
        return STUDIO_LOGIN_UNCOUNTED;
    }
    return allowed ? STUDIO_LOGIN_GOOD : STUDIO_LOGIN_LOCKED;
}

static void end_try(studio_t *studio, const char *name, const char *address, const tries_t *tries,
                    bool good)
{
    const int64_t now_ms = studio_now_ms();
    if (good) {
        (void)studio_store_do(studio->store, "INSERT OR REPLACE INTO known VALUES (lower(?), ?, ?)",
                              "ssi", name, address, now_ms);
        (void)studio_store_do(studio->store,
                              "DELETE FROM failures WHERE name = lower(?) AND address IN (?, '')",
                              "ss", name, address);
        (void)studio_store_do(studio->store,
                              "UPDATE failures SET count = max(0, count - 1)"
                              " WHERE name = '' AND address = ?",
                              "s", address);
        return;
    }
    lock_out(studio, name, address, tries->pair, PAIR_MAX, now_ms);
    lock_out(studio, name, "", tries->name, ANYWHERE_MAX, now_ms);
    lock_out(studio, "", address, tries->address, ADDRESS_MAX, now_ms);
    (void)studio_store_do(studio->store,
                          "DELETE FROM failures WHERE (name, address) IN (SELECT name, address"
                          " FROM failures WHERE last_ms < ? AND until_ms < ? LIMIT 100)",
                          "ii", now_ms - WINDOW_MS, now_ms);
    (void)studio_store_do(studio->store, "DELETE FROM known WHERE last_ms < ?", "i",
                          now_ms - KNOWN_MS);
}

// -- trying

// Returns the user's number and password; for an unknown name 0 and the dummy password.
static int64_t look_up(studio_t *studio, const char *name, studio_password_t *password)
{
    int64_t user = 0;
    *password = studio->logins->nobody;
    studio_rows_t *const rows =
        studio_rows_open(studio->store,
                         "SELECT id, password FROM users WHERE name = ? AND disabled = 0"
                         " AND password IS NOT NULL",
                         "s", name);
    if (studio_rows_next(rows)) {
        user = studio_rows_int(rows, 0);
        memset(password, 0, sizeof(*password));
        strncpy(password->text, studio_rows_text(rows, 1), sizeof(password->text) - 1);
    }
    return studio_rows_close(rows) ? user : 0;
}

studio_login_t studio_login_try(studio_t *studio, const char *name, const char *password,
                                const char *address, int64_t *user, int64_t *wait_s)
{
    tries_t tries;
    const studio_login_t begun = begin_try(studio, name, address, &tries, wait_s);
    if (begun != STUDIO_LOGIN_GOOD) {
        return begun;
    }
    if (!enter(studio->logins)) {
        *wait_s = 5;
        return STUDIO_LOGIN_BUSY;
    }
    studio_password_t hash;
    const int64_t found = look_up(studio, name, &hash);
    const bool good = studio_password_verify(password, hash.text) && found != 0;
    leave(studio->logins);
    end_try(studio, name, address, &tries, good);
    if (!good) {
        return STUDIO_LOGIN_WRONG;
    }
    if (studio_password_is_old(hash.text)) {
        (void)studio_user_set_password(studio, found, password);
    }
    *user = found;
    return STUDIO_LOGIN_GOOD;
}
