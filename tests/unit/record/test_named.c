/* Names made at run time, what is recorded with them, and ranges of teams of threads. */
#include "check.h"

#include <errno.h>
#include <pthread.h>

#include "session.h"

static uint64_t lost(enum dw_loss cause)
{
	enum dw_loss none;
	struct dw_slot *slot = dw_slot_here(&none);

	return slot->entry->lost[cause];
}

/* The id of the record that the thread wrote last, a BEGIN. */
static uint32_t last_begun(void)
{
	return ((const uint32_t *)(const void *)dwell_this_stream->cursor)[-1];
}

static uint32_t named(const char *name, int64_t size, uint64_t flops)
{
	const struct dwell_tensor tensor = { &size, 1, DWELL_FLOAT32 };
	unsigned began = dwell_op_begin_named(name, &tensor, 1, flops, DWELL_NOT_GIVEN);
	uint32_t id = last_begun();

	CHECK(began != DWELL_NOT_BEGUN);
	dwell_end(began);
	return id;
}

TEST(a_program_of_named_operators_is_known_as_one)
{
	uint32_t probes = DW_LOAD(dwell_operator_probes);

	CHECK_EQ(dwell_op_begin_named("relu", NULL, 0, 0, 0), DWELL_NOT_BEGUN); /* no session */
	REQUIRE(session_begin(0));
	CHECK_EQ(DW_LOAD(dwell_operator_probes), probes);
	named("relu", 1, DWELL_NOT_GIVEN);
	named("gelu", 1, DWELL_NOT_GIVEN);
	CHECK_EQ(DW_LOAD(dwell_operator_probes), probes + 1);
	session_end();
}

TEST(shapes_and_work_are_recorded_while_wanted)
{
	struct dw_entry_op op;
	uint32_t id;

	REQUIRE(session_begin(0));
	CHECK_EQ(named("mm", 7, 100), named("mm", 8, 200)); /* the default has neither */
	dw_step_want(DWELL_DETAIL_SHAPES, true);
	id = named("mm", 7, 100);
	CHECK(id != named("mm", 8, 100) && id != named("mm", 7, 101) && id != named("mn", 7, 100));
	CHECK(id != named("mm", 7, DWELL_NOT_GIVEN));
	CHECK_EQ(id, named("mm", 7, 100));
	REQUIRE(dw_intern_op_entry(id, &op));
	CHECK_EQ(op.entry.aux, DWELL_CATEGORY_OPERATOR);
	CHECK_EQ(op.name, dw_intern_text("mm"));
	CHECK_EQ(op.shapes, dw_intern_shapes_work(&(struct dwell_tensor){ &(int64_t){ 7 }, 1, DWELL_FLOAT32 }, 1, 100,
	                                          DWELL_NOT_GIVEN));
	dw_step_want(DWELL_DETAIL_SHAPES, false);
	session_end();
}

/* More names than the cache of a thread has: each keeps its id. */
TEST(a_cache_that_is_too_small_gives_no_other_name)
{
	uint32_t ids[1000];
	char name[32];

	REQUIRE(session_begin(0));
	errno = 4242;
	for (unsigned i = 0; i < 3000; i++) {
		snprintf(name, sizeof name, "operator%u", i % 1000);
		uint32_t id = named(name, 1, DWELL_NOT_GIVEN);
		CHECK(i < 1000 || id == ids[i % 1000]);
		ids[i % 1000] = id;
	}
	CHECK_EQ(errno, 4242);
	session_end();
}

/* ---- teams ------------------------------------------------------------------------------ */

static bool is_zone(uint64_t team, const char *name)
{
	struct dw_entry_op op;

	return dw_intern_op_entry((uint32_t)team, &op) && op.name == dw_intern_text(name) &&
	       op.entry.aux == DWELL_CATEGORY_ZONE && !op.shapes;
}

static void *begins_as_worker(void *team)
{
	unsigned began = dwell_worker_begin(*(const uint64_t *)team);
	uint32_t id = began ? last_begun() : 0;

	dwell_end(began);
	CHECK(is_zone(id, "gemm"));
	CHECK_EQ(dwell_worker_begin(0), DWELL_NOT_BEGUN);
	return NULL;
}

