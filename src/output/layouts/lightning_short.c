/* Lightning: the report of SimpleProfiler(extended=False); see lightning.c. */
#include "layouts/lightning.h"

static int lightning_short_print(struct dw_model *model, const struct dw_layout_request *request,
                                 FILE *file, struct dwell_error *error)
{
	return dw_layout_print_lightning(model, request->options, false, file, error);
}

const struct dw_layout dw_layout_lightning_short = {
	.name = "lightning-short", .what = "Lightning's SimpleProfiler(extended=False)", .print = lightning_short_print,
};
