/*
 * One event of a Chrome trace: from text to struct chrome_event.
 *
 * Called by chrome_file.c for each element of traceEvents. Nothing is copied. Members that dwell does
 * not know are skipped, and so are those of a wrong type, which are counted.
 */
#include <string.h>

#include "import/chrome.h"

/* ---- known words ------------------------------------------------------------------------- */

struct event_word {
	const char *text;
	uint8_t length, value;
};

enum { TOP_PH, TOP_CAT, TOP_NAME, TOP_PID, TOP_TID, TOP_TS, TOP_DUR, TOP_ID, TOP_ARGS, TOP_STACK, TOP_OTHER };

#define WORD(text, value) { text, sizeof(text) - 1, value }
static const struct event_word event_members[] = {
	WORD("ph", TOP_PH), WORD("cat", TOP_CAT), WORD("name", TOP_NAME), WORD("pid", TOP_PID),
	WORD("tid", TOP_TID), WORD("ts", TOP_TS), WORD("dur", TOP_DUR), WORD("id", TOP_ID),
	WORD("args", TOP_ARGS), WORD("sf", TOP_STACK), WORD("esf", TOP_STACK), WORD("stack", TOP_STACK), WORD("estack", TOP_STACK),
};
static const struct event_word event_args[] = {
#define X(name, text) WORD(text, CHROME_##name),
	CHROME_ARGS(X)
#undef X
	WORD("input_type_shape", CHROME_DIMS), /* ONNX Runtime's */
};
static const struct event_word event_categories[] = {
#define X(name, text) WORD(text, CHROME_IS_##name),
	CHROME_CATEGORIES(X)
#undef X
};

/* Finds a word. Compares the length and the first byte before the text: the lists are short, and
 * most words already differ there. */
static unsigned event_find(const struct event_word *words, size_t count,
                           const struct dw_json_string *string, unsigned none)
{
	for (size_t i = 0; i < count; i++)
		if (words[i].length == string->length && words[i].text[0] == string->at[0] &&
		    memcmp(words[i].text, string->at, string->length) == 0)
			return words[i].value;
	return none;
}
#define FIND(words, string, none) event_find(words, sizeof(words) / sizeof *(words), string, none)

/* The bits of a word of text that are not as in the guess. */
static inline uint64_t event_differs(const struct chrome_guess *guess, const char *at, unsigned word)
{
	uint64_t text;

	memcpy(&text, at + (size_t)word * 8, 8);
	return (text ^ guess->text[word]) & guess->mask[word];
}

/* Whether the text at `at` begins as the guess. A guess that was not made yet has length 0. */
static inline bool event_is_guess(const struct chrome_guess *guess, const char *at)
{
	return guess->length && !(event_differs(guess, at, 0) | event_differs(guess, at, 1) | event_differs(guess, at, 2));
}

static void event_guess(struct chrome_guess *guess, const char *at, size_t length, unsigned value)
{
	*guess = (struct chrome_guess){ .value = (uint8_t)value };
	if (length > sizeof guess->text)
		return;
	guess->length = (uint8_t)length;
	memcpy(guess->text, at, length);
	memset(guess->mask, 0xff, length);
}

/* ---- values ------------------------------------------------------------------------------ */

static const char *event_read_value(struct dw_json *json, const char *at, struct chrome_value *value)
{
	const char *end;

	if (*at == '"') {
		value->kind = CHROME_TEXT;
		return dw_json_read_string(json, at, &value->text);
	}
	if ((*at >= '0' && *at <= '9') || (*at == '-' && at[1] >= '0' && at[1] <= '9')) {
		value->kind = CHROME_NUMBER;
		return dw_json_read_number(json, at, &value->number);
	}
	value->kind = CHROME_OTHER;
	end = dw_json_skip(json, at);
	if (end)
		value->text = (struct dw_json_string){ at, (uint32_t)(end - at), false };
	return end;
}

static const char *event_read_text(struct dw_json *json, const char *at, struct chrome_event *event,
                                   struct dw_json_string *text)
{
	if (*at == '"')
		return dw_json_read_string(json, at, text);
	event->wrong_type = true;
	return dw_json_skip(json, at);
}

/* Where a name with quotes in it ends: before the next member of the event. Kineto writes an event without a line break
 * between its name and its thread. NULL: not known. */
static const char *event_find_name_end(const struct dw_json *json, const char *at)
{
	for (at++; at < json->end && *at != '\n'; at++) {
		const char *next = *at == '"' ? dw_json_space(at + 1) : NULL;

		if (!next || *next != ',')
			continue;
		next = dw_json_space(next + 1);
		for (size_t i = 0; *next == '"' && i < sizeof event_members / sizeof *event_members; i++) {
			const struct event_word *word = &event_members[i];

			if (json->end - next > word->length + 2 && memcmp(next + 1, word->text, word->length) == 0 &&
			    next[1 + word->length] == '"' && *dw_json_space(next + 2 + word->length) == ':')
				return at;
		}
	}
	return NULL;
}

