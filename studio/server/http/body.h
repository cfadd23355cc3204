// SPDX-License-Identifier: Apache-2.0
// studio/server/http/body.h - reads members of a JSON body and checks their types.
#ifndef STUDIO_SERVER_HTTP_BODY_H
#define STUDIO_SERVER_HTTP_BODY_H

#include "studio/server/http/route.h"

// Returns the text of a member; NULL if it is absent, is no text, or is longer than bytes_max.
const char *studio_body_text(const studio_request_t *request, const char *name, size_t bytes_max);
// Reads a name: at most bytes_max bytes, no control or invisible characters, not only spaces.
// Returns false if the member is there and is no such name; *text is NULL if it is absent.
bool studio_body_name(const studio_request_t *request, const char *name, size_t bytes_max,
                      const char **text);
// Reads a boolean member. Returns false if it is absent or is no boolean.
bool studio_body_bool(const studio_request_t *request, const char *name, bool *value);
// Returns a member of any type; NULL if it is absent or null.
const json_t *studio_body_member(const studio_request_t *request, const char *name);
// Reads an integer from least to most; *value is otherwise if the member is absent. Returns false
// if the member is there and is no such integer.
bool studio_body_number(const studio_request_t *request, const char *name, int64_t otherwise,
                        int64_t least, int64_t most, int64_t *value);

#endif // STUDIO_SERVER_HTTP_BODY_H
