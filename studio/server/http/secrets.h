// SPDX-License-Identifier: Apache-2.0
// studio/server/http/secrets.h - secrets: sessions, tokens, one-time links and passwords.
//
// A generated secret has 256 random bits; the database keeps only its hash and finds it by that.
// Passwords are kept as argon2id strings. libsodium does the cryptography.
#ifndef STUDIO_SERVER_HTTP_SECRETS_H
#define STUDIO_SERVER_HTTP_SECRETS_H

#include "kernel/base.h"

#define STUDIO_SECRET_BYTES 32u
#define STUDIO_SECRET_TEXT 44u // base64url without padding, and the final 0
#define STUDIO_HASH_BYTES 32u

// Costs of argon2id, about 0.1 s: RFC 9106 recommends 64 MiB and 3 passes where memory is scarce.
// They are no option, so that nobody can configure passwords that are cheap to guess.
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
// Hashes any text. A text that is no generated secret gives a hash that nothing has.
void studio_secret_hash(const char *text, studio_hash_t *hash);
// Derives a session's token against forged requests (CSRF), so that it need not be stored.
void studio_secret_csrf(const char *session, studio_secret_t *csrf);
// Compares in constant time: the time does not show where the texts differ.
bool studio_secret_equal(const char *text, const studio_secret_t *secret);

typedef struct studio_password {
    char text[128]; // as crypto_pwhash_str writes it
} studio_password_t;

// Hashes a password; returns false if there is not enough memory.
SIM_MUST_CHECK bool studio_password_hash(const char *password, studio_password_t *hash);
SIM_MUST_CHECK bool studio_password_verify(const char *password, const char *hash);
// Returns whether the hash was made with lower costs than today's.
bool studio_password_is_old(const char *hash);
// Returns why a new password is refused; NULL if it is good.
const char *studio_password_refuse(const char *password, const char *name);

#endif // STUDIO_SERVER_HTTP_SECRETS_H
