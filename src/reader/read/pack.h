/*
 * Stored traces (format/pack.h): reading and writing them.
 *
 *   pack_columns  the records of a chunk as columns, and back
 *   pack_read     opens a stored trace and unpacks its blocks, each when it is asked for
 *   pack_write    makes a stored trace of a trace, and a trace of a stored one
 *   pack_window   what a part of a trace needs of each block
 *
 * A reader has a stored trace's part headers in memory, and of its blocks at most 64 MiB. Each other block is read and
 * unpacked when it is asked for.
 */
#pragma once

#include <stdio.h>

#include "base/arena.h"
#include "dwell/dwell.h"
#include "format/pack.h"

#define DW_PACK_MOST_WORDS ((DW_BLOCK_BYTES - DW_CHUNK_HEADER_BYTES) / 4)
/* Upper bound of the bytes of a block as columns: four bytes and one word for each record, and the table. */
#define DW_PACK_COLUMNS_BYTES (sizeof(struct dw_pack_columns) + 4 * DW_PACK_TABLE + 8 * DW_PACK_MOST_WORDS)
/* Columns are compressed in pieces, because different bytes are frequent in each. */
#define DW_PACK_PIECES 7

struct dw_pack;

/* A block of a stored trace. */
struct dw_pack_place {
	struct dw_pack *pack;
	uint64_t offset;       /* of its stored bytes */
	struct dw_pack_part part;
};

struct dw_pack_trace {
	struct dw_pack *pack;
	const struct dw_pack_place *places; /* by block; the first one is the trace's head */
	size_t count;
	uint64_t image_bytes;  /* size of the trace, up to where the file ends */
	bool torn;             /* the file ends in its middle */
	const char *note;      /* what is damaged, or NULL; in the arena */
};

static inline bool dw_pack_is(const void *data, size_t size)
{
	return size >= 8 && __builtin_memcmp(data, DW_PACK_MAGIC, 8) == 0;
}

/* Reads all headers, and checks all bytes. `fd` stays open until dw_pack_close(), and is the caller's. */
int dw_pack_open(struct dw_pack_trace *trace, int fd, uint64_t size, const char *path, struct dw_arena *arena,
                 struct dwell_error *error);
void dw_pack_close(struct dw_pack *pack);
/* Fills `block`, of DW_BLOCK_BYTES. False: its bytes make no sense, or there is no memory. Several threads may
 * call it. */
bool dw_pack_unpack(const struct dw_pack_place *place, void *block);
/* The block, either in `buffer` or in memory that lasts until dw_pack_close(). NULL: as dw_pack_unpack(). */
const void *dw_pack_borrow(const struct dw_pack_place *place, void *buffer);

/* A part of a run, in ticks of its file. */
struct dw_pack_window {
	uint64_t from_ticks, to_ticks;
	uint32_t blocks; /* of the trace */
	uint32_t first_call, last_call; /* numbers of the calls in it for which devices work; first > last: none is known */
};

struct dw_source;
/* Finds the calls in the window that the driver reported. First of all; `source` is that of the trace. */
void dw_pack_see_source(struct dw_pack_window *window, const struct dw_source *source);
/* Finds the calls in a block of records. For each block before the first dw_pack_cut(). */
void dw_pack_see(struct dw_pack_window *window, const void *block);
/* Leaves in a block only what the window needs: records of its time, work of devices for calls of its time, names, and
 * its steps. False: nothing. */
bool dw_pack_cut(const struct dw_pack_window *window, uint32_t number, void *block);

/* Stores the trace in `from` in `to`, an empty file; `path` is for messages. With a window, stores only this part, as a
 * trace of a run that has ended; then the trace may be still written. */
int dw_pack_write(int from, const char *path, FILE *to, struct dw_pack_window *window, struct dwell_error *error);
/* Writes the trace that is stored in `path`, byte for byte. */
int dw_pack_write_trace(const struct dw_pack_trace *trace, int to, const char *path, struct dwell_error *error);

/* Makes columns of the records at `words`; returns how many words the records have. The columns begin with the
 * pieces, of these sizes, without gaps. */
struct dw_pack_space;
struct dw_pack_space *dw_pack_space_create(void);
uint32_t dw_pack_to_columns(struct dw_pack_space *space, const uint32_t *words, uint32_t count, uint8_t *columns,
                            uint32_t pieces[DW_PACK_PIECES]);
/* False: the columns are not those of exactly `count` words. */
bool dw_pack_from_columns(const uint8_t *bytes, size_t size, uint32_t *words, uint32_t count);
