/*
 * Frees several pointers at once, of which each may be NULL:
 *
 *     DW_FREE(list->items, list->names);
 *
 * Includes <stdlib.h>, so that a file that frees what it allocated needs only this header.
 */
#pragma once

#include <stdlib.h>

#define DW_FREE(...)                                                        \
	do {                                                                    \
		void *const freed_[] = { __VA_ARGS__ };                             \
		for (size_t i_ = 0; i_ < sizeof freed_ / sizeof *freed_; i_++)      \
			free(freed_[i_]);                                               \
	} while (0)