static const char *event_read_name(struct dw_json *json, const char *at, struct chrome_event *event)
{
	const char *end = json->lenient && *at == '"' ? event_find_name_end(json, at) : NULL;

	if (!end)
		return event_read_text(json, at, event, &event->name);
	event->name =
		(struct dw_json_string){ at + 1, (uint32_t)(end - at - 1), memchr(at, '\\', (size_t)(end - at)) != NULL };
	return end + 1;
}

static const char *event_read_id(struct dw_json *json, const char *at, struct chrome_event *event,
                                 struct chrome_id *id)
{
	struct chrome_value value;

	at = event_read_value(json, at, &value);
	if (!at)
		return NULL;
	id->given = value.kind != CHROME_OTHER;
	id->is_text = value.kind == CHROME_TEXT;
	if (id->is_text)
		id->text = value.text;
	else if (id->given && !dw_json_i64(&value.number, &id->number)) {
		uint64_t large = 0;

		id->given = dw_json_u64(&value.number, &large);
		id->number = (int64_t)large;
	}
	event->wrong_type |= !id->given;
	return at;
}

static const char *event_read_time(struct dw_json *json, const char *at, struct chrome_event *event,
                                   int64_t *ns, bool *has)
{
	struct chrome_value value;

	at = event_read_value(json, at, &value);
	if (at) {
		*has = value.kind == CHROME_NUMBER && dw_json_fixed(&value.number, 3, ns);
		event->wrong_type |= !*has;
	}
	/* rocprof's times are texts, which count as none elsewhere. */
	if (at && value.kind == CHROME_TEXT && dw_json_read_number(json, value.text.at, &value.number))
		dw_json_fixed(&value.number, 3, ns);
	return at;
}

static unsigned event_find_category(struct chrome_guesses *guesses, const struct dw_json_string *cat)
{
	if (!event_is_guess(&guesses->category, cat->at - 1))
		event_guess(&guesses->category, cat->at - 1, cat->length + (size_t)2, FIND(event_categories, cat, CHROME_UNKNOWN));
	return guesses->category.value;
}

/* ---- objects ------------------------------------------------------------------------------ */

/* What event_next() returns at the end of an object, and if it fails. */
enum { EVENT_END = 254, EVENT_FAILED = 255 };

/* The words that a key may be. */
struct event_words {
	const struct event_word *words;
	size_t count;
	unsigned none;
};

/* Reads a key that was not guessed, and guesses it for the next object. */
static __attribute__((noinline)) unsigned event_read_key(struct dw_json *json, const char **at, struct chrome_guess *guess,
                                                         struct event_words words)
{
	struct dw_json_string key;
	const char *begin = *at, *here = dw_json_read_string(json, begin, &key);
	unsigned value;

	*at = NULL;
	if (!here)
		return EVENT_FAILED;
	here = dw_json_window_space(here);
	if (*here != ':') {
		dw_json_fail(json, here);
		return EVENT_FAILED;
	}
	value = event_find(words.words, words.count, &key, words.none);
	if (!json->lenient) /* otherwise it may contain a NUL, which ends the window */
		event_guess(guess, begin, (size_t)(here + 1 - begin), value);
	*at = dw_json_window_space(here + 1);
	return value;
}

/* Reads a key and its colon. Returns its value. `*at` is then the member's value.
 * Objects of the same kind follow each other, so what was the key in this place of the last one is tried first. */
static inline unsigned event_next(struct dw_json *json, const char **at, bool first, struct chrome_guess *guess,
                                  struct event_words words)
{
	const char *here = dw_json_window_space(*at);

	if (*here == '}' && (first || json->lenient)) {
		*at = here + 1;
		return EVENT_END;
	}
	if (!first) {
		if (*here != ',') {
			*at = dw_json_fail(json, here);
			return EVENT_FAILED;
		}
		here = dw_json_window_space(here + 1);
		if (*here == '}' && json->lenient) {
			*at = here + 1;
			return EVENT_END;
		}
	}
	*at = here;
	if (!event_is_guess(guess, here))
		return event_read_key(json, at, guess, words);
	*at = dw_json_window_space(here + guess->length);
	return guess->value;
}

/* Whether the object ended; the end of an object that is not its first member. */
static bool event_ended(const char **at)
{
	const char *here = dw_json_window_space(*at);

	if (*here != '}')
		return false;
	*at = here + 1;
	return true;
}

static const char *event_read_args(struct chrome_guesses *guesses, struct dw_json *json, const char *at,
                                   struct chrome_event *event)
{
	static const struct event_words words = { event_args, sizeof event_args / sizeof *event_args, CHROME_ARG_COUNT };
	const char *start = at++;

