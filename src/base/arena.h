/*
 * An arena: memory that is freed all at once.
 *
 * Allocations are zeroed and come from growing blocks; no single allocation is freed. Used by
 * everything that lives as long as its owner (a dictionary, a model, a table). Not thread-safe.
 */
#pragma once

#include <stddef.h>

struct dw_arena_block;

struct dw_arena {
	struct dw_arena_block *blocks;
	size_t used, size; /* of the newest block */
};

/* A zeroed arena is empty. NULL if out of memory; aligned for any type. */
void *dw_arena_alloc(struct dw_arena *arena, size_t size_bytes);
char *dw_arena_text(struct dw_arena *arena, const char *text, size_t length); /* adds a NUL */
char *dw_arena_printf(struct dw_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dw_arena_reset(struct dw_arena *arena);
