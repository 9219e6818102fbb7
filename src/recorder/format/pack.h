/*
 * The stored form of a trace: what `dwell pack` writes.
 *
 * doc/reference/format.md ("Stored traces") is the specification.
 *
 *   file   | pack head | part | part | ... | index | end |
 *   part   | part header, with the block's first 64 bytes | stored bytes |
 *
 * A part is a block of the trace that is not all zero, in the order of the blocks; the first one is the
 * trace's head. The index repeats all part headers. Without it, a reader goes from part to part.
 */
#pragma once

#include "format/layout.h"

#define DW_PACK_END_MAGIC "\x89" "DWEND\r\n"
#define DW_PACK_VERSION 1u
#define DW_PACK_INDEX 0xffffffffu        /* the index's number of a block */

/* The pack head. Its first 448 bytes are the first ones of the trace's head, but for the magic: what
 * finds the files of a run by their heads finds stored ones too. */
#define DW_PACK_HEAD_BYTES 512u
struct dw_pack_head {
	char magic[8];
	uint8_t as_trace[440];
	uint32_t version;      /* readers reject a newer one */
	uint32_t reserved;
	uint64_t image_bytes;  /* of the trace */
	uint64_t reserved2[5];
	uint64_t check;        /* of the bytes before */
};

enum dw_pack_method {
	DW_PACK_PLAIN = 0,     /* the bytes themselves */
	DW_PACK_ZSTD = 1,      /* the bytes, compressed */
	DW_PACK_COLUMNS = 2,   /* the records of a stream as columns, compressed */
};

struct dw_pack_part {
	uint32_t block;        /* number in the trace, or DW_PACK_INDEX */
	uint32_t method;       /* enum dw_pack_method */
	uint32_t content_bytes; /* of the block, from its start; a multiple of 4. The rest of the block is 0 */
	uint32_t stored_bytes; /* after this header */
	uint64_t check;        /* of this header without it, then of the stored bytes */
	uint8_t first[DW_CHUNK_HEADER_BYTES]; /* of the block; what is stored begins after them */
};

/* A part has at most this many times the bytes that it takes in the file, so that a small file cannot
 * need much memory or time. */
#define DW_PACK_MOST_RATIO 128u

struct dw_pack_end {
	char magic[8];
	uint64_t index;        /* offset of the index's part header */
	uint64_t parts;        /* without the index */
	uint64_t check;        /* of the fields before */
};

/* What columns begin with. The columns follow in the order of these fields. */
struct dw_pack_columns {
	uint32_t table;        /* u32: second words of records, the most frequent one first; at most 254 */
	uint32_t records;      /* of each one u8: 0 an end, 1 to 254 a word of the table, 255 the next of `others`;
	                        * u8: delta / step, its lowest 8 bits;
	                        * u8: the next 8 bits, or 255: the next of `highs` has delta / step >> 8;
	                        * u8, only if step > 1: delta % step */
	uint32_t step;         /* of which most deltas of time are multiples; 1 to 255 */
	uint32_t others;       /* u32: second words that are not in the table */
	uint32_t highs;        /* u32 */
	uint32_t addresses;    /* u32: the first two payload words of ALLOC and FREE */
	uint32_t payload;      /* u32: all other payload words */
	uint32_t reserved;
};
#define DW_PACK_TABLE 254u
#define DW_PACK_OTHER 255u

/* The checksum of bytes that are a multiple of 8, or filled up with zeros; `sum` is that of the bytes before them, or
 * 0. Each step can be undone, so that a change of one word always changes the result. */
static inline uint64_t dw_pack_check(uint64_t sum, const void *bytes, uint64_t count)
{
	const unsigned char *at = bytes;

	for (uint64_t word; count; at += sizeof word) {
		uint64_t now = count < sizeof word ? count : sizeof word;

		word = 0;
		__builtin_memcpy(&word, at, now);
		sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
		sum = sum << 29 | sum >> 35;
		count -= now;
	}
	return sum;
}

static inline uint64_t dw_pack_check_part(const struct dw_pack_part *part, const void *stored)
{
	struct dw_pack_part copy = *part;

	copy.check = 1;
	return dw_pack_check(dw_pack_check(0, &copy, sizeof copy), stored, part->stored_bytes);
}
