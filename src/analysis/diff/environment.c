/*
 * Where the runs of both sides ran: every key that a trace has, with its values before and after.
 *
 * A value of a run is that of all of its processes. Values that are others in each run (a number of a
 * process, a time) say nothing about the change, so they are kept apart from those that differ between
 * the sides.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/grow.h"
#include "diff/diff.h"

#define SETTINGS_MOST_KEYS 300u   /* of all runs */
#define SETTINGS_MOST_VALUES 64u  /* of a key */
#define SETTINGS_MOST_TEXT 400u   /* bytes of a value */

enum { SETTING_KEY, SETTING_BEFORE, SETTING_AFTER, SETTING_STATE };
static const struct dw_column settings_columns[] = {
	[SETTING_KEY] = DW_COLUMN("key", "what", NONE, TEXT),
	[SETTING_BEFORE] = DW_COLUMN("before", "before", NONE, TEXT),
	[SETTING_AFTER] = DW_COLUMN("after", "after", NONE, TEXT),
	[SETTING_STATE] = DW_COLUMN("state", "before and after", NONE, TEXT),
};

struct settings_value {
	const char *text;
	size_t runs[DW_DIFF_SIDES];
};

struct settings_key {
	const char *key;
	char run[SETTINGS_MOST_TEXT]; /* the value of the run that is added */
	struct settings_value values[SETTINGS_MOST_VALUES];
	size_t count;
	size_t others[DW_DIFF_SIDES]; /* runs with further values */
};

struct dw_diff_settings {
	struct settings_key **keys;
	size_t count, capacity;
};

/* ---- adding a run ------------------------------------------------------------------------------ */

static struct settings_key *settings_find(struct dw_diff *diff, const char *key)
{
	struct dw_diff_settings *settings = diff->settings;
	struct settings_key **slot, *made;

	for (size_t i = 0; i < settings->count; i++)
		if (strcmp(settings->keys[i]->key, key) == 0)
			return settings->keys[i];
	slot = DW_GROW(&settings->keys, &settings->capacity, settings->count);
	made = slot ? calloc(1, sizeof *made) : NULL;
	if (!made || !(made->key = dw_arena_text(&diff->arena, key, strlen(key)))) {
		free(made);
		return NULL;
	}
	*slot = made;
	settings->count++;
	return made;
}

/* Adds a value of a process, once. */
static void settings_join(struct settings_key *key, const char *value)
{
	size_t used = strlen(key->run), length = strnlen(value, SETTINGS_MOST_TEXT);
	const char *at = strstr(key->run, value);

	if (used && at && (at == key->run || at[-1] == ' ') && (at[length] == '\0' || at[length] == ','))
		return;
	snprintf(key->run + used, sizeof key->run - used, "%s%s", used ? ", " : "", value);
}

static bool settings_count(struct dw_diff *diff, struct settings_key *key, unsigned side)
{
	size_t i = 0;

	while (i < key->count && strcmp(key->values[i].text, key->run) != 0)
		i++;
	if (i == SETTINGS_MOST_VALUES) {
		key->others[side]++;
	} else {
		if (i == key->count) {
			key->values[i].text = dw_arena_text(&diff->arena, key->run, strlen(key->run));
			key->count += key->values[i].text != NULL;
		}
		if (!key->values[i].text)
			return false;
		key->values[i].runs[side]++;
	}
	*key->run = '\0';
	return true;
}

int dw_diff_add_environment(struct dw_diff *diff, unsigned side, struct dw_model *model, struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);
	bool good = diff->settings || (diff->settings = calloc(1, sizeof *diff->settings));

	for (size_t i = 0; good && i < source->meta_count; i++) {
		struct settings_key *key;

		if (diff->settings->count == SETTINGS_MOST_KEYS)
			break;
		key = settings_find(diff, source->metas[i].key);
		if (key && source->metas[i].value && *source->metas[i].value)
			settings_join(key, source->metas[i].value);
		good = key != NULL;
	}
	for (size_t i = 0; good && i < diff->settings->count; i++)
		if (*diff->settings->keys[i]->run)
			good = settings_count(diff, diff->settings->keys[i], side);
	return good ? 0 : dw_error_set(error, DWELL_E_NOMEM, "out of memory for the comparison");
}

