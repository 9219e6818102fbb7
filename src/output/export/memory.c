/* Memory over time by purpose, as a picture. */
#include "export/export.h"
#include "export/out.h"
#include "pictures/memory_curve.h"

static int memory_write(struct dw_model *model, const struct dwell_export_options *options,
                        struct dw_writer_out *out, struct dwell_error *error)
{
	return dw_memory_curve_write(model, options->title, dw_out_put, out, error);
}

const struct dw_export_format dw_export_memory = {
	.name = "memory", .what = "memory over time by what it is for, as an interactive SVG", .write = memory_write,
};
