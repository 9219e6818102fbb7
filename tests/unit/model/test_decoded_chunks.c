/*
 * How often the model decodes a chunk: once for a product, twice for products that are computed
 * together with memory, never for a product that is there already, and never a chunk out of scope.
 *
 * The linker replaces dw_source_borrow(), which hands out a chunk's words (meson.build).
 */
#include "made.h"

#include "model/engine/engine.h"
#include "model/memory/memory.h"
#include "model/sequence/sequence.h"
#include "model/time/calls.h"
#include "model/time/flops.h"
#include "model/time/function_calls.h"
#include "model/joint/joint.h"

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
	event = dw_encode_op(&made.process, DWELL_CATEGORY_EVENT, "STARTED", "trainer", 0, NULL, 0);
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

static const void *get_calls(void)
{
	static const struct dw_calls_ask ask;

	return dw_model_calls(made.model, &ask, &made.error);
}

static const void *get_tree(void)
{
	return dw_model_tree(made.model, &made.error);
}

static const void *get_functions(void)
{
	return dw_model_function_calls(made.model, &made.error);
}

static const void *get_flops(void)
{
	return dw_model_flops(made.model, &made.error);
}

static const void *get_memory(void)
{
	return dw_model_memory(made.model, &made.error);
}

static const void *get_steps(void)
{
	return dw_model_steps(made.model, &made.error);
}

static const void *get_sequence(void)
{
	static const struct dw_sequence_ask ask;

	return dw_model_sequence(made.model, &ask, &made.error);
}

static const void *get_engine(void)
{
	return dw_model_engine(made.model, NULL, DW_ENGINE_ALL_RUNS, &made.error);
}

TEST(a_product_decodes_each_chunk_once)
{
	static const struct {
		const char *name;
		const void *(*get)(void);
		unsigned walks;
	} products[] = {
		{ "call tree", get_tree, 1 },
		{ "calls", get_calls, 1 },
		{ "functions", get_functions, 1 },
		{ "flops", get_flops, 1 },
		{ "memory", get_memory, 1 }, /* its second pass reads what the first one kept */
		{ "steps", get_steps, 1 },
		{ "sequence", get_sequence, 1 },
		{ "engine", get_engine, 1 },
	};

	make_trace();
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(dw_model_threads(made.model, &made.error)); /* steps ask for them */
	count_decoded();
	for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
		const void *first = products[i].get();
		unsigned count = count_decoded();

		REQUIRE(first != NULL);
		if (count != products[i].walks * CHUNKS)
			CHECK_FAIL("%s: %u chunks decoded, not %u", products[i].name, count,
			           products[i].walks * CHUNKS);
		CHECK(products[i].get() == first);
		CHECK_EQ(count_decoded(), 0);
	}
	made_close(&made);
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

CHECK_MAIN
