/* Facts of the data loader, of hand-made traces. */
#include "format/keys.h"
#include "made_trace.h"

static struct dw_encode_stream workers[4];

/* A worker that makes `count` batches of `length` ms, one each `period` ms. */
static void make_worker(unsigned index, uint64_t from_ms, size_t count, uint64_t length,
                        uint64_t period)
{
	uint32_t thread = dw_encode_thread(&made.process, 200 + index, index + 1, from_ms * ms, "worker");
	uint32_t samples = made_op(&made, DWELL_CATEGORY_DATA, "a batch's samples");
	uint32_t decode = made_op(&made, DWELL_CATEGORY_ZONE, "decode image");

	dw_encode_stream_init(&workers[index], &made.process, index + 1, thread);
	for (size_t i = 0; i < count; i++) {
		uint64_t at = from_ms + i * period;

		dw_encode_begin(&workers[index], at * ms, samples);
		dw_encode_begin(&workers[index], at * ms, decode);
		dw_encode_end(&workers[index], (at + length / 2) * ms);
		dw_encode_end(&workers[index], (at + length) * ms);
	}
	dw_encode_close(&workers[index]);
}

/* An epoch of 20 steps, which compute for 6 ms and wait for their batch, every other one `odd` ms; the
 * first request of an epoch takes 100 ms more, while its workers start. */
static uint64_t make_uneven_epoch(uint64_t at, uint64_t number, uint64_t even, uint64_t odd,
                                  const char *detail)
{
	uint32_t begin = made_op(&made, DWELL_CATEGORY_DATA, "DataLoader.__iter__");
	uint32_t next = dw_encode_op(&made.process, DWELL_CATEGORY_DATA, "DataLoader.__next__", detail, 0,
	                             NULL, 0);
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");

	range(at, at + 5, begin);
	at += 5;
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t wait = i % 2 ? odd : even, took = wait + (i == 0 ? 100 : 0);

		range(at, at + took, next);
		range(at + took, at + took + 6, op);
		step(number * 20 + i, at, at + took + 6, 6 + wait);
		at += took + 6;
	}
	range(at, at + 1, next); /* the end of the iteration */
	return at + 1;
}

static uint64_t make_epoch(uint64_t at, uint64_t number, uint64_t wait, const char *detail)
{
	return make_uneven_epoch(at, number, wait, wait, detail);
}

/* One request takes in two batches, the next one none. */
TEST(a_hand_over_of_two_batches_at_once)
{
	begin_trace(DW_PROCESS_PYTHON);
	make_worker(0, 110, 10, 1, 12);
	make_worker(1, 110, 10, 1, 12);
	make_uneven_epoch(100, 0, 8, 0, "a batch was ready");
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, LOADER_HAND_OVER_NS), 4e6);
	made_close(&made);
}

/* Batches lie ready, and each request takes 4 ms all the same: that is the hand-over. */
TEST(a_full_queue_with_a_slow_hand_over)
{
	begin_trace(DW_PROCESS_PYTHON);
	make_worker(0, 110, 10, 1, 12);
	make_worker(1, 110, 10, 1, 12);
	make_epoch(100, 0, 4, "a batch was ready");
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, LOADER_WORKERS), 2);
	CHECK_EQ(VALUE(facts, LOADER_BATCHES), 21);
	CLOSE(VALUE(facts, LOADER_HAND_OVER), 0.4);
	CLOSE(VALUE(facts, LOADER_STARVED), 0);
	CLOSE(VALUE(facts, LOADER_HAND_OVER_NS), 4e6);
	CLOSE(VALUE(facts, LOADER_PRODUCTION), 1e6);
	CLOSE(VALUE(facts, LOADER_EMPTY), 0);
	CHECK(!facts->at[DW_FACT_LOADER_SAMPLE].measured);
	CLOSE(VALUE(facts, STEP_DATA), 0.4);
	made_close(&made);
}

