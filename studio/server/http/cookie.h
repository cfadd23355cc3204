// SPDX-License-Identifier: Apache-2.0
// studio/server/http/cookie.h - the cookie of sessions.
#ifndef STUDIO_SERVER_HTTP_COOKIE_H
#define STUDIO_SERVER_HTTP_COOKIE_H

#include "studio/server/http/route.h"

// NULL: none was sent.
const char *studio_cookie_of(const studio_request_t *request);
// HttpOnly, SameSite=Strict, with TLS Secure. age_s 0 removes it.
void studio_cookie_set(const studio_request_t *request,
                       studio_response_t *response,
                       const char *secret,
                       int64_t age_s);

#endif // STUDIO_SERVER_HTTP_COOKIE_H
