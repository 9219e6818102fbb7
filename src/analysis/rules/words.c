/*
 * Fills in the templates of rules with measured values.
 *
 *     {share} {gain}          of the verdict: "16%", "14.1 ms"
 *     {each}                  "a step"; "in the run" if that is one
 *     {of}                    the whole of the share: "of each step"
 *     {takes} {is} ...        a verb; "may take" and so on if the statement is not firm
 *     {step.wall}             a fact by its name, in its unit; a list of forms follows
 *     [text]                  the text, only if all placeholders in it have a value
 *     [?trace.shapes: text]   only if the fact is more than 0; a share, more than half a percent
 *     [!trace.shapes: text]   only if the fact was measured and is not more than that
 *     [-loop.waiting: text]   only if the fact was not measured
 *     {cells:function}        the function that the time of the rule's cells, or of its `place`, lies in: "log (train.py:41)"
 *     {cells:most}            the same if it has most of that time
 *     {cells:part}            its part of it
 *     {cells:library}         the library that is called in most of it, or "libraries"
 *     {number}                what the rule's function number() returns
 *
 * Forms of a fact: {F:s} "s" unless the fact is 1; {F:takes} "takes" if it is 1, else "take";
 * {F:name} its symbol's name, unless its note is the same;
 * {F:note}; {F:part} the part of a step that is its note, in words; {F:where} " at train.py:41", or "" if no place is
 * known; {F:ns} of a share of a step, the time.
 */
#include <stdio.h>

#include "base/text.h"
#include "rules/case.h"

struct words {
	const struct dw_rule_case *at;
	char text[4 * DW_RULE_TEXT];
	size_t used;
	bool known;      /* all placeholders of the innermost [...] had a value */
};

static const char *const verbs[][2] = {
	{ "takes", "may take" }, { "take", "may take" }, { "is", "may be" }, { "are", "may be" },
	{ "has", "may have" }, { "grows", "may grow" }, { "waits", "may wait" },
	{ "slows", "may slow" },
};

static void words_put(struct words *words, const char *text, size_t length)
{
	if (length > sizeof words->text - 1 - words->used)
		length = sizeof words->text - 1 - words->used;
	memcpy(words->text + words->used, text, length);
	words->used += length;
	words->text[words->used] = '\0';
}

static void words_put_text(struct words *words, const char *text)
{
	words_put(words, text, strlen(text));
}

static void words_put_share(struct words *words, double share)
{
	char text[32];

	if (share > 0 && share < 0.01)
		snprintf(text, sizeof text, "%.1f%%", share * 100);
	else
		snprintf(text, sizeof text, "%.0f%%", round(share * 100));
	words_put_text(words, text);
}

/* Formats a value in its unit, for a sentence. */
static void words_put_value(struct words *words, enum dw_fact_unit unit, double value)
{
	switch (unit) {
	case DW_FACT_RATIO:
	case DW_FACT_CHANGED:
		words_put_share(words, value);
		return;
	case DW_FACT_NS:
		words_put_text(words, dw_text_ns(value, " ").at);
		return;
	case DW_FACT_BYTES:
		words_put_text(words, dw_text_bytes(value, " ").at);
		return;
	case DW_FACT_COUNTED:
		if (value >= 100 || fabs(value - round(value)) < 0.01) /* no "0.999 CPUs" */
			words_put_text(words, dw_text_count((int64_t)llround(value)).at);
		else
			words_put_text(words, dw_text_number(value).at);
		return;
	default:
		words_put_text(words, dw_text_number(value).at);
		return;
	}
}

static const char *words_name(const struct dw_fact *fact)
{
	/* aten::empty makes every tensor, so the name is no information. */
	if (!fact->name || dw_operator_family_of(fact->name) == DW_OPERATOR_EMPTY)
		return NULL;
	return fact->note && strcmp(fact->name, fact->note) == 0 ? NULL : fact->name;
}

/* Python's and idle time of a verdict about the loop may lie between the steps: then the lines are those
 * of the larger part. */
