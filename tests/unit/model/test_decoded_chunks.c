/*
 * How often the model decodes a chunk: for a product as its line in products.def says, twice for
 * products that are computed together with memory, never for a product that is there already, never a chunk out of scope,
 * and never to learn that no record is missing.
 *
 * The linker replaces dw_source_borrow(), which hands out a chunk's words (meson.build).
 */
#include <math.h>

#include "made.h"

#include "model/core/product.h"
#include "model/core/segments.h"
#include "model/device/sums.h"
#include "model/engine/engine.h"
#include "model/joint/joint.h"
#include "model/layers/layers.h"
#include "model/memory/memory.h"
#include "model/sequence/sequence.h"
#include "model/steps/iterations.h"
#include "model/model.h"

const uint32_t *__real_dw_source_borrow(const struct dw_source_chunk *chunk, void *buffer);
const uint32_t *__wrap_dw_source_borrow(const struct dw_source_chunk *chunk, void *buffer);

enum { CHUNKS = 20, CHUNK_TICKS = 1000 };

static struct made made;
static unsigned decoded; /* by several workers */

const uint32_t *__wrap_dw_source_borrow(const struct dw_source_chunk *chunk, void *buffer)
{
	__atomic_fetch_add(&decoded, 1, __ATOMIC_RELAXED);
	return __real_dw_source_borrow(chunk, buffer);
}

static unsigned count_decoded(void)
{
	return __atomic_exchange_n(&decoded, 0, __ATOMIC_RELAXED);
}

/* A step of two operators and an allocation in each chunk. */
static void make_trace(void)
{
	uint32_t op, memory, event;

	made_init(&made);
	op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");
	memory = made_op(&made, DWELL_CATEGORY_ALLOCATION, "other");
	/* Names with a number cost the period a walk. */
	event = dw_encode_op(&made.process, DWELL_CATEGORY_EVENT, "STARTED 1", "trainer", 0, NULL, 0);
	for (uint64_t i = 0; i < CHUNKS; i++) {
		uint64_t at = 1 + i * CHUNK_TICKS, block[2] = { 0x1000 * (i + 1), 64 };

		dw_encode_begin(&made.stream, at + 100, op);
		dw_encode_record(&made.stream, at + 150, DW_ALLOC, memory, block, 4);
		dw_encode_end(&made.stream, at + 200);
		dw_encode_begin(&made.stream, at + 300, event);
		dw_encode_begin(&made.stream, at + 310, op);
		dw_encode_end(&made.stream, at + 400);
		dw_encode_end(&made.stream, at + 410);
		dw_encode_step(&made.process, made.thread, i, at + 50, at + 500, 0, DW_STEP_RECORDED);
		dw_encode_close(&made.stream);
	}
}

/* A range of all but the last chunk, with a range in each chunk, and no other record. */
static void make_plain_trace(void)
{
	uint32_t op;

	made_init(&made);
	op = made_op(&made, DWELL_CATEGORY_ZONE, "zone");
	for (uint64_t i = 0; i < CHUNKS; i++) {
		uint64_t at = 1 + i * CHUNK_TICKS;

		if (i == 0)
			dw_encode_begin(&made.stream, at, op);
		dw_encode_begin(&made.stream, at + 100, op);
		dw_encode_end(&made.stream, at + 200);
		if (i == CHUNKS - 1)
			dw_encode_end(&made.stream, at + 300);
		dw_encode_close(&made.stream);
	}
}

/* Requests of the products that need more than the model. The others have none. */
static const void *get_profile(void)
{
	static uint32_t categories;

	categories = dw_model_categories(made.model);
	return &categories;
}

static const void *get_flat(void)
{
	return dw_model_flat(made.model, UINT32_MAX, &made.error);
}

static const void *get_paths(void)
{
	return dw_model_paths(made.model, DW_PATHS_CALLS, &made.error);
}

static const struct dw_calls_ask no_calls_ask;

static const void *get_calls(void)
{
	return dw_model_calls(made.model, &no_calls_ask, &made.error);
}

static const void *get_device_by_row(void)
{
	return dw_model_device_by_row(made.model, UINT32_MAX, &made.error);
}

static const void *get_device_between(void)
{
	static size_t count;

	dw_model_device_moments(made.model, DW_DEVICE_OF_THREAD, 0, &count, &made.error);
	return &count;
}

static const void *get_device_by_call(void)
{
	return dw_model_device_by_call(made.model, &no_calls_ask, &made.error);
}

static const void *get_layers(void)
{
	return dw_model_layers(made.model, NULL, &made.error);
}

static const void *get_sequence(void)
{
	static const struct dw_sequence_ask ask;

	return dw_model_sequence(made.model, &ask, &made.error);
}

