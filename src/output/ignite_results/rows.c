/* The rows of Ignite's files; see rows.h. */
#include "ignite_results/rows.h"

#include "base/grow.h"

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

/* Sets a column in all rows that this run has so far, or without `whole_run` only in those of the
 * moment's epoch. */
static void rows_set_column(struct dw_iterations *all, const struct dw_moment *moment, bool whole_run,
                            enum dw_iteration_column column)
{
	for (size_t i = all->count; i-- > 0;) {
		struct dw_iteration *row = &all->rows[i];

		if (row->run != moment->run || (!whole_run && row->epoch != moment->epoch))
			break;
		row->times_s[column] = moment->time_s;
	}
}

static struct dw_iteration *rows_find(struct dw_iterations *all, const struct dw_moment *moment)
{
	struct dw_iteration *row = all->count ? &all->rows[all->count - 1] : NULL;

	if (row && row->run == moment->run && row->iteration == moment->iteration)
		return row;
	row = DW_GROW(&all->rows, &all->capacity, all->count);
	if (!row)
		return NULL;
	all->count++;
	*row = (struct dw_iteration){ .epoch = moment->epoch, .iteration = moment->iteration,
		                          .run = moment->run };
	if (all->run == moment->run) {
		row->times_s[DW_ITERATION_STARTED] = all->started_s;
		if (all->epoch == moment->epoch)
			row->times_s[DW_ITERATION_EPOCH_STARTED] = all->epoch_started_s;
	}
	return row;
}

int dw_iterations_add(struct dw_iterations *all, enum dw_iteration_column column, const struct dw_moment *moment)
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
		rows_set_column(all, moment, column == DW_ITERATION_COMPLETED, column);
		return 0;
	default: break;
	}
	row = rows_find(all, moment);
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
	return DW_APPEND(&calls->times_s, &calls->capacity, &calls->count, time_s) ? 0 : -1;
}