static const char *words_where(const struct words *words, enum dw_fact_id id)
{
	const struct dw_fact *fact = &words->at->facts->at[id], *outside = NULL;

	if (words->at->verdict->whole == DW_RULE_OF_LOOP && id == DW_FACT_STEP_PYTHON)
		outside = &words->at->facts->at[DW_FACT_LOOP_PYTHON];
	if (outside && outside->measured && outside->value > fact->value * dw_case_value(words->at, DW_FACT_LOOP_STEPS))
		return outside->where;
	return fact->where;
}

/* Parts of a step whose names are not words of a sentence. */
static const char *words_part(const char *part)
{
	static const char *const words[][2] = { { "named", "named ranges" }, { "unnamed", "no named range" }, { "python", "Python" },
		{ "idle", "waits" } };

	for (size_t i = 0; part && i < sizeof words / sizeof *words; i++)
		if (strcmp(part, words[i][0]) == 0)
			return words[i][1];
	return part;
}

static void words_put_fact(struct words *words, const char *name, const char *form)
{
	enum dw_fact_id id = dw_fact_find(name);
	const struct dw_fact *fact;
	const char *text = NULL;

	if (id == DW_FACT_COUNT || !words->at->facts->at[id].measured) {
		words->known = false;
		return;
	}
	fact = &words->at->facts->at[id];
	if (!*form) {
		words_put_value(words, dw_fact_kind(id)->unit, fact->value);
	} else if (strcmp(form, "s") == 0) {
		words_put_text(words, fact->value == 1 ? "" : "s");
	} else if (strcmp(form, "takes") == 0) {
		words_put_text(words, fact->value == 1 ? "takes" : "take");
	} else if (strcmp(form, "ns") == 0) {
		words_put_text(words, dw_text_ns(fact->value * dw_case_whole_ns(words->at, DW_RULE_OF_STEP), " ").at);
	} else {
		text = strcmp(form, "name") == 0 ? words_name(fact)
		     : strcmp(form, "note") == 0 ? fact->note
		     : strcmp(form, "part") == 0 ? words_part(fact->note)
		                                 : words_where(words, id);
		if (text && *text && strcmp(form, "where") == 0)
			words_put_text(words, strstr(text, " and ") ? " between " : " at ");
		if (text && *text)
			words_put(words, text, strnlen(text, 80));
		else if (strcmp(form, "where") != 0)
			words->known = false;
	}
}

/* " in the range NAME at FILE:LINE" */
static void words_put_range(struct words *words, const struct dw_symbol *range)
{
	char line[90];

	words_put_text(words, "the range ");
	words_put(words, range->name, strnlen(range->name, 80));
	if (!range->file)
		return;
	snprintf(line, sizeof line, " at %s:%u", dw_text_base_name(range->file), range->line);
	words_put_text(words, line);
}

/* The function that the rule's cells lie in, with its line, and the range: "ask (net.c:10)". */
static void words_put_cells(struct words *words, const char *form)
{
	const struct dw_verdict *verdict = words->at->verdict;
	const struct dw_account_select *cells = verdict->has_cells ? &verdict->cells : words->at->rule->place;
	const struct dw_account *account = words->at->facts->account;
	struct dw_account_sum sum = cells && account ? dw_account_sum(account, cells) : (struct dw_account_sum){ .ns = 0 };
	bool most = strcmp(form, "most") == 0, function = sum.function && (!most || sum.dominates);
	char text[300];

	if (strcmp(form, "library") == 0) {
		words_put_text(words, sum.library ? dw_library_name(sum.library, text) : "libraries");
		return;
	}
	if (verdict->cells.by_name)
		sum.range = NULL; /* the sentence names it */
	if (!function && !(most && sum.range)) {
		words->known = false;
		return;
	}
	if (strcmp(form, "part") == 0) {
		words_put_share(words, sum.place_ns / sum.ns);
		return;
	}
	if (function) {
		dw_account_place(&sum, text);
		words_put(words, text, strnlen(text, 170));
	}
	if (function && most && sum.range)
		words_put_text(words, ", in ");
	if (most && sum.range)
		words_put_range(words, sum.range);
}

