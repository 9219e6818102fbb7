/* Data loading: samples by thread, and the number of batches that were ready. */
#include "made.h"

#include "format/keys.h"
#include "model/time/loading.h"

static struct made made;

static void count_in(struct dw_encode_stream *stream, uint64_t ticks, uint32_t id, double value)
{
	dw_encode_record(stream, ticks, DW_COUNTER, id, &value, 2);
}

static uint32_t counter(const char *name)
{
	return made_op(&made, DWELL_CATEGORY_COUNTER, name);
}

/* The loop asks three times and finds 2, 0 and 1 batches; a worker makes 32 and 16 samples. */
TEST(samples_and_ready_batches_by_thread)
{
	struct dw_encode_stream worker_stream;

	made_init(&made);
	uint32_t worker = dw_encode_thread(&made.process, 101, 1, 0, "worker");
	uint32_t samples = counter(DW_COUNTER_SAMPLES), queue = counter(DW_COUNTER_READY_BATCHES);
	uint32_t other = counter("loss");

	dw_encode_stream_init(&worker_stream, &made.process, 1, worker);
	count_in(&made.stream, 100, queue, 2);
	count_in(&made.stream, 200, queue, 0);
	count_in(&made.stream, 250, other, 1000);
	count_in(&made.stream, 300, queue, 1);
	count_in(&worker_stream, 110, samples, 32);
	count_in(&worker_stream, 210, samples, 16);
	dw_encode_close(&worker_stream);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_loading *loading = dw_model_loading(made.model, &made.error);

	REQUIRE(loading && made.source->thread_count == 2);
	CHECK_EQ(loading[0].asked, 3);
	CHECK_EQ(loading[0].ready, 3);
	CHECK_EQ(loading[0].samples, 0);
	CHECK_EQ(loading[1].samples, 48);
	CHECK_EQ(loading[1].asked, 0);
	CHECK(dw_model_loading(made.model, &made.error) == loading);
	made_close(&made);
}

TEST(only_what_is_in_scope_counts)
{
	struct dw_scope scope = { .has_window = true, .from_ns = 150, .to_ns = 250 };

	made_init(&made);
	uint32_t samples = counter(DW_COUNTER_SAMPLES);

	count_in(&made.stream, 100, samples, 1);
	count_in(&made.stream, 200, samples, 2);
	count_in(&made.stream, 300, samples, 4);
	REQUIRE(made_open(&made, &scope) == 0);
	const struct dw_loading *loading = dw_model_loading(made.model, &made.error);

	REQUIRE(loading != NULL);
	CHECK_EQ(loading[0].samples, 2);
	made_close(&made);
}

TEST(without_counters_there_is_nothing)
{
	made_init(&made);
	dw_encode_begin(&made.stream, 100, made_op(&made, DWELL_CATEGORY_DATA, "next batch"));
	dw_encode_end(&made.stream, 200);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_loading *loading = dw_model_loading(made.model, &made.error);

	REQUIRE(loading != NULL);
	CHECK_EQ(loading[0].samples + loading[0].asked + loading[0].ready, 0);
	made_close(&made);
}

CHECK_MAIN
