/* How often an overview visits each chunk, and that memory's walk finds the segments that the first
 * pass of segments.h finds. */
#include "made.h"

#include "model/core/model_data.h"
#include "model/core/segments.h"
#include "model/joint/joint.h"
#include "model/memory/memory.h"
#include "model/steps/steps.h"
#include "model/time/outermost.h"

#define STEPS 40u
#define CHUNKS 8u /* least of the main thread */

static struct made made;
static struct dw_encode_stream other;
static uint32_t forward, backward, shaped, plain, block;
static const uint64_t us = 1000;

static void put_operator(struct dw_encode_stream *stream, uint64_t at, uint32_t op,
                         uint64_t address)
{
	uint64_t payload[2] = { address, 4096 };

	dw_encode_begin(stream, at, op);
	dw_encode_record(stream, at + 1, DW_ALLOC, block, payload, 4);
	dw_encode_begin(stream, at + 2, plain);
	dw_encode_end(stream, at + 3);
	dw_encode_end(stream, at + 4);
	dw_encode_record(stream, at + 5, DW_FREE, 0, payload, 2);
}

static void put_step(uint64_t number, unsigned operators)
{
	uint64_t start = (1 + number * 10000) * us, at = start + us;

	dw_encode_begin(&made.stream, at, forward);
	for (unsigned i = 0; i < operators; i++)
		put_operator(&made.stream, at + 10 + i * 10, shaped, 0x1000 + i);
	at = start + 5000 * us;
	dw_encode_end(&made.stream, at);
	dw_encode_begin(&made.stream, at + 1, backward);
	for (unsigned i = 0; i < operators / 4; i++)
		put_operator(&other, at + 10 + i * 10, plain, 0x800000 + i);
	at = start + 9000 * us;
	dw_encode_end(&made.stream, at);
	dw_encode_step(&made.process, made.thread, number, start, start + 10000 * us, us,
	               DW_STEP_RECORDED);
}

/* Steps of one thread, which another one helps; operators with shapes; allocations. */
static void make_run(bool allocates)
{
	static const int64_t rows[] = { 2, 3 };
	const struct dwell_tensor tensor = { rows, 2, DWELL_FLOAT32 };
	uint32_t thread;

	made_init(&made);
	thread = dw_encode_thread(&made.process, 101, 1, 0, "engine");
	dw_encode_stream_init(&other, &made.process, 1, thread);
	forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	backward = made_op(&made, DWELL_CATEGORY_PHASE, "backward");
	shaped = dw_encode_op(&made.process, DWELL_CATEGORY_OPERATOR, "aten::mm", NULL,
	                      dw_encode_shapes(&made.process, &tensor, 1), NULL, 0);
	plain = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::add");
	block = allocates ? made_op(&made, DWELL_CATEGORY_ALLOCATION, "other") : plain;
	for (uint64_t i = 0; i < STEPS; i++)
		put_step(i, 1000);
	dw_encode_close(&other);
}

static void count_visits(struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);

	model->visits = calloc(source->stream_count, sizeof *model->visits);
	REQUIRE(model->visits != NULL);
	for (size_t i = 0; i < source->stream_count; i++) {
		model->visits[i] = calloc(source->streams[i].chunk_count, sizeof **model->visits);
		REQUIRE(model->visits[i] != NULL);
	}
}

static uint32_t free_visits(struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);
	uint32_t most = 0;

	for (size_t i = 0; i < source->stream_count; i++) {
		for (size_t c = 0; c < source->streams[i].chunk_count; c++)
			most = model->visits[i][c] > most ? model->visits[i][c] : most;
		free(model->visits[i]);
	}
	free(model->visits);
	model->visits = NULL;
	return most;
}

/* What the overview requests. Returns the most visits of a chunk. */
static uint32_t request_all(bool memory)
{
	struct dw_scope scope = { .has_steps = true, .steps_to = UINT64_MAX };
	struct dw_model *models[3] = { made.model };

	count_visits(made.model);
	made.model->segment_chunks = 2;
	CHECK_EQ(dw_model_within(made.model, &scope, &models[1], &made.error), 0);
	scope.step_threads = true;
	CHECK_EQ(dw_model_within(made.model, &scope, &models[2], &made.error), 0);
	CHECK_EQ(dw_model_compute_together(models, 3, &made.error), 0);
	for (int i = 0; i < 3; i++)
		CHECK(dw_model_flat(models[i], UINT32_MAX, NULL) != NULL);
	CHECK(dw_model_threads(made.model, NULL) != NULL);
	CHECK(dw_model_steps(made.model, NULL) != NULL);
	CHECK(dw_model_outermost(made.model, NULL) != NULL);
	if (memory)
		CHECK(dw_model_memory(made.model, NULL) != NULL);
	return free_visits(made.model);
}

TEST(an_overview_visits_each_chunk_at_most_twice)
{
	for (int allocates = 0; allocates < 2; allocates++) {
		make_run(allocates);
		REQUIRE(made_open(&made, NULL) == 0);
		CHECK(dw_model_source(made.model)->streams[0].chunk_count >= CHUNKS);
		CHECK_EQ(request_all(allocates), 2);
		CHECK(dw_model_segments(made.model)->count > CHUNKS / 2);
		made_close(&made);
	}
}

TEST(memory_finds_the_segments_of_the_first_pass)
{
	const struct dw_segments *got, *want;
	struct dw_model *model = NULL;

	make_run(true);
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(dw_model_create(&model, dw_model_source(made.model), NULL, &made.error) == 0);
	model->segment_chunks = made.model->segment_chunks = 2;
	CHECK(dw_model_memory(model, NULL) != NULL);
	got = dw_model_segments(model);
	want = dw_model_segments(made.model);
	REQUIRE(got && want && got->count == want->count);
	for (size_t i = 0; i < got->count; i++) {
		const struct dw_segment *a = &got->items[i], *b = &want->items[i];

		CHECK_EQ(a->stream, b->stream);
		CHECK_EQ(a->from, b->from);
		CHECK_EQ(a->to, b->to);
		if (!b->from)
			continue;
		CHECK_EQ(a->thread, b->thread);
		CHECK_EQ(a->ticks, b->ticks);
		CHECK_EQ(a->floor, b->floor);
		REQUIRE(a->open_count == b->open_count);
		for (uint32_t r = 0; r < a->open_count; r++) {
			CHECK_EQ(a->open[r].start, b->open[r].start);
			CHECK_EQ(a->open[r].id, b->open[r].id);
		}
	}
	dw_model_destroy(model);
	made_close(&made);
}

CHECK_MAIN
