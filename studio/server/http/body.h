// SPDX-License-Identifier: Apache-2.0
// studio/server/http/body.h - members of a JSON body, of the type that was expected.
#ifndef STUDIO_SERVER_HTTP_BODY_H
#define STUDIO_SERVER_HTTP_BODY_H

#include "studio/server/http/route.h"

// A text of at most bytes_max; NULL: not there, no text, or longer.
const char *studio_body_text(const studio_request_t *request, const char *name, size_t bytes_max);
// A name of at most bytes_max that shows: not of spaces alone, no control characters. False: there,
// and no such name. *text is NULL if not there.
bool studio_body_name(const studio_request_t *request,
                      const char *name,
                      size_t bytes_max,
                      const char **text);
// Whether there is the member, and is true or false.
bool studio_body_bool(const studio_request_t *request, const char *name, bool *value);
// The member; NULL: none, or null.
const json_t *studio_body_member(const studio_request_t *request, const char *name);
// A number from least to most; false: there, and no such number. *value is otherwise if not there.
bool studio_body_number(const studio_request_t *request,
                        const char *name,
                        int64_t otherwise,
                        int64_t least,
                        int64_t most,
                        int64_t *value);

#endif // STUDIO_SERVER_HTTP_BODY_H
