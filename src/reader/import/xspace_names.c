/*
 * Reads the metadata of a plane: the names of events, and what an event of each name becomes.
 *
 * Called by xspace_planes.c for each plane before its lines. dwell's export writes the category with
 * the name. In other files the form of the name decides: "$file.py:12 f" is a Python function,
 * "scope/op:Type" an operator of TensorFlow, "PjitFunction(f)" a call of JAX.
 */
#include <ctype.h>
#include <stdio.h>

#include "base/grow.h"
#include "base/order.h"
#include "import/xspace.h"

#define MOST_TEXT 4096u

/* ---- maps --------------------------------------------------------------------------- */

uint64_t xs_hash(uint64_t seed, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	uint64_t hash = seed ^ 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	hash ^= hash >> 29;
	hash *= 0xbf58476d1ce4e5b9u;
	hash ^= hash >> 32;
	return hash ? hash : 1;
}

uint32_t *xs_map_at(struct xs_map *map, uint64_t key)
{
	struct xs_map_item *item;
	uint32_t hash, found;

	if (!map->seed)
		map->seed = dw_hash_seed(map);
	hash = (uint32_t)((key ^ key >> 32) * map->seed >> 32);
	found = DW_MAP_FIND(&map->map, hash, i, map->items[i].key == key);
	if (found != DW_MAP_NONE)
		return &map->items[found].value;
	item = DW_GROW(&map->items, &map->capacity, map->count);
	if (!item || !dw_map_add(&map->map, hash, (uint32_t)map->count))
		return NULL;
	*item = (struct xs_map_item){ key, 0 };
	map->count++;
	return &item->value;
}

void xs_map_reset(struct xs_map *map)
{
	dw_map_reset(&map->map);
	free(map->items);
	memset(map, 0, sizeof *map);
}

/* ---- reading ------------------------------------------------------------------------ */

static enum xs_stat names_stat(struct xs_text name)
{
	static const char *const known[] = {
		NULL,
#define X(name, text) text,
		XS_STATS(X)
#undef X
	};

	for (unsigned i = 1; i < sizeof known / sizeof *known; i++)
		if (xs_is(name, known[i]))
			return (enum xs_stat)i;
	return xs_begins(name, "_") ? XS_HIDDEN : XS_OTHER;
}

static void names_read_meta(struct xs_text message, struct xs_name *to)
{
	struct dw_proto_reader reader = dw_proto_read(message.bytes, message.length);
	struct dw_proto_field field;

	to->stats = message;
	while (dw_proto_next(&reader, &field)) {
		if (field.field == XS_META_ID && field.wire == DW_PROTO_VARINT)
			to->id = field.number;
		else if (field.field == XS_META_NAME && field.wire == DW_PROTO_BYTES)
			to->name = xs_text_of(&field);
		else if (field.field == XS_META_DISPLAY && field.wire == DW_PROTO_BYTES)
			to->display = xs_text_of(&field);
	}
}

static void names_read_entry(struct xs_text entry, struct xs_name *to)
{
	struct dw_proto_reader reader = dw_proto_read(entry.bytes, entry.length);
	struct dw_proto_field field;
	uint64_t key = 0;

	*to = (struct xs_name){ .name = { "", 0 }, .category = -1 };
	while (dw_proto_next(&reader, &field)) {
		if (field.field == XS_MAP_KEY && field.wire == DW_PROTO_VARINT)
			key = field.number;
		else if (field.field == XS_MAP_VALUE && field.wire == DW_PROTO_BYTES)
			names_read_meta(xs_text_of(&field), to);
	}
	to->id = key; /* what events refer to */
}

static void names_add(struct xspace *space, const struct dw_proto_field *field)
{
	struct xs_name *name, meta;

	names_read_entry(xs_text_of(field), &meta);
	if (!meta.name.length && !meta.display.length)
		return; /* an entry without names is ignored */
	if (field->field == XS_PLANE_EVENT_META) {
		name = DW_GROW(&space->names, &space->name_capacity, space->name_count);
		space->failed |= !name;
		if (name) {
			*name = meta;
			space->name_count++;
		}
		return;
	}
	space->failed |= !DW_APPEND(&space->stat_names, &space->stat_capacity, &space->stat_count,
	                            (struct xs_stat_name){ meta.id, names_stat(meta.name), meta.name });
}

