/* Arena, pool, nearest name, growing arrays. */
#include "check.h"

#include "base/arena.h"
#include "base/glob.h"
#include "base/grow.h"
#include "base/nearest.h"
#include "base/pool.h"

TEST(an_arena_gives_zeroed_aligned_memory)
{
	struct dw_arena arena = { 0 };

	for (size_t size = 0; size < 5000; size += 37) {
		char *memory = dw_arena_alloc(&arena, size);

		REQUIRE(memory);
		CHECK_EQ((uintptr_t)memory % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			if (memory[i])
				CHECK_FAIL("byte %zu is not zero", i);
		memset(memory, 0xff, size);
	}
	CHECK(dw_arena_alloc(&arena, (size_t)8 << 20));
	CHECK(!dw_arena_alloc(&arena, SIZE_MAX - 5));
	CHECK_STR(dw_arena_printf(&arena, "%d-%s", 7, "x"), "7-x");
	CHECK_STR(dw_arena_text(&arena, "abcdef", 3), "abc");
	dw_arena_reset(&arena);
}

static unsigned times[1000];

static void count_task(void *context, unsigned worker, size_t index)
{
	__atomic_fetch_add(&times[index], 1, __ATOMIC_RELAXED);
	__atomic_fetch_or((unsigned *)context, 1u << (worker % 32), __ATOMIC_RELAXED);
}

TEST(a_pool_does_every_task_once)
{
	unsigned workers = 0;

	dw_pool_run(1000, 4, count_task, &workers);
	for (int i = 0; i < 1000; i++)
		CHECK_EQ(times[i], 1);
	CHECK_EQ(workers & ~0xfu, 0);
	dw_pool_run(0, 4, count_task, &workers);
	CHECK_EQ(dw_pool_workers(0), 1);
}

static const char *nearest(const char *wanted)
{
	struct dw_nearest found;

	dw_nearest_init(&found, wanted);
	dw_nearest_try(&found, "operators");
	dw_nearest_try(&found, "overview");
	dw_nearest_try(&found, "steps");
	return found.best;
}

TEST(the_nearest_name_is_found)
{
	CHECK_STR(nearest("operatrs"), "operators");
	CHECK_STR(nearest("Stpes"), "steps");
	CHECK_STR(nearest("oper"), "operators");
	CHECK_STR(nearest("zzzzzz"), NULL);
	CHECK_STR(nearest(""), NULL);
}

TEST(arrays_grow)
{
	uint64_t *numbers = NULL;
	size_t capacity = 0;

	for (size_t i = 0; i < 1000; i++) {
		uint64_t *slot = DW_GROW(&numbers, &capacity, i);

		REQUIRE(slot);
		CHECK_EQ(*slot, 0);
		*slot = i;
	}
	for (size_t i = 0; i < 1000; i++)
		CHECK_EQ(numbers[i], i);
	free(numbers);
}

static bool matches(const char *pattern, const char *text)
{
	return dw_glob_match(pattern, strlen(pattern), text);
}

TEST(patterns)
{
	CHECK(matches("Net.stem", "Net.stem") && !matches("Net.stem", "Net.stem2"));
	CHECK(!matches("Net.stem2", "Net.stem") && !matches("", "x") && matches("", ""));
	CHECK(matches("*", "") && matches("*", "a.b") && matches("Net.*", "Net.a.b"));
	CHECK(matches("*.conv?", "Net.0.conv1") && !matches("*.conv?", "Net.0.conv"));
	CHECK(matches("a*b*c", "aXbXbXc") && !matches("a*b*c", "aXcXb"));
	CHECK(matches("**a", "ba") && !matches("?", ""));
	CHECK(dw_glob_any("x, Net.*,y", "Net.1") && dw_glob_any("Net.1 ,", "Net.1"));
	CHECK(!dw_glob_any("", "") && !dw_glob_any(", ,", "") && !dw_glob_any("a,b", "a,b"));
}

TEST(a_pattern_of_stars_is_not_tried_for_ever)
{
	char text[2000];

	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	CHECK(!matches("a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

CHECK_MAIN
