/* How often an overview visits each chunk, that what one walk computes is what walks of their own
 * compute, with bursts and without, and that memory's walk finds the segments that the first pass of segments.h finds. */
#include "made.h"

#include "format/keys.h"
#include "model/collectives/collectives.h"
#include "model/core/model_data.h"
#include "model/core/segments.h"
#include "model/device/device.h"
#include "model/joint/joint.h"
#include "model/memory/memory.h"
#include "model/steps/iterations.h"
#include "model/steps/steps.h"
#include "model/time/flops.h"
#include "model/time/loading.h"
#include "model/time/outermost.h"
#include "model/time/threads.h"
#include "table/table.h"
#include "views/views.h"

#define STEPS 40u
#define CHUNKS 8u /* least of the main thread */

/* What a run has besides steps. */
enum { ALLOCATES = 1, LOADS = 2, FLOPS = 4, FUNCTIONS = 8, DEVICE = 16, ALL = 31, MISSES = 32 };

static struct made made;
static struct dw_encode_stream other;
static struct dw_encode_events events;
static uint32_t forward, backward, shaped, plain, block, data, batch, call, launch, kernel, queue;
static uint32_t correlation;
static const uint64_t us = 1000;

/* An operator with another one in it, which takes `us`. It may launch a kernel. */
static void put_operator(struct dw_encode_stream *stream, uint64_t at, uint32_t op,
                         uint64_t address, unsigned has)
{
	uint64_t payload[2] = { address, 4096 };

	dw_encode_begin(stream, at, op);
	if (has & ALLOCATES)
		dw_encode_record(stream, at + 1, DW_ALLOC, block, payload, 4);
	dw_encode_begin(stream, at + 2, has & FUNCTIONS ? call : plain);
	dw_encode_end(stream, at + 3);
	if (has & DEVICE && address % 64 == 0) {
		dw_encode_begin(stream, at + 4, launch);
		dw_encode_correlation(stream, ++correlation);
		dw_encode_end(stream, at + 5);
		dw_encode_event(&events, &(struct dw_device_event_in){ .kind = DW_DEVICE_KERNEL,
			.queue = queue, .correlation = correlation, .start_ticks = at + 6,
			.duration_ticks = 20, .name = kernel });
	}
	dw_encode_end(stream, at + 6);
	if (has & ALLOCATES)
		dw_encode_record(stream, at + 7, DW_FREE, 0, payload, 2);
}

static void put_operators(struct dw_encode_stream *stream, uint64_t at, uint32_t op, unsigned count,
                          unsigned has)
{
	for (unsigned i = 0; i < count; i++)
		put_operator(stream, at + i * 10, op, 0x1000 + i, has);
}

/* The loop requests a batch, and makes two of them itself while it waits. */
static void put_request(uint64_t at, unsigned operators, unsigned has)
{
	dw_encode_begin(&made.stream, at, data);
	for (unsigned i = 0; i < 2; i++) {
		dw_encode_begin(&made.stream, at + 1, batch);
		put_operators(&made.stream, at + 10, plain, operators, has);
		at += 2000 * us / 10;
		dw_encode_end(&made.stream, at);
	}
	dw_encode_end(&made.stream, at + us);
}

static void put_step(uint64_t number, unsigned operators, unsigned has)
{
	uint64_t start = (1 + number * 10000) * us, at = start + us;

	if (has & LOADS)
		put_request(at, operators, has);
	at = start + 500 * us;
	dw_encode_begin(&made.stream, at, forward);
	put_operators(&made.stream, at + 10, shaped, operators, has);
	at = start + 5000 * us;
	dw_encode_end(&made.stream, at);
	dw_encode_begin(&made.stream, at + 1, backward);
	put_operators(&other, at + 10, plain, operators / 4, has);
	at = start + 9000 * us;
	dw_encode_end(&made.stream, at);
	if (has & LOADS) {
		dw_encode_begin(&other, at, batch);
		put_operators(&other, at + 10, plain, 10, has);
		dw_encode_end(&other, at + 500);
	}
	dw_encode_step(&made.process, made.thread, number, start, start + 10000 * us, us,
	               DW_STEP_RECORDED);
}

