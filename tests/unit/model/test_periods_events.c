/* The events of a period: each comes back as it was added, whatever its times, and takes few bytes. */
#include "check.h"

#include "model/steps/periods_events.h"

enum { COUNT = 20 * DW_PERIOD_BLOCK + 7, PATHS = 300 };

static struct dw_period_events events;
static struct dw_period_event wanted[COUNT];
static uint64_t state;

static uint64_t random_below(uint64_t most)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % most;
}

/* Of any size: a number of bits, and then the bits. */
static uint64_t random_size(void)
{
	return random_below(1ull << random_below(50));
}

static bool is_same(size_t i, const struct dw_period_event *event)
{
	struct dw_period_event found = dw_period_at(&events, i);

	return found.start == event->start && found.end == event->end && found.path == event->path &&
	       dw_period_path_at(&events, i) == event->path;
}

static void check_all(size_t count)
{
	size_t wrong = 0;

	REQUIRE(events.count == count);
	for (size_t i = 0; i < count; i++)
		wrong += !is_same(i, &wanted[i]);
	CHECK_EQ(wrong, 0);
}

/* Events that end at once, later, or long after others have begun. */
static void add_events(uint64_t seed, uint64_t (*size)(void))
{
	static size_t open[COUNT];
	uint64_t at = 1ull << 40;
	size_t depth = 0;

	state = seed;
	events = (struct dw_period_events){ .count = 0 };
	for (size_t i = 0; i < COUNT; i++) {
		at += size();
		wanted[i] = (struct dw_period_event){ at, at, (uint32_t)random_below(PATHS) };
		REQUIRE(dw_period_add(&events, &wanted[i]));
		open[depth++] = i;
		while (depth && (i + 1 == COUNT || random_below(3))) {
			if (random_below(400) == 0 && i + 1 < COUNT)
				break; /* it stays open for long */
			at += size();
			wanted[open[--depth]].end = at;
			REQUIRE(dw_period_end_at(&events, open[depth], at));
		}
	}
}

TEST(events_come_back_as_they_were)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		add_events(seed * 77, random_size);
		check_all(COUNT);
		dw_period_events_reset(&events);
	}
}

TEST(events_that_do_not_count_are_dropped)
{
	for (uint64_t seed = 1; seed <= 10; seed++) {
		bool counts[PATHS];
		size_t kept = 0;

		add_events(seed * 91, random_size);
		for (size_t i = 0; i < PATHS; i++)
			counts[i] = random_below(10) < seed;
		for (size_t i = 0; i < COUNT; i++)
			if (counts[wanted[i].path])
				wanted[kept++] = wanted[i];
		REQUIRE(dw_period_keep(&events, counts));
		check_all(kept);
		dw_period_events_reset(&events);
	}
}

TEST(times_that_run_backward_come_back)
{
	events = (struct dw_period_events){ .count = 0 };
	state = 5;
	for (size_t i = 0; i < COUNT; i++) {
		uint64_t at = random_size();

		wanted[i] = (struct dw_period_event){ at, at + random_size() * (i % 2), PATHS + 1 };
		REQUIRE(dw_period_add(&events, &wanted[i]));
	}
	check_all(COUNT);
	dw_period_events_reset(&events);
}

/* Microseconds in ticks of a processor. */
static uint64_t usual_size(void)
{
	return 1000 + random_below(50000);
}

TEST(an_event_takes_eight_bytes)
{
	double bits = 0;

	add_events(3, usual_size);
	for (size_t i = 0; i < events.block_count; i++)
		bits += events.blocks[i].start_bits + events.blocks[i].length_bits + 8u * events.blocks[i].path_bytes;
	CHECK(bits / 8 / (double)events.block_count <= 8.5);
	CHECK(events.late_count < COUNT / 20);
	dw_period_events_reset(&events);
}

CHECK_MAIN
