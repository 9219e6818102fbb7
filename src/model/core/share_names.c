/* Finds the share of a step's time that a range belongs to, from its category and name. */
#include "model/core/share_names.h"

#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "dwell/probe.h"
#include "frameworks/frameworks.h"

DW_NAMES(dw_share_label, enum dw_share, DW_SHARES)

static enum dw_share share_of_name(const char *name)
{
	static const struct { const char *name; enum dw_share share; } known[] = {
		{ "forward", DW_SHARE_FORWARD },         { "backward", DW_SHARE_BACKWARD },
		{ "optimizer", DW_SHARE_OPTIMIZER },     { "optimizer.step", DW_SHARE_OPTIMIZER },
		{ "optimizer step", DW_SHARE_OPTIMIZER }, { "optimizer_step", DW_SHARE_OPTIMIZER },
		{ "data", DW_SHARE_DATA },               { "data loading", DW_SHARE_DATA },
		{ "data_loading", DW_SHARE_DATA },       { "dataloader", DW_SHARE_DATA },
		{ "evaluation", DW_SHARE_EVALUATION },   { "validation", DW_SHARE_EVALUATION },
		{ "eval", DW_SHARE_EVALUATION },         { "checkpoint", DW_SHARE_CHECKPOINT },
		{ "communication", DW_SHARE_COMMUNICATION },
		{ "allreduce", DW_SHARE_COMMUNICATION },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcasecmp(name, known[i].name) == 0)
			return known[i].share;
	return DW_SHARE_COUNT;
}

bool dw_name_is_logging(const char *name)
{
	return strcasecmp(name, "log") == 0 || strcasecmp(name, "logging") == 0;
}

enum dw_share dw_share_of(const struct dw_symbol *symbol)
{
	switch (symbol->category) {
	case DWELL_CATEGORY_PROFILER: return DW_SHARE_PROFILER;
	case DWELL_CATEGORY_COLLECTOR: return DW_SHARE_COLLECTOR;
	case DWELL_CATEGORY_DATA: return DW_SHARE_DATA;
	case DWELL_CATEGORY_COMMUNICATION: return DW_SHARE_COMMUNICATION;
	case DWELL_CATEGORY_DEVICE: return DW_SHARE_DEVICE;
	case DWELL_CATEGORY_CHECKPOINT: return DW_SHARE_CHECKPOINT;
	case DWELL_CATEGORY_EVALUATION: return DW_SHARE_EVALUATION;
	case DWELL_CATEGORY_ZONE:
	case DWELL_CATEGORY_PHASE:
	case DWELL_CATEGORY_ACTION:
		return dw_framework_is_collective(symbol->name) ? DW_SHARE_COMMUNICATION : share_of_name(symbol->name);
	case DWELL_CATEGORY_OPERATOR:
		return dw_framework_is_collective(symbol->name) ? DW_SHARE_COMMUNICATION : DW_SHARE_COUNT;
	default: return DW_SHARE_COUNT;
	}
}
