// SPDX-License-Identifier: Apache-2.0
// studio/server/http/secrets.c - makes and compares secrets with libsodium.
#include "studio/server/http/secrets.h"

#include <sodium.h>
#include <string.h>
#include <strings.h>

static_assert(crypto_pwhash_STRBYTES <= sizeof(studio_password_t), "an argon2id string fits");
static_assert(sodium_base64_ENCODED_LEN(STUDIO_SECRET_BYTES,
                                        sodium_base64_VARIANT_URLSAFE_NO_PADDING) ==
                  STUDIO_SECRET_TEXT,
              "a secret's text fits");

static void encode(const uint8_t *bytes, studio_secret_t *secret)
{
    (void)sodium_bin2base64(secret->text, sizeof(secret->text), bytes, STUDIO_SECRET_BYTES,
                            sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

void studio_secret_make(studio_secret_t *secret)
{
    uint8_t bytes[STUDIO_SECRET_BYTES];
    randombytes_buf(bytes, sizeof(bytes));
    encode(bytes, secret);
    sodium_memzero(bytes, sizeof(bytes));
}

void studio_secret_hash(const char *text, studio_hash_t *hash)
{
    (void)crypto_generichash(hash->bytes, sizeof(hash->bytes), (const uint8_t *)text, strlen(text),
                             NULL, 0);
}

void studio_secret_csrf(const char *session, studio_secret_t *csrf)
{
    static const char purpose[] = "rocesim studio: forged requests";
    uint8_t bytes[STUDIO_SECRET_BYTES];
    (void)crypto_generichash(bytes, sizeof(bytes), (const uint8_t *)purpose, sizeof(purpose),
                             (const uint8_t *)session,
                             strnlen(session, crypto_generichash_KEYBYTES_MAX));
    encode(bytes, csrf);
}

bool studio_secret_equal(const char *text, const studio_secret_t *secret)
{
    const size_t length = strlen(secret->text);
    return strlen(text) == length && sodium_memcmp(text, secret->text, length) == 0;
}

bool studio_password_hash(const char *password, studio_password_t *hash)
{
    memset(hash, 0, sizeof(*hash));
    return crypto_pwhash_str_alg(hash->text, password, strlen(password), STUDIO_PASSWORD_PASSES,
                                 STUDIO_PASSWORD_MEMORY_BYTES, crypto_pwhash_ALG_ARGON2ID13) == 0;
}

bool studio_password_verify(const char *password, const char *hash)
{
    return crypto_pwhash_str_verify(hash, password, strlen(password)) == 0;
}

bool studio_password_is_old(const char *hash)
{
    return crypto_pwhash_str_needs_rehash(hash, STUDIO_PASSWORD_PASSES,
                                          STUDIO_PASSWORD_MEMORY_BYTES) != 0;
}

// Counts characters, not bytes: a passphrase may be Chinese.
static size_t characters(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++) {
        count += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return count;
}

const char *studio_password_refuse(const char *password, const char *name)
{
    if (characters(password) < STUDIO_PASSWORD_LENGTH_MIN) {
        return "the password is too short, expected at least 10 characters";
    }
    if (strlen(password) > STUDIO_PASSWORD_BYTES_MAX) {
        return "the password is too long, expected at most 256 bytes";
    }
    if (strcasecmp(password, name) == 0) {
        return "the password must differ from the user name";
    }
    if (strspn(password, password[0] == '\0' ? "" : (const char[]){password[0], '\0'}) ==
        strlen(password)) {
        return "the password repeats one character, expected at least two different ones";
    }
    return NULL;
}
