// SPDX-License-Identifier: Apache-2.0
// overlay/congestion_aware/CongestionAwareNetworkApi.hh - stands before the back end's.
#include "../rocesim_overlay.hh"
