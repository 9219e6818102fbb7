/*
 * Writes stored traces; see pack.h.
 *
 * Called by the command. Each block is unpacked again before it is written, and stored as it is if that does not make
 * the same bytes: a trace may be removed once it is stored.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/grow.h"
#include "read/pack.h"

#ifdef DW_HAVE_ZSTD
#include <zstd.h>

#include "base/free.h"

#define LEVEL 3 /* higher ones take several times as long for a twentieth of the size */

struct storing {
	const char *path;
	int from;
	FILE *to;
	struct dw_pack_window *window; /* NULL: all of the trace */
	uint64_t at;                 /* bytes that are written */
	ZSTD_CCtx *zstd;
	ZSTD_DCtx *unzstd;
	struct dw_pack_space *space;
	struct dw_pack_part *parts;
	size_t count, capacity;
	uint8_t block[DW_BLOCK_BYTES], again[DW_BLOCK_BYTES];
	uint8_t columns[DW_PACK_COLUMNS_BYTES], stored[DW_PACK_COLUMNS_BYTES + DW_BLOCK_BYTES];
};

static bool storing_write(struct storing *storing, const void *bytes, size_t count)
{
	storing->at += count;
	return fwrite(bytes, 1, count, storing->to) == count;
}

/* Compresses pieces that follow each other, each for itself, behind `used` bytes that are stored. Returns the new size; 0
 * if it failed. What differs by chance is not searched for short repetitions: they save nothing, and unpacking them
 * takes twice the time. */
static uint32_t storing_compress(struct storing *storing, uint32_t used, const void *bytes, const uint32_t *pieces,
                                 size_t count, bool by_chance)
{
	ZSTD_outBuffer out = { storing->stored, sizeof storing->stored, used };
	size_t total = 0, left = 0;

	for (size_t i = 0; i < count; i++)
		total += pieces[i];
	ZSTD_CCtx_reset(storing->zstd, ZSTD_reset_session_only);
	ZSTD_CCtx_setParameter(storing->zstd, ZSTD_c_compressionLevel, by_chance ? 1 : LEVEL);
	ZSTD_CCtx_setParameter(storing->zstd, ZSTD_c_minMatch, by_chance ? 7 : 0);
	ZSTD_CCtx_setPledgedSrcSize(storing->zstd, total);
	for (size_t i = 0; i < count && !left; i++) {
		ZSTD_inBuffer in = { bytes, pieces[i], 0 };

		left = ZSTD_compressStream2(storing->zstd, &out, &in, i + 1 < count ? ZSTD_e_flush : ZSTD_e_end);
		bytes = (const char *)bytes + pieces[i];
	}
	return left ? 0 : (uint32_t)out.pos;
}

/* The bytes of deltas of time, which are pieces 2 and 3, differ by chance. */
static uint32_t storing_compress_columns(struct storing *storing, const uint32_t pieces[DW_PACK_PIECES])
{
	const uint8_t *at = storing->columns;
	uint32_t used = storing_compress(storing, 0, at, pieces, 2, false);

	at += pieces[0] + pieces[1];
	if (used)
		used = storing_compress(storing, used, at, pieces + 2, 2, true);
	at += pieces[2] + pieces[3];
	return used ? storing_compress(storing, used, at, pieces + 4, DW_PACK_PIECES - 4, false) : 0;
}

/* How many bytes of the block are not the zeros at its end, rounded up to words; 0: none. */
static uint32_t storing_content(const struct storing *storing)
{
	uint32_t bytes = DW_BLOCK_BYTES;

	for (uint64_t last; bytes; bytes -= sizeof last) {
		memcpy(&last, storing->block + bytes - sizeof last, sizeof last);
		if (last)
			break;
	}
	return bytes && bytes < DW_CHUNK_HEADER_BYTES ? DW_CHUNK_HEADER_BYTES : bytes;
}

/* Whether what is stored has the allowed size. */
static bool pack_is_small(const struct dw_pack_part *part)
{
	return part->stored_bytes && part->stored_bytes < part->content_bytes - sizeof part->first &&
	       part->content_bytes <= ((uint64_t)part->stored_bytes + sizeof *part) * DW_PACK_MOST_RATIO;
}

/* Makes a part that is too small for its content as large as it must be, by a frame that zstd skips. */
static void storing_pad(struct storing *storing, struct dw_pack_part *part)
{
	uint32_t least = (part->content_bytes + DW_PACK_MOST_RATIO - 1) / DW_PACK_MOST_RATIO - (uint32_t)sizeof *part;
	uint8_t *frame = storing->stored + part->stored_bytes;
	uint32_t head[2] = { ZSTD_MAGIC_SKIPPABLE_START, 0 };

	if (!part->stored_bytes || part->content_bytes <= DW_PACK_MOST_RATIO * sizeof *part || part->stored_bytes >= least)
		return;
	head[1] = least > part->stored_bytes + sizeof head ? least - part->stored_bytes - (uint32_t)sizeof head : 0;
	memcpy(frame, head, sizeof head);
	memset(frame + sizeof head, 0, head[1]);
	part->stored_bytes += (uint32_t)sizeof head + head[1];
}

