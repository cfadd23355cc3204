#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# labels: plain
# test_wan_forms.sh - goodput over a lossy long link against closed forms, at some points.
#
# Goal: go-back-N takes what the losses that happened cost it, with repeated NAKs and with one NAK a
# gap and the timer, within 3 %; selective repeat 1 - p within 1 %, with 1 to 5000 queue pairs; a
# window W / RTT within 1 %; adamap has BDP / (1/p + b) maps in flight within 5 %.
# Method: scenarios/wan/goodput.yaml; losses from events.csv, over which wan_forms.py plays the
# protocol again. Not pinned: a window under loss (test_irn_rules); points at random
# (test_wan_forms_random).
. tests/script.sh

command -v python3 > /dev/null || { echo "skip: no python3"; exit 77; }
python3 tests/nic/wan/wan_forms.py "$ROCESIM" "$work/out" quick || fail "off a closed form"
((failures == 0))
