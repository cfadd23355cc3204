// SPDX-License-Identifier: Apache-2.0
// overlay/astra-network-analytical/common/EventQueue.h - stands before the back end's.
#include "../../rocesim_overlay.hh"
