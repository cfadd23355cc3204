// SPDX-License-Identifier: Apache-2.0
// studio/server/http/body.c - reads members of a JSON body.
#include "studio/server/http/body.h"

#include "studio/server/http/target.h"

#include <string.h>

const json_t *studio_body_member(const studio_request_t *request, const char *name)
{
    const json_t *const member = json_object_get(studio_request_json(request), name);
    return json_is_null(member) ? NULL : member;
}

const char *studio_body_text(const studio_request_t *request, const char *name, size_t bytes_max)
{
    const json_t *const member = studio_body_member(request, name);
    return json_string_length(member) <= bytes_max ? json_string_value(member) : NULL;
}

bool studio_body_name(const studio_request_t *request, const char *name, size_t bytes_max,
                      const char **text)
{
    *text = studio_body_text(request, name, bytes_max);
    if (*text == NULL) {
        return studio_body_member(request, name) == NULL;
    }
    return studio_text_is_clean(*text, strlen(*text)) && studio_text_is_visible(*text) &&
           (*text)[strspn(*text, " ")] != '\0';
}

bool studio_body_bool(const studio_request_t *request, const char *name, bool *value)
{
    const json_t *const member = studio_body_member(request, name);
    if (!json_is_boolean(member)) {
        return false;
    }
    *value = json_is_true(member);
    return true;
}

bool studio_body_number(const studio_request_t *request, const char *name, int64_t otherwise,
                        int64_t least, int64_t most, int64_t *value)
{
    const json_t *const member = studio_body_member(request, name);
    *value = member == NULL ? otherwise : (int64_t)json_integer_value(member);
    return member == NULL || (json_is_integer(member) && *value >= least && *value <= most);
}
