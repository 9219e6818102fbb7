/* Collects the ranges without an end. Of one thread the longest open range is the outermost. */
#include "model/core/open.h"

#include "base/error.h"
#include "base/grow.h"
#include "base/order.h"
#include "model/core/events.h"

struct open_list {
	struct dw_open_range *ranges;
	size_t count, capacity;
};

static int open_take(void *context, const struct dw_event *event)
{
	struct open_list *list = context;

	if (event->type != DW_EVENT_RANGE || !event->open)
		return 0;
	if (!DW_APPEND(&list->ranges, &list->capacity, &list->count,
	               (struct dw_open_range){ event->thread, event->symbol, event->start_ns }))
		return DWELL_E_NOMEM;
	return 0;
}

DW_ORDER(open_compare, struct dw_open_range, DW_UP(thread) DW_UP(start_ns))

int dw_model_open_ranges(struct dw_model *model, struct dw_open_range **ranges, size_t *count,
                         struct dwell_error *error)
{
	struct open_list list = { 0 };
	int code = dw_model_events_of(model, DW_EVENTS_OF_THREADS, open_take, &list, error);

	if (code == DWELL_E_NOMEM)
		dw_error_set(error, code, "out of memory while looking for open ranges");
	if (!code && list.count)
		qsort(list.ranges, list.count, sizeof *list.ranges, open_compare);
	if (code)
		free(list.ranges);
	*ranges = code ? NULL : list.ranges;
	*count = code ? 0 : list.count;
	return code;
}
