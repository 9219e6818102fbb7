/*
 * The names of a Chrome trace: texts, operators and shapes, each written once.
 *
 * Called by chrome_host.c, chrome_device.c and chrome_owners.c. The key of a text is its bytes in
 * the file, with escapes, so that looking up a known name needs no copy. The number of texts is
 * bounded. All further texts become one name and are counted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/foreign.h"
#include "base/grow.h"
#include "format/arguments.h"
#include "import/chrome.h"

#define MOST_TEXTS ((size_t)1 << 20)
#define MOST_TEXT_BYTES ((uint64_t)64 << 20)
#define MOST_SHAPES ((size_t)1 << 18)
#define MOST_TENSORS 1024u /* of one operator */
#define MOST_SIZES 3072u   /* of all of them: an entry of the dictionary lies in one block */
#define MOST_DIMENSIONS 64u
#define MOST_JSON 100000u
#define LONGEST_TEXT 32000u /* of a STRING entry */

uint64_t chrome_hash(uint64_t seed, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	uint64_t hash = seed ^ length * 0x9e3779b97f4a7c15u, word;

	for (; length >= 8; at += 8, length -= 8) {
		memcpy(&word, at, 8);
		hash = (hash ^ word) * 0xbf58476d1ce4e5b9u;
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, at, length);
	hash = (hash ^ word) * 0x94d049bb133111ebu;
	hash ^= hash >> 29;
	hash *= 0xbf58476d1ce4e5b9u;
	return hash ^ hash >> 32;
}

void chrome_names_reset(struct chrome_names *names)
{
	dw_arena_reset(&names->arena);
	free(names->texts);
	free(names->ops);
	free(names->shapes);
	free(names->plain);
	dw_map_reset(&names->texts_by_bytes);
	dw_map_reset(&names->ops_by_key);
	dw_map_reset(&names->shapes_by_bytes);
}

/* ---- texts -------------------------------------------------------------------------------- */

static uint32_t names_write_string(struct chrome *chrome, const struct dw_json_string *string, bool raw)
{
	struct chrome_names *names = &chrome->names;
	struct dw_json_string text = *string;
	size_t wanted;
	bool repaired = false;

	if (text.length > LONGEST_TEXT) {
		text.length = LONGEST_TEXT;
		chrome_count(chrome, &chrome->cut_texts);
	}
	wanted = (size_t)text.length * 3 + 1;
	if (wanted > names->plain_capacity) {
		char *grown = realloc(names->plain, wanted * 2);

		if (!grown) {
			chrome->failed = true;
			return 0;
		}
		names->plain = grown;
		names->plain_capacity = wanted * 2;
	}
	if (raw) {
		memcpy(names->plain, text.at, text.length);
		names->plain[text.length] = '\0';
	} else {
		dw_json_unescape(&text, names->plain, &repaired);
	}
	if (repaired)
		chrome_count(chrome, &chrome->repaired);
	return dw_encode_string(chrome_journal(chrome), names->plain);
}

static uint32_t names_find_text(struct chrome *chrome, const struct dw_json_string *string, bool raw)
{
	struct chrome_names *names = &chrome->names;
	uint32_t hash, found;
	struct chrome_text *text;
	const char *copy;

	if (!string->length)
		return 0;
	hash = (uint32_t)chrome_hash(names->seed, string->at, string->length);
	found = DW_MAP_FIND(&names->texts_by_bytes, hash, i,
	                    names->texts[i].length == string->length &&
	                        memcmp(names->texts[i].bytes, string->at, string->length) == 0);
	if (found != DW_MAP_NONE)
		return found + 1;
	if (names->text_count >= MOST_TEXTS || names->bytes + string->length > MOST_TEXT_BYTES) {
		static const struct dw_json_string further = { "(further names)", 15, false };

		chrome_count(chrome, &chrome->names_dropped);
		return raw || dw_json_is(string, further.at, further.length)
		           ? 0 : names_find_text(chrome, &further, false);
	}
	copy = dw_arena_text(&names->arena, string->at, string->length);
	text = DW_GROW(&names->texts, &names->text_capacity, names->text_count);
	if (!copy || !text || !dw_map_add(&names->texts_by_bytes, hash, (uint32_t)names->text_count)) {
		chrome->failed = true;
		return 0;
	}
	names->bytes += string->length;
	names->text_count++;
	*text = (struct chrome_text){ .bytes = copy, .length = string->length };
	found = names_write_string(chrome, string, raw);
	names->texts[names->text_count - 1].string = found;
	return (uint32_t)names->text_count;
}

uint32_t chrome_text_of(struct chrome *chrome, const struct dw_json_string *string)
{
	return names_find_text(chrome, string, false);
}

