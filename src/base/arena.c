/* An arena: memory that is freed all at once; see arena.h. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK_BYTES ((size_t)16 << 10)
#define LARGEST_BLOCK_BYTES ((size_t)1 << 20)

struct dw_arena_block {
	struct dw_arena_block *next;
	_Alignas(max_align_t) char data[];
};

static int arena_grow(struct dw_arena *arena, size_t size_bytes)
{
	size_t size = arena->size ? arena->size * 2 : FIRST_BLOCK_BYTES;
	struct dw_arena_block *block;

	if (size > LARGEST_BLOCK_BYTES)
		size = LARGEST_BLOCK_BYTES;
	if (size < size_bytes)
		size = size_bytes;
	/* calloc: large blocks come zeroed from the kernel and take no memory until used */
	block = calloc(1, sizeof *block + size);
	if (!block)
		return -1;
	block->next = arena->blocks;
	arena->blocks = block;
	arena->size = size;
	arena->used = 0;
	return 0;
}

void *dw_arena_alloc(struct dw_arena *arena, size_t size_bytes)
{
	const size_t align = _Alignof(max_align_t);
	void *memory;

	if (size_bytes > SIZE_MAX / 2)
		return NULL;
	size_bytes = (size_bytes + align - 1) & ~(align - 1);
	if ((!arena->blocks || size_bytes > arena->size - arena->used) && arena_grow(arena, size_bytes))
		return NULL;
	memory = arena->blocks->data + arena->used;
	arena->used += size_bytes;
	return memory;
}

char *dw_arena_text(struct dw_arena *arena, const char *text, size_t length)
{
	char *copy = dw_arena_alloc(arena, length + 1);

	if (copy)
		memcpy(copy, text, length);
	return copy;
}

char *dw_arena_printf(struct dw_arena *arena, const char *format, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length < 0)
		return NULL;
	text = dw_arena_alloc(arena, (size_t)length + 1);
	if (text) {
		va_start(args, format);
		vsnprintf(text, (size_t)length + 1, format, args);
		va_end(args);
	}
	return text;
}

void dw_arena_reset(struct dw_arena *arena)
{
	while (arena->blocks) {
		struct dw_arena_block *next = arena->blocks->next;

		free(arena->blocks);
		arena->blocks = next;
	}
	arena->used = arena->size = 0;
}
