/*
 * The order of an array of structs for qsort(), as a list of its keys:
 *
 *     DW_ORDER(compare_calls, struct call, DW_UP(thread) DW_DOWN(length_ns))
 *
 * defines compare_calls(). Elements are compared by the first key, if equal by the next one.
 * DW_TEXT() is for strings. dw_compare_u64() orders an array of numbers.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#define DW_UP(member)             \
	if (a->member != b->member)   \
		return a->member < b->member ? -1 : 1;
#define DW_DOWN(member)           \
	if (a->member != b->member)   \
		return a->member < b->member ? 1 : -1;

#define DW_TEXT(member)                             \
	if (strcmp(a->member, b->member) != 0)          \
		return strcmp(a->member, b->member);

#define DW_ORDER(name, type, keys)                      \
	static int name(const void *left, const void *right) \
	{                                                   \
		const type *a = left, *b = right;               \
                                                        \
		keys return 0;                                  \
	}

static inline int dw_compare_u64(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}
