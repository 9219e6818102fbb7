/*
 * What events are called in an XSpace.
 *
 * Called by xplane.c behind the lines. The plugin finds operators by the form of their
 * names, so they have two: its, and ours for display. The category and the detail stand
 * with the name, for who reads the file as a trace again (read/xspace_names.c).
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "export/xplane.h"

#define MOST_NAME 512u

static const char *const own_names[NAME_COUNT] = {
	"train", "MemoryAllocation", "MemoryDeallocation", "forward to backward"
};

/* What the plugin calls an operator: "aten::add" becomes "aten/add". The length. */
static size_t operation_name(char *to, size_t room, const char *name)
{
	size_t used = 0;

	for (const char *from = name; *from && used + 1 < room; from++) {
		if (from[0] == ':' && from[1] == ':')
			from++;
		to[used++] = *from == ':' ? '/' : isalnum((unsigned char)*from) || *from == '.' || *from == '/'
		                                      ? *from
		                                      : '_';
	}
	if (used && (to[0] == '_' || to[0] == '/'))
		to[0] = '.';
	to[used] = '\0';
	return used;
}

/*
 * The plugin takes an event for an operator when its name is "scope/op:Type", the
 * type beginning with a capital; "aten::add" becomes "aten/add:Aten_add".
 */
static void operator_name(char *to, size_t room, const char *name)
{
	size_t used = operation_name(to, room / 2 - 1, name), type;

	to[used++] = ':';
	type = used;
	for (size_t i = 0; i + 1 < type; i++)
		to[used++] = isalnum((unsigned char)to[i]) ? to[i] : '_';
	to[type] = (char)toupper((unsigned char)to[type]);
	if (isdigit((unsigned char)to[type]))
		to[type] = '_';
	to[used] = '\0';
}

void dw_xplane_put_operation(struct dw_proto *to, uint32_t field, enum dw_xplane_stat stat,
                             const char *name)
{
	char operation[MOST_NAME / 2];

	operation_name(operation, sizeof operation, name);
	dw_xplane_put_text(to, field, stat, operation);
}

static const char *category_of(const struct dw_symbol *symbol)
{
	static const char *const texts[] = {
#define X(name, value, text) [value] = text,
		DWELL_CATEGORIES(X)
#undef X
	};

	return symbol && symbol->category < sizeof texts / sizeof *texts ? texts[symbol->category] : NULL;
}

/* symbol: NULL for what is no symbol */
static void put_event_name(struct dw_proto *to, uint64_t id, const char *name, const char *display,
                           const struct dw_symbol *symbol)
{
	size_t entry = dw_proto_open(to, PLANE_EVENT_META), meta;

	dw_proto_u64(to, MAP_KEY, id);
	meta = dw_proto_open(to, MAP_VALUE);
	dw_proto_u64(to, META_ID, id);
	dw_proto_text(to, META_NAME, name);
	if (display)
		dw_proto_text(to, META_DISPLAY, display);
	if (category_of(symbol))
		dw_xplane_put_text(to, META_STAT, STAT_CATEGORY, category_of(symbol));
	if (symbol && symbol->detail)
		dw_xplane_put_text(to, META_STAT, STAT_DETAIL, symbol->detail);
	dw_proto_close(to, meta);
	dw_proto_close(to, entry);
}

void dw_xplane_put_stat_names(struct dw_proto *to)
{
	static const char *const names[STAT_COUNT] = {
#define X(name, text) [STAT_##name] = text,
		DW_XPLANE_STATS(X)
#undef X
	};

	for (uint64_t id = 1; id < STAT_COUNT; id++) {
		size_t entry = dw_proto_open(to, PLANE_STAT_META), meta;

		dw_proto_u64(to, MAP_KEY, id);
		meta = dw_proto_open(to, MAP_VALUE);
		dw_proto_u64(to, META_ID, id);
		dw_proto_text(to, META_NAME, names[id]);
		dw_proto_close(to, meta);
		dw_proto_close(to, entry);
	}
}

void dw_xplane_put_names(struct dw_xplane *xplane)
{
	char name[MOST_NAME];

	for (uint32_t i = 0; i < xplane->chrome.symbol_count; i++) {
		const struct dw_symbol *symbol = &xplane->chrome.symbols[i];
		bool is_operator = symbol->category == DWELL_CATEGORY_OPERATOR && *symbol->name;

		if (!xplane->named[i])
			continue;
		if (is_operator)
			operator_name(name, sizeof name, symbol->name);
		put_event_name(&xplane->plane, (uint64_t)i + 1, is_operator ? name : symbol->name,
		               is_operator ? symbol->name : NULL, symbol);
	}
	for (uint32_t i = 0; i < NAME_COUNT; i++)
		put_event_name(&xplane->plane, (uint64_t)dw_xplane_own(xplane, i) + 1, own_names[i], NULL, NULL);
	dw_xplane_put_stat_names(&xplane->plane);
}