	event->has = 0;
	for (unsigned i = 0; !i || !event_ended(&at); i++) {
		unsigned arg = event_next(json, &at, !i, &guesses->args[event->category][i % CHROME_GUESSES], words);

		if (arg == EVENT_FAILED)
			return NULL;
		if (arg == EVENT_END)
			break;
		at = arg == CHROME_ARG_COUNT ? dw_json_skip(json, at)
		                             : event_read_value(json, at, &event->values[arg]);
		if (!at)
			return NULL;
		if (arg != CHROME_ARG_COUNT)
			event->has |= 1u << arg;
	}
	event->args = (struct dw_json_string){ start, (uint32_t)(at - start), false };
	return at;
}

static const char *event_read_member(struct chrome_guesses *guesses, struct dw_json *json, const char *at,
                                     struct chrome_event *event, unsigned member)
{
	struct dw_json_string text = { "", 0, false };

	switch (member) {
	case TOP_PH:
		at = event_read_text(json, at, event, &text);
		event->phase = text.length == 1 ? text.at[0] : '\0';
		return at;
	case TOP_CAT:
		at = event_read_text(json, at, event, &event->cat);
		event->category = event->cat.length ? event_find_category(guesses, &event->cat) : CHROME_UNKNOWN;
		return at;
	case TOP_NAME:
		return event_read_name(json, at, event);
	case TOP_PID: return event_read_id(json, at, event, &event->pid);
	case TOP_TID: return event_read_id(json, at, event, &event->tid);
	case TOP_ID: return event_read_id(json, at, event, &event->id);
	case TOP_TS: return event_read_time(json, at, event, &event->start_ns, &event->has_start);
	case TOP_DUR: return event_read_time(json, at, event, &event->length_ns, &event->has_length);
	case TOP_ARGS:
		if (*at == '{')
			return event_read_args(guesses, json, at, event);
		return dw_json_skip(json, at);
	case TOP_STACK: event->has_stack = true; return dw_json_skip(json, at);
	default: return dw_json_skip(json, at);
	}
}

uint64_t chrome_start_ns(struct chrome *chrome, const struct chrome_event *event)
{
	int64_t start_ns = event->start_ns;

	if (start_ns < 0) {
		start_ns = 0;
		chrome_count(chrome, &chrome->before_zero);
	}
	if (start_ns < chrome->first_ns)
		chrome->first_ns = start_ns;
	if (start_ns > chrome->last_ns)
		chrome->last_ns = start_ns;
	return (uint64_t)start_ns;
}

void chrome_limit_times(struct chrome_event *event)
{
	/* With these limits, the sum of a start and a length fits in a trace. */
	if (event->start_ns > CHROME_LATEST_NS)
		event->has_start = false;
	if (event->length_ns > CHROME_LATEST_NS / 4)
		event->length_ns = CHROME_LATEST_NS / 4;
	event->negative_length = event->length_ns < 0;
	if (event->negative_length)
		event->length_ns = 0;
}

const char *chrome_read_event(struct chrome_guesses *guesses, struct dw_json *json, const char *at,
                              struct chrome_event *event)
{
	static const struct event_words words = { event_members, sizeof event_members / sizeof *event_members, TOP_OTHER };

	/* `values` need not be cleared: `has` tells which of them are valid. */
	memset(event, 0, offsetof(struct chrome_event, pid)); /* in two parts, each so small that the compiler stores it */
	event->pid = event->tid = event->id = (struct chrome_id){ .given = false };
	event->cat.at = event->name.at = "";
	if (*at != '{')
		return dw_json_fail(json, at);
	at++;
	for (unsigned i = 0; !i || !event_ended(&at); i++) {
		unsigned member = event_next(json, &at, !i, &guesses->members[event->category][i % CHROME_GUESSES], words);

		if (member == EVENT_FAILED)
			return NULL;
		if (member == EVENT_END)
			break;
		at = event_read_member(guesses, json, at, event, member);
		if (!at)
			return NULL;
	}
	chrome_limit_times(event);
	return at;
}

/* ---- arguments ---------------------------------------------------------------------------- */

int64_t chrome_integer(const struct chrome_event *event, enum chrome_arg arg, int64_t fallback)
{
	int64_t value;

	return chrome_has(event, arg) && event->values[arg].kind == CHROME_NUMBER &&
	               dw_json_i64(&event->values[arg].number, &value)
	           ? value : fallback;
}

uint64_t chrome_unsigned(const struct chrome_event *event, enum chrome_arg arg, uint64_t fallback)
{
	uint64_t value;

	return chrome_has(event, arg) && event->values[arg].kind == CHROME_NUMBER &&
	               dw_json_u64(&event->values[arg].number, &value)
	           ? value : fallback;
}
