/* What exporters that go event by event begin and end with; see chrome.h. */
#include <stdlib.h>

#include "base/error.h"
#include "export/chrome.h"

void dw_chrome_open(struct dw_chrome *chrome, struct dw_model *model, struct dw_writer_out *out)
{
	*chrome = (struct dw_chrome){ .model = model, .source = dw_model_source(model), .out = out };
	chrome->symbols = dw_model_symbols(model, &chrome->symbol_count);
	chrome->labels = calloc(chrome->symbol_count + 1, sizeof *chrome->labels);
	chrome->nest.never_together = dw_model_is_partial(model);
	dw_chrome_nest_start(&chrome->nest, DW_NO_INDEX);
	dw_out_init_memory(&chrome->scratch);
	chrome->failed = !chrome->labels || dw_chrome_tracks_make(chrome) ||
	                 dw_chrome_steps_make(&chrome->steps, model);
}

int dw_chrome_close(struct dw_chrome *chrome, int result, struct dwell_error *error)
{
	if (!result && chrome->failed)
		result = dw_error_set(error, DWELL_E_NOMEM,
		                      "out of memory while exporting to %s; export fewer steps (--steps) "
		                      "or one thread (--thread)",
		                      dw_out_name(chrome->out));
	dw_chrome_steps_reset(&chrome->steps);
	dw_out_reset(&chrome->scratch);
	dw_arena_reset(&chrome->arena);
	free(chrome->memory.changes);
	free(chrome->flows.ends);
	free(chrome->flows.names);
	free(chrome->nest.spans);
	free(chrome->labels);
	free(chrome->tracks);
	free(chrome->pids);
	return result;
}