/* A batch is made at the end of each request: production is the limit, half of it in "decode". */
TEST(workers_that_do_not_keep_up)
{
	begin_trace(DW_PROCESS_PYTHON);
	/* Requests end at 209, 219, 229 ..., alternately with a batch of each worker. */
	make_worker(0, 191, 10, 18, 20);
	make_worker(1, 201, 10, 18, 20);
	make_epoch(100, 0, 4, "the queue was empty");
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, LOADER_WORKERS), 2);
	CLOSE(VALUE(facts, LOADER_STARVED), 0.4);
	CLOSE(VALUE(facts, LOADER_HAND_OVER), 0);
	CLOSE(VALUE(facts, LOADER_EMPTY), 1);
	CLOSE(VALUE(facts, LOADER_PRODUCTION), 18e6);
	CHECK_STR(facts->at[DW_FACT_LOADER_PART].missing, "record with dwell run --functions"); /* the other half has no name */
	CLOSE(VALUE(facts, LOADER_BUSY), 180.0 / 198);
	made_close(&made);
}

/* Worker 0 of two that make batches of 18 ms with a sample of 9 ms in each, and the kernel's account of both. */
static const struct dw_facts *make_workers_that_run(uint64_t kernel_ms, bool in_batches)
{
	begin_trace(DW_PROCESS_PYTHON);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "9000000", true);
	dw_encode_meta(&made.process, "host.cpus", "4", true);
	for (unsigned w = 0; w < 2; w++) {
		uint32_t thread = dw_encode_new_id(made.process.encode);
		struct dw_entry_thread *entry =
			dw_encode_entry(&made.process, DW_ENTRY_THREAD, thread, made.process.id, sizeof *entry);
		uint32_t samples = made_op(&made, DWELL_CATEGORY_DATA, "a batch's samples");
		uint32_t decode = dw_encode_frame(&made.process, "decode", "/srv/train.py", 9);

		entry->tid = 200 + w;
		entry->stream = w + 1;
		entry->start_ticks = 150 * ms;
		entry->cpu_ns = kernel_ms * ms;
		dw_encode_stream_init(&workers[w], &made.process, w + 1, thread);
		for (uint64_t i = 0; i < 10; i++) {
			uint64_t at = 191 + 10 * w + 20 * i;

			dw_encode_begin(&workers[w], at * ms, samples);
			if (in_batches || i % 2)
				dw_encode_sample(&workers[w], (at + 1) * ms, decode, 0, 1);
			dw_encode_end(&workers[w], (at + 18) * ms);
			if (!in_batches && !(i % 2))
				dw_encode_sample(&workers[w], (at + 19) * ms, decode, 0, 1);
		}
		dw_encode_close(&workers[w]);
	}
	struct dw_entry_machine *machine = dw_encode_machine(&made.process, 0, 1200 * ms);
	machine->program = 100;
	machine->busy_ns = 1800 * ms; /* one and a half CPUs, one of them for the program */
	machine->own_ns = 1200 * ms;
	make_epoch(100, 0, 4, "the queue was empty");
	return facts_of();
}

TEST(how_much_of_a_batch_its_worker_runs_and_how_many_cpus_there_are)
{
	const struct dw_facts *facts = make_workers_that_run(90, true);

	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, LOADER_RUNS), 0.5);
	CLOSE(VALUE(facts, CPU_LEFT), 3.5);
	CHECK(VALUE(facts, LOADER_SPARE) < 3.5 && VALUE(facts, LOADER_SPARE) > 2.5);
	made_close(&made);
	facts = make_workers_that_run(90, false); /* half of it is no batch */
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, LOADER_RUNS), 0.25);
	made_close(&made);
	facts = make_workers_that_run(0, true); /* the kernel says nothing of them */
	REQUIRE(facts != NULL);
	CHECK(!facts->at[DW_FACT_LOADER_RUNS].measured);
	made_close(&made);
}

/* Threads in C that begin before the loop does. It takes their batches in turn, and waits for the second one's: each ends
 * with the request. */
