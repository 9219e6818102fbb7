/*
 * The fast step of a loop: how long a step takes when nothing disturbs it.
 *
 * Begins and ends of ranges cut the steps of a thread into pieces. The pieces of two steps that
 * begin with the same event, counted from the begin of the step, are the same piece. A piece is fast
 * if a hundredth of its occurrences take no longer. The fast step is the sum of the fast pieces, each
 * times the share of the steps that have it.
 *
 * Other programs and other guests of a processor disturb a step nearly always somewhere, but a piece
 * of a few microseconds only sometimes. So this sum is reached in short runs on busy machines, where
 * no whole step is undisturbed. A step without ranges in it is one piece.
 *
 * What it does not show: pieces that are long in a few steps only, and waits that are sometimes
 * short. Time in the collector and in dwell's own ranges is left out, because it can interrupt any
 * piece.
 */
#pragma once

#include "model/steps/steps.h"

/*
 * The fast step of `count` steps of a thread, in order of time; at most 4000 of them are examined, at
 * equal distances, and fewer where they have very many ranges. 0 if there are none. Negative: out of memory.
 *
 * Adds to `of_symbols` what belongs to the self time of each symbol of dw_model_symbols(): a piece belongs to the
 * innermost range that was open when the piece was first seen. A last element after those of the symbols is for
 * pieces in no range. All that is added sums to the fast step.
 */
double dw_model_fast_step_ns(struct dw_model *model, uint32_t thread, const struct dw_step *const *steps,
                             size_t count, double *of_symbols);
