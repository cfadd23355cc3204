// SPDX-License-Identifier: Apache-2.0
// studio/server/accounts/accounts.h - users, their sessions and tokens, and the audit.
//
// Each login is counted by (name, address), by name and by address before its password is checked,
// so parallel guesses gain nothing. Unknown names are counted as well and take equally long.
#ifndef STUDIO_SERVER_ACCOUNTS_ACCOUNTS_H
#define STUDIO_SERVER_ACCOUNTS_ACCOUNTS_H

#include "studio/server/http/secrets.h"
#include "studio/server/studio.h"

#include <jansson.h>

#define STUDIO_SESSION_IDLE_MS INT64_C(43200000)   // milliseconds: 12 hours without a request
#define STUDIO_SESSION_WHOLE_MS INT64_C(604800000) // milliseconds: 7 days in all
#define STUDIO_LINK_MS INT64_C(604800000)          // milliseconds: 7 days
#define STUDIO_TOKENS_MAX 50
#define STUDIO_SESSIONS_MAX 100 // per user; more end the oldest

// -- people (users.c)

// Returns why a user name is refused; NULL if it is good.
const char *studio_name_refuse(const char *name);
// Creates a user and returns its number; 0 on failure (studio_store_is_conflict: the name exists).
int64_t studio_user_create(studio_t *studio, const char *name, studio_role_t role,
                           const char *password); // NULL: no password yet
// Makes the first administrator; an account of this name that has no password yet becomes it.
// Returns the user's number; 0 on failure.
int64_t studio_user_create_first(studio_t *studio, const char *name, const char *password);
bool studio_user_set_password(studio_t *studio, int64_t user, const char *password);
// Returns whether an administrator exists who can log in.
bool studio_user_any(studio_t *studio);
// Counts the administrators who can log in, without the user `but`.
int64_t studio_user_administrators(studio_t *studio, int64_t but);
// Returns {id, name, role, created_ms, seen_ms, disabled, has_password}; NULL if there is no such
// user.
json_t *studio_user_json(studio_t *studio, int64_t user);

// -- one-time links (users.c)

// Creates a one-time link to set a password. user 0: the link creates the first administrator.
bool studio_link_create(studio_t *studio, int64_t user, studio_secret_t *secret);
// Uses a link up and sets the password: of its user, or of the new first administrator `name`.
// Returns the user's number; 0 if there is no such link or the name is refused (see the message).
int64_t studio_link_use(studio_t *studio, const char *secret, const char *name,
                        const char *password, const char **message);

// -- sessions and tokens (sessions.c)

bool studio_session_create(studio_t *studio, int64_t user, const char *address, const char *agent,
                           studio_secret_t *secret);
bool studio_session_find(studio_t *studio, const char *secret, studio_user_t *user);
bool studio_token_find(studio_t *studio, const char *secret, studio_user_t *user);
// Returns whether the user's session or token is still valid; for requests that take long.
bool studio_user_holds(studio_t *studio, const studio_user_t *user);
void studio_session_end(studio_t *studio, int64_t session);
// Ends all sessions of a user, except the session `but` (0: all).
bool studio_session_end_all(studio_t *studio, int64_t user, int64_t but);
json_t *studio_sessions_json(studio_t *studio, const studio_user_t *user);
// Removes expired sessions and links.
void studio_sessions_clean(studio_t *studio);

// -- passwords, with lock-out (logins.c)

typedef struct studio_logins studio_logins_t;
studio_logins_t *studio_logins_create(void);
void studio_logins_destroy(studio_logins_t *logins);

typedef enum studio_login {
    STUDIO_LOGIN_GOOD,
    STUDIO_LOGIN_WRONG,
    STUDIO_LOGIN_LOCKED,    // locked for *wait_s seconds
    STUDIO_LOGIN_BUSY,      // too many passwords are being checked
    STUDIO_LOGIN_UNCOUNTED, // the try cannot be recorded, so it is refused
} studio_login_t;
studio_login_t studio_login_try(studio_t *studio, const char *name, const char *password,
                                const char *address, int64_t *user, int64_t *wait_s);

// -- audit (audit.c)

// Records an action. user may be NULL for somebody who is not known, such as name at a login.
void studio_audit(studio_t *studio, const studio_user_t *user, const char *address,
                  const char *action, const char *format, ...) SIM_PRINTF(5, 6);

#endif // STUDIO_SERVER_ACCOUNTS_ACCOUNTS_H
