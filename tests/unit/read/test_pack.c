/* Stored traces: they give back the bytes of the trace, and whatever is done to their bytes is noticed or does no harm. */
#include "made.h"

#include "format/decode.h"
#include "read/pack.h"
#include "read/read.h"

/* A stored trace as bytes, and the file that it is in. */
struct stored {
	struct made made;
	uint8_t *bytes;
	size_t size;
	int fd;
};

/* A few chunks of records of many kinds, so that there are columns with and without a table. */
static void stored_fill(struct made *made)
{
	uint32_t ops[8], seed = 1;
	uint64_t block[2] = { 0, 4096 };
	char name[16];

	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof name, "op %d", i);
		ops[i] = made_op(made, DWELL_CATEGORY_OPERATOR, name);
	}
	for (uint64_t i = 0, now = 1000; i < 9000; i++) {
		seed = seed * 1664525u + 1013904223u;
		now += (seed >> 20) * (i % 100 ? 26 : 40000);
		dw_encode_begin(&made->stream, now, ops[seed >> 29]);
		block[0] = 0x7f0000001000 + (seed >> 28) * 64;
		if (i % 7 == 0)
			dw_encode_record(&made->stream, now, DW_ALLOC, ops[0], block, 4);
		if (i % 11 == 0)
			dw_encode_record(&made->stream, now, DW_COUNTER, ops[1] + (uint32_t)i, &block[1], 2);
		dw_encode_end(&made->stream, now + (seed >> 24));
	}
}

static bool stored_init(struct stored *stored)
{
	FILE *file = tmpfile();
	bool good;

	made_init(&stored->made);
	stored_fill(&stored->made);
	dw_encode_close(&stored->made.stream);
	good = file && made_write(&stored->made, stored->made.encode.image, dw_encode_bytes(&stored->made.encode)) == 0 &&
	       dw_pack_write(stored->made.file, "made", file, NULL, &stored->made.error) == 0;
	stored->size = good ? (size_t)ftell(file) : 0;
	stored->bytes = malloc(stored->size + 64);
	stored->fd = memfd_create("stored", MFD_CLOEXEC);
	good = good && stored->bytes && pread(fileno(file), stored->bytes, stored->size, 0) == (ssize_t)stored->size;
	if (file)
		fclose(file);
	return good;
}

static void stored_reset(struct stored *stored)
{
	free(stored->bytes);
	close(stored->fd);
	made_close(&stored->made);
}

/* Opens the bytes as a stored trace. Every block that can be unpacked and is not reported must be as it was. *same: all
 * are there. */
static int stored_open(struct stored *stored, size_t size, bool *same, bool *reported)
{
	const char *image = (const char *)stored->made.encode.image;
	struct dw_arena arena = { .blocks = NULL };
	struct dw_pack_trace trace;
	static char block[DW_BLOCK_BYTES];
	int code;

	if (ftruncate(stored->fd, 0) || pwrite(stored->fd, stored->bytes, size, 0) != (ssize_t)size)
		return -100;
	code = dw_pack_open(&trace, stored->fd, size, "stored", &arena, &stored->made.error);
	*same = !code && trace.count == dw_encode_bytes(&stored->made.encode) / DW_BLOCK_BYTES;
	*reported = code || trace.torn || trace.note;
	for (size_t i = 0; !code && i < trace.count; i++)
		*same &= dw_pack_unpack(&trace.places[i], block) &&
		         memcmp(block, image + (size_t)trace.places[i].part.block * DW_BLOCK_BYTES, DW_BLOCK_BYTES) == 0;
	dw_pack_close(trace.pack);
	dw_arena_reset(&arena);
	return code;
}

TEST(a_stored_trace_gives_back_the_bytes)
{
	struct stored stored;
	bool same, reported;

	REQUIRE(stored_init(&stored));
	CHECK_EQ(stored_open(&stored, stored.size, &same, &reported), 0);
	CHECK(same && !reported);
	CHECK(stored.size * 3 < dw_encode_bytes(&stored.made.encode));
	stored_reset(&stored);
}

