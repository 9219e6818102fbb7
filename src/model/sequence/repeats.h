/* Finds repeated blocks of operators. */
#pragma once

#include "model/sequence/sequence.h"

/* Finds blocks in `keys`: at most count / 3 of them, in ascending order and without overlap. Their
 * `ops` are not set. False when out of memory. */
bool dw_sequence_fold(const uint64_t *keys, uint32_t count, struct dw_sequence_block *blocks, uint32_t *block_count);
