/* Interning: equal names get equal ids, also with concurrent threads and in a new session. */
#include "check.h"

#include <pthread.h>

#include "session.h"

#define NAMES 500
#define THREADS 4

TEST(same_content_has_one_id)
{
	REQUIRE(session_begin(0));
	uint32_t conv = dwell_intern(DWELL_CATEGORY_OPERATOR, "conv2d", NULL);
	CHECK(conv != 0);
	CHECK_EQ(dwell_intern(DWELL_CATEGORY_OPERATOR, "conv2d", NULL), conv);
	CHECK(dwell_intern(DWELL_CATEGORY_LAYER, "conv2d", NULL) != conv);
	CHECK(dwell_intern(DWELL_CATEGORY_OPERATOR, "conv2d", "backward") != conv);
	CHECK(dwell_intern(DWELL_CATEGORY_OPERATOR, "conv2", NULL) != conv);
	CHECK_EQ(dw_intern_text(NULL), 0);
	CHECK_EQ(dw_intern_string("abcdef", 3), dw_intern_text("abc"));
	session_end();
}

TEST(shapes_are_part_of_the_content)
{
	int64_t sizes[] = { 16, 3, 224, 224 };
	struct dwell_tensor tensors[] = { { sizes, 4, DWELL_FLOAT32 }, { NULL, 0, DWELL_DTYPE_NONE } };

	REQUIRE(session_begin(0));
	uint32_t id = dwell_intern_op("conv2d", NULL, tensors, 2);
	CHECK(id != 0);
	CHECK_EQ(dwell_intern_op("conv2d", NULL, tensors, 2), id);
	CHECK(dwell_intern_op("conv2d", NULL, tensors, 1) != id);
	sizes[0] = 8;
	CHECK(dwell_intern_op("conv2d", NULL, tensors, 2) != id);
	sizes[0] = 16;
	tensors[0].dtype = DWELL_FLOAT16;
	CHECK(dwell_intern_op("conv2d", NULL, tensors, 2) != id);
	session_end();
}

TEST(kinds_of_integers_are_part_of_the_content)
{
	static const uint8_t kinds[] = { DWELL_ARG_INTS, DWELL_ARG_INT, DWELL_ARG_BOOLS, DWELL_ARG_BOOL,
		                             DWELL_DTYPE_NO_MEMORY };
	int64_t one[] = { 1 };
	uint32_t ids[5];

	REQUIRE(session_begin(0));
	for (unsigned i = 0; i < 5; i++) {
		struct dwell_tensor argument = { one, 1, kinds[i] };

		ids[i] = dw_intern_shapes(&argument, 1);
		for (unsigned j = 0; j < i; j++)
			CHECK(ids[i] != ids[j]);
		CHECK_EQ(dw_intern_shapes(&argument, 1), ids[i]);
	}
	session_end();
}

TEST(more_tensors_than_have_room_are_left_out)
{
	int64_t sizes[64] = { 1 };
	struct dwell_tensor tensors[8];

	for (int i = 0; i < 8; i++)
		tensors[i] = (struct dwell_tensor){ sizes, 64, DWELL_INT64 };
	REQUIRE(session_begin(0));
	CHECK(dw_intern_shapes(tensors, 8) != 0);
	CHECK_EQ(dw_intern_shapes(tensors, 1), dw_intern_shapes(tensors, 8));
	session_end();
}

TEST(long_names_are_cut_and_marked)
{
	char *name = malloc(100000);

	memset(name, 'x', 100000);
	REQUIRE(session_begin(0));
	uint32_t id = dw_intern_string(name, 100000);
	CHECK(id != 0);
	CHECK_EQ(dw_intern_string(name, 90000), id); /* cut to the same */
	CHECK(dw_intern_string(name, 100) != id);
	session_end();
	free(name);
}

TEST(no_session_no_id)
{
	CHECK_EQ(dwell_intern(DWELL_CATEGORY_ZONE, "never seen before", NULL), 0);
}

TEST(ids_hold_in_the_next_session)
{
	REQUIRE(session_begin(0));
	uint32_t id = dwell_intern(DWELL_CATEGORY_ZONE, "stays", NULL);
	session_end();
	REQUIRE(session_begin(0));
	CHECK_EQ(dwell_intern(DWELL_CATEGORY_ZONE, "stays", NULL), id);
	uint32_t later = dwell_intern(DWELL_CATEGORY_ZONE, "new in the second", NULL);
	CHECK(later > id);
	session_end();
}

static uint32_t ids[THREADS][NAMES];
static pthread_barrier_t together;

static void *intern_all(void *number)
{
	uint32_t *mine = ids[(uintptr_t)number];
	char name[32];

	pthread_barrier_wait(&together);
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "concurrent%d", i);
		mine[i] = dwell_intern(DWELL_CATEGORY_ZONE, name, NULL);
	}
	return NULL;
}

TEST(threads_that_intern_at_once)
{
	pthread_t threads[THREADS];
	char name[32];
	int twice = 0;

	REQUIRE(session_begin(0));
	pthread_barrier_init(&together, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, intern_all, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof name, "concurrent%d", i);
		uint32_t settled = dwell_intern(DWELL_CATEGORY_ZONE, name, NULL);
		bool known = false;

		/* A race may give one content two ids; afterwards it is always the same one. */
		for (int t = 0; t < THREADS; t++) {
			CHECK(ids[t][i] != 0);
			known |= ids[t][i] == settled;
			twice += ids[t][i] != ids[0][i];
			if (i)
				CHECK(ids[t][i] != ids[t][i - 1]);
		}
		CHECK(known);
		CHECK_EQ(dwell_intern(DWELL_CATEGORY_ZONE, name, NULL), settled);
	}
	CHECK(twice < NAMES * (THREADS - 1)); /* rare, unless threads run in step */
	session_end();
}

/* As a sampler's handler that interrupted the recorder under its lock, where no chunk for names can be claimed. */
TEST(frames_that_a_handler_cannot_name_now_are_no_loss)
{
	static const uint32_t frame = 1;
	void *address = (void *)(uintptr_t)&session_begin;
	uint32_t found;
	char name[64];

	REQUIRE(session_begin(0));
	CHECK(dwell_intern_frame("known", NULL, 0) != 0);
	REQUIRE(dw_process_lock());
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof name, "a function with a name of some length %d", i);
		CHECK_EQ(dwell_intern_frame(name, NULL, 0), 0);
	}
	CHECK_EQ(dwell_intern_stack(&frame, 1), 0);
	CHECK(!dwell_intern_code(&address, 1, &found));
	dw_process_unlock();
	CHECK_EQ(dw_session_head()->lost[DW_LOSS_DICTIONARY], 0);
	CHECK(dwell_intern_frame(name, NULL, 0) != 0);
	session_end();
}

CHECK_MAIN
