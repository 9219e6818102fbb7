/* What two orders of operators have in common. */
#ifndef DW_MODEL_SEQUENCE_COMPARE_H
#define DW_MODEL_SEQUENCE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By index in b, the index in a of what both have in the same order, or DW_NO_INDEX.
 * *trace is a buffer that the caller keeps and frees. False when out of memory. */
bool dw_sequence_compare(int32_t **trace, const uint32_t *a, size_t a_count, const uint32_t *b,
                         size_t b_count, uint32_t *found);

#endif
