// SPDX-License-Identifier: Apache-2.0
// tests/sessions/astra/astra-sim/common/AstraNetworkAPI.hh - where ASTRA-sim has the interface.
#include "../../AstraNetworkAPI.hh"