static const void *get_engines(void)
{
	return dw_model_engine(made.model, NULL, DW_ENGINE_ALL_RUNS, &made.error);
}

static const void *get_iterated_after(void)
{
	static const struct dw_iterations_after after = { .to_ns = CHUNKS * CHUNK_TICKS };

	return dw_model_iterated_after(made.model, &after, &made.error);
}

static const void *request(size_t index)
{
	static const struct dw_product *const products[] = {
#define PRODUCT(name, walks, inputs, what) &dw_product_##name,
#include "model/core/products.def"
#undef PRODUCT
	};
	static const struct { const struct dw_product *product; const void *(*get)(void); } requests[] = {
		{ &dw_product_profile, get_profile }, { &dw_product_flat, get_flat }, { &dw_product_paths, get_paths },
		{ &dw_product_calls, get_calls }, { &dw_product_device_by_row, get_device_by_row },
		{ &dw_product_device_between, get_device_between }, { &dw_product_device_by_call, get_device_by_call },
		{ &dw_product_layers, get_layers }, { &dw_product_sequence, get_sequence },
		{ &dw_product_engines, get_engines }, { &dw_product_iterated_after, get_iterated_after },
	};

	for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
		if (requests[i].product == products[index])
			return requests[i].get();
	return dw_product_get(made.model, products[index], 0, NULL, &made.error);
}

/* The trace has nothing that these products would look for in records. */
static bool has_no_records(const char *name)
{
	return strcmp(name, "loading") == 0 || strcmp(name, "collectives") == 0 ||
	       strcmp(name, "device_work") == 0 || strcmp(name, "samples") == 0 || strcmp(name, "wait_samples") == 0 ||
	       strcmp(name, "team_samples") == 0 || strcmp(name, "sample_chart") == 0 ||
	       strcmp(name, "team_waits") == 0 || strcmp(name, "energy") == 0 || strcmp(name, "serving") == 0;
}

TEST(a_product_decodes_each_chunk_as_often_as_its_line_says)
{
	make_trace();
	REQUIRE(made_open(&made, NULL) == 0);
	for (size_t i = 0; i < dw_product_count; i++) {
		const struct dw_product_line *line = &dw_product_lines[i];
		unsigned count, walks = has_no_records(line->name) ? 0 : line->walks;
		const void *first;

		count_decoded();
		first = request(i);
		count = count_decoded();
		if (!first)
			CHECK_FAIL("%s: %s", line->name, made.error.message);
		if (count != walks * CHUNKS)
			CHECK_FAIL("%s decodes %u chunks, not %u: set the number of its line in src/model/core/products.def to %u, or, if this "
			           "trace has nothing that it looks for, add it to has_no_records()", line->name, count, walks * CHUNKS, count / CHUNKS);
		CHECK(request(i) == first);
		CHECK_EQ(count_decoded(), 0);
	}
	made_close(&made);
}

/* So no product needs itself. */
TEST(inputs_stand_above_what_needs_them)
{
	for (size_t i = 0; i < dw_product_count; i++)
		for (const char *at = dw_product_lines[i].inputs; *at;) {
			size_t length = strcspn(at, " "), above = 0;

			while (above < i && (strncmp(dw_product_lines[above].name, at, length) != 0 ||
			                     dw_product_lines[above].name[length]))
				above++;
			if (above == i)
				CHECK_FAIL("%s needs %s: move its line in src/model/core/products.def below that one", dw_product_lines[i].name, at);
			at += length + (at[length] == ' ');
		}
}

/* The second walk is memory's, which also finds the segments. */
TEST(products_together_decode_each_chunk_twice)
{
	struct dw_scope scope = { .has_window = true, .from_ns = 5000, .to_ns = 9000 };
	struct dw_model *models[2];

	make_trace();
	REQUIRE(made_open(&made, NULL) == 0);
	models[0] = made.model;
	REQUIRE(dw_model_within(made.model, &scope, &models[1], &made.error) == 0);
	count_decoded();
	REQUIRE(dw_model_compute_together(models, 2, true, &made.error) == 0);
	CHECK_EQ(count_decoded(), 2 * CHUNKS);
	for (int i = 0; i < 2; i++)
		CHECK(dw_model_flat(models[i], UINT32_MAX, &made.error));
	CHECK(dw_model_threads(made.model, &made.error));
	CHECK(dw_model_memory(made.model, &made.error));
	CHECK_EQ(count_decoded(), 0);
	made_close(&made);
}

