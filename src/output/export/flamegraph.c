/* Flame graph: the call tree as a picture, outermost calls at the bottom. */
#include "pictures/flamegraph.h"
#include "export/export.h"
#include "export/out.h"

static int flamegraph_write(struct dw_model *model, const struct dwell_export_options *options,
                            struct dw_writer_out *out, struct dwell_error *error)
{
	const struct dw_flamegraph_options picture = { options->title, options->metric, false };

	return dw_flamegraph_write(model, &picture, dw_out_put, out, NULL, error);
}

const struct dw_export_format dw_export_flamegraph = {
	.name = "flamegraph", .what = "the call tree as an interactive SVG, for a browser", .takes_metric = true,
	.write = flamegraph_write,
};
