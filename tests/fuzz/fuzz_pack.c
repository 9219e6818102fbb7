/*
 * Property: whatever the bytes of a stored trace, opening it and unpacking its blocks ends, without a fault, within
 * memory and time that the file's size bounds.
 *
 * Checksums keep a fuzzer out. So those of the input are made right first, wherever a part would be.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "bounds.h"
#include "file.h"
#include "read/pack.h"
#include "read/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Corrects the checksums of all parts of a stored trace that lie in these bytes. */
static void fix_checks(uint8_t *bytes, size_t size)
{
	struct dw_pack_head head;
	struct dw_pack_part part;
	struct dw_pack_end end;

	if (size < sizeof head)
		return;
	memcpy(&head, bytes, sizeof head);
	head.check = dw_pack_check(0, &head, offsetof(struct dw_pack_head, check));
	memcpy(bytes, &head, sizeof head);
	for (size_t at = sizeof head; size - at >= sizeof part; at += sizeof part + part.stored_bytes) {
		memcpy(&part, bytes + at, sizeof part);
		if (part.stored_bytes > size - at - sizeof part)
			break;
		part.check = dw_pack_check_part(&part, bytes + at + sizeof part);
		memcpy(bytes + at, &part, sizeof part);
	}
	if (size < sizeof head + sizeof end)
		return;
	memcpy(&end, bytes + size - sizeof end, sizeof end);
	end.check = dw_pack_check(0, &end, offsetof(struct dw_pack_end, check));
	memcpy(bytes + size - sizeof end, &end, sizeof end);
}

/* Unpacks all blocks. Returns how many bytes they have. */
static size_t unpack_all(int fd, size_t size)
{
	struct dw_arena arena = { .blocks = NULL };
	static uint8_t block[DW_BLOCK_BYTES];
	struct dw_pack_trace trace;
	size_t bytes = 0;

	if (dw_pack_open(&trace, fd, size, "fuzz", &arena, NULL) == 0)
		for (size_t i = 0; i < trace.count; i++) {
			bytes += trace.places[i].part.content_bytes;
			dw_pack_unpack(&trace.places[i], block);
		}
	dw_pack_close(trace.pack);
	dw_arena_reset(&arena);
	demand(bytes <= size * DW_PACK_MOST_RATIO);
	return bytes;
}

static void read_all(const char *path)
{
	static uint32_t buffer[DW_BLOCK_BYTES / 4];
	volatile uint32_t last;
	struct dw_source *source;

	if (dw_source_open(&source, &path, 1, NULL) != 0)
		return;
	for (size_t s = 0; s < source->stream_count; s++)
		for (size_t i = 0; i < source->streams[s].chunk_count; i++) {
			const struct dw_source_chunk *chunk = &source->streams[s].chunks[i];
			const uint32_t *words = dw_source_borrow(chunk, buffer);

			last = words && chunk->word_count ? words[chunk->word_count - 1] : 0;
		}
	(void)last;
	dw_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);
	size_t bytes;
	int fd;

	demand(copy != NULL);
	memcpy(copy, data, size);
	fix_checks(copy, size);
	file_begin(size ? size : 1);
	file_write(0, copy, size);
	free(copy);
	fd = open(FILE_PATH, O_RDONLY | O_CLOEXEC);
	demand(fd >= 0);
	bounds_begin();
	bytes = unpack_all(fd, size);
	read_all(FILE_PATH);
	bounds_end(data, size, size + bytes);
	close(fd);
	return 0;
}
