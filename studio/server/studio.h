// SPDX-License-Identifier: Apache-2.0
// studio/server/studio.h - the server as its rooms see it: its options and its parts.
//
// serve.c creates it before the first request and destroys it after the last one. The pointers do
// not change in between, and each part has its own lock.
#ifndef STUDIO_SERVER_STUDIO_H
#define STUDIO_SERVER_STUDIO_H

#include "kernel/base.h"

#include <stdatomic.h>

// The rights of a user; each role includes the rights of those above it in this list.
typedef enum studio_role {
    STUDIO_ROLE_NONE,   // not logged in
    STUDIO_ROLE_VIEWER, // reads shared runs and documents
    STUDIO_ROLE_USER,   // also orders runs and saves documents
    STUDIO_ROLE_ADMINISTRATOR,
} studio_role_t;

#define STUDIO_NAME_BYTES_MAX 64u

// The user of a request; a copy that is valid during the request.
typedef struct studio_user {
    int64_t id;
    char name[STUDIO_NAME_BYTES_MAX + 1];
    studio_role_t role; // with a token: limited to the token's role
    int64_t session;    // 0: the request has a token
    int64_t token;      // 0: the request has a session
} studio_user_t;

typedef struct studio_options {
    const char *data;          // folder of all data
    const char *listen;        // "127.0.0.1:8080"; port 0: a free one
    const char *page;          // folder of the built page
    const char *scenarios;     // folder of the library
    const char *program;       // path of rocesim
    const char *tls_cert;      // NULL: plain HTTP
    const char *tls_key;       // with tls_cert
    const char *first_user;    // first administrator; NULL: a one-time link is printed
    const char *password;      // file with the password of first_user
    const char *host_names;    // further host names of this server, separated by commas; or NULL
    const char *trusted_proxy; // addresses of proxies, separated by commas; or NULL
    bool listen_anywhere;      // allow addresses other than loopback without TLS
    bool unconfined;           // start although this kernel has no Landlock
    bool adopt;                // take in runs that the database does not know
    uint64_t jobs;             // runs at the same time
    uint64_t run_threads;      // threads of one run
    uint64_t run_ranks;        // maximum number of processes of one run
    uint64_t run_s_max;        // wall time of one run
    uint64_t run_bytes_max;    // memory of one run
    uint64_t disk_bytes_max;   // files of one run
    uint64_t disk_bytes_free;  // free disk space that a new run needs
    uint64_t user_files_bytes; // files that a user brought
    uint64_t user_run_bytes;   // files of all runs of a user
    uint64_t sql_s_max;        // processor time of one SQL statement
    uint64_t queue_max;        // waiting runs of one user
    uint64_t group_max;        // runs of one order
} studio_options_t;

struct studio;
struct studio_store;
struct studio_reserve;
struct studio_events;
struct studio_board;
struct studio_numbers;
struct studio_runs;
struct studio_logins;
struct studio_page;
struct studio_route;
struct studio_data;
struct studio_library;
struct studio_files;

// Finds the user of a token or a session by its secret; returns false if it is not valid.
typedef bool (*studio_find_user_fn)(struct studio *studio, const char *secret, studio_user_t *user);

typedef struct studio {
    studio_options_t options;
    struct studio_store *store;
    struct studio_reserve *reserve;
    struct studio_logins *logins;
    studio_find_user_fn find_token; // how http/ identifies users, without knowing accounts/
    studio_find_user_fn find_session;
    struct studio_events *events;
    struct studio_board *board;
    struct studio_numbers *numbers;
    struct studio_runs *runs;
    struct studio_files *files;
    struct studio_library *library;
    struct studio_page *page;
    struct studio_data *data;          // owned by studio/server/data
    const struct studio_route *routes; // of all rooms, ended by a zero row
    bool tls;
    atomic_bool stopping; // asks streams to end
} studio_t;

const char *studio_role_name(studio_role_t role);
// Finds a role by name; returns false if there is none.
bool studio_role_find(const char *name, studio_role_t *role);

// Return milliseconds since 1970, and milliseconds of a monotonic clock.
int64_t studio_now_ms(void);
int64_t studio_clock_ms(void);
// Returns seconds of a monotonic clock, to measure short times.
double studio_seconds(void);

#endif // STUDIO_SERVER_STUDIO_H
