/* Finds the operators that two sequences have in common. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets found[], by index in b, to the index in a of the same operator, or to DW_NO_INDEX. The
 * indices found ascend. *trace is a buffer that the caller keeps and frees. False when out of
 * memory. */
bool dw_sequence_compare(int32_t **trace, const uint32_t *a, size_t a_count, const uint32_t *b,
                         size_t b_count, uint32_t *found);
