// SPDX-License-Identifier: Apache-2.0
// studio/server/http/cookie.c - reads and sets the session cookie.
#include "studio/server/http/cookie.h"

#include "studio/server/http/http_internal.h"

#include <strings.h>

const char *studio_cookie_of(const studio_request_t *request)
{
    return MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND, STUDIO__COOKIE);
}

void studio_cookie_set(const studio_request_t *request, studio_response_t *response,
                       const char *secret, int64_t age_s)
{
    // An HTTPS origin means that a proxy in front of this server speaks TLS.
    const char *const origin = studio_request_header(request, MHD_HTTP_HEADER_ORIGIN);
    const bool secure =
        request->studio->tls || (origin != NULL && strncasecmp(origin, "https://", 8) == 0);
    char *const cookie =
        sim_format("%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%" PRId64 "%s",
                   STUDIO__COOKIE, secret, age_s, secure ? "; Secure" : "");
    studio_response_header(response, MHD_HTTP_HEADER_SET_COOKIE, cookie);
    sim_free(cookie);
}