static bool storing_try_columns(struct storing *storing, struct dw_pack_part *part)
{
	const struct dw_chunk *header = (const void *)storing->block;
	uint32_t pieces[DW_PACK_PIECES], least = part->content_bytes, count;
	size_t got;

	if (header->magic != DW_CHUNK_MAGIC || header->type != DW_CHUNK_STREAM)
		return false;
	count = dw_pack_to_columns(storing->space, (const uint32_t *)(const void *)(header + 1), DW_PACK_MOST_WORDS,
	                           storing->columns, pieces);
	part->method = DW_PACK_COLUMNS;
	part->content_bytes = (uint32_t)sizeof *header + count * 4;
	part->stored_bytes = storing_compress_columns(storing, pieces);
	/* content_bytes may be in the middle of the last 8 bytes */
	if (part->content_bytes + 4 < least || !pack_is_small(part))
		return false;
	got = ZSTD_decompressDCtx(storing->unzstd, storing->columns, sizeof storing->columns, storing->stored,
	                          part->stored_bytes);
	memset(storing->again, 0, sizeof storing->again);
	return !ZSTD_isError(got) &&
	       dw_pack_from_columns(storing->columns, got, (uint32_t *)(void *)storing->again, count) &&
	       memcmp(storing->again, header + 1, sizeof storing->again - sizeof *header) == 0;
}

static bool storing_try_zstd(struct storing *storing, struct dw_pack_part *part)
{
	uint32_t bytes = part->content_bytes - (uint32_t)sizeof part->first;

	part->method = DW_PACK_ZSTD;
	part->stored_bytes = storing_compress(storing, 0, storing->block + sizeof part->first, &bytes, 1, false);
	storing_pad(storing, part);
	return pack_is_small(part) &&
	       ZSTD_decompressDCtx(storing->unzstd, storing->again, bytes, storing->stored, part->stored_bytes) == bytes &&
	       memcmp(storing->again, storing->block + sizeof part->first, bytes) == 0;
}

static bool storing_put_part(struct storing *storing, struct dw_pack_part *part, const void *stored)
{
	part->check = dw_pack_check_part(part, stored);
	return storing_write(storing, part, sizeof *part) && storing_write(storing, stored, part->stored_bytes);
}

static bool storing_put_block(struct storing *storing, uint32_t block)
{
	struct dw_pack_part part = { .block = block, .content_bytes = storing_content(storing) }, *kept;
	uint32_t content = part.content_bytes;
	const void *stored = storing->stored;

	if (!content && block)
		return true;
	content = part.content_bytes = content ? content : DW_CHUNK_HEADER_BYTES;
	memcpy(part.first, storing->block, sizeof part.first);
	if (!storing_try_columns(storing, &part)) {
		part.content_bytes = content;
		if (!storing_try_zstd(storing, &part)) {
			part.method = DW_PACK_PLAIN;
			part.stored_bytes = content - (uint32_t)sizeof part.first;
			stored = storing->block + sizeof part.first;
		}
	}
	if (!storing_put_part(storing, &part, stored))
		return false;
	kept = DW_GROW(&storing->parts, &storing->capacity, storing->count);
	if (kept) {
		*kept = part;
		storing->count++;
	}
	return kept;
}

/* Writes the index and the end. */
static bool storing_put_index(struct storing *storing)
{
	struct dw_pack_end end = { .index = storing->at, .parts = storing->count };
	size_t bytes = storing->count * sizeof *storing->parts, most = ZSTD_compressBound(bytes), stored;
	void *buffer = malloc(most);
	bool good;

	if (!buffer)
		return false;
	stored = ZSTD_compressCCtx(storing->zstd, buffer, most, storing->parts, bytes, LEVEL);
	struct dw_pack_part part = { DW_PACK_INDEX, DW_PACK_ZSTD, (uint32_t)bytes, (uint32_t)stored, 0, { 0 } };

	memcpy(end.magic, DW_PACK_END_MAGIC, sizeof end.magic);
	end.check = dw_pack_check(0, &end, offsetof(struct dw_pack_end, check));
	good = !ZSTD_isError(stored) && storing_put_part(storing, &part, buffer) &&
	       storing_write(storing, &end, sizeof end);
	free(buffer);
	return good;
}

/* The pack head is made of the trace's head, which is in `block`. */
static bool storing_put_head(struct storing *storing, uint64_t image_bytes)
{
	struct dw_pack_head head = { .version = DW_PACK_VERSION, .image_bytes = image_bytes };

	memcpy(&head, storing->block, offsetof(struct dw_pack_head, version));
	memcpy(head.magic, DW_PACK_MAGIC, sizeof head.magic);
	head.check = dw_pack_check(0, &head, offsetof(struct dw_pack_head, check));
	return storing_write(storing, &head, sizeof head);
}

/* Reads a block; what the trace does not have of it is 0. */
static bool storing_read(struct storing *storing, uint64_t offset, uint64_t bytes)
{
	ssize_t wanted = (ssize_t)(bytes - offset < DW_BLOCK_BYTES ? bytes - offset : DW_BLOCK_BYTES);

	memset(storing->block, 0, sizeof storing->block);
	return pread(storing->from, storing->block, (size_t)wanted, (off_t)offset) == wanted;
}