TEST(a_worker_has_the_name_of_the_innermost_range)
{
	pthread_t thread;

	CHECK_EQ(DWELL_TEAM(), 0);
	REQUIRE(session_begin(0));
	CHECK_EQ(DWELL_TEAM(), 0);
	DWELL_ZONE("around");
	CHECK(is_zone(DWELL_TEAM(), "around"));
	{
		DWELL_OP("gemm");
		DWELL_MARK("a mark");
		{
			DWELL_ZONE("ended");
		}
		uint64_t team = DWELL_TEAM();
		CHECK(is_zone(team, "gemm"));
		CHECK_EQ(dwell_worker_begin(team), DWELL_NOT_BEGUN); /* the thread that asked */
		pthread_create(&thread, NULL, begins_as_worker, &team);
		pthread_join(thread, NULL);
	}
	CHECK(is_zone(DWELL_TEAM(), "around"));
	session_end();
}

/* Chunks are replaced between two requests, and ranges are deeper than are stored. */
TEST(open_ranges_are_followed_through_chunks)
{
	uint32_t deep = 0;
	unsigned began[100];

	REQUIRE(session_begin(0));
	DWELL_ZONE("first");
	CHECK(is_zone(DWELL_TEAM(), "first"));
	for (int i = 0; i < 50000; i++) {
		DWELL_ZONE("one of many");
		DWELL_MARK("a mark");
		DWELL_COUNTER("a counter", i);
	}
	CHECK(is_zone(DWELL_TEAM(), "first"));
	deep = dwell_intern(DWELL_CATEGORY_ZONE, "deep", NULL);
	for (int i = 0; i < 100; i++)
		began[i] = dwell_begin_id(deep, DWELL_CATEGORY_ZONE);
	CHECK(is_zone(DWELL_TEAM(), "deep"));
	for (int i = 0; i < 100; i++)
		dwell_end_id(began[99 - i]);
	CHECK(is_zone(DWELL_TEAM(), "first"));
	session_end();
}

TEST(ranges_that_do_not_nest_are_followed)
{
	REQUIRE(session_begin(0));
	uint32_t outer = dwell_intern(DWELL_CATEGORY_ZONE, "outer", NULL);
	uint32_t inner = dwell_intern(DWELL_CATEGORY_ZONE, "inner", NULL);
	dwell_begin_named(outer, DWELL_CATEGORY_ZONE);
	dwell_begin_named(inner, DWELL_CATEGORY_ZONE);
	dwell_end_named(outer);
	CHECK(is_zone(DWELL_TEAM(), "inner"));
	dwell_end_named(inner);
	CHECK_EQ(DWELL_TEAM(), 0);
	{
		DWELL_STEP();
		dwell_begin_id(outer, DWELL_CATEGORY_ZONE);
		CHECK(is_zone(DWELL_TEAM(), "outer"));
	} /* the step ends what a longjmp() would have left open */
	CHECK_EQ(DWELL_TEAM(), 0);
	session_end();
}

/* ---- steps that are no blocks ------------------------------------------------------------- */

static void on_begin(void)
{
	DWELL_STEP_BEGIN();
}

static void on_end(void)
{
	DWELL_STEP_END();
}

TEST(steps_of_callbacks)
{
	REQUIRE(session_begin(0));
	for (int i = 0; i < 3; i++) {
		on_begin();
		CHECK_EQ(dwell_steps_begun(), i + 1);
		on_end();
		on_end(); /* nothing is open: ignored */
	}
	session_end();
}

/* The last one: the limit is one of the process. */
TEST(names_without_bound_are_bounded_and_counted)
{
	uint32_t first = 0, other = 0, again = 0;
	char name[32];

	REQUIRE(session_begin(0));
	for (unsigned i = 0; i < 131072; i++) {
		snprintf(name, sizeof name, "made %u", i);
		uint32_t id = dwell_intern(DWELL_CATEGORY_ZONE, name, NULL);
		first = i ? first : id;
	}
	other = dwell_intern(DWELL_CATEGORY_ZONE, "one more", NULL);
	CHECK_EQ(dwell_intern(DWELL_CATEGORY_ZONE, "another", NULL), other);
	CHECK(is_zone(other, "(other names)"));
	CHECK_EQ(dwell_intern(DWELL_CATEGORY_ZONE, "made 0", NULL), first);
	again = named("made 0", 1, DWELL_NOT_GIVEN);
	CHECK(again != first && again != other); /* a known name in another category */
	CHECK(dwell_intern_layer("Net.x", NULL, NULL, 0) == dwell_intern_layer("Net.y", NULL, NULL, 0));
	CHECK(lost(DW_LOSS_NAMES) >= 4);
	DWELL_ZONE("a literal has no limit");
	CHECK(is_zone(DWELL_TEAM(), "a literal has no limit"));
	session_end();
}

CHECK_MAIN