TEST(a_file_that_is_cut_anywhere_is_read_to_there)
{
	struct stored stored;
	bool same, reported;

	REQUIRE(stored_init(&stored));
	/* Each cut in the head, the first part and the end; every 97th in between. */
	for (size_t size = 0; size < stored.size; size += size < 2000 || size + 400 > stored.size ? 1 : 97) {
		stored_open(&stored, size, &same, &reported);
		if (!same && !reported) {
			CHECK_EQ(size, stored.size);
			break;
		}
	}
	stored_reset(&stored);
}

TEST(a_changed_byte_is_reported_or_changes_nothing)
{
	struct stored stored;
	bool same, reported;

	REQUIRE(stored_init(&stored));
	for (size_t at = 0; at < stored.size; at += at < 2000 || at + 400 > stored.size ? 1 : 89) {
		stored.bytes[at] ^= 0x41;
		stored_open(&stored, stored.size, &same, &reported);
		stored.bytes[at] ^= 0x41;
		if (!same && !reported) {
			CHECK_EQ(at, stored.size);
			break;
		}
	}
	stored_reset(&stored);
}

TEST(bytes_after_the_end_are_named)
{
	struct stored stored;
	bool same, reported;

	REQUIRE(stored_init(&stored));
	memset(stored.bytes + stored.size, 'x', 40);
	CHECK_EQ(stored_open(&stored, stored.size + 40, &same, &reported), 0);
	CHECK(same && reported);
	stored_reset(&stored);
}

TEST(a_newer_version_and_a_bomb_are_refused)
{
	struct stored stored;
	struct dw_pack_head *head;
	struct dw_pack_part *part;
	bool same, reported;

	REQUIRE(stored_init(&stored));
	head = (struct dw_pack_head *)(void *)stored.bytes;
	head->version++;
	CHECK_EQ(stored_open(&stored, stored.size, &same, &reported), DWELL_E_VERSION);
	CHECK(strstr(stored.made.error.message, "newer") != NULL);
	head->version--;
	/* A part that says that it becomes 65536 bytes, and that takes 88. */
	part = (struct dw_pack_part *)(void *)(stored.bytes + DW_PACK_HEAD_BYTES);
	part->method = DW_PACK_ZSTD;
	part->content_bytes = DW_BLOCK_BYTES;
	part->stored_bytes = 0;
	part->check = dw_pack_check_part(part, "");
	CHECK_EQ(stored_open(&stored, DW_PACK_HEAD_BYTES + sizeof *part, &same, &reported), DWELL_E_CORRUPT);
	stored_reset(&stored);
}

/* Whatever words are given, what they become gives them back, or is refused; and whatever columns are given, nothing
 * beyond the words is written. */
TEST(columns_of_any_words_give_them_back)
{
	static uint32_t words[DW_PACK_MOST_WORDS], again[DW_PACK_MOST_WORDS + 1];
	static uint8_t columns[DW_PACK_COLUMNS_BYTES];
	struct dw_pack_space *space = dw_pack_space_create();
	uint32_t seed = 7, pieces[DW_PACK_PIECES];
	int rounds = check_is_slow() ? 8 : 300;

	for (int round = 0; round < rounds; round++) {
		uint32_t count = DW_PACK_MOST_WORDS >> round % 8, used, size = 0;
		bool good = true;

		for (uint32_t i = 0; i < count; i++) {
			seed = seed * 1664525u + 1013904223u;
			words[i] = (round & 1 ? seed >> 8 & 0xf00000ff : seed) | 1;
		}
		used = dw_pack_to_columns(space, words, count, columns, pieces);
		for (int i = 0; i < DW_PACK_PIECES; i++)
			size += pieces[i];
		CHECK(used <= count && size <= sizeof columns);
		CHECK(dw_pack_from_columns(columns, size, again, used) && memcmp(words, again, used * 4) == 0);
		again[used] = 0x5a5a5a5a;
		for (int i = 0; i < 200 && good; i++) {
			seed = seed * 1664525u + 1013904223u;
			columns[(seed >> 8) % size] ^= (uint8_t)(1u << (seed & 7));
			dw_pack_from_columns(columns, i & 1 ? size : (seed >> 4) % (size + 1), again, used);
			good = again[used] == 0x5a5a5a5a;
		}
		CHECK(good);
	}
	free(space);
}

CHECK_MAIN