static void words_put_place(struct words *words, const char *place)
{
	const struct dw_verdict *verdict = words->at->verdict;
	char name[64];
	const char *colon = strchr(place, ':');

	if (strncmp(place, "cells:", 6) == 0) {
		words_put_cells(words, place + 6);
		return;
	}
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (strcmp(place, verbs[i][0]) == 0) {
			words_put_text(words, verbs[i][!verdict->firm]);
			return;
		}
	if (strcmp(place, "share") == 0) {
		words_put_share(words, verdict->share.value);
	} else if (strcmp(place, "of") == 0) {
		words_put_text(words, dw_rule_whole_text(verdict->whole, words->at->facts->iterations));
	} else if (strcmp(place, "each") == 0) {
		words_put_text(words, dw_rule_each(words->at->facts->iterations));
	} else if (strcmp(place, "number") == 0) {
		double number = words->at->rule->number ? words->at->rule->number(words->at) : NAN;

		words->known &= !isnan(number);
		if (!isnan(number))
			words_put_value(words, DW_FACT_COUNTED, number);
	} else if (strcmp(place, "gain") == 0) {
		if (isnan(verdict->gain_ns))
			words->known = false;
		else
			words_put_text(words, dw_text_ns(verdict->gain_ns, " ").at);
	} else {
		snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - place : (ptrdiff_t)strlen(place)), place);
		words_put_fact(words, name, colon ? colon + 1 : "");
	}
}

static bool words_is_something(const struct words *words, enum dw_fact_id id)
{
	return dw_case_value(words->at, id) > (dw_fact_kind(id)->unit == DW_FACT_RATIO ? 0.005 : 0);
}

/* The condition of "[?FACT: text]": returns where the text begins, and whether it is wanted. */
static const char *words_condition(const struct words *words, const char *text, bool *wanted)
{
	size_t length = strcspn(text, ":");
	enum dw_fact_id id;
	char name[64];

	*wanted = true;
	if (*text != '?' && *text != '!' && *text != '-')
		return text;
	snprintf(name, sizeof name, "%.*s", (int)length - 1, text + 1);
	id = dw_fact_find(name);
	*wanted = id != DW_FACT_COUNT && words->at->facts->at[id].measured;
	*wanted = *text == '-' ? !*wanted : *wanted && words_is_something(words, id) == (*text == '?');
	return text + length + (text[length] == ':') + (text[length] && text[length + 1] == ' ');
}

const char *dw_rule_each(enum dw_iteration_kind iterations)
{
	return iterations == DW_ITERATIONS_MARKED ? "a step" : iterations == DW_ITERATIONS_PERIOD ? "an iteration" : "in the run";
}

const char *dw_rule_whole_text(enum dw_rule_whole whole, enum dw_iteration_kind iterations)
{
	static const char *const texts[DW_RULE_OF_COUNT] = {
		[DW_RULE_OF_STEP] = "of each step",
		[DW_RULE_OF_LOOP] = "of the loop",
		[DW_RULE_OF_PEAK] = "of the peak",
		[DW_RULE_OF_CAPACITY] = "of the memory",
	};

	if (whole == DW_RULE_OF_STEP && iterations == DW_ITERATIONS_PERIOD)
		return "of each iteration";
	if ((whole == DW_RULE_OF_STEP || whole == DW_RULE_OF_LOOP) && iterations == DW_ITERATIONS_RUN)
		return "of the run";
	return texts[whole];
}

const char *dw_rule_words(const struct dw_rule_case *at, const char *text, struct dw_arena *arena)
{
	struct words words = { .at = at, .known = true };
	size_t begin = 0;
	bool wanted = true;

	while (*text) {
		if (*text == '{') {
			char place[80];
			size_t length = strcspn(text + 1, "}");

			snprintf(place, sizeof place, "%.*s", (int)length, text + 1);
			words_put_place(&words, place);
			text += length + 1 + (text[length + 1] == '}');
		} else if (*text == '[') {
			begin = words.used;
			words.known = true;
			text = words_condition(&words, text + 1, &wanted);
		} else if (*text == ']') {
			if (!words.known || !wanted)
				words.used = begin;
			words.text[words.used] = '\0';
			words.known = wanted = true;
			text++;
		} else {
			size_t length = strcspn(text, "{[]");

			words_put(&words, text, length);
			text += length;
		}
	}
	return dw_arena_text(arena, words.text, words.used);
}
