/* Spans of OpenTelemetry as events; see otlp.h. Called by chrome_file.c, which owns the window. A span is read at a time. */
#include "import/otlp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/keys.h"
#include "import/rows.h"

#define MOST_TEXT 64u
#define MOST_TOKENS UINT32_MAX

/* X(NAME, key): what is known of a request, in seconds, and numbers. */
#define OTLP_ATTRIBUTES(X)                                                                     \
	X(QUEUE, "gen_ai.latency.time_in_queue") X(FIRST, "gen_ai.latency.time_to_first_token")    \
	X(PREFILL, "gen_ai.latency.time_in_model_prefill") X(DECODE, "gen_ai.latency.time_in_model_decode") \
	X(WHOLE, "gen_ai.latency.e2e") X(TOKENS, "gen_ai.usage.completion_tokens")

enum otlp_attribute {
#define X(name, key) OTLP_##name,
	OTLP_ATTRIBUTES(X)
#undef X
	OTLP_ATTRIBUTE_COUNT
};

struct otlp_span {
	struct dw_json_string name;
	uint64_t start_ns, end_ns;
	double values[OTLP_ATTRIBUTE_COUNT]; /* NAN: not given */
	struct dw_json_string trace_id;
	bool sglang; /* it has the attribute "rid": a request of SGLang */
};

/* Spans of SGLang that are parts of a request, by what is the stage's name. Its wait in the queue comes before the first of them. */
static const struct {
	const char *name, *stage;
} otlp_parts[] = {
	{ "prefill_forward", "prefill" },
	{ "decode_waiting", "waits for decode" },
	{ "decode_forward", "decode" },
};

/* ---- reading -------------------------------------------------------------------------------------- */

/* A number, or a text that is one, as protocol buffers write 64 bits in JSON. NAN: neither. Sets `*integer`, if it is one. */
static double otlp_number(struct dw_json *json, const char *at, uint64_t *integer)
{
	struct dw_json_number number;
	struct dw_json_string string;
	char text[MOST_TEXT] = "";

	if (*at == '"' && dw_json_read_string(json, at, &string) && string.length && string.length < sizeof text) {
		memcpy(text, string.at, string.length);
		*integer = strtoull(text, NULL, 10);
		return strspn(text, "0123456789.eE+-") == string.length ? strtod(text, NULL) : (double)NAN;
	}
	if (*at == '"' || *at == '{' || !dw_json_read_number(json, at, &number))
		return (double)NAN;
	dw_json_u64(&number, integer);
	return dw_json_double(&number);
}

/* Calls `take` for each member of the object at `at`, which is whole. Returns the place behind it; NULL: it is no object. */
static const char *otlp_members(struct dw_json *json, const char *at, struct otlp_span *span,
                                void (*take)(struct dw_json *json, struct otlp_span *span, const struct dw_json_string *key,
                                             const char *value))
{
	struct dw_json_string key;

	if (*at != '{')
		return NULL;
	for (at = dw_json_space(at + 1); *at != '}'; at = dw_json_space(at)) {
		if (*at == ',')
			at = dw_json_space(at + 1);
		at = dw_json_read_string(json, at, &key);
		if (!at || *(at = dw_json_space(at)) != ':')
			return NULL;
		at = dw_json_space(at + 1);
		take(json, span, &key, at);
		at = dw_json_skip(json, at);
		if (!at)
			return NULL;
	}
	return at + 1;
}

/* An attribute while it is read: its key may come behind its value. */
struct otlp_pair {
	struct otlp_span span; /* must be the first member; not used */
	struct dw_json_string key;
	double value;
};

static void otlp_take_value(struct dw_json *json, struct otlp_span *span, const struct dw_json_string *key, const char *value)
{
	uint64_t integer;

	((struct otlp_pair *)(void *)span)->value = otlp_number(json, value, &integer);
}

static void otlp_take_pair(struct dw_json *json, struct otlp_span *span, const struct dw_json_string *key, const char *value)
{
	struct otlp_pair *pair = (struct otlp_pair *)(void *)span;

	if (DW_JSON_IS(key, "key") && *value == '"')
		dw_json_read_string(json, value, &pair->key);
	else if (DW_JSON_IS(key, "value"))
		otlp_members(json, value, span, otlp_take_value);
}