static void make_names(unsigned has)
{
	static const int64_t rows[] = { 2, 3 };
	const struct dwell_tensor tensors[] = { { rows, 2, DWELL_FLOAT32 }, { rows, 2, DWELL_FLOAT32 } };
	uint32_t shapes = dw_encode_shapes(&made.process, tensors, 2);

	forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	backward = made_op(&made, DWELL_CATEGORY_PHASE, "backward");
	shaped = dw_encode_op(&made.process, DWELL_CATEGORY_OPERATOR, "aten::mul", NULL, shapes, NULL, 0);
	plain = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::add");
	if (has & ALLOCATES)
		block = made_op(&made, DWELL_CATEGORY_ALLOCATION, "other");
	if (has & LOADS) {
		data = made_op(&made, DWELL_CATEGORY_DATA, "DataLoader.__next__");
		batch = made_op(&made, DWELL_CATEGORY_DATA, "make batch");
	}
	if (has & FLOPS)
		dw_encode_meta(&made.process, DW_KEY_PEAK_FLOPS, "1000000000", true);
	if (has & FUNCTIONS)
		call = made_op(&made, DWELL_CATEGORY_FUNCTION, "posix.read");
	if (has & DEVICE) {
		uint32_t device = dw_encode_device(&made.process, 0, "GPU", DW_API_CUDA);

		queue = dw_encode_queue(&made.process, device, 7, 1, NULL);
		kernel = made_op(&made, DWELL_CATEGORY_DEVICE, "gemm");
		launch = made_op(&made, DWELL_CATEGORY_RUNTIME, "cudaLaunchKernel");
		dw_encode_events_init(&events, &made.process, 0, 0, true);
	}
}

