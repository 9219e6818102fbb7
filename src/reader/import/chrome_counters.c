/*
 * Names of counters.
 *
 * A counter event has a name, perhaps an id, and any number of members with values: the series. Each series is a counter
 * of its own. It has the event's name, with the id behind it, and then the member's name, as in Perfetto. A counter
 * whose first event has one series alone keeps its name; the member is its unit then, as dwell exports it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "import/chrome.h"

#define MOST_SERIES 65536u

static struct chrome_series *counters_find(struct chrome *chrome, const struct chrome_series *key, bool *is_new)
{
	struct chrome_counters *counters = &chrome->counters;
	uint32_t hash = (uint32_t)chrome_hash(chrome->names.seed, key, offsetof(struct chrome_series, op)), found;
	struct chrome_series *series;

	found = DW_MAP_FIND(&counters->by_key, hash, i,
	                    memcmp(&counters->series[i], key, offsetof(struct chrome_series, op)) == 0);
	*is_new = found == DW_MAP_NONE;
	if (found != DW_MAP_NONE)
		return &counters->series[found];
	if (counters->count >= MOST_SERIES) {
		chrome_count(chrome, &chrome->names_dropped);
		return NULL;
	}
	series = DW_GROW(&counters->series, &counters->capacity, counters->count);
	if (!series || !dw_map_add(&counters->by_key, hash, (uint32_t)counters->count)) {
		chrome->failed = true;
		return NULL;
	}
	counters->count++;
	*series = *key;
	return series;
}

static uint32_t counters_id_text(struct chrome *chrome, const struct chrome_id *id)
{
	char text[24];

	if (!id->given)
		return 0;
	if (id->is_text)
		return chrome_text_of(chrome, &id->text);
	snprintf(text, sizeof text, "%" PRId64, id->number);
	return chrome_text_plain(chrome, text);
}

/* A text of the names, behind another one with a space between. Both as they are in the file, with their escapes. */
static uint32_t counters_join(struct chrome *chrome, uint32_t first, uint32_t second)
{
	const struct chrome_text *texts = chrome->names.texts;
	const char *text;

	if (!first || !second)
		return first ? first : second;
	text = dw_arena_printf(&chrome->names.arena, "%.*s %.*s", (int)texts[first - 1].length, texts[first - 1].bytes,
	                       (int)texts[second - 1].length, texts[second - 1].bytes);
	chrome->failed |= !text;
	return text ? chrome_text_of(chrome, &(struct dw_json_string){ text, (uint32_t)strlen(text), true }) : 0;
}

uint32_t chrome_counter_op(struct chrome *chrome, const struct chrome_event *event, const struct dw_json_string *member,
                           unsigned members)
{
	struct chrome_series key = { chrome_text_of(chrome, &event->name), counters_id_text(chrome, &event->id), 0, 0 };
	uint32_t of = chrome_text_of(chrome, member), name, alone;
	struct chrome_series *series;
	bool is_new;

	series = counters_find(chrome, &key, &is_new);
	if (series && is_new)
		series->op = members == 1 ? of : UINT32_MAX;
	alone = series && series->op == of;
	key.member = of ? of : UINT32_MAX; /* a member without a name */
	series = series ? counters_find(chrome, &key, &is_new) : NULL;
	if (!series)
		return chrome_op_of(chrome, DWELL_CATEGORY_COUNTER, key.name, 0, 0, 0, 0);
	if (!is_new)
		return series->op;
	name = counters_join(chrome, key.name, key.id);
	series->op = chrome_op_of(chrome, DWELL_CATEGORY_COUNTER, alone ? name : counters_join(chrome, name, of),
	                          alone && of != key.name ? of : 0, 0, 0, 0);
	return series->op;
}
