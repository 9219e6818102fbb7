/* What the files of this folder share to report events of a look. */
#pragma once

#include "watch/watch.h"

struct dw_watch_report {
	void (*report)(void *context, const struct dw_watch_event *event);
	void *context;
	size_t said[DW_WATCH_KINDS][2]; /* events of this look, by whether something begins */
};

/* Whether something begins or is over. Texts are made only then: most ranks have no event at most looks. */
bool dw_watch_changes(const struct dw_watched *watched, enum dw_watch_kind kind, bool is);
/* Reports that something begins, with its text, or is over. What goes on is reported once, and of one kind at most
 * DW_WATCH_MOST_SAID ranks at a look. */
__attribute__((format(printf, 5, 6))) void dw_watch_set(struct dw_watch_report *report, struct dw_watched *watched,
                                                        enum dw_watch_kind kind, bool is, const char *format, ...);

/* For how long a rank records nothing before it hangs; whether it does. */
double dw_watch_hang_limit(const struct dw_watched *watched);
bool dw_watch_hangs(const struct dw_watched *watched);
/* Reports the ranks that hang, those that did not come first. */
void dw_watch_report_hangs(struct dw_watch *watch, struct dw_watch_report *report);
/* Sets which processes ended as they should. Then reports those that did not, the one that failed first in front. */
void dw_watch_find_ends(struct dw_watch *watch);
void dw_watch_report_losses(struct dw_watch *watch, struct dw_watch_report *report);
