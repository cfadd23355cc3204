# SPDX-License-Identifier: Apache-2.0
# tests/random.awk - what is drawn at random: begins the programs of tests/random-*. `state` is the seed.
#
# Numbers come from MINSTD (Park and Miller 1988), exact in the doubles of any awk.
function draw() { state = (state * 16807) % 2147483647; return state / 2147483647 }
function below(n) { return int(draw() * n) }
function between(a, b) { return a + below(b - a + 1) }
function chance(percent) { return below(100) < percent }
function one(list,    words, n) { n = split(list, words, " "); return words[between(1, n)] }
