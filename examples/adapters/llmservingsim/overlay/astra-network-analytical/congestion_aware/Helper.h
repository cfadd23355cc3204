// SPDX-License-Identifier: Apache-2.0
// overlay/astra-network-analytical/congestion_aware/Helper.h - stands before the back end's.
#include "../../rocesim_overlay.hh"
