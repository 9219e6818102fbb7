/*
 * Opens stored traces, and unpacks their blocks; see pack.h.
 *
 * Called by file.c, chunks.c and source_open.c. All checksums are compared when the trace is opened, so that a report
 * says what is damaged before it uses the rest. The file may have been made to harm its reader: what it says of sizes
 * is believed only within DW_PACK_MOST_RATIO of its own size. It is read and not mapped, because another program may
 * change it.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "base/error.h"
#include "base/grow.h"
#include "read/pack.h"

#ifndef DW_HAVE_ZSTD
int dw_pack_open(struct dw_pack_trace *trace, int fd, uint64_t size, const char *path, struct dw_arena *arena,
                 struct dwell_error *error)
{
	return dw_error_set(error, DWELL_E_NOT_TRACE,
	                    "%s is a stored trace, and this dwell was built without zstd: use one that was built with it",
	                    path);
}

void dw_pack_close(struct dw_pack *pack)
{
}

bool dw_pack_unpack(const struct dw_pack_place *place, void *block)
{
	return false;
}

const void *dw_pack_borrow(const struct dw_pack_place *place, void *buffer)
{
	return NULL;
}
#else
#include <zstd.h>

#include "base/free.h"

/* What unpacking a block needs. */
struct unpacker {
	struct unpacker *next;
	ZSTD_DCtx *zstd;
	uint8_t stored[DW_BLOCK_BYTES], columns[DW_PACK_COLUMNS_BYTES];
};

struct dw_pack {
	int fd;
	struct dw_pack_place *places;
	size_t count, capacity;
	void **kept;               /* unpacked blocks, by place; atomic: NULL until it is complete */
	pthread_mutex_t lock;      /* of the following */
	struct unpacker *unpackers; /* that no thread uses now */
	size_t kept_bytes;         /* of all kept blocks */
};

/* Walks read each block several times. So this much of a trace is kept unpacked. */
#define KEPT_BYTES ((size_t)64 << 20)

/* A pack that is being opened. */
struct opening {
	struct dw_pack *pack;
	uint64_t size;             /* of the file */
	uint32_t blocks;           /* of the trace */
	uint64_t at;               /* next part */
	uint64_t bad, bad_at;      /* parts that make no sense, and where the first one is */
};

