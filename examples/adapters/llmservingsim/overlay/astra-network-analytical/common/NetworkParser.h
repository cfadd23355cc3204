// SPDX-License-Identifier: Apache-2.0
// overlay/astra-network-analytical/common/NetworkParser.h - stands before the back end's.
#include "../../rocesim_overlay.hh"
