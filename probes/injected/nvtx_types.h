/*
 * NVTX version 3 as an injected library sees it: structures and numbers of the interface.
 *
 * Written from their layout in memory, which NVTX 3 keeps. Each shared object with NVTX has its own copy
 * of the client. At its first call a copy loads the library that NVTX_INJECTION64_PATH names and calls
 * InitializeInjectionNvtx2(), which writes its functions to the places that the copy's tables name.
 */
#ifndef DWI_NVTX_TYPES_H
#define DWI_NVTX_TYPES_H

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

#endif
