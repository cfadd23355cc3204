#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# labels: slow
# tests/apps/test_app_misfortune_all.sh - every application ends: every rate of loss, five seeds.
MISFORTUNE_ALL=yes exec bash tests/apps/test_app_misfortune.sh