uint32_t chrome_json_of(struct chrome *chrome, const struct dw_json_string *json)
{
	size_t count = chrome->names.text_count;
	uint32_t text;

	if (chrome->args_count >= MOST_JSON || json->length > LONGEST_TEXT) {
		chrome->args_dropped++;
		return 0;
	}
	text = names_find_text(chrome, json, true);
	chrome->args_count += chrome->names.text_count > count;
	return chrome_string(chrome, text);
}

uint32_t chrome_text_plain(struct chrome *chrome, const char *text)
{
	return chrome_text_of(chrome, &(struct dw_json_string){ text, (uint32_t)strlen(text), false });
}

uint32_t chrome_string(const struct chrome *chrome, uint32_t text)
{
	return text ? chrome->names.texts[text - 1].string : 0;
}

/* ---- operators ------------------------------------------------------------------------------ */

uint32_t chrome_op_of(struct chrome *chrome, uint32_t category, uint32_t name, uint32_t detail,
                      uint32_t shapes, uint32_t file, uint32_t line)
{
	const struct chrome_op key = { category, name, detail, shapes, file, line, 0 };
	struct chrome_names *names = &chrome->names;
	uint32_t hash = (uint32_t)chrome_hash(names->seed, &key, sizeof key), found;
	struct chrome_op *op;

	found = DW_MAP_FIND(&names->ops_by_key, hash, i,
	                    memcmp(&names->ops[i], &key, offsetof(struct chrome_op, id)) == 0);
	if (found != DW_MAP_NONE)
		return names->ops[found].id;
	op = DW_GROW(&names->ops, &names->op_capacity, names->op_count);
	if (!op || !dw_map_add(&names->ops_by_key, hash, (uint32_t)names->op_count)) {
		chrome->failed = true;
		return 0;
	}
	names->op_count++;
	*op = key;
	op->id = dw_encode_op_of(chrome_journal(chrome), category, chrome_string(chrome, name),
	                         chrome_string(chrome, detail), shapes, chrome_string(chrome, file), line);
	return op->id;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

struct shapes_reader {
	struct dw_json json;
	struct dwell_tensor tensors[MOST_TENSORS];
	int64_t sizes[MOST_SIZES];
	uint32_t count, size_count;
	const char *types;  /* in "Input type"; NULL: it ended */
	const char *values; /* the same in "Concrete Inputs" */
};

static uint8_t chrome_shapes_type_of(const struct dw_json_string *name)
{
	static const struct { const char *name; uint8_t type; } known[] = {
		{ "float", DWELL_FLOAT32 },       { "double", DWELL_FLOAT64 },
		{ "long", DWELL_INT64 },          { "long int", DWELL_INT64 },
		{ "int", DWELL_INT32 },           { "short", DWELL_INT16 },
		{ "short int", DWELL_INT16 },     { "signed char", DWELL_INT8 },
		{ "unsigned char", DWELL_UINT8 }, { "bool", DWELL_BOOL },
		{ "c10::Half", DWELL_FLOAT16 },   { "c10::BFloat16", DWELL_BFLOAT16 },
		{ "c10::complex<float>", DWELL_COMPLEX64 }, { "c10::complex<double>", DWELL_COMPLEX128 },
		{ "c10::complex<c10::Half>", DWELL_COMPLEX32 },
		{ "int64", DWELL_INT64 },         { "int32", DWELL_INT32 },
		{ "int16", DWELL_INT16 },         { "int8", DWELL_INT8 },
		{ "uint8", DWELL_UINT8 },         { "float16", DWELL_FLOAT16 },
		{ "bfloat16", DWELL_BFLOAT16 },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (dw_json_is(name, known[i].name, strlen(known[i].name)))
			return known[i].type;
	return DWELL_DTYPE_NONE;
}

/* The next text of a list; an empty one where it has ended. */
static struct dw_json_string chrome_shapes_next_text(struct shapes_reader *reader, const char **list)
{
	struct dw_json_string text = { "", 0, false };
	const char *at = *list ? dw_json_space(*list) : NULL;

	if (!at || *at != '"')
		return text;
	at = dw_json_read_string(&reader->json, at, &text);
	if (at) {
		at = dw_json_space(at);
		at = *at == ',' ? at + 1 : NULL;
	}
	*list = at;
	return text;
}

/* Reads an integer, True or False. Returns the place behind it; NULL: there is none. */
static const char *chrome_shapes_read_integer(const char *at, const char *end, int64_t *integer, bool *truth)
{
	bool minus = at < end && *at == '-';
	const char *first = at += minus;
	int64_t sum = 0;

	*truth = end - at >= 4 && (memcmp(at, "True", 4) == 0 || (end - at >= 5 && memcmp(at, "False", 5) == 0));
	if (*truth && !minus) {
		*integer = *at == 'T';
		return at + (*at == 'T' ? 4 : 5);
	}
	for (; at < end && *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, *at - '0', &sum))
			return NULL;
	*integer = minus ? -sum : sum;
	return at > first ? at : NULL;
}

/* Reads "2", "[2, 1]", "True" or "[True, False]", as PyTorch writes arguments that are no tensors. False: the argument
 * is something else. */
static bool chrome_shapes_read_values(struct shapes_reader *reader, const struct dw_json_string *text)
{
	const char *at = text->at, *end = text->at + text->length;
	struct dwell_tensor *argument = &reader->tensors[reader->count];
	bool list = at < end && *at == '[', truth = false, first_truth = false;
	uint32_t count = 0;

	for (at += list; at < end && *at != ']'; count++) {
		if (count == MOST_DIMENSIONS || reader->size_count + count == MOST_SIZES ||
		    !(at = chrome_shapes_read_integer(at, end, &reader->sizes[reader->size_count + count], &truth)) ||
		    (count && truth != first_truth))
			return false;
		first_truth = truth;
		while (list && at < end && (*at == ',' || *at == ' '))
			at++;
		if (!list && (at < end))
			return false;
	}
	if (list ? end - at != 1 : count != 1)
		return false;
	*argument = (struct dwell_tensor){ reader->sizes + reader->size_count, (uint8_t)count,
		                               list ? (first_truth ? DWELL_ARG_BOOLS : DWELL_ARG_INTS)
		                                    : (first_truth ? DWELL_ARG_BOOL : DWELL_ARG_INT) };
	reader->size_count += count;
	reader->count++;
	return true;
}

/* Reads "[2, 3]" as the sizes of a tensor; NULL if it is no list of integers. */
static const char *chrome_shapes_read_sizes(struct shapes_reader *reader, const char *at, uint8_t type)
{
	struct dwell_tensor *tensor = &reader->tensors[reader->count];
	struct dw_json_number number;
	uint32_t count = 0;

	tensor->sizes = reader->sizes + reader->size_count;
	for (at = dw_json_space(at + 1); *at != ']';) {
		if (count == MOST_DIMENSIONS || reader->size_count == MOST_SIZES ||
		    !(at = dw_json_read_number(&reader->json, at, &number)) ||
		    !dw_json_i64(&number, &reader->sizes[reader->size_count]))
			return NULL;
		reader->size_count++;
		count++;
		at = dw_json_space(at);
		if (*at == ',')
			at = dw_json_space(at + 1);
		else if (*at != ']')
			return NULL;
	}
	tensor->dimensions = (uint8_t)count;
	tensor->dtype = type;
	reader->count++;
	return at + 1;
}

/* Reads {"float":[16,32]}, ONNX Runtime's form of a tensor. */
static const char *chrome_shapes_read_object(struct shapes_reader *reader, const char *at)
{
	struct dw_json_string type;

	at = dw_json_read_string(&reader->json, dw_json_space(at + 1), &type);
	at = at ? dw_json_space(at) : NULL;
	if (!at || *at != ':' || *(at = dw_json_space(at + 1)) != '[' || reader->count == MOST_TENSORS)
		return NULL;
	at = chrome_shapes_read_sizes(reader, at, chrome_shapes_type_of(&type));
	at = at ? dw_json_space(at) : NULL;
	return at && *at == '}' ? at + 1 : NULL;
}

/* Reads an argument: the sizes of a tensor, or a list of such, or integers, whose sizes are an empty list. */
static const char *chrome_shapes_read_argument(struct shapes_reader *reader, const char *at)
{
	struct dw_json_string name = chrome_shapes_next_text(reader, &reader->types);
	struct dw_json_string value = chrome_shapes_next_text(reader, &reader->values);
	uint8_t type = chrome_shapes_type_of(&name);
	const char *inside = dw_json_space(at + 1);

	if (*at != '[' || reader->count == MOST_TENSORS)
		return NULL;
	if (*inside == ']' && value.length && type == DWELL_DTYPE_NONE && chrome_shapes_read_values(reader, &value))
		return inside + 1;
	if (*inside != '[')
		return chrome_shapes_read_sizes(reader, at, type);
	while (*inside == '[' && reader->count < MOST_TENSORS) {
		inside = chrome_shapes_read_sizes(reader, inside, type);
		if (!inside)
			return NULL;
		inside = dw_json_space(inside);
		if (*inside == ',')
			inside = dw_json_space(inside + 1);
	}
	return *inside == ']' ? inside + 1 : NULL;
}

/* The texts of an event that say its shapes; length 0: it has none of that name. */
struct shapes_texts {
	struct dw_json_string lists[3]; /* dims, types, values */
};

static uint32_t chrome_shapes_write(struct chrome *chrome, const struct shapes_texts *texts)
{
	struct shapes_reader *reader = calloc(1, sizeof *reader);
	const char *at = dw_json_space(texts->lists[0].at + 1);
	uint32_t id = 0;

	if (!reader) {
		chrome->failed = true;
		return 0;
	}
	reader->json = (struct dw_json){ .end = chrome->json.end, .last = true };
	reader->types = texts->lists[1].length ? texts->lists[1].at + 1 : NULL;
	reader->values = texts->lists[2].length ? texts->lists[2].at + 1 : NULL;
	while (at && (*at == '[' || *at == '{')) {
		at = *at == '{' ? chrome_shapes_read_object(reader, at) : chrome_shapes_read_argument(reader, at);
		if (!at)
			break;
		at = dw_json_space(at);
		if (*at == ',')
			at = dw_json_space(at + 1);
	}
	if (reader->count == MOST_TENSORS || reader->size_count == MOST_SIZES)
		chrome_count(chrome, &chrome->names_dropped);
	if (reader->count)
		id = dw_encode_shapes(chrome_journal(chrome), reader->tensors, reader->count);
	free(reader);
	return id;
}

/* Integers count only for operators whose FLOPs need them, as in what dwell records itself. */
static struct shapes_texts chrome_shapes_texts(const struct chrome_event *event)
{
	static const enum chrome_arg args[] = { CHROME_DIMS, CHROME_TYPES, CHROME_VALUES };
	struct shapes_texts texts = { { { "", 0, false }, { "", 0, false }, { "", 0, false } } };
	unsigned count =
		chrome_has(event, CHROME_VALUES) && dw_operator_has_integers(event->name.at, event->name.length) ? 3 : 2;

	for (unsigned i = 0; i < count; i++) {
		const struct chrome_value *value = &event->values[args[i]];

		if (chrome_has(event, args[i]) && value->kind == CHROME_OTHER && *value->text.at == '[')
			texts.lists[i] = value->text;
	}
	return texts;
}

static bool chrome_shapes_are(const struct chrome_shapes *shapes, const struct shapes_texts *texts)
{
	const char *at = shapes->bytes;

	for (unsigned i = 0; i < 3; i++) {
		if (shapes->lengths[i] != texts->lists[i].length || memcmp(at, texts->lists[i].at, shapes->lengths[i]) != 0)
			return false;
		at += shapes->lengths[i];
	}
	return true;
}

/* Keeps the texts and writes their shapes. */
static uint32_t chrome_shapes_add(struct chrome *chrome, const struct shapes_texts *texts, uint32_t hash)
{
	struct chrome_names *names = &chrome->names;
	size_t bytes = (size_t)texts->lists[0].length + texts->lists[1].length + texts->lists[2].length;
	char *copy = dw_arena_alloc(&names->arena, bytes + 1);
	struct chrome_shapes *shapes = DW_GROW(&names->shapes, &names->shapes_capacity, names->shapes_count);

	if (!copy || !shapes || !dw_map_add(&names->shapes_by_bytes, hash, (uint32_t)names->shapes_count)) {
		chrome->failed = true;
		return 0;
	}
	names->shapes_count++;
	names->bytes += bytes;
	*shapes = (struct chrome_shapes){ .bytes = copy };
	for (unsigned i = 0; i < 3; i++) {
		shapes->lengths[i] = texts->lists[i].length;
		memcpy(copy, texts->lists[i].at, texts->lists[i].length);
		copy += texts->lists[i].length;
	}
	return shapes->id = chrome_shapes_write(chrome, texts);
}

uint32_t chrome_shapes_of(struct chrome *chrome, const struct chrome_event *event)
{
	const struct shapes_texts texts = chrome_shapes_texts(event);
	struct chrome_names *names = &chrome->names;
	uint64_t sum = names->seed;
	uint32_t hash, found;

	if (!texts.lists[0].length)
		return 0;
	for (unsigned i = 3; i-- > 0;)
		sum = texts.lists[i].length ? chrome_hash(sum, texts.lists[i].at, texts.lists[i].length) : sum;
	hash = (uint32_t)sum;
	found = DW_MAP_FIND(&names->shapes_by_bytes, hash, i, chrome_shapes_are(&names->shapes[i], &texts));
	if (found != DW_MAP_NONE)
		return names->shapes[found].id;
	if (names->shapes_count >= MOST_SHAPES || names->bytes > MOST_TEXT_BYTES) {
		chrome_count(chrome, &chrome->names_dropped);
		return 0;
	}
	return chrome_shapes_add(chrome, &texts, hash);
}
