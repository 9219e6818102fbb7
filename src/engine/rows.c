/* The rows of Ignite's files; see rows.h. */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

static void *grow(void *array, size_t *capacity, size_t count, size_t item_bytes)
{
	size_t wanted = count ? count * 2 : 64;
	void *more;

	if (count < *capacity)
		return array;
	more = realloc(array, wanted * item_bytes);
	if (more)
		*capacity = wanted;
	return more;
}

int dw_iteration_column(const char *event)
{
	static const char *const names[] = {
#define X(event) [DW_ITERATION_##event] = #event,
		DW_ITERATION_EVENTS(X)
#undef X
	};

	for (int i = DW_ITERATION_STARTED; i < DW_ITERATION_COLUMNS; i++)
		if (strcmp(event, names[i]) == 0)
			return i;
	return -1;
}

/* The rows so far that are of this run, and of this epoch unless `whole_run`. */
static void put_back(struct dw_iterations *all, const struct dw_moment *moment, bool whole_run,
                     enum dw_iteration_column column)
{
	for (size_t i = all->count; i-- > 0;) {
		struct dw_iteration *row = &all->rows[i];

		if (row->run != moment->run || (!whole_run && row->epoch != moment->epoch))
			break;
		row->times_s[column] = moment->time_s;
	}
}

static struct dw_iteration *row_of(struct dw_iterations *all, const struct dw_moment *moment)
{
	struct dw_iteration *row = all->count ? &all->rows[all->count - 1] : NULL;
	struct dw_iteration *rows;

	if (row && row->run == moment->run && row->iteration == moment->iteration)
		return row;
	rows = grow(all->rows, &all->capacity, all->count, sizeof *rows);
	if (!rows)
		return NULL;
	all->rows = rows;
	row = &rows[all->count++];
	*row = (struct dw_iteration){ .epoch = moment->epoch, .iteration = moment->iteration,
		                          .run = moment->run };
	if (all->run == moment->run) {
		row->times_s[DW_ITERATION_STARTED] = all->started_s;
		if (all->epoch == moment->epoch)
			row->times_s[DW_ITERATION_EPOCH_STARTED] = all->epoch_started_s;
	}
	return row;
}

int dw_iterations_add(struct dw_iterations *all, enum dw_iteration_column column,
                      const struct dw_moment *moment)
{
	struct dw_iteration *row;

	switch (column) {
	case DW_ITERATION_STARTED:
		all->run = moment->run;
		all->epoch = 0;
		all->started_s = moment->time_s;
		return 0;
	case DW_ITERATION_EPOCH_STARTED:
		all->epoch = moment->epoch;
		all->epoch_started_s = moment->time_s;
		return 0;
	case DW_ITERATION_EPOCH_COMPLETED:
	case DW_ITERATION_COMPLETED:
		put_back(all, moment, column == DW_ITERATION_COMPLETED, column);
		return 0;
	default:
		break;
	}
	row = row_of(all, moment);
	if (!row)
		return -1;
	row->happened |= column == DW_ITERATION_PROCESSING || column == DW_ITERATION_DATAFLOW;
	row->times_s[column] += moment->time_s;
	return 0;
}

void dw_iterations_reset(struct dw_iterations *all)
{
	free(all->rows);
	memset(all, 0, sizeof *all);
}

int dw_calls_add(struct dw_calls *calls, double time_s)
{
	double *times_s = grow(calls->times_s, &calls->capacity, calls->count, sizeof *times_s);

	if (!times_s)
		return -1;
	calls->times_s = times_s;
	times_s[calls->count++] = time_s;
	return 0;
}