DW_ORDER(names_compare_names, struct xs_name, DW_UP(id))

DW_ORDER(names_compare_stats, struct xs_stat_name, DW_UP(id))

uint32_t xs_find_name(const struct xspace *space, uint64_t id)
{
	const struct xs_name key = { .id = id }, *found;

	if (id && id <= space->name_count && space->names[id - 1].id == id)
		return (uint32_t)id - 1;
	found = space->name_count ? bsearch(&key, space->names, space->name_count, sizeof key, names_compare_names) : NULL;
	return found ? (uint32_t)(found - space->names) : UINT32_MAX;
}

/* ---- categories -------------------------------------------------------------------------- */

static int names_category_of_text(struct xs_text text)
{
#define X(name, value, label) \
	if (xs_is(text, label))   \
		return value;
	DWELL_CATEGORIES(X)
#undef X
	return -1;
}

static bool names_is_operator(struct xs_text name)
{
	const char *colon = memrchr(name.bytes, ':', name.length);
	size_t at = colon ? (size_t)(colon - name.bytes) : 0;

	if (!at || at + 1 == name.length || name.bytes[at - 1] == ':' || !isupper((unsigned char)name.bytes[at + 1]))
		return false;
	for (size_t i = 0; i < name.length; i++)
		if (!isalnum((unsigned char)name.bytes[i]) && !strchr("_./:-\\>", name.bytes[i]))
			return false;
	return true;
}

