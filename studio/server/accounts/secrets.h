// SPDX-License-Identifier: Apache-2.0
// studio/server/accounts/secrets.h - what only one side may know: sessions, tokens, one-time links,
// passwords. libsodium does the work.
//
// Secrets of our own are 256 random bits; of them a hash is kept, by which they are looked up.
// Passwords are kept as argon2id strings.
#ifndef STUDIO_SERVER_ACCOUNTS_SECRETS_H
#define STUDIO_SERVER_ACCOUNTS_SECRETS_H

#include "kernel/base.h"

#define STUDIO_SECRET_BYTES 32u
#define STUDIO_SECRET_TEXT 44u // base64url without padding, and the 0
#define STUDIO_HASH_BYTES 32u

// Of argon2id, about 0.1 s: what RFC 9106 recommends where memory is scarce (64 MiB, 3 passes). Not
// an option: a server whose passwords are cheap to guess shall not be a setting away.
#define STUDIO_PASSWORD_PASSES 3u
#define STUDIO_PASSWORD_MEMORY_BYTES ((size_t)64 << 20)
#define STUDIO_PASSWORD_LENGTH_MIN 10u
#define STUDIO_PASSWORD_BYTES_MAX 256u

typedef struct studio_secret {
    char text[STUDIO_SECRET_TEXT];
} studio_secret_t;

typedef struct studio_hash {
    uint8_t bytes[STUDIO_HASH_BYTES];
} studio_hash_t;

void studio_secret_make(studio_secret_t *secret);
// Of any text; what is no secret of ours hashes to what is not found.
void studio_secret_hash(const char *text, studio_hash_t *hash);
// The token against forged requests that belongs to a session, so that none has to be kept.
void studio_secret_csrf(const char *session, studio_secret_t *csrf);
// In a time that does not depend on what differs.
bool studio_secret_equal(const char *text, const studio_secret_t *secret);

typedef struct studio_password {
    char text[128]; // of crypto_pwhash_str
} studio_password_t;

// False: there was no memory for it.
SIM_MUST_CHECK bool studio_password_hash(const char *password, studio_password_t *hash);
SIM_MUST_CHECK bool studio_password_verify(const char *password, const char *hash);
// Whether the costs have grown since it was made.
bool studio_password_is_old(const char *hash);
// What is wrong with a new password; NULL: nothing.
const char *studio_password_refuse(const char *password, const char *name);

#endif // STUDIO_SERVER_ACCOUNTS_SECRETS_H