/* Whether what was read of a block is needed, and was not recycled meanwhile. */
static bool storing_keeps(struct storing *storing, uint64_t offset)
{
	uint64_t number = 0, before = ((const struct dw_chunk *)(const void *)storing->block)->number;

	if (!storing->window)
		return true;
	if (offset && pread(storing->from, &number, sizeof number,
	                    (off_t)(offset + offsetof(struct dw_chunk, number))) == sizeof number && number != before)
		return false;
	return dw_pack_cut(storing->window, (uint32_t)(offset / DW_BLOCK_BYTES), storing->block);
}

/* The next block at or after `offset` that is not in a hole of the file; `bytes`: there is none. */
static uint64_t storing_next(const struct storing *storing, uint64_t offset, uint64_t bytes)
{
	off_t data = offset && offset < bytes ? lseek(storing->from, (off_t)offset, SEEK_DATA) : (off_t)offset;

	if (offset && data < 0 && errno == ENXIO)
		return bytes;
	return data > (off_t)offset ? (uint64_t)data / DW_BLOCK_BYTES * DW_BLOCK_BYTES : offset;
}

static bool storing_see_all(struct storing *storing, uint64_t bytes)
{
	for (uint64_t offset = storing_next(storing, DW_BLOCK_BYTES, bytes); offset < bytes;
	     offset = storing_next(storing, offset + DW_BLOCK_BYTES, bytes)) {
		if (!storing_read(storing, offset, bytes))
			return false;
		dw_pack_see(storing->window, storing->block);
	}
	return true;
}

/* Stores all blocks. 0: done; otherwise errno, or -1: the trace could not be read. */
static int storing_put_all(struct storing *storing, uint64_t bytes)
{
	if (storing->window && !storing_see_all(storing, bytes))
		return -1;
	for (uint64_t offset = 0; offset < bytes; offset = storing_next(storing, offset + DW_BLOCK_BYTES, bytes)) {
		if (!storing_read(storing, offset, bytes))
			return -1;
		if (!storing_keeps(storing, offset))
			continue;
		if ((!offset && !storing_put_head(storing, bytes)) ||
		    !storing_put_block(storing, (uint32_t)(offset / DW_BLOCK_BYTES)))
			return errno;
	}
	return storing_put_index(storing) && fflush(storing->to) == 0 ? 0 : errno;
}

static int storing_run(struct storing *storing, struct dwell_error *error)
{
	struct stat status;
	int code;

	storing->zstd = ZSTD_createCCtx();
	storing->unzstd = ZSTD_createDCtx();
	storing->space = dw_pack_space_create();
	if (!storing->zstd || !storing->unzstd || !storing->space)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory storing %s", storing->path);
	if (fstat(storing->from, &status) != 0)
		return dw_error_set(error, DWELL_E_IO, "cannot look at %s: %s", storing->path, strerror(errno));
	code = storing_put_all(storing, (uint64_t)status.st_size);
	if (code > 0)
		return dw_error_set(error, DWELL_E_IO, "cannot store %s: %s", storing->path, strerror(code));
	return code ? dw_error_set(error, DWELL_E_IO, "cannot read %s: it changed while it was stored", storing->path) : 0;
}

int dw_pack_write(int from, const char *path, FILE *to, struct dw_pack_window *window, struct dwell_error *error)
{
	struct storing *storing = calloc(1, sizeof *storing);
	int result;

	if (!storing)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory storing %s", path);
	storing->path = path;
	storing->from = from;
	storing->to = to;
	storing->window = window;
	result = storing_run(storing, error);
	ZSTD_freeCCtx(storing->zstd);
	ZSTD_freeDCtx(storing->unzstd);
	DW_FREE(storing->space, storing->parts, storing);
	return result;
}
#else
int dw_pack_write(int from, const char *path, FILE *to, struct dw_pack_window *window, struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_ARGUMENT, "this dwell was built without zstd, so it cannot store traces: build it "
	                    "where libzstd's development files are installed");
}
#endif

int dw_pack_write_trace(const struct dw_pack_trace *trace, int to, const char *path, struct dwell_error *error)
{
	char *block = malloc(DW_BLOCK_BYTES);
	bool good = block && ftruncate(to, (off_t)trace->image_bytes) == 0;

	for (size_t i = 0; i < trace->count && good; i++) {
		uint64_t offset = (uint64_t)trace->places[i].part.block * DW_BLOCK_BYTES, left = trace->image_bytes - offset;
		size_t bytes = left < DW_BLOCK_BYTES ? (size_t)left : DW_BLOCK_BYTES;

		errno = EINVAL;
		good = dw_pack_unpack(&trace->places[i], block) && pwrite(to, block, bytes, (off_t)offset) == (ssize_t)bytes;
	}
	free(block);
	return good ? 0 : dw_error_set(error, DWELL_E_IO, "cannot write the trace of %s: %s", path, strerror(errno));
}
