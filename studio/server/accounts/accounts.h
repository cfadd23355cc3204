// SPDX-License-Identifier: Apache-2.0
// studio/server/accounts/accounts.h - people, their sessions and tokens, and what they did.
//
// Wrong passwords are counted by name and address, by name and by address, before the password is
// looked at, so that many tries at once are no more than as many in a row; names that nobody has
// are counted, and take as long, as others.
#ifndef STUDIO_SERVER_ACCOUNTS_ACCOUNTS_H
#define STUDIO_SERVER_ACCOUNTS_ACCOUNTS_H

#include "studio/server/accounts/secrets.h"
#include "studio/server/studio.h"

#include <jansson.h>

#define STUDIO_SESSION_IDLE_MS INT64_C(43200000)   // 12 h
#define STUDIO_SESSION_WHOLE_MS INT64_C(604800000) // 7 days
#define STUDIO_LINK_MS INT64_C(604800000)          // 7 days
#define STUDIO_TOKENS_MAX 50
#define STUDIO_SESSIONS_MAX 100 // of one user; the oldest end

// -- people (users.c)

// What is wrong with a name; NULL: nothing.
const char *studio_name_refuse(const char *name);
// The new user's number; 0: not made (studio_store_is_conflict: the name is taken).
int64_t studio_user_create(studio_t *studio,
                           const char *name,
                           studio_role_t role,
                           const char *password); // NULL: none yet
bool studio_user_set_password(studio_t *studio, int64_t user, const char *password);
// Whether anybody could log in as administrator.
bool studio_user_any(studio_t *studio);
// Administrators but one that can log in.
int64_t studio_user_administrators(studio_t *studio, int64_t but);
// {id, name, role, created_ms, seen_ms, disabled, has_password}; NULL: there is none.
json_t *studio_user_json(studio_t *studio, int64_t user);

// -- one-time links (users.c)

// user 0: for the first administrator.
bool studio_link_create(studio_t *studio, int64_t user, studio_secret_t *secret);
// Uses it up: of the user 0 with name, else of its user. The user's number; 0: no such link, or the
// name is none (message says).
int64_t studio_link_use(studio_t *studio,
                        const char *secret,
                        const char *name,
                        const char *password,
                        const char **message);

// -- sessions and tokens (sessions.c)

bool studio_session_create(studio_t *studio,
                           int64_t user,
                           const char *address,
                           const char *agent,
                           studio_secret_t *secret);
bool studio_session_find(studio_t *studio, const char *secret, studio_user_t *user);
bool studio_token_find(studio_t *studio, const char *secret, studio_user_t *user);
// Whether what the user came with holds still; for what takes long.
bool studio_user_holds(studio_t *studio, const studio_user_t *user);
void studio_session_end(studio_t *studio, int64_t session);
// All of a user but one (0: all).
bool studio_session_end_all(studio_t *studio, int64_t user, int64_t but);
json_t *studio_sessions_json(studio_t *studio, const studio_user_t *user);
// Removes what has expired.
void studio_sessions_clean(studio_t *studio);

// -- passwords, with lock-out (logins.c)

typedef struct studio_logins studio_logins_t;
studio_logins_t *studio_logins_create(void);
void studio_logins_destroy(studio_logins_t *logins);

typedef enum studio_login {
    STUDIO_LOGIN_GOOD,
    STUDIO_LOGIN_WRONG,
    STUDIO_LOGIN_LOCKED,    // for *wait_s
    STUDIO_LOGIN_BUSY,      // too many are being checked
    STUDIO_LOGIN_UNCOUNTED, // the store cannot write the try down, so none is made
} studio_login_t;
studio_login_t studio_login_try(studio_t *studio,
                                const char *name,
                                const char *password,
                                const char *address,
                                int64_t *user,
                                int64_t *wait_s);

// -- audit (audit.c)

// user may be NULL: nobody that is known, as name.
void studio_audit(studio_t *studio,
                  const studio_user_t *user,
                  const char *address,
                  const char *action,
                  const char *format,
                  ...) SIM_PRINTF(5, 6);

#endif // STUDIO_SERVER_ACCOUNTS_ACCOUNTS_H
