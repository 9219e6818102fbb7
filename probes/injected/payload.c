/*
 * Schemas of payloads, and payloads as JSON. A schema is copied once and never freed: a table of fixed size
 * finds it by its domain and number, without a lock.
 */
#include "payload.h"

#include <stdio.h>
#include <string.h>

#define SCHEMAS 1024u /* of a process; a power of two */
#define MOST_ENTRIES 64u
#define MOST_BYTES 4096u /* of a payload */
#define LONGEST_NAME 100u

struct payload_entry {
	const char *name;
	uint64_t type;  /* as registered */
	uint32_t offset, size;
	bool skipped;   /* text, array or another schema */
};

struct payload_schema {
	uint64_t key; /* of domain and number */
	const char *name;
	uint32_t count, size;
	bool names;   /* `entries` are values and their names: `type` is the value */
	struct payload_entry entries[];
};

static struct payload_schema *schemas[SCHEMAS]; /* atomic */

static const struct payload_schema *payload_find(const struct dwi_domain *domain, uint64_t number)
{
	uint64_t key = dwi_key(domain, number, 7, 0);

	for (uint64_t i = 0; i < 16; i++) {
		/* Pairs with the exchange in payload_keep(): the schema is complete. */
		const struct payload_schema *schema = __atomic_load_n(&schemas[(key + i) % SCHEMAS], __ATOMIC_ACQUIRE);

		if (!schema || schema->key == key)
			return schema;
	}
	return NULL;
}

static uint64_t payload_keep(const struct dwi_domain *domain, struct payload_schema *schema, uint64_t number)
{
	static uint64_t newest = NVTX_FIRST_DYNAMIC; /* atomic */

	if (!number)
		number = __atomic_fetch_add(&newest, 1, __ATOMIC_RELAXED);
	schema->key = dwi_key(domain, number, 7, 0);
	for (uint64_t i = 0; i < 16; i++) {
		struct payload_schema *other = NULL;

		if (__atomic_compare_exchange_n(&schemas[(schema->key + i) % SCHEMAS], &other, schema, false,
		                                __ATOMIC_RELEASE, __ATOMIC_ACQUIRE) ||
		    other->key == schema->key)
			return number; /* a second registration of a number changes nothing */
	}
	return 0;
}

static const char *payload_copy(const char *text)
{
	size_t length = text ? strnlen(text, LONGEST_NAME) : 0;
	char *copy = length ? dwi_memory(length + 1) : NULL;

	return copy ? memcpy(copy, text, length) : "";
}

/* 0: no number, or one that is not recorded. */
static uint32_t payload_type_bytes(uint64_t type)
{
	static const uint8_t bytes[NVTX_TYPES] = {
		[1] = 1, [2] = 1, [3] = 2, [4] = 2, [5] = 4, [6] = 4, [7] = sizeof(long), [8] = sizeof(long), [9] = 8,
		[10] = 8, [11] = 1, [12] = 1, [13] = 2, [14] = 2, [15] = 4, [16] = 4, [17] = 8, [18] = 8,
		[NVTX_TYPE_FLOAT] = 4, [NVTX_TYPE_DOUBLE] = 8, [22] = sizeof(size_t), [23] = sizeof(void *), [32] = 1,
		[NVTX_TYPE_FLOAT32] = 4, [NVTX_TYPE_FLOAT64] = 8, [67] = 8, [68] = 4, [69] = 4, [70] = 8, [71] = 4,
		[72] = 8, [73] = 4, [74] = 8,
	};

	return type < NVTX_TYPES ? bytes[type] : 0;
}

uint64_t dwi_payload_keep_schema(const struct dwi_domain *domain, const struct nvtx_schema *from)
{
	size_t count = from && from->entries ? from->entry_count : 0, at = 0;
	struct payload_schema *to;

	if (count > MOST_ENTRIES)
		count = MOST_ENTRIES;
	to = count ? dwi_memory(sizeof *to + count * sizeof *to->entries) : NULL;
	if (!to)
		return 0;
	to->name = payload_copy(from->fields & NVTX_SCHEMA_HAS_NAME ? from->name : NULL);
	for (; to->count < count; to->count++) {
		const struct nvtx_schema_entry *entry = &from->entries[to->count];
		const struct payload_schema *other = payload_find(domain, entry->type);
		uint32_t size = other ? other->size : payload_type_bytes(entry->type);
		uint32_t align = size && size <= 8 ? size : 8; /* as a C compiler places it */

		at = entry->offset ? entry->offset : (at + align - 1) & ~(size_t)(align - 1);
		if (at > MOST_BYTES)
			break;
		to->entries[to->count] = (struct payload_entry){
			.name = payload_copy(entry->name), .type = entry->type, .offset = (uint32_t)at, .size = size,
			.skipped = !size || entry->flags & NVTX_ENTRY_IS_ELSEWHERE || (other && !other->names) };
		at += entry->flags & NVTX_ENTRY_IS_ELSEWHERE || !size ? sizeof(void *) : size;
	}
	to->size = (uint32_t)at;
	return payload_keep(domain, to, from->fields & NVTX_SCHEMA_HAS_NUMBER ? from->number : 0);
}

