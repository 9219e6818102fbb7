/* Which symbols are the same name for a period, and what kind of name it is; see periods_build.h. */
#include <ctype.h>
#include <string.h>

#include "base/free.h"
#include "base/map.h"
#include "dwell/probe.h"
#include "format/keys.h"
#include "model/steps/periods_build.h"

static enum dw_period_kind names_kind(const struct dw_symbol *symbol)
{
	static const char compiled[] = "PjitFunction("; /* of JAX */

	if (strncmp(symbol->name, compiled, sizeof compiled - 1) == 0)
		return DW_PERIOD_COMPILED;
	if (symbol->category == DWELL_CATEGORY_ZONE && symbol->detail && strcmp(symbol->detail, DW_DETAIL_ITERATION) == 0)
		return DW_PERIOD_ITERATION;
	if (symbol->category == DWELL_CATEGORY_ZONE && symbol->detail && strcmp(symbol->detail, DW_DETAIL_TASK) == 0)
		return DW_PERIOD_TASK;
	switch (symbol->category) {
	case DWELL_CATEGORY_RUNTIME:
	case DWELL_CATEGORY_COLLECTOR:
	case DWELL_CATEGORY_PROFILER: return DW_PERIOD_HIDDEN;
	case DWELL_CATEGORY_PHASE: return DW_PERIOD_PHASE;
	case DWELL_CATEGORY_DATA: return DW_PERIOD_DATA;
	case DWELL_CATEGORY_FUNCTION:
	case DWELL_CATEGORY_LAYER: return DW_PERIOD_FUNCTION;
	case DWELL_CATEGORY_ZONE:
	case DWELL_CATEGORY_ACTION:
	case DWELL_CATEGORY_EVENT:
	case DWELL_CATEGORY_HANDLER:
	case DWELL_CATEGORY_CHECKPOINT:
	case DWELL_CATEGORY_EVALUATION: return DW_PERIOD_RANGE;
	default: return DW_PERIOD_OPERATOR;
	}
}

/* ---- names with numbers -------------------------------------------------------------------------- */

/* The name without its digits. */
static uint32_t names_hash(const struct dw_symbol *symbol)
{
	uint32_t hash = symbol->category;

	for (const char *at = symbol->name; *at; at++)
		if (!isdigit((unsigned char)*at))
			hash = dw_map_hash_bytes(hash, at, 1);
	return hash;
}

static const char *names_skip_digits(const char *at)
{
	while (isdigit((unsigned char)*at))
		at++;
	return at;
}

static bool names_same(const struct dw_symbol *left, const struct dw_symbol *right)
{
	const char *a = names_skip_digits(left->name), *b = names_skip_digits(right->name);

	while (*a && *a == *b) {
		a = names_skip_digits(a + 1);
		b = names_skip_digits(b + 1);
	}
	return left->category == right->category && *a == *b;
}

static bool names_has_number(const char *name)
{
	return name[strcspn(name, "0123456789")] != '\0';
}

/* By the first of the names that differ in a number alone. */
struct names_of {
	uint64_t members, occurrences;
};

/* "step 1", "step 2" and so on are one name: there are more of them than each occurs. "pass 1" to "pass 3" are not,
 * which are parts of each iteration. */
static bool names_are_one(const struct names_of *of)
{
	return of->members >= DW_PERIOD_LEAST && of->members * of->members >= of->occurrences;
}

bool dw_period_names_unite(struct dw_period_names *names, const struct dw_model *model)
{
	const struct dw_symbol *symbols = model->symbols;
	struct dw_map map = { NULL, 0, 0 };
	struct names_of *of = calloc(names->count + (size_t)1, sizeof *of);
	uint32_t *first = calloc(names->count + (size_t)1, sizeof *first);
	bool good = of && first;

	for (uint32_t i = 0; good && i < names->count; i++) {
		uint32_t hash, found;

		first[i] = i;
		if (!names->numbered[i] || !names->counts[i])
			continue;
		hash = names_hash(&symbols[i]);
		found = DW_MAP_FIND(&map, hash, k, names_same(&symbols[k], &symbols[i]));
		if (found == DW_MAP_NONE)
			good = dw_map_add(&map, hash, i);
		else
			first[i] = found;
		of[first[i]].members++;
		of[first[i]].occurrences += names->counts[i];
	}
	for (uint32_t i = 0; good && i < names->count; i++)
		if (names_are_one(&of[first[i]]))
			names->keys[i] = first[i];
	dw_map_reset(&map);
	DW_FREE(of, first);
	return good;
}

bool dw_period_names_init(struct dw_period_names *names, const struct dw_model *model)
{
	const struct dw_symbol *symbols = model->symbols;

	*names = (struct dw_period_names){ .count = model->symbol_count };
	if (!DW_NEW(&names->kinds, names->count + (size_t)1) || !DW_NEW(&names->keys, names->count + (size_t)1) ||
	    !DW_NEW(&names->counts, names->count + (size_t)1) || !DW_NEW(&names->numbered, names->count + (size_t)1))
		return false;
	for (uint32_t i = 0; i < names->count; i++) {
		names->kinds[i] = (uint8_t)names_kind(&symbols[i]);
		/* Operators of other shapes are the same; functions of other files are not. */
		names->keys[i] = names->kinds[i] == DW_PERIOD_OPERATOR ? model->row_symbol[model->symbol_row[i]] : i;
		names->numbered[i] = names->kinds[i] == DW_PERIOD_RANGE && names_has_number(symbols[i].name);
		names->any_numbered |= names->numbered[i];
		names->any_meant |= i > DW_OTHER_CALLS && (names->kinds[i] == DW_PERIOD_TASK || names->kinds[i] >= DW_PERIOD_DATA);
		names->any_named |= i > DW_OTHER_CALLS && names->kinds[i] >= DW_PERIOD_RANGE; /* the first ones are nobody's */
	}
	return true;
}

void dw_period_names_reset(struct dw_period_names *names)
{
	DW_FREE(names->kinds, names->keys, names->counts, names->numbered);
	*names = (struct dw_period_names){ .count = 0 };
}

const char *dw_period_name(const struct dw_period_names *names, struct dw_model *model, uint32_t key)
{
	const char *name = model->symbols[key].name, *at = name;
	bool united = false;
	char *text, *to;

	for (uint32_t i = key + 1; i < names->count && !united; i++)
		united = names->kinds[i] == DW_PERIOD_RANGE && names->keys[i] == key && strcmp(name, model->symbols[i].name);
	if (!united)
		return name;
	text = to = dw_arena_text(&model->arena, name, strlen(name));
	while (text && *at) {
		*to++ = isdigit((unsigned char)*at) ? '#' : *at;
		at = isdigit((unsigned char)*at) ? names_skip_digits(at) : at + 1;
	}
	if (text)
		*to = '\0';
	return text;
}
