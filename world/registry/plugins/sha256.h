// SPDX-License-Identifier: Apache-2.0
// world/registry/plugins/sha256.h - SHA-256 (FIPS 180-4) of bytes in memory: names a content.
#ifndef WORLD_REGISTRY_PLUGINS_SHA256_H
#define WORLD_REGISTRY_PLUGINS_SHA256_H

#include <stddef.h>

#define WORLD_SHA256_DIGITS 64u

// Writes the hash of `size` bytes as hexadecimal digits.
void world__sha256(const void *bytes, size_t size, char text[WORLD_SHA256_DIGITS + 1]);

#endif // WORLD_REGISTRY_PLUGINS_SHA256_H