static bool pack_read(const struct dw_pack *pack, void *to, size_t bytes, uint64_t offset)
{
	return pread(pack->fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* ---- blocks ------------------------------------------------------------------------------------- */

static struct unpacker *pack_take_unpacker(struct dw_pack *pack)
{
	struct unpacker *unpacker;

	pthread_mutex_lock(&pack->lock);
	unpacker = pack->unpackers;
	if (unpacker)
		pack->unpackers = unpacker->next;
	pthread_mutex_unlock(&pack->lock);
	if (unpacker)
		return unpacker;
	unpacker = malloc(sizeof *unpacker);
	if (unpacker && !(unpacker->zstd = ZSTD_createDCtx())) {
		free(unpacker);
		unpacker = NULL;
	}
	return unpacker;
}

static void pack_return_unpacker(struct dw_pack *pack, struct unpacker *unpacker)
{
	pthread_mutex_lock(&pack->lock);
	unpacker->next = pack->unpackers;
	pack->unpackers = unpacker;
	pthread_mutex_unlock(&pack->lock);
}

static bool pack_unpack_content(struct unpacker *unpacker, const struct dw_pack_part *part, uint8_t *to, size_t bytes)
{
	size_t got;

	if (part->method == DW_PACK_PLAIN) {
		memcpy(to, unpacker->stored, bytes);
		return true;
	}
	if (part->method == DW_PACK_ZSTD)
		return ZSTD_decompressDCtx(unpacker->zstd, to, bytes, unpacker->stored, part->stored_bytes) == bytes;
	got = ZSTD_decompressDCtx(unpacker->zstd, unpacker->columns, sizeof unpacker->columns, unpacker->stored,
	                          part->stored_bytes);
	return !ZSTD_isError(got) &&
	       dw_pack_from_columns(unpacker->columns, got, (uint32_t *)(void *)to, (uint32_t)(bytes / 4));
}

bool dw_pack_unpack(const struct dw_pack_place *place, void *block)
{
	const struct dw_pack_part *part = &place->part;
	struct unpacker *unpacker = pack_take_unpacker(place->pack);
	bool good;

	if (!unpacker)
		return false;
	memcpy(block, part->first, sizeof part->first);
	memset((char *)block + part->content_bytes, 0, DW_BLOCK_BYTES - part->content_bytes);
	good = pack_read(place->pack, unpacker->stored, part->stored_bytes, place->offset) &&
	       pack_unpack_content(unpacker, part, (uint8_t *)block + sizeof part->first,
	                           part->content_bytes - sizeof part->first);
	pack_return_unpacker(place->pack, unpacker);
	return good;
}

/* Memory for a block that may be kept; NULL: it is not kept. */
static void *pack_take_memory(struct dw_pack *pack)
{
	bool keep;

	pthread_mutex_lock(&pack->lock);
	keep = pack->kept_bytes < KEPT_BYTES;
	pack->kept_bytes += keep ? DW_BLOCK_BYTES : 0;
	pthread_mutex_unlock(&pack->lock);
	return keep ? malloc(DW_BLOCK_BYTES) : NULL;
}

const void *dw_pack_borrow(const struct dw_pack_place *place, void *buffer)
{
	struct dw_pack *pack = place->pack;
	void **kept = &pack->kept[place - pack->places], *block, *none = NULL;
	/* Pairs with the exchange below: what is kept is complete. */
	const void *known = __atomic_load_n(kept, __ATOMIC_ACQUIRE);

	if (known)
		return known;
	block = pack_take_memory(pack);
	if (!dw_pack_unpack(place, block ? block : buffer)) {
		free(block);
		return NULL;
	}
	if (!block)
		return buffer;
	if (__atomic_compare_exchange_n(kept, &none, block, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return block;
	free(block); /* another thread was first */
	return none;
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* Whether the part can be one of this trace, after its last one. */
static bool pack_is_part(const struct opening *opening, const struct dw_pack_part *part)
{
	const struct dw_pack *pack = opening->pack;
	uint64_t most = ((uint64_t)part->stored_bytes + sizeof *part) * DW_PACK_MOST_RATIO;

	return part->block < opening->blocks && part->method <= DW_PACK_COLUMNS &&
	       (!pack->count || part->block > pack->places[pack->count - 1].part.block) &&
	       part->content_bytes >= sizeof part->first && part->content_bytes <= DW_BLOCK_BYTES &&
	       part->content_bytes % 4 == 0 && part->stored_bytes <= DW_BLOCK_BYTES && part->content_bytes <= most &&
	       (part->method != DW_PACK_PLAIN || part->stored_bytes == part->content_bytes - sizeof part->first);
}

/* Keeps the next part if its bytes are those that were stored. -1 if out of memory. */
static int pack_take_part(struct opening *opening, const struct dw_pack_part *part, void *buffer)
{
	struct dw_pack *pack = opening->pack;
	uint64_t offset = opening->at + sizeof *part;

	opening->at = offset + part->stored_bytes;
	if (!pack_is_part(opening, part) || !pack_read(pack, buffer, part->stored_bytes, offset) ||
	    dw_pack_check_part(part, buffer) != part->check) {
		if (!opening->bad++)
			opening->bad_at = offset - sizeof *part;
		return 0;
	}
	return DW_APPEND(&pack->places, &pack->capacity, &pack->count,
	                 (struct dw_pack_place){ pack, offset, *part }) ? 0 : -1;
}

/* Reads the index, whose parts fill the file up to it. NULL: there is no index, or it is not whole. */
static struct dw_pack_part *pack_read_index(const struct opening *opening, uint64_t *count)
{
	const struct dw_pack *pack = opening->pack;
	uint64_t end_at = opening->size - sizeof(struct dw_pack_end), at = DW_PACK_HEAD_BYTES, bytes;
	struct dw_pack_part index, *parts = NULL;
	struct dw_pack_end end;
	void *stored = NULL;
	bool good;

	if (opening->size < DW_PACK_HEAD_BYTES + sizeof index + sizeof end || !pack_read(pack, &end, sizeof end, end_at) ||
	    memcmp(end.magic, DW_PACK_END_MAGIC, sizeof end.magic) != 0 ||
	    end.check != dw_pack_check(0, &end, offsetof(struct dw_pack_end, check)) ||
	    end.index < DW_PACK_HEAD_BYTES || end.index > end_at - sizeof index ||
	    !pack_read(pack, &index, sizeof index, end.index) || index.block != DW_PACK_INDEX ||
	    end.index + sizeof index + index.stored_bytes != end_at || end.parts > opening->size / sizeof index)
		return NULL;
	bytes = end.parts * sizeof *parts;
	stored = malloc(index.stored_bytes + 1);
	parts = malloc(bytes + 1);
	good = stored && parts && pack_read(pack, stored, index.stored_bytes, end.index + sizeof index) &&
	       dw_pack_check_part(&index, stored) == index.check &&
	       ZSTD_decompress(parts, bytes, stored, index.stored_bytes) == bytes;
	for (uint64_t i = 0; good && i < end.parts; i++)
		at += sizeof *parts + parts[i].stored_bytes;
	free(stored);
	*count = end.parts;
	if (good && at == end.index)
		return parts;
	free(parts);
	return NULL;
}

static int pack_take_index(struct opening *opening, const struct dw_pack_part *parts, uint64_t count, void *buffer)
{
	int result = 0;

	for (uint64_t i = 0; i < count && !result; i++)
		result = pack_take_part(opening, &parts[i], buffer);
	return result;
}

/* Goes from part to part, in a file whose end was cut off or is damaged. *left: bytes after the trace's end. */
static int pack_scan(struct opening *opening, void *buffer, bool *torn, uint64_t *left)
{
	struct dw_pack_part part;
	int result = 0;

	*torn = false;
	while (!result) {
		uint64_t after;

		if (!pack_read(opening->pack, &part, sizeof part, opening->at)) {
			*torn = true;
			return 0;
		}
		after = opening->at + sizeof part + part.stored_bytes;
		if (part.block == DW_PACK_INDEX) {
			after += sizeof(struct dw_pack_end);
			*left = after < opening->size ? opening->size - after : 0;
			return 0;
		}
		if (part.stored_bytes > DW_BLOCK_BYTES || after > opening->size) {
			*torn = true;
			return 0;
		}
		result = pack_take_part(opening, &part, buffer);
	}
	return result;
}

static const char *pack_note(const struct opening *opening, uint64_t left, struct dw_arena *arena)
{
	if (opening->bad)
		return dw_arena_printf(arena, "%llu stored block%s damaged (wrong checksum, the first at byte %llu) and left "
		                       "out; copy the file again", (unsigned long long)opening->bad,
		                       opening->bad == 1 ? " is" : "s are", (unsigned long long)opening->bad_at);
	return left ? dw_arena_printf(arena, "%llu bytes after the trace's end are not part of it",
	                              (unsigned long long)left) : NULL;
}

static int pack_read_parts(struct opening *opening, struct dw_pack_trace *trace, struct dw_arena *arena)
{
	void *buffer = malloc(DW_BLOCK_BYTES);
	struct dw_pack_part *parts;
	uint64_t count, left = 0;
	int result = -1;

	opening->at = DW_PACK_HEAD_BYTES;
	parts = buffer ? pack_read_index(opening, &count) : NULL;
	if (parts)
		result = pack_take_index(opening, parts, count, buffer);
	else if (buffer)
		result = pack_scan(opening, buffer, &trace->torn, &left);
	trace->note = pack_note(opening, left, arena);
	DW_FREE(parts, buffer);
	return result;
}

static int pack_check_head(const struct dw_pack_head *head, uint64_t size, const char *path, struct dwell_error *error)
{
	if (size < sizeof *head)
		return dw_error_set(error, DWELL_E_CORRUPT, "%s is a stored trace that ends at byte %llu, inside its head: "
		                    "nothing can be recovered", path, (unsigned long long)size);
	if (head->version > DW_PACK_VERSION)
		return dw_error_set(error, DWELL_E_VERSION, "%s is a stored trace of version %u; dwell %s reads up to version "
		                    "%u: use a newer dwell", path, head->version, DWELL_VERSION, DW_PACK_VERSION);
	if (head->check != dw_pack_check(0, head, offsetof(struct dw_pack_head, check)) ||
	    head->image_bytes > (uint64_t)UINT32_MAX * DW_BLOCK_BYTES)
		return dw_error_set(error, DWELL_E_CORRUPT, "%s is a stored trace whose head is damaged (wrong checksum at "
		                    "byte 504): copy it again", path);
	return 0;
}

int dw_pack_open(struct dw_pack_trace *trace, int fd, uint64_t size, const char *path, struct dw_arena *arena,
                 struct dwell_error *error)
{
	struct opening opening = { .size = size };
	struct dw_pack_head head = { .version = 0 };
	struct dw_pack *pack;
	int result;

	*trace = (struct dw_pack_trace){ .pack = NULL };
	if (size >= sizeof head && pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head)
		return dw_error_set(error, DWELL_E_IO, "cannot read %s: %s", path, strerror(errno));
	result = pack_check_head(&head, size, path, error);
	if (result)
		return result;
	opening.blocks = (uint32_t)((head.image_bytes + DW_BLOCK_BYTES - 1) / DW_BLOCK_BYTES);
	opening.pack = trace->pack = pack = calloc(1, sizeof *pack);
	if (!pack)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory opening %s", path);
	pack->fd = fd;
	pthread_mutex_init(&pack->lock, NULL);
	if (pack_read_parts(&opening, trace, arena))
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory opening %s", path);
	if (!pack->count || pack->places->part.block)
		return dw_error_set(error, DWELL_E_CORRUPT, "%s is a stored trace without the first block, at byte %u: nothing "
		                    "can be recovered", path, DW_PACK_HEAD_BYTES);
	pack->kept = calloc(pack->count, sizeof *pack->kept);
	if (!pack->kept)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory opening %s", path);
	trace->places = pack->places;
	trace->count = pack->count;
	trace->image_bytes = head.image_bytes;
	if (trace->torn) {
		uint64_t end = ((uint64_t)pack->places[pack->count - 1].part.block + 1) * DW_BLOCK_BYTES;

		trace->image_bytes = end < head.image_bytes ? end : head.image_bytes;
	}
	return 0;
}

void dw_pack_close(struct dw_pack *pack)
{
	if (!pack)
		return;
	while (pack->unpackers) {
		struct unpacker *unpacker = pack->unpackers;

		pack->unpackers = unpacker->next;
		ZSTD_freeDCtx(unpacker->zstd);
		free(unpacker);
	}
	for (size_t i = 0; pack->kept && i < pack->count; i++)
		free(pack->kept[i]);
	free(pack->kept);
	pthread_mutex_destroy(&pack->lock);
	DW_FREE(pack->places, pack);
}
#endif