static void otlp_take_attributes(struct dw_json *json, struct otlp_span *span, const char *at)
{
	static const char *const keys[] = {
#define X(name, key) key,
		OTLP_ATTRIBUTES(X)
#undef X
	};

	if (*at != '[')
		return;
	for (at = dw_json_space(at + 1); *at && *at != ']'; at = dw_json_space(at)) {
		struct otlp_pair pair = { .value = (double)NAN };

		if (*at == ',')
			at = dw_json_space(at + 1);
		at = otlp_members(json, at, &pair.span, otlp_take_pair);
		if (!at)
			return;
		span->sglang |= pair.key.at && DW_JSON_IS(&pair.key, "rid");
		for (size_t i = 0; i < OTLP_ATTRIBUTE_COUNT && pair.key.at; i++)
			if (dw_json_is(&pair.key, keys[i], strlen(keys[i])) && pair.value >= 0)
				span->values[i] = pair.value;
	}
}

static void otlp_take_member(struct dw_json *json, struct otlp_span *span, const struct dw_json_string *key, const char *value)
{
	if (DW_JSON_IS(key, "name") && *value == '"')
		dw_json_read_string(json, value, &span->name);
	else if (DW_JSON_IS(key, "traceId") && *value == '"')
		dw_json_read_string(json, value, &span->trace_id);
	else if (DW_JSON_IS(key, "startTimeUnixNano"))
		otlp_number(json, value, &span->start_ns);
	else if (DW_JSON_IS(key, "endTimeUnixNano"))
		otlp_number(json, value, &span->end_ns);
	else if (DW_JSON_IS(key, "attributes"))
		otlp_take_attributes(json, span, value);
}

/* ---- events ------------------------------------------------------------------------------------------ */

/* The number of a request. A request of SGLang and its parts are spans of one trace, in any order. */
static uint64_t otlp_handle(const struct chrome *chrome, const struct otlp_span *span)
{
	uint64_t hash = 0xcbf29ce484222325u;

	if (!span->sglang)
		return chrome->events;
	for (uint32_t i = 0; i < span->trace_id.length; i++)
		hash = (hash ^ (unsigned char)span->trace_id.at[i]) * 0x100000001b3u;
	return hash;
}

static void otlp_put(struct chrome *chrome, const struct otlp_span *span, uint64_t ns, uint32_t kind, const struct dw_json_string *name,
                     const char *detail, uint32_t count)
{
	struct chrome_event event = { .phase = 'b', .has_start = true, .start_ns = (int64_t)ns, .pid = rows_id(1), .tid = rows_id(1) };

	chrome_limit_times(&event);
	chrome_put_async(chrome, &event, kind, name, detail, otlp_handle(chrome, span), count);
}

/* The time so many seconds after the request's begin, and within it. */
static uint64_t otlp_after(const struct otlp_span *span, double seconds)
{
	double length = (double)(span->end_ns - span->start_ns), ns = seconds * 1e9;

	return ns < length ? span->start_ns + (uint64_t)ns : span->end_ns;
}

static void otlp_put_request(struct chrome *chrome, const struct otlp_span *span)
{
	static const struct dw_json_string prefill = { "prefill", 7, false }, decode = { "decode", 6, false },
									   tokens = { "tokens", 6, false };
	const double *values = span->values;
	double waits = values[OTLP_QUEUE], reads = waits + values[OTLP_PREFILL], made = values[OTLP_TOKENS];
	uint32_t count = made >= 1 && made <= (double)MOST_TOKENS ? (uint32_t)made : 0;
	bool has_first = count && values[OTLP_FIRST] >= 0;

	otlp_put(chrome, span, span->start_ns, CHROME_ASYNC_BEGIN, &span->name, DW_DETAIL_REQUEST, 0);
	if (waits >= 0)
		otlp_put(chrome, span, otlp_after(span, waits), CHROME_ASYNC_BEGIN, &prefill, DW_DETAIL_STAGE, 0);
	if (reads >= 0)
		otlp_put(chrome, span, otlp_after(span, reads), CHROME_ASYNC_BEGIN, &decode, DW_DETAIL_STAGE, 0);
	if (has_first)
		otlp_put(chrome, span, otlp_after(span, values[OTLP_FIRST]), CHROME_TOKENS, &tokens, DW_DETAIL_REQUEST, 1);
	if (count > has_first)
		otlp_put(chrome, span, span->end_ns, CHROME_TOKENS, &tokens, DW_DETAIL_REQUEST, count - has_first);
	otlp_put(chrome, span, span->end_ns, CHROME_ASYNC_END, &span->name, DW_DETAIL_REQUEST, 0);
}

