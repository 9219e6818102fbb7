/* Threads: what each recorded, and when records are missing. */
#pragma once

#include "model/core/intervals.h"
#include "model/core/model.h"

struct dw_thread_row {
	uint32_t thread;           /* index */
	bool nested;
	uint64_t records, ranges, first_ns, last_ns;
	uint64_t open_ns;          /* until when a range lasts that did not end; 0: none is known */
	uint64_t busy_ns;          /* inside at least one range */
	uint64_t busy_ticks;       /* the same, in ticks of its file */
	uint64_t gap_ns;           /* time of recycled chunks */
	uint64_t missing_ns;       /* records are missing, and no range is known to cover the time */
	uint64_t lost;
};

struct dw_threads {
	struct dw_thread_row *rows;
	size_t count;
	/* Times in which records are missing: they were recycled, or lost because there was no space.
	 * By index of the thread; and by index of the process, united over its threads in scope. */
	const struct dw_interval **missing, **process_missing;
};

const struct dw_threads *dw_model_threads(struct dw_model *model, struct dwell_error *error);
/* Whether no records are missing, as far as this is known: the file knows of none, and no walk so far has met such a
 * place. The product `threads` reads all records to know it for certain. */
bool dw_threads_are_whole(const struct dw_model *model);
