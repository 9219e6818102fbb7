/* See events.h. */
#include "watch/events.h"

#include <stdarg.h>
#include <stdio.h>

bool dw_watch_changes(const struct dw_watched *watched, enum dw_watch_kind kind, bool is)
{
	return watched->is[kind] != is;
}

void dw_watch_set(struct dw_watch_report *report, struct dw_watched *watched, enum dw_watch_kind kind, bool is,
                  const char *format, ...)
{
	static const char *const over[] = { [DW_WATCH_HANG] = "it goes on",
		                                [DW_WATCH_LOST] = "its file is written again",
		                                [DW_WATCH_SLOW] = "it works as long as other ranks",
		                                [DW_WATCH_MEMORY] = "memory does not become less any more",
		                                [DW_WATCH_SLOWER] = "steps take as long as before" };
	struct dw_watch_event event = { .kind = kind, .over = !is, .watched = watched };
	va_list values;

	watched->is[kind] = is;
	if (report->said[kind][is]++ >= DW_WATCH_MOST_SAID)
		return;
	va_start(values, format);
	vsnprintf(event.text, sizeof event.text, format, values);
	va_end(values);
	if (!is)
		snprintf(event.text, sizeof event.text, "%s",
		         watched->ended || (kind == DW_WATCH_HANG && watched->gone) ? "the process ended" : over[kind]);
	report->report(report->context, &event);
}