/* By the search for a period; for the profiles, the threads and the steps. */
TEST(a_run_without_steps_is_decoded_twice)
{
	const struct dw_iterated *iterated;

	make_plain_trace();
	REQUIRE(made_open(&made, NULL) == 0);
	count_decoded();
	REQUIRE(dw_model_compute_together(&made.model, 1, true, &made.error) == 0);
	iterated = dw_model_iterated(made.model, &made.error);
	REQUIRE(iterated && iterated->model != made.model);
	REQUIRE(dw_model_steps(iterated->model, &made.error));
	CHECK_EQ(count_decoded(), 2 * CHUNKS);
	CHECK(dw_model_flat(iterated->model, UINT32_MAX, &made.error));
	CHECK(dw_model_threads(iterated->model, &made.error) == dw_model_threads(made.model, &made.error));
	CHECK_EQ(count_decoded(), 0);
	made_close(&made);
}

TEST(a_trace_that_knows_of_no_missing_record_is_not_decoded_for_it)
{
	make_trace();
	REQUIRE(made_open(&made, NULL) == 0);
	count_decoded();
	CHECK(dw_model_coverage(made.model) == 1);
	CHECK_EQ(count_decoded(), 0);
	REQUIRE(dw_model_steps(made.model, &made.error));
	CHECK_EQ(count_decoded(), CHUNKS);
	CHECK(dw_model_coverage(made.model) == 1);
	CHECK_EQ(count_decoded(), 0);
	made_close(&made);
}

/* Records are missing, which only the stream knows: what has been read since then says so. */
TEST(a_walk_that_meets_missing_records_makes_coverage_exact)
{
	uint64_t lost = 5;
	uint32_t op;

	made_init(&made);
	op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");
	dw_encode_begin(&made.stream, 100, op);
	dw_encode_end(&made.stream, 200);
	dw_encode_record(&made.stream, 600, DW_LOSS, 0, &lost, 2);
	dw_encode_begin(&made.stream, 700, op);
	dw_encode_end(&made.stream, 1100);
	dw_encode_step(&made.process, made.thread, 0, 100, 1100, 0, DW_STEP_RECORDED);
	dw_encode_close(&made.stream);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK(dw_model_is_covered(made.model));
	REQUIRE(dw_model_tree(made.model, &made.error));
	CHECK(!dw_model_is_covered(made.model));
	CHECK(fabs(dw_model_coverage(made.model) - 0.5) < 0.2);
	made_close(&made);
	made_init(&made);
}

TEST(chunks_out_of_scope_are_not_decoded)
{
	/* Records of chunks 5 and 6, counted from 0. The next one begins where the last record of
	 * chunk 6 is. */
	struct dw_scope scope = { .has_window = true, .from_ns = 5050, .to_ns = 6400 };

	make_trace();
	REQUIRE(made_open(&made, &scope) == 0);
	count_decoded();
	REQUIRE(dw_model_flat(made.model, UINT32_MAX, &made.error));
	CHECK_EQ(count_decoded(), 2);
	made_close(&made);
}

TEST(chunks_out_of_a_profile_are_not_decoded)
{
	struct dw_scope scope = { .profile = "cell" };
	uint32_t op, second;

	made_init(&made);
	op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");
	second = dw_encode_thread(&made.process, 101, 1, 0, "second");
	dw_encode_profile(&made.process, made.thread, "cell", 0, 5050, 6150);
	dw_encode_profile(&made.process, second, "other", 0, 3050, 9400);
	for (uint64_t i = 0; i < CHUNKS; i++) {
		dw_encode_begin(&made.stream, 1 + i * CHUNK_TICKS + 100, op);
		dw_encode_end(&made.stream, 1 + i * CHUNK_TICKS + 200);
		dw_encode_close(&made.stream);
	}
	REQUIRE(made_open(&made, &scope) == 0);
	count_decoded();
	const struct dw_flat *flat = dw_model_flat(made.model, UINT32_MAX, &made.error);
	REQUIRE(flat);
	CHECK_EQ(count_decoded(), 2);
	REQUIRE(flat->count == 1);
	CHECK_EQ(flat->rows[0].stat.count, 2);
	made_close(&made);
}

TEST(the_first_pass_of_segments_decodes_few_of_the_chunks_of_ranges_alone)
{
	const struct dw_segments *segments;
	const struct dw_segment *last = NULL;

	make_plain_trace();
	REQUIRE(made_open(&made, NULL) == 0);
	made.model->segment_chunks = 5;
	count_decoded();
	segments = dw_model_segments(made.model);
	REQUIRE(segments && segments->count == CHUNKS / 5);
	CHECK_EQ(count_decoded(), 1 + 3); /* where the outer range begins, and the last of each piece but the last one */
	for (size_t i = 0; i < segments->count; i++)
		if (segments->items[i].to == CHUNKS)
			last = &segments->items[i];
	REQUIRE(last && last->open_count == 1);
	CHECK_EQ(last->open[0].start, 1);
	CHECK_EQ(last->ticks, 1 + (CHUNKS - 6) * CHUNK_TICKS + 200);
	made_close(&made);
}

CHECK_MAIN