void dw_diff_reset_settings(struct dw_diff_settings *settings)
{
	for (size_t i = 0; settings && i < settings->count; i++)
		free(settings->keys[i]);
	if (settings)
		free(settings->keys);
	free(settings);
}

/* ---- the table --------------------------------------------------------------------------------- */

/* Returns how many values a side has, with "not recorded" as one. */
static size_t settings_describe(const struct dw_diff *diff, const struct settings_key *key, unsigned side,
                                char *text, size_t size)
{
	size_t values = key->others[side], runs = key->others[side], used = 0, all = diff->sides[side].count;

	*text = '\0';
	for (size_t i = 0; i < key->count; i++) {
		values += key->values[i].runs[side] > 0;
		runs += key->values[i].runs[side];
	}
	values += runs < all;
	if (values > 3) {
		snprintf(text, size, "%zu different values", values);
		return values;
	}
	for (size_t i = 0; i < key->count && used < size; i++) {
		size_t of = key->values[i].runs[side];

		if (!of)
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "; " : "", key->values[i].text);
		if (of < all && used < size)
			used += (size_t)snprintf(text + used, size - used, " (%zu run%s)", of, of == 1 ? "" : "s");
	}
	if (runs < all && used < size)
		snprintf(text + used, size - used, "%snot recorded", used ? "; " : "");
	return values;
}

static bool settings_differ(const struct dw_diff *diff, const struct settings_key *key)
{
	size_t runs[DW_DIFF_SIDES] = { 0, 0 };

	for (size_t i = 0; i < key->count; i++) {
		if (!key->values[i].runs[DW_DIFF_BEFORE] != !key->values[i].runs[DW_DIFF_AFTER])
			return true;
		runs[DW_DIFF_BEFORE] += key->values[i].runs[DW_DIFF_BEFORE];
		runs[DW_DIFF_AFTER] += key->values[i].runs[DW_DIFF_AFTER];
	}
	return (runs[DW_DIFF_BEFORE] < diff->sides[DW_DIFF_BEFORE].count) !=
	       (runs[DW_DIFF_AFTER] < diff->sides[DW_DIFF_AFTER].count);
}

/* A key that ends so is a time that dwell measured: it is another one in each run. */
static bool settings_are_measured(const struct settings_key *key)
{
	const char *end = "_ns";
	size_t length = strlen(key->key);

	return length > strlen(end) && strcmp(key->key + length - strlen(end), end) == 0;
}

struct dwell_table *dw_diff_environment_table(const struct dw_diff *diff)
{
	enum { DIFFERS, ALIKE, VARIES, STATES };
	static const char *const states[] = { "differs", "alike", "varies from run to run" };
	struct dwell_table *table =
	    dw_table_create("diff", settings_columns, sizeof settings_columns / sizeof *settings_columns);

	if (!table)
		return NULL;
	table->part = "environment";
	table->coverage = 1;
	for (unsigned wanted = 0; wanted < STATES; wanted++)
		for (size_t i = 0; diff->settings && i < diff->settings->count; i++) {
			const struct settings_key *key = diff->settings->keys[i];
			char text[DW_DIFF_SIDES][3 * SETTINGS_MOST_TEXT + 100];
			size_t before = settings_describe(diff, key, DW_DIFF_BEFORE, text[0], sizeof text[0]);
			size_t after = settings_describe(diff, key, DW_DIFF_AFTER, text[1], sizeof text[1]);
			bool varies = (before > 1 && after > 1) || settings_are_measured(key);
			unsigned state = !settings_differ(diff, key) ? ALIKE : varies ? VARIES : DIFFERS;
			struct dw_cell *row;

			if (state != wanted)
				continue;
			row = dw_table_row(table, 0);
			dw_cell_text(table, &row[SETTING_KEY], key->key);
			dw_cell_text(table, &row[SETTING_BEFORE], text[0]);
			dw_cell_text(table, &row[SETTING_AFTER], text[1]);
			dw_cell_text(table, &row[SETTING_STATE], states[state]);
		}
	return table;
}
