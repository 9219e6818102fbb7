/*
 * Arrows between two calls; see arrows.h.
 *
 * Called by timeline.c. Sends and receptions are paired by name, process and handle; linked calls
 * are paired by the thread of the forward call and the sequence number.
 */

#include "base/grow.h"
#include "export/arrows.h"

#define LINK 0x7fffffffu /* in place of a name: an arrow from a forward to a backward call */
#define ARRIVES 0x80000000u

struct dw_arrow_item {
	uint64_t handle, ns; /* handle: of a link, its sequence number */
	uint32_t owner;      /* the process, or the thread of the forward call */
	uint32_t track;
	uint32_t name; /* the first symbol with the name of both ends, or LINK; | ARRIVES */
	uint32_t symbol;
};

static bool arrow_append(struct dw_arrows *arrows, const struct dw_arrow_item *item)
{
	return DW_APPEND(&arrows->items, &arrows->capacity, &arrows->count, *item);
}

static uint32_t arrow_name(const struct dw_arrow_item *item)
{
	return item->name & ~ARRIVES;
}

/* ---- names ------------------------------------------------------------------------------- */

static int arrow_compare_names(const void *left, const void *right, void *context)
{
	const struct dw_symbol *symbols = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = strcmp(symbols[a].name, symbols[b].name);

	return order ? order : a < b ? -1 : 1;
}

/* The two ends are at two places in the program, so they have two symbols with the same name. */
static bool arrow_make_names(struct dw_arrows *arrows, const struct dw_symbol *symbols, size_t count)
{
	uint32_t *sorted = calloc(count + 1, sizeof *sorted), first = 0;

	arrows->names = calloc(count + 1, sizeof *arrows->names);
	if (!sorted || !arrows->names) {
		free(sorted);
		return false;
	}
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = i;
	qsort_r(sorted, count, sizeof *sorted, arrow_compare_names, (void *)(uintptr_t)symbols);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || strcmp(symbols[sorted[i]].name, symbols[first].name) != 0)
			first = sorted[i];
		arrows->names[sorted[i]] = first;
	}
	free(sorted);
	return true;
}

bool dw_arrows_add_flow(struct dw_arrows *arrows, const struct dw_event *event, uint32_t track,
                        uint32_t process, const struct dw_symbol *symbols, size_t symbol_count)
{
	if (!arrows->names && !arrow_make_names(arrows, symbols, symbol_count))
		return false;
	return arrow_append(arrows, &(struct dw_arrow_item){
		.handle = event->handle, .ns = event->start_ns, .owner = process, .track = track,
		.name = arrows->names[event->symbol] | (event->type == DW_EVENT_FLOW_IN ? ARRIVES : 0),
		.symbol = event->symbol });
}

bool dw_arrows_add_link(struct dw_arrows *arrows, const struct dw_event *event, uint32_t track, size_t thread_count)
{
	bool backward = event->forward_thread < thread_count;

	return arrow_append(arrows, &(struct dw_arrow_item){
		.handle = event->sequence, .ns = event->start_ns,
		.owner = backward ? event->forward_thread : event->thread, .track = track,
		.name = LINK | (backward ? ARRIVES : 0), .symbol = event->symbol });
}

/* ---- pairs ------------------------------------------------------------------------------- */

static int arrow_compare_items(const void *left, const void *right)
{
	const struct dw_arrow_item *a = left, *b = right;

	if (arrow_name(a) != arrow_name(b))
		return arrow_name(a) < arrow_name(b) ? -1 : 1;
	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->handle != b->handle)
		return a->handle < b->handle ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if ((a->name & ARRIVES) != (b->name & ARRIVES))
		return a->name & ARRIVES ? 1 : -1;
	return a->track < b->track ? -1 : a->track > b->track;
}

static bool arrow_belongs(const struct dw_arrow_item *a, const struct dw_arrow_item *b)
{
	return arrow_name(a) == arrow_name(b) && a->owner == b->owner && a->handle == b->handle;
}

static struct dw_arrow_end arrow_end(const struct dw_arrow_item *item, uint64_t id, bool arrives)
{
	return (struct dw_arrow_end){ .ns = item->ns, .id = id, .track = item->track,
		.symbol = item->symbol, .link = arrow_name(item) == LINK, .arrives = arrives };
}

void dw_arrows_pair(struct dw_arrows *arrows, uint64_t *last_id,
                    bool (*put)(void *to, const struct dw_arrow_end *end), void *to)
{
	const struct dw_arrow_item *items = arrows->items, *from = NULL; /* from: the last send */
	uint64_t last_link = 0;
	bool received = false, go_on = true;

	if (arrows->count)
		qsort(arrows->items, arrows->count, sizeof *items, arrow_compare_items);
	for (size_t i = 0; i < arrows->count && go_on; i++) {
		const struct dw_arrow_item *item = &items[i], *next = item + 1;
		bool link = arrow_name(item) == LINK;
		struct dw_arrow_end end;

		if (from && !arrow_belongs(from, item))
			from = NULL;
		if (!(item->name & ARRIVES)) {
			from = item;
			received = false;
			if (link)
				continue; /* many forward calls have no backward call: nothing is missing */
			if (i + 1 < arrows->count && arrow_belongs(item, next) && next->name & ARRIVES)
				continue;
			end = arrow_end(item, ++*last_id, false);
			go_on = put(to, &end);
			continue;
		}
		if (!from || (link && received))
			continue; /* only the first backward call of a forward call gets an arrow */
		received = true;
		end = arrow_end(from, link ? ++last_link : ++*last_id, false);
		go_on = put(to, &end);
		end = arrow_end(item, end.id, true);
		go_on = go_on && put(to, &end);
	}
}

void dw_arrows_reset(struct dw_arrows *arrows)
{
	free(arrows->items);
	free(arrows->names);
	memset(arrows, 0, sizeof *arrows);
}
