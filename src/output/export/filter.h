/*
 * A filter of events: which events an export has.
 *
 * Without a pattern and a least time all events are wanted. Marks, counters and flows have a name and no
 * time: a least time does not leave them out. Steps, and the memory in use, have no name: no filter leaves
 * them out.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#include "base/glob.h"

struct dw_export_filter {
	const char *pattern; /* as dw_glob_match() takes it; NULL: any name */
	uint64_t least_ns;   /* of ranges and of events of devices */
};

static inline bool dw_export_wants_name(const struct dw_export_filter *filter, const char *name)
{
	return !filter->pattern || dw_glob_match(filter->pattern, strlen(filter->pattern), name);
}

static inline bool dw_export_wants(const struct dw_export_filter *filter, const char *name,
                                   uint64_t start_ns, uint64_t end_ns)
{
	return end_ns - start_ns >= filter->least_ns && dw_export_wants_name(filter, name);
}
