/*
 * Arguments of NVTX's ranges and marks: category, colour and payload, as JSON.
 *
 * Those of a pushed range are recorded when it has begun, those of a mark and of a range that need not
 * nest just before it. The same arguments come again and again, so a thread keeps ids by a number for
 * their content.
 */
#include "payload.h"

#include <stdio.h>
#include <string.h>

/* ---- names of categories -------------------------------------------------------------------------- */

static struct {
	uint64_t key;      /* atomic; of domain and number; 0: free */
	const char *name;  /* atomic */
} categories[1024];
static uint32_t category_names; /* atomic; changes with each name */

void dwi_nvtx_category_name(const struct dwi_domain *domain, uint32_t category, const char *name)
{
	uint64_t key = dwi_key(domain, category, 0, 0);
	size_t length = name ? strnlen(name, 200) : 0;
	char *copy = dwi_memory(length + 1);

	if (!copy || !length)
		return;
	memcpy(copy, name, length);
	for (uint64_t i = 0; i < 16; i++) {
		uint64_t none = 0, *place = &categories[(key + i) & 1023].key;

		if (__atomic_load_n(place, __ATOMIC_RELAXED) == key ||
		    __atomic_compare_exchange_n(place, &none, key, false, __ATOMIC_RELAXED,
		                                __ATOMIC_RELAXED) || none == key) {
			__atomic_store_n(&categories[(key + i) & 1023].name, copy, __ATOMIC_RELEASE);
			__atomic_fetch_add(&category_names, 1, __ATOMIC_RELEASE);
			return;
		}
	}
}

static const char *nvtx_category_find(const struct dwi_domain *domain, uint32_t category)
{
	uint64_t key = dwi_key(domain, category, 0, 0);

	for (uint64_t i = 0; i < 16; i++)
		if (__atomic_load_n(&categories[(key + i) & 1023].key, __ATOMIC_RELAXED) == key)
			return __atomic_load_n(&categories[(key + i) & 1023].name, __ATOMIC_ACQUIRE);
	return NULL;
}

/* ---- as JSON -------------------------------------------------------------------------------------- */

static size_t nvtx_payload_text(const struct nvtx_attributes *attributes, char *text, size_t size)
{
	switch ((enum nvtx_payload)attributes->payload_type) {
	case NVTX_PAYLOAD_U64:
		return (size_t)snprintf(text, size, "%llu", (unsigned long long)attributes->payload.u64);
	case NVTX_PAYLOAD_S64:
		return (size_t)snprintf(text, size, "%lld", (long long)attributes->payload.s64);
	case NVTX_PAYLOAD_REAL: return dwi_json_number(attributes->payload.real, text, size);
	case NVTX_PAYLOAD_U32: return (size_t)snprintf(text, size, "%u", attributes->payload.u32);
	case NVTX_PAYLOAD_S32: return (size_t)snprintf(text, size, "%d", attributes->payload.s32);
	case NVTX_PAYLOAD_REAL32: return dwi_json_number((double)attributes->payload.real32, text, size);
	default: return 0;
	}
}

static const struct nvtx_payload_data *nvtx_blocks(const struct nvtx_attributes *attributes)
{
	return (const struct nvtx_payload_data *)(uintptr_t)attributes->payload.u64;
}

static size_t nvtx_block_count(const struct nvtx_attributes *attributes)
{
	return attributes->payload.u64 && attributes->reserved > 0 ? (size_t)attributes->reserved : 0;
}

#define JSON_BYTES 2000u

/* False: there are none. */
static bool nvtx_write_arguments(const struct dwi_domain *domain, const struct nvtx_attributes *attributes,
                                 char json[JSON_BYTES])
{
	size_t at = 0;

	json[at++] = '{';
	if (attributes->category) {
		const char *name = nvtx_category_find(domain, attributes->category);

		at += (size_t)snprintf(json + at, JSON_BYTES - at, "\"category\":");
		at += name ? dwi_json_text(name, strlen(name), json + at, DWI_LONGEST)
		           : (size_t)snprintf(json + at, JSON_BYTES - at, "%u", attributes->category);
	}
	if (attributes->color_type == 1)
		at += (size_t)snprintf(json + at, JSON_BYTES - at, "%s\"color\":\"#%06x\"",
		                       at > 1 ? "," : "", attributes->color & 0xffffff);
	if (attributes->payload_type >= NVTX_PAYLOAD_U64 &&
	    attributes->payload_type <= NVTX_PAYLOAD_REAL32) {
		at += (size_t)snprintf(json + at, JSON_BYTES - at, "%s\"payload\":", at > 1 ? "," : "");
		at += nvtx_payload_text(attributes, json + at, JSON_BYTES - at);
	} else if (attributes->payload_type == NVTX_PAYLOAD_BLOCKS) {
		size_t comma = at > 1, length = dwi_payload_json(domain, nvtx_blocks(attributes), nvtx_block_count(attributes),
		                                                 json + at + comma, JSON_BYTES - at - comma - 2);

		if (length && comma)
			json[at] = ',';
		at += length ? length + comma : 0;
	}
	memcpy(json + at, "}", 2);
	return at > 1;
}

static bool nvtx_has_arguments(const struct nvtx_attributes *attributes)
{
	return attributes && attributes->size >= sizeof *attributes &&
	       (attributes->category || attributes->color_type || attributes->payload_type);
}

/* A number for the content of the arguments. */
static uint64_t nvtx_arguments_key(const struct dwi_domain *domain, const struct nvtx_attributes *attributes)
{
	return dwi_key(domain, (uint64_t)attributes->category << 32 | attributes->color,
	               attributes->payload_type == NVTX_PAYLOAD_BLOCKS
	                   ? dwi_payload_key(nvtx_blocks(attributes), nvtx_block_count(attributes))
	                   : attributes->payload_type ? attributes->payload.u64 : 0,
	               ((uint64_t)(uint32_t)attributes->payload_type << 32 |
	                (uint32_t)attributes->color_type << 28) ^
	                   __atomic_load_n(&category_names, __ATOMIC_ACQUIRE));
}

/* ---- from outside ------------------------------------------------------------------------------------ */

void dwi_nvtx_arguments(const struct dwi_domain *domain, const struct nvtx_attributes *attributes)
{
	char json[JSON_BYTES];
	uint64_t key;

	if (!nvtx_has_arguments(attributes))
		return;
	key = nvtx_arguments_key(domain, attributes);
	if (!dwi_arguments_again(domain, key) && nvtx_write_arguments(domain, attributes, json))
		dwi_arguments(domain, key, json);
}

void dwi_nvtx_next_arguments(struct dwi_name *name, const struct dwi_domain *domain,
                             const struct nvtx_attributes *attributes)
{
	char json[JSON_BYTES];
	uint64_t key;

	if (!nvtx_has_arguments(attributes) || !dwi_wanted(name))
		return;
	key = nvtx_arguments_key(domain, attributes);
	if (!dwi_next_arguments_again(name, key) && nvtx_write_arguments(domain, attributes, json))
		dwi_next_arguments(name, key, json);
}

struct nvtx_attributes dwi_nvtx_of_blocks(const struct nvtx_payload_data *data, size_t count)
{
	return (struct nvtx_attributes){ .size = sizeof(struct nvtx_attributes), .payload_type = NVTX_PAYLOAD_BLOCKS,
		.reserved = (int32_t)(count < DWI_MOST_PAYLOADS ? count : DWI_MOST_PAYLOADS),
		.payload.u64 = (uint64_t)(uintptr_t)data };
}
