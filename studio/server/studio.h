// SPDX-License-Identifier: Apache-2.0
// studio/server/studio.h - the server as its rooms see it: what was asked for, and the parts.
//
// Made by studio/server/serve.c before the first request and gone after the last one; the pointers
// do not
// change in between, and each part has a lock of its own.
#ifndef STUDIO_SERVER_STUDIO_H
#define STUDIO_SERVER_STUDIO_H

#include "kernel/base.h"

#include <stdatomic.h>

// What people may do; each includes those above it in this list.
typedef enum studio_role {
    STUDIO_ROLE_NONE,   // nobody has logged in
    STUDIO_ROLE_VIEWER, // reads what is shared
    STUDIO_ROLE_USER,   // runs and saves
    STUDIO_ROLE_ADMINISTRATOR,
} studio_role_t;

#define STUDIO_NAME_BYTES_MAX 64u

// Who asks: a copy, valid for one request.
typedef struct studio_user {
    int64_t id;
    char name[STUDIO_NAME_BYTES_MAX + 1];
    studio_role_t role; // of a token: not more than the token's
    int64_t session;    // 0: came with a token
    int64_t token;      // 0: came with a session
} studio_user_t;

typedef struct studio_options {
    const char *data;         // folder of everything that is kept
    const char *listen;       // "127.0.0.1:8080"; port 0: any
    const char *page;         // folder of the built page
    const char *scenarios;    // folder of them, to begin with
    const char *program;      // rocesim
    const char *tls_cert;     // NULL: plain HTTP
    const char *tls_key;      // with tls_cert
    const char *first_user;   // NULL: a one-time link is printed
    const char *password;     // file of it, with first_user
    const char *host_names;   // further names browsers may use for this server, by commas; or NULL
    bool listen_anywhere;     // other than loopback, without TLS
    bool unconfined;          // also where Landlock cannot confine what reads scenarios
    uint64_t jobs;            // runs at once
    uint64_t run_threads;     // of one run
    uint64_t run_s_max;       // wall time of one
    uint64_t run_bytes_max;   // memory of one
    uint64_t disk_bytes_max;  // files of one
    uint64_t disk_bytes_free; // that must be left for a run to begin
    uint64_t queue_max;       // runs of one user that wait
    uint64_t group_max;       // runs of one order
} studio_options_t;

struct studio_store;
struct studio_events;
struct studio_runs;
struct studio_logins;
struct studio_page;
struct studio_route;
struct studio_data;
struct studio_library;

typedef struct studio {
    studio_options_t options;
    struct studio_store *store;
    struct studio_logins *logins;
    struct studio_events *events;
    struct studio_runs *runs;
    struct studio_library *library;
    struct studio_page *page;
    struct studio_data *data;          // studio/data's own
    const struct studio_route *routes; // joined, ended by a zero row
    bool tls;
    atomic_bool stopping; // streams end
} studio_t;

const char *studio_role_name(studio_role_t role);
// False: there is no role of this name.
bool studio_role_find(const char *name, studio_role_t *role);

// Milliseconds since 1970, and of a clock that only goes forward.
int64_t studio_now_ms(void);
int64_t studio_clock_ms(void);

#endif // STUDIO_SERVER_STUDIO_H