static int names_category_of_name(const struct xspace *space, struct xs_text name)
{
	static const struct { const char *begin; enum dwell_category category; } known[] = {
		{ "$", DWELL_CATEGORY_FUNCTION },
		{ "PjitFunction(", DWELL_CATEGORY_OPERATOR },
		{ "nccl", DWELL_CATEGORY_COMMUNICATION },
		{ "all-reduce", DWELL_CATEGORY_COMMUNICATION },
		{ "all-gather", DWELL_CATEGORY_COMMUNICATION },
		{ "all-to-all", DWELL_CATEGORY_COMMUNICATION },
		{ "reduce-scatter", DWELL_CATEGORY_COMMUNICATION },
		{ "collective-permute", DWELL_CATEGORY_COMMUNICATION },
		{ "Iterator::", DWELL_CATEGORY_DATA },
		{ "IteratorGetNext", DWELL_CATEGORY_DATA },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (xs_begins(name, known[i].begin))
			return (int)known[i].category;
	if (space->device)
		return DWELL_CATEGORY_DEVICE;
	return names_is_operator(name) ? DWELL_CATEGORY_OPERATOR : -1;
}

static void names_classify(const struct xspace *space, struct xs_name *name)
{
	struct dw_proto_reader reader = dw_proto_read(name->stats.bytes, name->stats.length);
	struct dw_proto_field field;
	struct xs_value value;
	struct xs_text text;
	enum xs_stat stat;

	name->category = names_category_of_name(space, name->name);
	if (xs_is(name->name, "MemoryAllocation"))
		name->role = XS_ALLOC;
	else if (xs_is(name->name, "MemoryDeallocation"))
		name->role = XS_FREE;
	else if (xs_is(name->name, "forward to backward"))
		name->role = XS_LINK;
	while (dw_proto_next(&reader, &field)) {
		if (field.field != XS_META_STAT || field.wire != DW_PROTO_BYTES ||
		    !xs_read_stat(space, xs_text_of(&field), &stat, &text, &value) || !value.is_text)
			continue;
		if (stat == XS_CATEGORY)
			name->category = names_category_of_text(value.text);
		else if (stat == XS_DETAIL)
			name->detail = value.text;
	}
}

void xs_read_names(struct xspace *space, struct xs_text plane)
{
	struct dw_proto_reader reader = dw_proto_read(plane.bytes, plane.length);
	struct dw_proto_field field;

	space->name_count = space->stat_count = 0;
	xs_map_reset(&space->ops);
	while (!space->failed && dw_proto_next(&reader, &field))
		if ((field.field == XS_PLANE_EVENT_META || field.field == XS_PLANE_STAT_META) && field.wire == DW_PROTO_BYTES)
			names_add(space, &field);
	DW_SORT(space->names, space->name_count, names_compare_names);
	DW_SORT(space->stat_names, space->stat_count, names_compare_stats);
	for (size_t i = 0; i < space->name_count; i++)
		names_classify(space, &space->names[i]);
}

/* ---- operators ---------------------------------------------------------------------- */

static const char *names_copy(char to[MOST_TEXT], struct xs_text text)
{
	size_t length = text.length < MOST_TEXT - 1 ? text.length : MOST_TEXT - 1;

	if (length)
		memcpy(to, text.bytes, length);
	to[length] = '\0';
	return to;
}

uint32_t xs_string(struct xspace *space, const char *text)
{
	uint32_t *id = *text ? xs_map_at(&space->texts, xs_hash(0, text, strlen(text))) : NULL;

	if (!*text)
		return dw_encode_string(&space->processes[0].journal, text);
	if (!id) {
		space->failed = true;
		return 0;
	}
	if (!*id)
		*id = dw_encode_string(&space->processes[0].journal, text);
	return *id;
}

static uint32_t names_make_op(struct xspace *space, uint32_t category, const char *name,
                              const char *detail, const char *file, uint32_t line)
{
	uint32_t name_id = xs_string(space, name), detail_id = detail ? xs_string(space, detail) : 0;
	uint32_t file_id = file ? xs_string(space, file) : 0;

	return dw_encode_op_of(&space->processes[0].journal, category, name_id, detail_id, 0, file_id, line);
}

/* "$file.py:12 name" is a function in the words of JAX's tracer of Python. */
static uint32_t names_make_python_op(struct xspace *space, char *name)
{
	char *function = strrchr(name, ' '), *colon, joined[MOST_TEXT];

	space->python = true;
	if (!function)
		return names_make_op(space, DWELL_CATEGORY_FUNCTION, name + 1, NULL, NULL, 0);
	*function++ = '\0';
	colon = strrchr(name, ':');
	if (colon && isdigit((unsigned char)colon[1])) {
		*colon = '\0';
		return names_make_op(space, DWELL_CATEGORY_FUNCTION, function, NULL, name + 1,
		                     (uint32_t)strtoul(colon + 1, NULL, 10));
	}
	snprintf(joined, sizeof joined, "%.2000s%s%.2000s", name[1] == '<' ? "" : name + 1,
	         name[1] == '<' ? "" : ".", function);
	return names_make_op(space, DWELL_CATEGORY_FUNCTION, joined, NULL, NULL, 0);
}

uint32_t xs_op_text(struct xspace *space, uint32_t category, struct xs_text name, struct xs_text detail)
{
	uint64_t key = xs_hash(xs_hash(category + 1, name.bytes, name.length), detail.bytes, detail.length);
	uint32_t *id = xs_map_at(&space->ops, key);
	char text[MOST_TEXT], more[MOST_TEXT];

	if (!id) {
		space->failed = true;
		return 0;
	}
	if (*id)
		return *id;
	names_copy(text, name);
	if (category == DWELL_CATEGORY_FUNCTION && *text == '$')
		*id = names_make_python_op(space, text);
	else
		*id = names_make_op(space, category, text, detail.length ? names_copy(more, detail) : NULL, NULL, 0);
	return *id;
}

uint32_t xs_op(struct xspace *space, uint32_t index, uint32_t category, struct xs_text detail)
{
	static const struct xs_text unknown = { "(unknown)", 9 };
	const struct xs_name *name;
	struct { uint32_t index, category; uint64_t detail; } key;
	uint32_t *id, made;

	if (index == UINT32_MAX)
		return xs_op_text(space, category, unknown, detail);
	name = &space->names[index];
	key.index = index;
	key.category = category;
	if (!detail.length)
		detail = name->detail;
	key.detail = detail.length ? xs_hash(0, detail.bytes, detail.length) : 0;
	id = xs_map_at(&space->ops, xs_hash(~(uint64_t)0, &key, sizeof key));
	if (id && *id)
		return *id;
	/* xs_op_text() may add to the same map, so `id` is not valid any more. */
	made = xs_op_text(space, category, name->display.length ? name->display : name->name, detail);
	id = xs_map_at(&space->ops, xs_hash(~(uint64_t)0, &key, sizeof key));
	if (id)
		*id = made;
	return made;
}
