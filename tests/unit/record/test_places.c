/* Sums of times by the lines of the program: what is in steps, what is not, and many lines. */
#include "check.h"

#include <errno.h>

#include "dwell/dwell.h"
#include "session.h"

#include "record/places.c"

#define MOST 1000

static struct dw_entry_place found[MOST];

/* Reads the PLACE entries of the session's file. Returns their number. */
static unsigned read_places(void)
{
	static char block[DW_BLOCK_BYTES];
	FILE *file = fopen(session_path, "rb");
	unsigned count = 0;

	while (file && fread(block, sizeof block, 1, file) == 1) {
		const struct dw_chunk *chunk = (const struct dw_chunk *)(const void *)block;

		if (chunk->magic != DW_CHUNK_MAGIC || chunk->type != DW_CHUNK_JOURNAL)
			continue;
		for (size_t at = sizeof *chunk; at + sizeof(struct dw_entry) < sizeof block;) {
			struct dw_entry entry;

			memcpy(&entry, block + at, sizeof entry);
			if (!entry.bytes)
				break;
			if (entry.tag == DW_ENTRY_TAG(DW_ENTRY_PLACE) && count < MOST)
				memcpy(&found[count++], block + at, sizeof found[0]);
			at += entry.bytes;
		}
	}
	if (file)
		fclose(file);
	return count;
}

static void between(uint32_t from, uint32_t to, uint64_t start, uint64_t end)
{
	dwell_place_add(DWELL_PLACE_BETWEEN, from, to, 0, start, end, DWELL_PLACE_NO_CPU);
}

TEST(times_in_steps_and_outside)
{
	struct dw_slot *slot;
	enum dw_loss cause;

	REQUIRE(session_begin(0));
	slot = dw_slot_here(&cause);
	REQUIRE(slot != NULL);
	between(1, 2, 10, 20); /* start-up: there is no step yet */
	dwell_step_begin();
	slot->step->start_ticks = 100;
	between(1, 2, 50, 150);
	between(1, 2, 160, 170);
	dwell_place_add(DWELL_PLACE_BETWEEN, 1, 2, 0, 180, 190, 7);
	dwell_place_add(DWELL_PLACE_OPERATOR, 1, 0, 5, 200, 300, DWELL_PLACE_NO_CPU);
	dwell_step_end();
	slot->ended_start = 100;
	slot->ended_end = 1000;
	between(1, 2, 900, 1100);
	between(1, 2, 2000, 2050);
	dwell_step_begin();
	slot->step->start_ticks = 3000;
	between(1, 2, 990, 3010);
	errno = 77;
	between(1, 2, 3050, 3050); /* no time */
	CHECK_EQ(errno, 77);
	REQUIRE(read_places() == 2);
	CHECK_EQ(found[0].entry.aux, DW_PLACE_BETWEEN);
	CHECK_EQ(found[0].from, 1);
	CHECK_EQ(found[0].to, 2);
	CHECK_EQ(found[0].count, 6);
	CHECK_EQ(found[0].step_ticks, 50 + 10 + 10 + 100 + 10 + 10);
	CHECK_EQ(found[0].other_ticks, 100 + 50 + 2000);
	CHECK_EQ(found[0].longest_ticks, 2020);
	CHECK_EQ(found[0].cpu_ns, 7);
	CHECK_EQ(found[0].cpu_ticks, 10);
	CHECK_EQ(found[1].entry.aux, DW_PLACE_OPERATOR);
	CHECK_EQ(found[1].op, 5);
	CHECK_EQ(found[1].step_ticks, 100);
	session_end();
}

TEST(a_step_that_is_found_late)
{
	struct dw_slot *slot;
	enum dw_loss cause;
	uint64_t start;

	REQUIRE(session_begin(0));
	slot = dw_slot_here(&cause);
	REQUIRE(slot != NULL);
	dwell_step_begin();
	dwell_step_end();
	start = slot->ended_end + 1000;
	between(1, 2, start - 500, start + 500);
	between(1, 2, start + 600, start + 700);
	REQUIRE(read_places() == 1);
	CHECK_EQ(found[0].other_ticks, 1100);
	dwell_step_begin_at(start); /* it began in the middle of the first time */
	REQUIRE(read_places() == 1);
	CHECK_EQ(found[0].other_ticks, 500);
	CHECK_EQ(found[0].step_ticks, 600);
	dwell_step_end();
	dwell_step_begin();
	REQUIRE(read_places() == 1);
	CHECK_EQ(found[0].step_ticks, 600);
	session_end();
}

TEST(very_many_lines_share_an_entry)
{
	struct dw_slot *slot;
	enum dw_loss cause;
	uint64_t sum = 0;
	unsigned count;

	REQUIRE(session_begin(0));
	slot = dw_slot_here(&cause);
	REQUIRE(slot != NULL);
	dwell_step_begin();
	slot->step->start_ticks = 1;
	for (uint32_t i = 0; i < 5000; i++)
		between(i + 1, i + 2, 100 * i + 100, 100 * i + 150);
	count = read_places();
	CHECK_EQ(count, DW_PLACES_MOST + 1);
	for (unsigned i = 0; i < count; i++)
		sum += found[i].step_ticks;
	CHECK_EQ(sum, 5000 * 50);
	CHECK_EQ(found[count - 1].from, 0);
	CHECK_EQ(found[count - 1].count, 5000 - DW_PLACES_MOST);
	session_end();
}

TEST(a_new_session_begins_anew)
{
	for (int i = 0; i < 2; i++) {
		REQUIRE(session_begin(0));
		dwell_step_begin();
		between(1, 2, dw_now(), dw_now() + 1000000);
		REQUIRE(read_places() == 1);
		CHECK_EQ(found[0].count, 1);
		session_end();
	}
	CHECK_EQ(dwell_ticks_of_ms(), UINT64_MAX);
	between(1, 2, 1, 2);
}

CHECK_MAIN
