/*
 * The order of an array of structs, as a list of its keys:
 *
 *     DW_ORDER(compare_calls, struct call, DW_UP(thread) DW_DOWN(length_ns))
 *     DW_SORT(calls, call_count, compare_calls);
 *
 * defines compare_calls(). Elements are compared by the first key, if equal by the next one.
 * DW_TEXT() is for strings. dw_compare_u64() orders an array of numbers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Sorts an array, which may be NULL if it is empty. */
#define DW_SORT(array, count, compare)                          \
	do {                                                        \
		if ((count) > 1)                                        \
			qsort(array, count, sizeof *(array), compare);      \
	} while (0)

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

/* The same for an array of pointers to structs. DW_UP_PLACE: those that are equal are in the order of their places. */
#define DW_UP_PLACE \
	if (a != b)     \
		return a < b ? -1 : 1;
#define DW_ORDER_OF_POINTERS(name, type, keys)               \
	static int name(const void *left, const void *right)     \
	{                                                        \
		const type *a = *(const type *const *)left;          \
		const type *b = *(const type *const *)right;         \
                                                             \
		keys return 0;                                       \
	}

/* The first number from `from` on, and before `to`, for which `holds` is true; `to` if there is none. Where it is true
 * it is true for all later ones. */
#define DW_FIRST(i, from, to, holds)                         \
	({                                                       \
		size_t low_ = (from), high_ = (to);                  \
		while (low_ < high_) {                               \
			size_t i = low_ + (high_ - low_) / 2;            \
			if (holds)                                       \
				high_ = i;                                   \
			else                                             \
				low_ = i + 1;                                \
		}                                                    \
		low_;                                                \
	})

static inline int dw_compare_u64(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}
