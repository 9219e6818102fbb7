/*
 * The text that says when a handler runs: "EVENT(every=3, after=4) | EVENT".
 *
 * Called when a handler is added, never during an iteration. Reads term by term. An error message
 * names the term, what is wrong with it, and what is valid.
 */
#include "compat/ignite/engine.h"

#include <stdlib.h>
#include <string.h>

struct reader {
	const char *term; /* for messages */
	const char *at;
	struct dw_filter *filter;
	bool every, once, function, before, after;
	struct dwell_error *error;
};

static const char *when_skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\n')
		at++;
	return at;
}

static size_t when_name_length(const char *at)
{
	size_t length = 0;

	while (dw_event_name_char(at[length]))
		length++;
	return length;
}

/* Sets the error. Its message quotes the term. */
static int when_fail(struct reader *reader, const char *why)
{
	size_t length = strcspn(reader->term, "|");

	while (length > 0 && reader->term[length - 1] == ' ')
		length--;
	return dw_error_set(reader->error, DWELL_E_ARGUMENT, "%.*s: %s",
	                    (int)(length < 128 ? length : 128), reader->term, why);
}

/* Reads a number. After its digits the argument must end. */
static bool when_read_number(struct reader *reader, uint64_t *number)
{
	const char *at = when_skip_blanks(reader->at), *digits = at;

	for (*number = 0; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(*at - '0'), number))
			return false;
	reader->at = when_skip_blanks(at);
	return at > digits && strchr(",)]", *reader->at) && *reader->at;
}

static int when_read_once(struct reader *reader)
{
	static const char why[] = "once is a positive integer or a list of them: once=4, once=[2, 7]";
	struct dw_filter *filter = reader->filter;
	bool list = *when_skip_blanks(reader->at) == '[';

	if (list)
		reader->at = when_skip_blanks(reader->at) + 1;
	do {
		uint64_t value, *more;

		if (filter->once_count > 0)
			reader->at++; /* the comma */
		if (!when_read_number(reader, &value) || value == 0)
			return when_fail(reader, why);
		more = realloc(filter->once, (filter->once_count + 1) * sizeof *more);
		if (!more)
			return dw_error_set(reader->error, DWELL_E_NOMEM, "no memory for a filter");
		filter->once = more;
		more[filter->once_count++] = value;
	} while (list && *reader->at == ',');
	if (!list)
		return 0;
	if (*reader->at != ']')
		return when_fail(reader, why);
	reader->at = when_skip_blanks(reader->at + 1);
	return 0;
}

/* One "key=value" or "event_filter". */
static int when_read_argument(struct reader *reader)
{
	struct dw_filter *filter = reader->filter;
	const char *key = reader->at;
	size_t length = when_name_length(key);
	bool *seen = NULL;

#define IS(text) (length == sizeof text - 1 && memcmp(key, text, sizeof text - 1) == 0)
	if (IS("every"))
		seen = &reader->every;
	else if (IS("once"))
		seen = &reader->once;
	else if (IS("before"))
		seen = &reader->before;
	else if (IS("after"))
		seen = &reader->after;
	else if (IS("event_filter"))
		seen = &reader->function;
#undef IS
	if (!seen)
		return when_fail(reader, "a filter is every=N, once=N, once=[N, ...], before=N, after=N or event_filter");
	if (*seen)
		return when_fail(reader, "an argument is given twice");
	*seen = true;
	reader->at = when_skip_blanks(key + length);
	if (seen == &reader->function)
		return 0;
	if (*reader->at != '=')
		return when_fail(reader, "the argument needs a value: every=3");
	reader->at++;
	if (seen == &reader->once)
		return when_read_once(reader);
	if (seen == &reader->every) {
		if (!when_read_number(reader, &filter->every) || filter->every == 0)
			return when_fail(reader, "every should be an integer greater than zero");
		return 0;
	}
	if (!when_read_number(reader, seen == &reader->before ? &filter->before : &filter->after))
		return when_fail(reader, seen == &reader->before
		                 ? "before should be an integer greater than or equal to zero"
		                 : "after should be an integer greater than or equal to zero");
	return 0;
}

/* Reads the filter between the parentheses. */
static int when_read_filter(struct reader *reader)
{
	struct dw_filter *filter = reader->filter;
	bool between;
	int result;

	do {
		reader->at = when_skip_blanks(reader->at + 1); /* the parenthesis, the comma */
		if (*reader->at == ')')
			break;
		result = when_read_argument(reader);
		if (result)
			return result;
	} while (*reader->at == ',');
	if (*reader->at != ')')
		return when_fail(reader, "')' is missing, or something stands before it");
	reader->at++;
	between = reader->before || reader->after;
	if ((reader->every || between) + reader->once + reader->function != 1)
		return when_fail(reader, "only one of every, once and event_filter should be specified, or "
		                 "before and after, which every may go with");
	if (reader->function)
		filter->kind = DW_FILTER_FUNCTION;
	else if (reader->once)
		filter->kind = DW_FILTER_ONCE;
	else if (between)
		filter->kind = DW_FILTER_BETWEEN;
	else if (filter->every > 1)
		filter->kind = DW_FILTER_EVERY;
	return 0;
}

static int when_read_term(struct dwell_ignite_engine *engine, struct reader *reader, struct dw_event **event)
{
	size_t length = when_name_length(reader->at);
	int result = 0;

	if (length == 0)
		return when_fail(reader, "an event's name is missing");
	*event = dw_event_find(engine, reader->at, length);
	if (!*event)
		return dw_error_set(reader->error, DWELL_E_NAME, "'%.*s' is not an event of engine '%.64s'; "
		                    "dwell_ignite_engine_register_event() makes it one",
		                    (int)(length < 128 ? length : 128), reader->at, engine->name);
	reader->at = when_skip_blanks(reader->at + length);
	if (*reader->at == '(') {
		result = when_read_filter(reader);
		if (!result && !(*event)->value)
			result = when_fail(reader, "the event has no value that a filter could compare");
		reader->at = when_skip_blanks(reader->at);
	}
	if (!result && *reader->at != '\0' && *reader->at != '|')
		result = when_fail(reader, "join events with '|'");
	return result;
}

int dw_when_next(struct dwell_ignite_engine *engine, const char **at, struct dw_event **event,
                 struct dw_filter *filter, struct dwell_error *error)
{
	const char *term = when_skip_blanks(*at);
	struct reader reader = { .term = term, .at = term, .filter = filter, .error = error };
	int result;

	*filter = (struct dw_filter){ .kind = DW_FILTER_NONE, .every = 1, .before = UINT64_MAX };
	result = when_read_term(engine, &reader, event);
	if (result) {
		free(filter->once);
		filter->once = NULL;
		return result;
	}
	*at = *reader.at == '|' ? reader.at + 1 : NULL;
	return 0;
}
