/* Events in order: one buffer, many runs on disk, ties. */
#include "check.h"

#include "import/sort.h"

static uint64_t state;

static uint32_t sort_random(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

/* Adds `count` events and checks their order; `value` is the order in which they were added. */
static void check_order(size_t count, uint32_t threads, uint32_t times)
{
	struct dw_sort sort;
	struct dw_sort_event last = { .thread = 0 };
	const struct dw_sort_event *event;
	uint64_t sum = 0, wanted = 0;
	size_t got = 0;

	dw_sort_init(&sort);
	for (size_t i = 0; i < count; i++) {
		struct dw_sort_event one = { .thread = sort_random(threads), .start_ns = sort_random(times),
			.length_ns = sort_random(3), .value = i };

		wanted += i ^ one.thread;
		dw_sort_add(&sort, &one);
	}
	dw_sort_finish(&sort);
	for (; (event = dw_sort_next(&sort)); last = *event, got++) {
		bool before = event->thread != last.thread ? event->thread > last.thread
		              : event->start_ns != last.start_ns ? event->start_ns > last.start_ns
		              : event->length_ns != last.length_ns ? event->length_ns < last.length_ns
		                                                   : event->value > last.value;

		if (got && !before) {
			CHECK_FAIL("event %zu is out of order", got);
			break;
		}
		sum += event->value ^ event->thread;
	}
	CHECK_EQ(got, count);
	CHECK(sum == wanted);
	CHECK(!sort.failed);
	dw_sort_reset(&sort);
}

TEST(events_are_sorted_in_memory)
{
	check_order(0, 1, 1);
	check_order(1, 1, 1);
	check_order(1000, 1, 2);
	check_order(5000, 7, 100);
	check_order(100000, 500, 1000000);
}

TEST(events_are_sorted_in_runs)
{
	if (!check_is_slow())
		check_order(DW_SORT_EVENTS, 3, 1000000);
	check_order(DW_SORT_EVENTS * 2 + 5, 3, 1000);
}

TEST(a_folder_that_is_missing_is_an_error)
{
	struct dw_sort sort;
	const struct dw_sort_event event = { .thread = 0 };

	setenv("TMPDIR", "/nonexistent", 1);
	dw_sort_init(&sort);
	for (size_t i = 0; i <= DW_SORT_EVENTS; i++)
		dw_sort_add(&sort, &event);
	CHECK(sort.failed);
	CHECK_EQ(sort.error, 2); /* ENOENT */
	CHECK(!dw_sort_next(&sort));
	dw_sort_reset(&sort);
	unsetenv("TMPDIR");
}

CHECK_MAIN
