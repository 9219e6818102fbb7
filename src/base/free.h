/*
 * Allocates several arrays of zeroed items, and frees them, also if some of them are NULL:
 *
 *     good = DW_NEW(&list->items, count) && DW_NEW(&list->names, count);
 *     DW_FREE(list->items, list->names);
 *
 * Pointers that are freed in any case must be NULL before the first DW_NEW(). Includes <stdlib.h>, so that a file
 * that frees what it allocated needs only this header.
 */
#pragma once

#include <stdlib.h>

#define DW_NEW(array, count) ((*(array) = calloc(count, sizeof **(array))) != NULL)

#define DW_FREE(...)                                                        \
	do {                                                                    \
		void *const freed_[] = { __VA_ARGS__ };                             \
		for (size_t i_ = 0; i_ < sizeof freed_ / sizeof *freed_; i_++)      \
			free(freed_[i_]);                                               \
	} while (0)