TEST(threads_that_make_batches_before_the_loop_begins)
{
	begin_trace(0);
	uint32_t next = made_op(&made, DWELL_CATEGORY_DATA, "next batch");
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "gemm");

	make_worker(0, 60, 12, 1, 20);
	make_worker(1, 96, 10, 18, 20);
	for (uint64_t i = 0, at = 100; i < 20; i++) {
		uint64_t wait = i % 2 ? 7 : 1;

		range(at, at + wait, next);
		range(at + wait, at + wait + 6, op);
		step(i, at, at + wait + 6, 6);
		at += wait + 6;
	}
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, LOADER_WORKERS), 2);
	CLOSE(VALUE(facts, STEP_DATA), 0.4);
	CLOSE(VALUE(facts, LOADER_STARVED), 0.35);
	CHECK(VALUE(facts, LOADER_HAND_OVER) <= 0.051);
	made_close(&made);
}

/* Of workers that were made before. */
static const struct dw_facts *facts_of_two_epochs(void)
{
	uint64_t end = make_epoch(100, 0, 4, "a batch was ready");

	make_epoch(end, 1, 4, "a batch was ready");
	return facts_of();
}

/* Two epochs with two new workers each: two at one time, and their start is apart. */
TEST(workers_are_counted_at_one_time_and_their_start_apart)
{
	begin_trace(DW_PROCESS_PYTHON);
	make_worker(0, 204, 10, 1, 12);
	make_worker(1, 204, 10, 1, 12);
	make_worker(2, 508, 10, 1, 12);
	make_worker(3, 508, 10, 1, 12);
	const struct dw_facts *facts = facts_of_two_epochs();
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, LOADER_WORKERS), 2);
	CHECK_EQ(VALUE(facts, LOADER_WORKERS_STARTED), 4);
	CHECK_EQ(VALUE(facts, LOADER_EPOCHS), 2);
	CHECK(VALUE(facts, LOADER_START) > 103e6 && VALUE(facts, LOADER_START) < 105e6);
	CHECK(VALUE(facts, LOADER_START_SHARE) > 0.16 && VALUE(facts, LOADER_START_SHARE) < 0.18);
	CLOSE(VALUE(facts, LOADER_HAND_OVER), 0.4);
	made_close(&made);
}

/* Two epochs with the same two workers, and a third one that makes a batch of an evaluation: only the first epoch starts workers,
 * though the second one begins with an empty queue, too. */
TEST(workers_that_stay_are_started_once)
{
	begin_trace(DW_PROCESS_PYTHON);
	make_worker(0, 204, 20, 1, 28);
	make_worker(1, 204, 20, 1, 28);
	make_worker(2, 2000, 1, 1, 12);
	const struct dw_facts *facts = facts_of_two_epochs();
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, LOADER_EPOCHS), 2);
	CLOSE(VALUE(facts, LOADER_START_SHARE), 0);
	made_close(&made);
}

/* The loop makes its batches itself; their operators are the data set's. */
TEST(a_loop_that_loads_its_data_itself)
{
	begin_trace(DW_PROCESS_PYTHON);
	uint32_t next = made_op(&made, DWELL_CATEGORY_DATA, "DataLoader.__next__");
	uint32_t samples = made_op(&made, DWELL_CATEGORY_DATA, "a batch's samples");
	uint32_t small = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::div");
	uint32_t mm = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");

	for (uint64_t i = 0; i < 20; i++) {
		uint64_t at = 100 + i * 10;

		dw_encode_begin(&made.stream, at * ms, next);
		dw_encode_begin(&made.stream, at * ms, samples);
		for (uint64_t k = 0; k < 100; k++) {
			dw_encode_begin(&made.stream, at * ms + k * 30000, small);
			dw_encode_end(&made.stream, at * ms + k * 30000 + 10000);
		}
		dw_encode_end(&made.stream, (at + 3) * ms);
		dw_encode_end(&made.stream, (at + 4) * ms);
		range(at + 4, at + 10, mm);
		step(i, at, at + 10, 10);
	}
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, LOADER_WORKERS), 0);
	CLOSE(VALUE(facts, LOADER_IN_PROCESS), 0.3);
	CHECK_EQ(VALUE(facts, OPERATORS_COUNT), 1);
	CLOSE(VALUE(facts, OPERATORS_SMALL), 0);
	CHECK(!facts->at[DW_FACT_LOADER_HAND_OVER].measured);
	made_close(&made);
}

CHECK_MAIN
