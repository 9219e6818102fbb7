/* The registry of layouts; see layouts.h. */
#include "layouts/layouts.h"

#include <string.h>

#include "base/error.h"
#include "base/nearest.h"

static const struct dw_layout layouts[] = {
	{ "ignite", "PyTorch-Ignite's time profilers (ignite:basic, ignite:handlers)",
	  dw_layout_ignite },
	{ "lightning", "Lightning's SimpleProfiler", dw_layout_lightning },
	{ "lightning-short", "Lightning's SimpleProfiler(extended=False)", dw_layout_lightning_short },
	{ "lightning-pytorch", "Lightning's PyTorchProfiler: operators of each step and backward",
	  dw_layout_lightning_pytorch },
	{ "torch", "torch.profiler's table, PyTorch 2.13 (torch:1.13)", dw_layout_torch },
	{ "pstats", "Python's cProfile and Lightning's AdvancedProfiler (pstats:0.1 a tenth of it)",
	  dw_layout_pstats },
	{ "singa", "SINGA's PrintTimeProfiling() at verbosity 1, 2 or 3", dw_layout_singa },
	{ "torchprof", "torchprof's tree of modules", dw_layout_torchprof },
	{ NULL, NULL, NULL },
};

const struct dw_layout *dw_layout_at(size_t index)
{
	for (size_t i = 0; i <= index; i++)
		if (!layouts[i].name)
			return NULL;
	return &layouts[index];
}

const struct dw_layout *dw_layout_find(const char *name, const char **version,
                                       struct dwell_error *error)
{
	size_t length = strcspn(name, ":");
	struct dw_nearest nearest;

	*version = name[length] ? name + length + 1 : NULL;
	dw_nearest_init(&nearest, name);
	for (const struct dw_layout *layout = layouts; layout->name; layout++) {
		if (strlen(layout->name) == length && strncmp(layout->name, name, length) == 0)
			return layout;
		dw_nearest_try(&nearest, layout->name);
	}
	dw_error_set(error, DWELL_E_NAME, "no layout '%.100s'%s%s%s (dwell report --help lists all)", name,
	             nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "",
	             nearest.best ? "'?" : "");
	return NULL;
}
