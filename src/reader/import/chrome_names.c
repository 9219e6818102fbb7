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
	const char *types; /* in "Input type"; NULL: it ended */
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

/* The type of the next argument. A list of tensors has no type of its own. */
static uint8_t chrome_shapes_next_type(struct shapes_reader *reader, bool *list)
{
	struct dw_json_string name = { "", 0, false };
	const char *at = reader->types ? dw_json_space(reader->types) : NULL;

	*list = false;
	if (!at || *at != '"')
		return DWELL_DTYPE_NONE;
	at = dw_json_read_string(&reader->json, at, &name);
	if (at) {
		at = dw_json_space(at);
		at = *at == ',' ? at + 1 : NULL;
	}
	reader->types = at;
	*list = DW_JSON_IS(&name, "TensorList");
	return chrome_shapes_type_of(&name);
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

/* Reads an argument: the sizes of a tensor, or a list of such. */
static const char *chrome_shapes_read_argument(struct shapes_reader *reader, const char *at)
{
	bool list;
	uint8_t type = chrome_shapes_next_type(reader, &list);
	const char *inside = dw_json_space(at + 1);

	if (*at != '[' || reader->count == MOST_TENSORS)
		return NULL;
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

static uint32_t chrome_shapes_write(struct chrome *chrome, const struct chrome_value *dims,
                                    const struct chrome_value *types)
{
	struct shapes_reader *reader = calloc(1, sizeof *reader);
	const char *at = dw_json_space(dims->text.at + 1);
	uint32_t id = 0;

	if (!reader) {
		chrome->failed = true;
		return 0;
	}
	reader->json = (struct dw_json){ .end = chrome->json.end, .last = true };
	if (types)
		reader->types = types->text.at + 1;
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

uint32_t chrome_shapes_of(struct chrome *chrome, const struct chrome_event *event)
{
	const struct chrome_value *dims = &event->values[CHROME_DIMS], *types = NULL;
	struct chrome_names *names = &chrome->names;
	struct chrome_shapes *shapes;
	uint32_t types_length = 0, hash, found;
	char *copy;

	if (!chrome_has(event, CHROME_DIMS) || dims->kind != CHROME_OTHER || *dims->text.at != '[')
		return 0;
	if (chrome_has(event, CHROME_TYPES) && event->values[CHROME_TYPES].kind == CHROME_OTHER &&
	    *event->values[CHROME_TYPES].text.at == '[') {
		types = &event->values[CHROME_TYPES];
		types_length = types->text.length;
	}
	hash = (uint32_t)chrome_hash(types ? chrome_hash(names->seed, types->text.at, types_length)
	                                   : names->seed,
	                             dims->text.at, dims->text.length);
	found = DW_MAP_FIND(&names->shapes_by_bytes, hash, i,
	                    names->shapes[i].dims_length == dims->text.length &&
	                        names->shapes[i].types_length == types_length &&
	                        memcmp(names->shapes[i].bytes, dims->text.at, dims->text.length) == 0 &&
	                        (!types || memcmp(names->shapes[i].bytes + dims->text.length,
	                                          types->text.at, types_length) == 0));
	if (found != DW_MAP_NONE)
		return names->shapes[found].id;
	if (names->shapes_count >= MOST_SHAPES || names->bytes > MOST_TEXT_BYTES) {
		chrome_count(chrome, &chrome->names_dropped);
		return 0;
	}
	copy = dw_arena_alloc(&names->arena, (size_t)dims->text.length + types_length + 1);
	shapes = DW_GROW(&names->shapes, &names->shapes_capacity, names->shapes_count);
	if (!copy || !shapes ||
	    !dw_map_add(&names->shapes_by_bytes, hash, (uint32_t)names->shapes_count)) {
		chrome->failed = true;
		return 0;
	}
	memcpy(copy, dims->text.at, dims->text.length);
	if (types)
		memcpy(copy + dims->text.length, types->text.at, types_length);
	names->shapes_count++;
	names->bytes += dims->text.length + types_length;
	*shapes = (struct chrome_shapes){ copy, dims->text.length, types_length,
		chrome_shapes_write(chrome, dims, types) };
	return names->shapes[names->shapes_count - 1].id;
}
