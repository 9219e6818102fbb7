/* Whether runs have batches of one size: their steps compute the same, however many batches are in memory. */
#include <math.h>

#include "check.h"
#include "diff/diff.h"

/* A run with so many bytes of inputs, and of the largest activation of a step. */
static struct dw_diff_run run_of(double input_bytes, double activation_bytes)
{
	return (struct dw_diff_run){ .path = "x.dwell", .pace_ns = 10e6, .step_ns = 10e6, .fast_ns = 9e6, .steps = 50,
		.ranks = NAN, .loops = NAN, .flops = NAN, .delay = NAN, .others = NAN, .input_bytes = input_bytes,
		.activation_bytes = activation_bytes };
}

static const char *batch_differs(struct dw_diff_run before, struct dw_diff_run after)
{
	static char text[200];
	struct dw_diff diff = { 0 };
	const char *found;

	diff.sides[DW_DIFF_BEFORE] = (struct dw_diff_side){ &before, 1, 1 };
	diff.sides[DW_DIFF_AFTER] = (struct dw_diff_side){ &after, 1, 1 };
	if (!dw_diff_compare(&diff))
		abort();
	found = diff.reasons[DW_DIFF_BATCH];
	snprintf(text, sizeof text, "%s", found ? found : "");
	diff.sides[DW_DIFF_BEFORE].runs = diff.sides[DW_DIFF_AFTER].runs = NULL;
	diff.sides[DW_DIFF_BEFORE].count = diff.sides[DW_DIFF_AFTER].count = 0;
	dw_diff_reset(&diff);
	return found ? text : NULL;
}

TEST(prefetched_batches_are_no_other_batch)
{
	CHECK(!batch_differs(run_of(1 << 20, 8 << 20), run_of(3 << 20, 8 << 20)));
	CHECK(!batch_differs(run_of(3 << 20, 8 << 20), run_of(1 << 20, 8.2 * (1 << 20))));
	CHECK_STR(batch_differs(run_of(1 << 20, 8 << 20), run_of(2 << 20, 16 << 20)),
	          "1.00 MiB of inputs and 2.00 MiB of inputs");
}

TEST(where_activations_are_not_known_inputs_decide)
{
	CHECK(batch_differs(run_of(1 << 20, NAN), run_of(2 << 20, 8 << 20)) != NULL);
	CHECK(!batch_differs(run_of(1 << 20, NAN), run_of(1 << 20, 16 << 20)));
	CHECK(!batch_differs(run_of(NAN, 8 << 20), run_of(1 << 20, 16 << 20)));
}

CHECK_MAIN