uint64_t dwi_payload_keep_values(const struct dwi_domain *domain, const struct nvtx_value_names *from)
{
	size_t count = from && from->values ? from->value_count : 0;
	struct payload_schema *to;

	if (count > MOST_ENTRIES)
		count = MOST_ENTRIES;
	to = count ? dwi_memory(sizeof *to + count * sizeof *to->entries) : NULL;
	if (!to)
		return 0;
	to->names = true;
	to->name = payload_copy(from->name);
	to->size = from->size && from->size <= 8 ? (uint32_t)from->size : 4;
	for (; to->count < count; to->count++)
		to->entries[to->count] = (struct payload_entry){ .name = payload_copy(from->values[to->count].name),
			                                             .type = from->values[to->count].value };
	return payload_keep(domain, to, from->fields & NVTX_VALUES_HAVE_NUMBER ? from->number : 0);
}

const char *dwi_payload_name(const struct dwi_domain *domain, const struct nvtx_payload_data *data, size_t count)
{
	const struct payload_schema *schema = data && count ? payload_find(domain, data->schema) : NULL;

	return schema && *schema->name ? schema->name : NULL;
}

uint64_t dwi_payload_key(const struct nvtx_payload_data *data, size_t count)
{
	uint64_t key = count;

	for (size_t i = 0; i < count && i < DWI_MOST_PAYLOADS; i++) {
		const unsigned char *bytes = data[i].payload;

		key = dwi_key(NULL, key, data[i].schema, data[i].size);
		for (size_t k = 0; bytes && k < data[i].size && k < MOST_BYTES; k++)
			key = (key ^ bytes[k]) * 0x9e3779b97f4a7c15u;
	}
	return key;
}

/* ---- values ------------------------------------------------------------------------------------------- */

static size_t payload_number(uint64_t type, uint32_t size, const char *bytes, char *json, size_t room)
{
	union { uint64_t u64; double real; float real32; } value = { 0 };
	uint64_t sign = 1ull << (8 * size - 1);

	memcpy(&value, bytes, size);
	if (type == NVTX_TYPE_DOUBLE || type == NVTX_TYPE_FLOAT64)
		return dwi_json_number(value.real, json, room);
	if (type == NVTX_TYPE_FLOAT || type == NVTX_TYPE_FLOAT32)
		return dwi_json_number((double)value.real32, json, room);
	if (type <= NVTX_TYPE_LAST_C && type % 2 && value.u64 & sign) /* signed types have odd numbers */
		return (size_t)snprintf(json, room, "%lld", (long long)(value.u64 | ~(sign - 1)));
	return (size_t)snprintf(json, room, "%llu", (unsigned long long)value.u64);
}

static size_t payload_value(const struct dwi_domain *domain, const struct payload_entry *entry, const char *bytes,
                            char *json, size_t room)
{
	const struct payload_schema *names = entry->type >= NVTX_TYPES ? payload_find(domain, entry->type) : NULL;
	uint64_t value = 0;

	if (names && names->names) {
		memcpy(&value, bytes, entry->size);
		for (uint32_t i = 0; i < names->count; i++)
			if (names->entries[i].type == value)
				return dwi_json_text(names->entries[i].name, strlen(names->entries[i].name), json, room);
	}
	return payload_number(entry->type, entry->size, bytes, json, room);
}

/* The longest member: a name and a text, all of whose bytes are escaped. */
#define MEMBER (12 * LONGEST_NAME + 32)

size_t dwi_payload_json(const struct dwi_domain *domain, const struct nvtx_payload_data *data, size_t count,
                        char *json, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < count && i < DWI_MOST_PAYLOADS; i++) {
		const struct payload_schema *schema = payload_find(domain, data[i].schema);

		for (uint32_t k = 0; schema && !schema->names && data[i].payload && k < schema->count; k++) {
			const struct payload_entry *entry = &schema->entries[k];

			if (entry->skipped || !*entry->name || data[i].size < (size_t)entry->offset + entry->size)
				continue;
			if (at + MEMBER > size)
				return at;
			if (at)
				json[at++] = ',';
			at += dwi_json_text(entry->name, strlen(entry->name), json + at, 6 * LONGEST_NAME + 10);
			json[at++] = ':';
			at += payload_value(domain, entry, (const char *)data[i].payload + entry->offset, json + at,
			                    6 * LONGEST_NAME + 10);
		}
	}
	return at;
}
