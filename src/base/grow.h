/*
 * Arrays that grow: space for one more item, by doubling the capacity.
 *
 *     item = DW_GROW(&array, &capacity, count);            NULL if out of memory
 *     good = DW_APPEND(&array, &capacity, &count, value);  false if out of memory
 *
 * The caller frees the array. New items are zeroed.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline void *dw_grow(void **array, size_t *capacity, size_t count, size_t item_bytes)
{
	if (count == *capacity) {
		size_t wanted = count ? count * 2 : 16;
		void *grown = wanted > SIZE_MAX / item_bytes ? NULL : realloc(*array, wanted * item_bytes);

		if (!grown)
			return NULL;
		*array = grown;
		*capacity = wanted;
	}
	return memset((char *)*array + count * item_bytes, 0, item_bytes);
}

#define DW_GROW(array, capacity, count) \
	((__typeof__(*(array)))dw_grow((void **)(array), capacity, count, sizeof **(array)))

/* Appends a value, which is computed only if there is memory for it. */
#define DW_APPEND(array, capacity, count, ...)                          \
	({                                                                  \
		__typeof__(*(array)) added_ = DW_GROW(array, capacity, *(count)); \
		if (added_) {                                                   \
			*added_ = (__VA_ARGS__);                                    \
			++*(count);                                                 \
		}                                                               \
		added_ != NULL;                                                 \
	})
