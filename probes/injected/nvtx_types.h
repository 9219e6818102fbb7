/*
 * NVTX version 3 as an injected library sees it: structures and numbers of the interface.
 *
 * Written from their layout in memory, which NVTX 3 keeps. Each shared object with NVTX has its own copy
 * of the client. At its first call a copy loads the library that NVTX_INJECTION64_PATH names and calls
 * InitializeInjectionNvtx2(), which writes its functions to the places that the copy's tables name.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct nvtx_attributes {
	uint16_t version;
	uint16_t size;        /* members beyond it do not exist */
	uint32_t category;    /* 0: none */
	int32_t color_type;   /* 1: ARGB */
	uint32_t color;
	int32_t payload_type; /* enum nvtx_payload */
	int32_t reserved;     /* number of blocks, with NVTX_PAYLOAD_BLOCKS */
	union {
		uint64_t u64;
		int64_t s64;
		double real;
		uint32_t u32;
		int32_t s32;
		float real32;
	} payload;
	int32_t message_type; /* enum nvtx_message */
	union {
		const char *ascii;
		const int32_t *wide;
		void *registered;
	} message;
};
_Static_assert(sizeof(struct nvtx_attributes) == 48, "the layout of NVTX 3");

enum nvtx_message { NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_WIDE = 2, NVTX_MESSAGE_REGISTERED = 3 };

enum nvtx_payload {
	NVTX_PAYLOAD_U64 = 1, NVTX_PAYLOAD_S64, NVTX_PAYLOAD_REAL, NVTX_PAYLOAD_U32, NVTX_PAYLOAD_S32,
	NVTX_PAYLOAD_REAL32,
};

/* ---- structured payloads -------------------------------------------------------------------------- */

/* A payload_type: `payload.u64` is the address of `reserved` payloads. */
#define NVTX_PAYLOAD_BLOCKS ((int32_t)0xdfbd0009)

struct nvtx_payload_data {
	uint64_t schema;
	size_t size;
	const void *payload;
};

struct nvtx_schema_entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail, offset; /* offset 0: after the entry before */
	const void *semantics, *reserved;
};

struct nvtx_schema {
	uint64_t fields; /* which members are there */
	const char *name;
	uint64_t type, flags;
	const struct nvtx_schema_entry *entries;
	size_t entry_count, static_size, pack_align;
	uint64_t number;
	void *extension;
};
_Static_assert(sizeof(struct nvtx_payload_data) == 24 && sizeof(struct nvtx_schema_entry) == 64 &&
               sizeof(struct nvtx_schema) == 80, "the layout of NVTX 3.1 and later");

struct nvtx_value_name {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};

struct nvtx_value_names {
	uint64_t fields;
	const char *name;
	const struct nvtx_value_name *values;
	size_t value_count, size;
	uint64_t number;
	void *extension;
};

#define NVTX_SCHEMA_HAS_NAME (1u << 1)
#define NVTX_SCHEMA_HAS_NUMBER (1u << 8)
#define NVTX_VALUES_HAVE_NUMBER (1u << 5)
#define NVTX_ENTRY_IS_ELSEWHERE 0x7eu /* a pointer, an offset or an array */
#define NVTX_FIRST_DYNAMIC (1ull << 32)

enum nvtx_type {
	NVTX_TYPE_LAST_C = 18, NVTX_TYPE_FLOAT, NVTX_TYPE_DOUBLE, NVTX_TYPE_FLOAT32 = 43, NVTX_TYPE_FLOAT64 = 44,
	NVTX_TYPES = 128,
};

struct nvtx_segment {
	size_t number, count;
	intptr_t *functions;
};

struct nvtx_module_of_extension {
	uint16_t version, size, module, compatible;
	size_t segment_count;
	struct nvtx_segment *segments;
};

#define NVTX_MODULE_PAYLOAD 2u

enum nvtx_payload_function {
	PAYLOAD_SCHEMA, PAYLOAD_VALUES, PAYLOAD_MARK, PAYLOAD_PUSH, PAYLOAD_POP, PAYLOAD_START, PAYLOAD_END,
	PAYLOAD_FUNCTIONS
};

typedef void (*nvtx_function)(void);
typedef const void *(*nvtx_get_table)(uint32_t id);

#define NVTX_TABLE_CALLBACKS 1u

struct nvtx_callbacks {
	size_t size;
	/* `table` gets an array of places of functions, by the numbers below. */
	int (*get_module)(int module, nvtx_function ***table, unsigned *count);
};

enum nvtx_module { NVTX_CORE = 1, NVTX_CORE2 = 5 };

enum nvtx_core {
	CORE_MARK_EX = 1, CORE_MARK_A, CORE_MARK_W, CORE_START_EX, CORE_START_A, CORE_START_W, CORE_END,
	CORE_PUSH_EX, CORE_PUSH_A, CORE_PUSH_W, CORE_POP, CORE_CATEGORY_A, CORE_CATEGORY_W,
	CORE_THREAD_A, CORE_THREAD_W, CORE_FUNCTIONS
};

enum nvtx_core2 {
	CORE2_MARK = 1, CORE2_START, CORE2_END, CORE2_PUSH, CORE2_POP, CORE2_RESOURCE_CREATE,
	CORE2_RESOURCE_DESTROY, CORE2_CATEGORY_A, CORE2_CATEGORY_W, CORE2_REGISTER_A, CORE2_REGISTER_W,
	CORE2_CREATE_A, CORE2_CREATE_W, CORE2_DESTROY, CORE2_INITIALIZE, CORE2_FUNCTIONS
};