/* Steps of one thread, which another one helps; operators with shapes; and more. */
static void make_run(unsigned has)
{
	uint32_t thread;

	made_init(&made);
	thread = dw_encode_thread(&made.process, 101, 1, 0, "engine");
	dw_encode_stream_init(&other, &made.process, 1, thread);
	correlation = 0;
	make_names(has);
	for (uint64_t i = 0; i < STEPS; i++) {
		put_step(i, 1000, has);
		if (has & MISSES && i % 8 == 3)
			dw_encode_gap(&made.stream, 2);
	}
	dw_encode_close(&other);
	if (has & DEVICE)
		dw_encode_events_close(&events);
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

/* Returns the most visits of a chunk. */
static uint32_t run_overview(void)
{
	const struct dw_view *view = dw_view_find("overview", &made.error);
	struct dwell_view_options options = { .size = sizeof options };
	struct dwell_table *table = NULL;

	count_visits(made.model);
	made.model->segment_chunks = 2;
	CHECK_EQ(dw_view_run(view, made.model, &options, &table, &made.error), 0);
	dw_table_destroy(table);
	return free_visits(made.model);
}

static void compare_loading(struct dw_model *alone)
{
	const struct dw_loading_all *got = dw_model_loading_all(made.model, NULL);
	const struct dw_loading_all *want = dw_model_loading_all(alone, NULL);

	REQUIRE(got && want && got->part_count == want->part_count);
	CHECK(got->making_ns == want->making_ns);
	for (size_t i = 0; i < got->part_count; i++) {
		CHECK_EQ(got->parts[i].symbol, want->parts[i].symbol);
		CHECK_EQ(got->parts[i].ns, want->parts[i].ns);
		CHECK_EQ(got->parts[i].count, want->parts[i].count);
	}
	for (size_t t = 0; t < made.source->thread_count; t++) {
		const struct dw_loading *a = &got->threads[t], *b = &want->threads[t];

		REQUIRE(a->request_count == b->request_count && a->made_count == b->made_count);
		for (size_t i = 0; i < a->request_count; i++) {
			CHECK_EQ(a->requests[i].start_ns, b->requests[i].start_ns);
			CHECK_EQ(a->requests[i].end_ns, b->requests[i].end_ns);
			CHECK_EQ(a->requests[i].made_ns, b->requests[i].made_ns);
			CHECK_EQ(a->requests[i].kind, b->requests[i].kind);
		}
		for (size_t i = 0; i < a->made_count; i++) {
			CHECK_EQ(a->made[i].start_ns, b->made[i].start_ns);
			CHECK_EQ(a->made[i].end_ns, b->made[i].end_ns);
		}
	}
}

static void compare_flops(struct dw_model *alone)
{
	const struct dw_flops_sum *got = dw_model_flops(made.model, NULL);
	const struct dw_flops_sum *want = dw_model_flops(alone, NULL);

	REQUIRE(got && want && got->count == want->count);
	CHECK_EQ(got->flops, want->flops);
	CHECK_EQ(got->counted_ns, want->counted_ns);
	CHECK_EQ(got->missed_ns, want->missed_ns);
	for (size_t i = 0; i < got->count; i++)
		CHECK(memcmp(&got->rows[i], &want->rows[i], sizeof got->rows[i]) == 0);
}

static void compare_device(struct dw_model *alone)
{
	const struct dw_device_work *got = dw_model_device_work(made.model, NULL);
	const struct dw_device_work *want = dw_model_device_work(alone, NULL);

	REQUIRE(got && want && got->event_count == want->event_count);
	REQUIRE(got->call_count == want->call_count && got->owner_count == want->owner_count);
	for (size_t i = 0; i < got->event_count; i++)
		CHECK_EQ(got->events[i].call, want->events[i].call);
	for (size_t i = 0; i < got->call_count; i++) {
		CHECK_EQ(got->calls[i].owner, want->calls[i].owner);
		CHECK_EQ(got->calls[i].device_ns, want->calls[i].device_ns);
	}
	for (size_t i = 0; i < got->owner_count; i++) {
		CHECK_EQ(got->owners[i].total_ns, want->owners[i].total_ns);
		CHECK_EQ(got->owners[i].end_ns, want->owners[i].end_ns);
	}
}

/* The products that the overview has left are those of walks of their own, over whole streams. */
static void compare_alone(unsigned has)
{
	struct dw_model *alone = NULL;

	REQUIRE(dw_model_create(&alone, made.source, NULL, &made.error) == 0);
	compare_loading(alone);
	compare_flops(alone);
	compare_device(alone);
	CHECK_EQ(dw_model_loading(made.model, NULL)[0].request_count, has & LOADS ? STEPS : 0);
	CHECK(dw_model_flops(made.model, NULL)->flops >= STEPS * 1000);
	CHECK_EQ(dw_model_device_work(made.model, NULL)->event_count, correlation);
	dw_model_destroy(alone);
}

TEST(an_overview_visits_each_chunk_at_most_twice)
{
	static const unsigned runs[] = { 0, ALLOCATES, LOADS, FLOPS, FUNCTIONS, DEVICE,
		LOADS | FLOPS | FUNCTIONS, ALL & ~DEVICE, ALL, MISSES, MISSES | LOADS | DEVICE };

	for (size_t i = check_is_slow() ? 8 : 0; i < sizeof runs / sizeof *runs; i++) { /* the last ones have all records */
		make_run(runs[i]);
		REQUIRE(made_open(&made, NULL) == 0);
		CHECK(dw_model_source(made.model)->streams[0].chunk_count >= CHUNKS);
		CHECK(run_overview() <= 2);
		CHECK(dw_model_segments(made.model)->count > CHUNKS / 2);
		compare_alone(runs[i]);
		made_close(&made);
	}
}

/* Memory needs the records in order of time, and the steps need to know before their walk where
 * records are missing. */
TEST(an_overview_with_memory_and_missing_records_walks_once_more)
{
	make_run(MISSES | ALLOCATES);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(run_overview(), 3);
	made_close(&made);
}

TEST(memory_finds_the_segments_of_the_first_pass)
{
	const struct dw_segments *got, *want;
	struct dw_model *model = NULL;

	make_run(ALLOCATES);
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

TEST(a_summary_of_ranks_visits_each_chunk_once_for_its_steps_and_collectives)
{
	static const unsigned runs[] = { 0, ALL, MISSES };

	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
		make_run(runs[i]);
		REQUIRE(made_open(&made, NULL) == 0);
		count_visits(made.model);
		CHECK_EQ(dw_model_compute_ranks_together(made.model, &made.error), 0);
		CHECK(dw_model_threads(made.model, NULL) && dw_model_steps(made.model, NULL));
		CHECK(dw_model_collectives(made.model, NULL) != NULL);
		CHECK_EQ(free_visits(made.model), runs[i] & MISSES ? 2 : 1);
		made_close(&made);
	}
}

/* ---- bursts ---------------------------------------------------------------------------------------- */

static uint32_t draw(uint32_t below)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

/* Operators or ranges of the program at random, one name of which is not plain; at times one of the others, or deep nesting. */
static void make_plain_run(bool named, uint64_t steps)
{
	static const char *const texts[2][4] = { { "aten::add", "aten::mul", "aten::mm", "aten::copy_" }, { "a", "b", "c", "eval" } };
	uint32_t ops[4], zone;
	uint64_t ticks = 1000;
	uint32_t depth = 0;

	made_init(&made);
	for (unsigned i = 0; i < 4; i++)
		ops[i] = made_op(&made, named ? DWELL_CATEGORY_ZONE : DWELL_CATEGORY_OPERATOR, texts[named][i]);
	zone = made_op(&made, named ? DWELL_CATEGORY_OPERATOR : DWELL_CATEGORY_ZONE, "other");
	for (uint32_t left = 40000, most = 8; left || depth; ticks += draw(50)) {
		most = draw(2000) ? most : draw(100) + 1;
		if (left && (!depth || (depth < most && draw(2)))) {
			dw_encode_begin(&made.stream, ticks, draw(3000) ? ops[draw(draw(500) ? 3 : 4)] : zone);
			depth++;
			left--;
		} else {
			dw_encode_end(&made.stream, ticks);
			depth--;
		}
	}
	for (uint64_t i = 0; i < steps; i++)
		dw_encode_step(&made.process, made.thread, i, 1000 + ticks / steps * i, ticks / steps * (i + 1), 0, DW_STEP_RECORDED);
}

static void compare_steps(const struct dw_steps *got, const struct dw_steps *want)
{
	REQUIRE(got && want && got->count == want->count && got->count);
	for (size_t i = 0; i < got->count; i++) {
		const struct dw_step *a = &got->steps[i], *b = &want->steps[i];

		CHECK(memcmp(a->share_ns, b->share_ns, sizeof a->share_ns) == 0);
		CHECK_EQ(a->operator_ns, b->operator_ns);
		CHECK_EQ(a->operator_count, b->operator_count);
		CHECK_EQ(a->called_count, b->called_count);
		REQUIRE(a->part_count == b->part_count);
		for (uint32_t part = 0; part < a->part_count; part++)
			CHECK(memcmp(&a->parts[part], &b->parts[part], sizeof *a->parts) == 0);
	}
	REQUIRE(got->loops[0].operator_count == want->loops[0].operator_count);
	for (size_t i = 0; i < got->loops[0].operator_count; i++)
		CHECK(memcmp(&got->loops[0].operators[i], &want->loops[0].operators[i], sizeof *got->loops->operators) == 0);
}

/* The profile of a scope that is not everything is made without bursts: here it is of the only thread. */
static void compare_profiles(struct dw_model *scoped)
{
	const struct dw_flat *got = dw_model_flat(made.model, UINT32_MAX, NULL), *want = dw_model_flat(scoped, UINT32_MAX, NULL);

	REQUIRE(got && want && got->count == want->count);
	CHECK_EQ(got->records, want->records);
	for (size_t i = 0; i < got->count; i++) {
		CHECK_EQ(got->rows[i].symbol, want->rows[i].symbol);
		CHECK(memcmp(&got->rows[i].stat, &want->rows[i].stat, sizeof got->rows[i].stat) == 0);
	}
}

static void compare_threads(struct dw_model *alone)
{
	const struct dw_threads *got = dw_model_threads(made.model, NULL), *want = dw_model_threads(alone, NULL);
	const struct dw_tree *outermost = dw_model_outermost(made.model, NULL), *tree = dw_model_outermost(alone, NULL);
	size_t at = 0;

	REQUIRE(got && want && got->count == want->count);
	CHECK(memcmp(got->rows, want->rows, got->count * sizeof *got->rows) == 0);
	REQUIRE(outermost && tree);
	for (size_t i = 0; i < tree->count; i++) { /* of all depths, in the same order */
		if (tree->nodes[i].depth > 1)
			continue;
		REQUIRE(at < outermost->count);
		CHECK_EQ(outermost->nodes[at].symbol, tree->nodes[i].symbol);
		CHECK_EQ(outermost->nodes[at].stat.count, tree->nodes[i].stat.count);
		CHECK_EQ(outermost->nodes[at++].stat.total_ns, tree->nodes[i].stat.total_ns);
	}
}

TEST(bursts_add_up_what_walks_without_them_do)
{
	const struct dw_scope only = { .thread = "main" };

	for (unsigned i = 0; i < 6; i++) {
		struct dw_model *alone = NULL, *scoped = NULL;

		make_plain_run(i % 2, i / 2 * 3);
		REQUIRE(made_open(&made, NULL) == 0);
		REQUIRE(dw_model_create(&alone, made.source, NULL, &made.error) == 0);
		REQUIRE(dw_model_create(&scoped, made.source, &only, &made.error) == 0);
		made.model->segment_chunks = i / 2 + 1;
		CHECK_EQ(dw_model_compute_together(&made.model, 1, true, &made.error), 0);
		compare_steps(dw_model_steps(dw_model_iterated(made.model, NULL)->model, NULL), dw_model_steps(dw_model_iterated(alone, NULL)->model, NULL));
		compare_threads(alone);
		compare_profiles(scoped);
		dw_model_destroy(scoped);
		dw_model_destroy(alone);
		made_close(&made);
	}
}

CHECK_MAIN