/* The stage that a part of a request of SGLang is; NULL: it is none. */
static const char *otlp_stage(const struct otlp_span *span)
{
	for (size_t i = 0; i < sizeof otlp_parts / sizeof *otlp_parts; i++)
		if (dw_json_is(&span->name, otlp_parts[i].name, strlen(otlp_parts[i].name)))
			return otlp_parts[i].stage;
	return NULL;
}

/* SGLang's requests are called "Req 1a2b3c4d", behind what the server is: here they have one name. */
static void otlp_name_sglang(struct otlp_span *span)
{
	struct dw_json_string *name = &span->name;

	for (; name->length && *name->at == ' '; name->at++)
		name->length--;
	for (uint32_t i = 0; i + 4 < name->length; i++)
		if (memcmp(name->at + i, "Req ", 4) == 0)
			name->length = i + 3;
}

static bool otlp_is_request(const struct otlp_span *span)
{
	if (span->sglang)
		return true;
	for (size_t i = 0; i < OTLP_TOKENS; i++)
		if (!isnan(span->values[i]))
			return true;
	return false;
}

/* Takes the span at the start of the window. False: the file ends within it. */
static bool otlp_take_span(struct chrome *chrome)
{
	const char *end = chrome_parse_value(chrome);
	struct otlp_span span = { .name = { "", 0, false } };
	struct dw_json json = { .end = end, .last = true };

	if (!end)
		return false;
	for (size_t i = 0; i < OTLP_ATTRIBUTE_COUNT; i++)
		span.values[i] = (double)NAN;
	chrome->events++;
	if (!otlp_members(&json, chrome->input.at, &span, otlp_take_member) || !span.start_ns || span.end_ns < span.start_ns) {
		chrome_count(chrome, &chrome->timeless);
	} else if (otlp_is_request(&span)) {
		if (span.sglang)
			otlp_name_sglang(&span);
		otlp_put_request(chrome, &span);
	} else if (otlp_stage(&span)) {
		const char *stage = otlp_stage(&span);

		span.sglang = true;
		otlp_put(chrome, &span, span.start_ns, CHROME_ASYNC_BEGIN,
		         &(struct dw_json_string){ stage, (uint32_t)strlen(stage), false }, DW_DETAIL_STAGE, 0);
	} else {
		otlp_put(chrome, &span, span.start_ns, CHROME_ASYNC_BEGIN, &span.name, NULL, 0);
		otlp_put(chrome, &span, span.end_ns, CHROME_ASYNC_END, &span.name, NULL, 0);
	}
	chrome_consume(chrome, end);
	return true;
}

/* ---- the lists around spans ------------------------------------------------------------------------------ */

static bool otlp_read_level(struct chrome *chrome, unsigned level);

/* The elements of a list, whose bracket was taken. */
static bool otlp_read_list(struct chrome *chrome, unsigned level)
{
	for (;;) {
		char next = chrome_peek(chrome);

		if (chrome_take(chrome, ']'))
			return true;
		if (chrome_take(chrome, ','))
			continue;
		if (!next || chrome->failed || chrome->sort.failed || chrome->encode.failed)
			return false;
		if (next != '{' || !otlp_read_level(chrome, level))
			return false;
	}
}

/* An element of resourceSpans (0), of scopeSpans (1), of spans (2). */
static bool otlp_read_level(struct chrome *chrome, unsigned level)
{
	static const char *const inner[] = { "scopeSpans", "spans" };
	uint64_t skipped = 0;
	char key[CHROME_KEY];
	bool ended = false;

	if (level == 2)
		return otlp_take_span(chrome);
	chrome_take(chrome, '{');
	while (chrome_next_member(chrome, key, &ended)) {
		bool goes_in = strcmp(key, inner[level]) == 0 && chrome_take(chrome, '[');

		if (!(goes_in ? otlp_read_list(chrome, level + 1) : chrome_skip(chrome, 3, &skipped)))
			return false;
	}
	return ended;
}

bool otlp_read(struct chrome *chrome)
{
	chrome->has_events = true;
	return otlp_read_list(chrome, 0);
}
