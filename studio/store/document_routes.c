// SPDX-License-Identifier: Apache-2.0
// studio/store/document_routes.c - the routes of documents.
#include "studio/http/route.h"

const studio_route_t studio_document_routes[] = {{0}};
