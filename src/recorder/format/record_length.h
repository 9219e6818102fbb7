/*
 * The length of a record, which is all that is needed to skip it.
 *
 * Used by the recorder when it empties a chunk, and by readers. The words must be readable; see
 * decode.h for unknown data, whose reading must be checked.
 */
#pragma once

#include "format/layout.h"

static inline uint32_t dw_record_words(const uint32_t *word)
{
	static const uint8_t payload[16] = DW_PAYLOAD_WORDS;
	uint32_t kind;

	if (word[0] & DW_WORD_END)
		return 1;
	kind = word[1] >> DW_KIND_SHIFT;
	return 2 + (kind == DW_EXT ? word[1] & DW_EXT_WORDS_MASK : payload[kind]);
}
