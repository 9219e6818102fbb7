/* Icicle: the call tree as a picture, outermost calls on top. */
#include "pictures/flamegraph.h"
#include "export/export.h"
#include "export/out.h"

static int icicle_write(struct dw_model *model, const struct dwell_export_options *options,
                        struct dw_writer_out *out, struct dwell_error *error)
{
	const struct dw_flamegraph_options picture = { options->title, options->metric, true };

	return dw_flamegraph_write(model, &picture, dw_out_put, out, NULL, error);
}

const struct dw_export_format dw_export_icicle = {
	.name = "icicle", .what = "the same with the outermost calls on top", .takes_metric = true, .write = icicle_write,
};
