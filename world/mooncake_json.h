// SPDX-License-Identifier: Apache-2.0
// world/mooncake_json.h - JSON of the Transfer Engine's records: segments, handshakes, the priority
// matrix of NICs (docs/models/mooncake.md), by jansson.
#ifndef WORLD_MOONCAKE_JSON_H
#define WORLD_MOONCAKE_JSON_H

#include "apps/mooncake_codec.h"

// The JSON codec that apps/mooncake.h asks for.
extern const app_mooncake_codec_t world_mooncake_codec;

#endif // WORLD_MOONCAKE_JSON_H
