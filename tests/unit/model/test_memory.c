/* Memory by owner, at the peak and over time, compared with sums computed by hand. */
#include "made.h"
#include "model/memory/memory.h"

#define OP DWELL_CATEGORY_OPERATOR

static struct made made;

static uint32_t kind(const char *name, const char *device)
{
	return dw_encode_op(&made.process, DWELL_CATEGORY_ALLOCATION, name, device, 0, NULL, 0);
}

static void alloc_in(struct dw_encode_stream *stream, uint64_t ticks, uint32_t id, uint64_t address,
                     uint64_t bytes)
{
	uint32_t words[4] = { (uint32_t)address, (uint32_t)(address >> 32), (uint32_t)bytes,
		                  (uint32_t)(bytes >> 32) };

	dw_encode_record(stream, ticks, DW_ALLOC, id, words, 4);
}

static void free_in(struct dw_encode_stream *stream, uint64_t ticks, uint64_t address)
{
	uint32_t words[2] = { (uint32_t)address, (uint32_t)(address >> 32) };

	dw_encode_record(stream, ticks, DW_FREE, kind("free", NULL), words, 2);
}

static void alloc(uint64_t ticks, uint32_t id, uint64_t address, uint64_t bytes)
{
	alloc_in(&made.stream, ticks, id, address, bytes);
}

static void unalloc(uint64_t ticks, uint64_t address)
{
	free_in(&made.stream, ticks, address);
}

static void begin(uint64_t ticks, uint32_t op)
{
	dw_encode_begin(&made.stream, ticks, op);
}

static void end(uint64_t ticks)
{
	dw_encode_end(&made.stream, ticks);
}

static const struct dw_memory *memory_of(void)
{
	return dw_model_memory(made.model, &made.error);
}

static const struct dw_memory_owner *owner(const struct dw_memory_pool *pool, const char *name)
{
	const struct dw_symbol *symbols = dw_model_symbols(made.model, NULL);

	for (size_t i = 0; i < pool->owner_count; i++) {
		uint32_t symbol = pool->owners[i].symbol;

		if (strcmp(symbol == DW_NO_INDEX ? "(no operator)" : symbols[symbol].name, name) == 0)
			return &pool->owners[i];
	}
	return NULL;
}

TEST(an_allocation_belongs_to_the_innermost_operator)
{
	made_init(&made);
	uint32_t activation = kind("activation", "cpu"), zone = made_op(&made, 0, "forward");
	uint32_t outer = made_op(&made, OP, "outer"), inner = made_op(&made, OP, "inner");
	uint32_t layer = made_op(&made, DWELL_CATEGORY_LAYER, "layer");

	alloc(100, activation, 0x1000, 1); /* (no operator) */
	begin(200, zone);
	alloc(210, activation, 0x2000, 10); /* forward */
	begin(220, outer);
	begin(230, layer);
	alloc(240, activation, 0x3000, 100); /* outer: a layer owns nothing */
	begin(250, inner);
	alloc(260, activation, 0x4000, 1000); /* inner */
	begin(262, zone);
	alloc(264, activation, 0x5000, 10000); /* inner still: a zone in an operator */
	end(266);
	end(270);
	end(280);
	end(290);
	unalloc(300, 0x4000); /* in forward, but it was inner's */
	end(310);
	alloc(400, activation, 0x6000, 0);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	REQUIRE(owner(pool, "inner") && owner(pool, "outer") && owner(pool, "forward") &&
	        owner(pool, "(no operator)"));
	CHECK_EQ(pool->owner_count, 4);
	CHECK_EQ(owner(pool, "inner")->use.allocated_bytes, 11000);
	CHECK_EQ(owner(pool, "inner")->use.allocations, 2);
	CHECK_EQ(owner(pool, "inner")->use.freed_bytes, 1000);
	CHECK_EQ(owner(pool, "inner")->use.live_bytes, 10000);
	CHECK_EQ(owner(pool, "inner")->use.live_count, 1);
	CHECK_EQ(owner(pool, "inner")->total_bytes, 11000);
	CHECK_EQ(owner(pool, "outer")->use.allocated_bytes, 100);
	CHECK_EQ(owner(pool, "outer")->total_bytes, 11100);
	CHECK_EQ(owner(pool, "outer")->total_count, 3);
	CHECK_EQ(owner(pool, "forward")->use.allocated_bytes, 10);
	CHECK_EQ(owner(pool, "forward")->total_bytes, 11110); /* once, though it is there twice */
	CHECK_EQ(owner(pool, "(no operator)")->use.allocated_bytes, 1);
	CHECK_EQ(owner(pool, "(no operator)")->total_bytes, 1);
	CHECK_EQ(owner(pool, "(no operator)")->use.allocations, 2);
	CHECK_EQ(pool->all.at_peak_bytes, 11111);
	CHECK_EQ(pool->all.live_bytes, 10111);
	CHECK_EQ(pool->all.live_count, 5);
	CHECK_EQ(pool->peak_ns, 264);
	CHECK_STR(pool->device, "cpu");
	made_close(&made);
}

TEST(kinds_and_owners_are_those_of_the_peak)
{
	made_init(&made);
	uint32_t parameter = kind("parameter", "cpu"), gradient = kind("gradient", "cpu");
	uint32_t state = kind("optimizer state", "cpu"), strange = kind("lookup table", "cpu");
	uint32_t a = made_op(&made, OP, "a"), b = made_op(&made, OP, "b");

	begin(10, a);
	alloc(20, parameter, 0x10, 500);
	alloc(30, gradient, 0x20, 300);
	end(40);
	begin(50, b);
	alloc(60, strange, 0x30, 40); /* 840: the peak */
	unalloc(70, 0x20);            /* 540 */
	alloc(80, state, 0x40, 290);  /* 830: more of b, and no peak */
	end(90);
	unalloc(95, 0x10);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(pool->all.at_peak_bytes, 840);
	CHECK_EQ(pool->peak_ns, 60);
	CHECK_EQ(pool->peak_step, DW_NO_INDEX);
	CHECK_EQ(pool->kinds[DW_MEMORY_PARAMETER].at_peak_bytes, 500);
	CHECK_EQ(pool->kinds[DW_MEMORY_GRADIENT].at_peak_bytes, 300);
	CHECK_EQ(pool->kinds[DW_MEMORY_OPTIMIZER_STATE].at_peak_bytes, 0);
	CHECK_EQ(pool->kinds[DW_MEMORY_OPTIMIZER_STATE].live_bytes, 290);
	CHECK_EQ(pool->kinds[DW_MEMORY_OTHER].at_peak_bytes, 40);
	CHECK_EQ(pool->kinds[DW_MEMORY_PARAMETER].live_bytes, 0);
	CHECK_EQ(pool->kinds[DW_MEMORY_PARAMETER].freed_bytes, 500);
	CHECK_EQ(owner(pool, "a")->use.at_peak_bytes, 800);
	CHECK_EQ(owner(pool, "b")->use.at_peak_bytes, 40);
	CHECK_EQ(owner(pool, "b")->use.live_bytes, 330);
	CHECK_STR(dw_model_symbols(made.model, NULL)[pool->owners[0].symbol].name, "a");
	made_close(&made);
}

/* A peak reached again later is still the first one. */
TEST(the_first_of_equal_peaks_counts)
{
	made_init(&made);
	uint32_t input = kind("input", "cpu");

	for (uint64_t i = 0; i < 5; i++) {
		alloc(1000 + i * 100, input, 0x100, 64);
		unalloc(1050 + i * 100, 0x100);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	CHECK_EQ(memory->pools[0].all.at_peak_bytes, 64);
	CHECK_EQ(memory->pools[0].peak_ns, 1000);
	CHECK_EQ(memory->pools[0].all.live_bytes, 0);
	CHECK_EQ(memory->pools[0].all.allocations, 5);
	CHECK_EQ(memory->pools[0].all.frees, 5);
	made_close(&made);
}

TEST(memory_is_freed_by_another_thread)
{
	struct dw_encode_stream other;

	made_init(&made);
	uint32_t temporary = kind("temporary", "cpu"), op = made_op(&made, OP, "op");
	uint32_t thread = dw_encode_thread(&made.process, 101, 1, 0, "loader");

	dw_encode_stream_init(&other, &made.process, 1, thread);
	begin(100, op);
	/* The same address three times; each free is in the other stream, in between. */
	alloc(110, temporary, 0xabc, 1000);
	free_in(&other, 120, 0xabc);
	alloc(130, temporary, 0xabc, 2000);
	free_in(&other, 140, 0xabc);
	alloc(150, temporary, 0xabc, 4000);
	alloc_in(&other, 155, temporary, 0xdef, 70); /* "op" is open in the first thread only */
	end(160);
	free_in(&other, 170, 0xabc);
	dw_encode_close(&other);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(memory->unknown_frees, 0);
	CHECK_EQ(memory->doubled, 0);
	CHECK_EQ(pool->all.at_peak_bytes, 4070);
	CHECK_EQ(pool->all.live_bytes, 70);
	CHECK_EQ(owner(pool, "op")->use.allocated_bytes, 7000);
	CHECK_EQ(owner(pool, "op")->use.freed_bytes, 7000);
	CHECK_EQ(owner(pool, "(no operator)")->use.allocated_bytes, 70);
	made_close(&made);
}

TEST(unknown_frees_and_double_allocations_are_counted)
{
	made_init(&made);
	uint32_t input = kind("input", "cpu");

	unalloc(10, 0x999);
	alloc(20, input, 0x100, 50);
	alloc(30, input, 0x100, 70); /* its free is missing */
	unalloc(40, 0x100);
	unalloc(50, 0x100);
	alloc(60, input, 0x200, UINT64_MAX); /* damage */
	alloc(70, input, 0x300, UINT64_MAX);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	CHECK_EQ(memory->unknown_frees, 2);
	CHECK_EQ(memory->doubled, 1);
	CHECK_EQ(memory->pools[0].all.allocations, 4);
	CHECK_EQ(memory->pools[0].all.frees, 1);
	CHECK_EQ(memory->pools[0].all.freed_bytes, 70);
	made_close(&made);
}

TEST(devices_and_processes_are_pools_of_their_own)
{
	struct dw_encode_process process;
	struct dw_encode_stream stream;

	made_init(&made);
	uint32_t cpu = kind("input", "cpu"), gpu = kind("input", "cuda:0");

	alloc(100, cpu, 0x100, 10);
	alloc(110, gpu, 0x200, 3000);
	dw_encode_process_init(&process, &made.encode, 0)->pid = 0x7ffffffd;
	dw_encode_stream_init(&stream, &process, 0, dw_encode_thread(&process, 200, 0, 0, "main"));
	/* The same address: another process's. */
	alloc_in(&stream, 120,
	         dw_encode_op(&process, DWELL_CATEGORY_ALLOCATION, "input", "cpu", 0, NULL, 0), 0x100,
	         200);
	unalloc(130, 0x100);
	dw_encode_close(&stream);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 3);
	CHECK_STR(memory->pools[0].device, "cuda:0");
	CHECK_EQ(memory->pools[0].all.at_peak_bytes, 3000);
	CHECK_EQ(memory->pools[1].all.at_peak_bytes, 200);
	CHECK_EQ(memory->pools[1].all.live_bytes, 200);
	CHECK_EQ(memory->pools[2].all.at_peak_bytes, 10);
	CHECK_EQ(memory->pools[2].all.live_bytes, 0);
	CHECK_EQ(memory->unknown_frees, 0);
	made_close(&made);
}

static void make_steps(void)
{
	uint32_t activation;

	made_init(&made);
	activation = kind("activation", "cpu");
	for (uint64_t step = 0; step < 3; step++) {
		uint64_t start = 1000 + step * 1000;

		dw_encode_step(&made.process, made.thread, step, start, start + 900, 0, DW_STEP_RECORDED);
		alloc(start + 100, activation, 0x10 + step, 100); /* stays */
		alloc(start + 200, activation, 0x1000, 10 * (step + 1));
		unalloc(start + 300, 0x1000);
		alloc(start + 950, activation, 0x2000, 5000); /* between the steps */
		unalloc(start + 960, 0x2000);
	}
}

TEST(a_scope_of_steps_knows_what_was_live_before)
{
	struct dw_scope scope = { .has_steps = true, .steps_from = 1, .steps_to = 1 };

	make_steps();
	REQUIRE(made_open(&made, &scope) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(pool->all.at_peak_bytes, 220);
	CHECK_EQ(pool->peak_ns, 2200);
	REQUIRE(pool->peak_step != DW_NO_INDEX);
	CHECK_EQ(made.source->steps[pool->peak_step].number, 1);
	CHECK_EQ(pool->all.allocations, 2);
	CHECK_EQ(pool->all.allocated_bytes, 120);
	CHECK_EQ(pool->all.live_bytes, 200);
	CHECK_EQ(pool->points[0].bytes[DW_MEMORY_ACTIVATION], 100);
	made_close(&made);
}

TEST(without_a_scope_everything_counts)
{
	make_steps();
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	CHECK_EQ(memory->pools[0].all.at_peak_bytes, 5300);
	CHECK_EQ(memory->pools[0].peak_ns, 3950);
	CHECK_EQ(memory->pools[0].peak_step, DW_NO_INDEX);
	made_close(&made);
}

/* All steps as the scope: the 5000 in between are not in it, though they are live. */
TEST(what_lies_between_steps_is_no_peak_of_steps)
{
	struct dw_scope scope = { .has_steps = true, .steps_from = 0, .steps_to = 9 };

	make_steps();
	REQUIRE(made_open(&made, &scope) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	CHECK_EQ(memory->pools[0].all.at_peak_bytes, 330);
	CHECK_EQ(memory->pools[0].peak_ns, 3200);
	made_close(&made);
}

TEST(a_scope_of_a_thread_is_that_threads_allocations)
{
	struct dw_encode_stream other;
	struct dw_scope scope = { .thread = "loader" };

	made_init(&made);
	uint32_t input = kind("input", "cpu");
	uint32_t thread = dw_encode_thread(&made.process, 101, 1, 0, "loader");

	dw_encode_stream_init(&other, &made.process, 1, thread);
	alloc(100, input, 0x100, 1000);
	alloc_in(&other, 110, input, 0x200, 64);
	unalloc(120, 0x100);
	unalloc(130, 0x200);
	dw_encode_close(&other);
	REQUIRE(made_open(&made, &scope) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	CHECK_EQ(memory->pools[0].all.at_peak_bytes, 64);
	CHECK_EQ(memory->pools[0].all.live_bytes, 0);
	CHECK_EQ(memory->unknown_frees, 0);
	made_close(&made);
}

/* 20000 events over 2 ms: the level at 1000 * i ns is known, and so is every peak. */
TEST(the_curve_is_short_and_has_the_peak)
{
	uint64_t largest = 0, at_peak = 0;

	made_init(&made);
	uint32_t input = kind("input", "cpu"), state = kind("optimizer_state", "cpu");

	alloc(0, state, 0x1, 7);
	for (uint64_t i = 1; i <= 10000; i++) {
		uint64_t bytes = i * 7919 % 10007;

		if (bytes + 7 > largest) {
			largest = bytes + 7;
			at_peak = i * 200;
		}
		alloc(i * 200, input, 0x1000, bytes);
		unalloc(i * 200 + 100, 0x1000);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];
	bool has_peak = false;

	CHECK_EQ(pool->all.at_peak_bytes, largest);
	CHECK_EQ(pool->peak_ns, at_peak);
	CHECK_RANGE(pool->point_count, 900, DW_MEMORY_POINTS);
	for (size_t i = 0; i < pool->point_count; i++) {
		const struct dw_memory_point *point = &pool->points[i];
		uint64_t n = point->ns / 200;

		if (i)
			CHECK(point->ns > pool->points[i - 1].ns);
		CHECK_EQ(point->bytes[DW_MEMORY_OPTIMIZER_STATE], 7);
		if (n && point->ns % 200 < 100)
			CHECK_EQ(point->bytes[DW_MEMORY_INPUT], n * 7919 % 10007);
		has_peak |= point->ns == at_peak && point->bytes[DW_MEMORY_INPUT] == largest - 7;
	}
	CHECK(has_peak);
	made_close(&made);
}

static uint64_t allocated(const struct dw_memory_pool *pool, enum dw_memory_kind kind)
{
	return pool->kinds[kind].allocated_bytes;
}

/* A step of training as a probe sees it: the program calls everything "other". */
static void train(uint64_t start, uint32_t op, bool optimizer_state)
{
	uint32_t other = kind("other", "cpu"), data = made_op(&made, DWELL_CATEGORY_DATA, "next");
	uint32_t fetch = made_op(&made, DWELL_CATEGORY_DATA, "fetch");
	uint32_t forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	uint32_t backward = made_op(&made, DWELL_CATEGORY_PHASE, "backward");
	uint32_t optimizer = made_op(&made, DWELL_CATEGORY_PHASE, "optimizer");

	begin(start + 10, data);
	begin(start + 11, fetch);
	alloc(start + 12, other, 0xd0, 1); /* temporary: of the outermost data range */
	alloc(start + 13, other, 0xd1, 2); /* input */
	end(start + 14);
	unalloc(start + 15, 0xd0);
	end(start + 19);
	begin(start + 20, forward);
	alloc(start + 21, other, 0xe0, 4); /* other: no operator */
	begin(start + 22, op);
	alloc(start + 23, other, 0xf0, 8); /* activation */
	begin(start + 24, op);
	alloc(start + 25, other, 0xf1, 16); /* temporary: the outermost operator counts */
	alloc(start + 26, other, 0xf2, 32); /* activation */
	end(start + 27);
	unalloc(start + 28, 0xf1);
	end(start + 29); /* 47: the peak, but for what was there before */
	end(start + 30);
	begin(start + 40, op);
	alloc(start + 41, other, 0xf3, 64); /* activation: in the step, a loss */
	end(start + 42);
	begin(start + 50, backward);
	begin(start + 51, op);
	alloc(start + 52, other, 0xb0, 128); /* temporary */
	unalloc(start + 53, 0xf0);
	alloc(start + 54, other, 0xb1, 256); /* gradient */
	end(start + 55);
	unalloc(start + 56, 0xb0);
	unalloc(start + 57, 0xf2);
	end(start + 59);
	begin(start + 60, optimizer);
	if (optimizer_state)
		alloc(start + 61, other, 0xa0, 512); /* optimizer state */
	alloc(start + 62, other, 0xa1, 1024);    /* temporary */
	unalloc(start + 63, 0xa1);
	end(start + 69);
	unalloc(start + 70, 0xd1);
	unalloc(start + 71, 0xe0);
	unalloc(start + 72, 0xf3);
	unalloc(start + 73, 0xb1);
	dw_encode_step(&made.process, made.thread, start / 1000, start, start + 100, 0,
	               DW_STEP_RECORDED);
}

static void check_sums(const struct dw_memory_pool *pool)
{
	uint64_t peak = 0, live = 0, bytes = 0;

	for (unsigned i = 0; i < DW_MEMORY_KIND_COUNT; i++) {
		peak += pool->kinds[i].at_peak_bytes;
		live += pool->kinds[i].live_bytes;
		bytes += pool->kinds[i].allocated_bytes;
	}
	CHECK_EQ(peak, pool->all.at_peak_bytes);
	CHECK_EQ(live, pool->all.live_bytes);
	CHECK_EQ(bytes, pool->all.allocated_bytes);
}

TEST(what_is_said_to_be_other_is_told_by_its_range)
{
	made_init(&made);
	uint32_t other = kind("other", "cpu"), op = made_op(&made, OP, "op");

	begin(100, op);
	alloc(101, other, 0x1, 2048); /* outside any step: a data set */
	alloc(102, other, 0x2, 4096); /* temporary there too */
	unalloc(103, 0x2);
	end(110);
	train(1000, op, true);
	train(2000, op, false);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(allocated(pool, DW_MEMORY_INPUT), 2 * 2);
	CHECK_EQ(allocated(pool, DW_MEMORY_ACTIVATION), 2 * (8 + 32 + 64));
	CHECK_EQ(allocated(pool, DW_MEMORY_GRADIENT), 2 * 256);
	CHECK_EQ(allocated(pool, DW_MEMORY_OPTIMIZER_STATE), 512);
	CHECK_EQ(allocated(pool, DW_MEMORY_OTHER), 2 * 4 + 2048);
	CHECK_EQ(allocated(pool, DW_MEMORY_TEMPORARY), 2 * (1 + 16 + 128 + 1024) + 4096);
	CHECK_EQ(allocated(pool, DW_MEMORY_PARAMETER), 0);
	CHECK_EQ(pool->kinds[DW_MEMORY_OPTIMIZER_STATE].live_bytes, 512);
	CHECK_EQ(pool->all.at_peak_bytes, 4096 + 2048);
	CHECK_EQ(pool->kinds[DW_MEMORY_TEMPORARY].at_peak_bytes, 4096); /* known only later */
	check_sums(pool);
	made_close(&made);
}

/* What becomes of a block after the scope's end counts as well. */
TEST(kinds_do_not_depend_on_the_scope)
{
	struct dw_scope scope = { .has_steps = true, .steps_from = 1, .steps_to = 1 };

	made_init(&made);
	uint32_t op = made_op(&made, OP, "op");

	train(1000, op, true);
	train(2000, op, false);
	train(3000, op, false);
	REQUIRE(made_open(&made, &scope) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(allocated(pool, DW_MEMORY_ACTIVATION), 8 + 32 + 64);
	CHECK_EQ(allocated(pool, DW_MEMORY_TEMPORARY), 1 + 16 + 128 + 1024);
	CHECK_EQ(pool->kinds[DW_MEMORY_TEMPORARY].at_peak_bytes, 1024);
	CHECK_EQ(pool->kinds[DW_MEMORY_GRADIENT].at_peak_bytes, 256);
	check_sums(pool);
	made_close(&made);
}

TEST(a_block_is_what_is_said_of_it_later)
{
	made_init(&made);
	uint32_t other = kind("other", "cpu"), input = kind("input", "cpu");
	uint32_t parameter = kind("parameter", NULL), op = made_op(&made, OP, "op");

	begin(100, op);
	alloc(101, other, 0x10, 100);
	alloc(102, other, 0x20, 20);
	alloc(103, input, 0x30, 3);  /* the program says it: it stays */
	end(110);
	alloc(120, other, 0x40, 1000);
	unalloc(130, 0x20);
	dw_encode_alloc_is(&made.stream, 140, parameter, 0x10);
	dw_encode_alloc_is(&made.stream, 141, parameter, 0x10); /* twice is once */
	dw_encode_alloc_is(&made.stream, 142, parameter, 0x20); /* nothing lives there */
	dw_encode_alloc_is(&made.stream, 143, parameter, 0x99);
	alloc(150, other, 0x20, 20000); /* another block */
	unalloc(160, 0x10);
	unalloc(170, 0x30);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(allocated(pool, DW_MEMORY_PARAMETER), 100);
	CHECK_EQ(allocated(pool, DW_MEMORY_INPUT), 3);
	CHECK_EQ(allocated(pool, DW_MEMORY_ACTIVATION), 20);
	CHECK_EQ(allocated(pool, DW_MEMORY_OTHER), 21000);
	CHECK_EQ(pool->kinds[DW_MEMORY_PARAMETER].freed_bytes, 100);
	CHECK_EQ(pool->kinds[DW_MEMORY_PARAMETER].at_peak_bytes, 100);
	CHECK_EQ(pool->all.at_peak_bytes, 21103);
	CHECK_EQ(pool->owner_count, 2);
	check_sums(pool);
	made_close(&made);
}

TEST(without_operators_other_stays_other)
{
	made_init(&made);
	uint32_t other = kind("other", "cpu"), phase = made_op(&made, DWELL_CATEGORY_PHASE, "backward");

	begin(100, phase);
	alloc(110, other, 0x10, 100);
	end(120);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	CHECK_EQ(allocated(&memory->pools[0], DW_MEMORY_OTHER), 100);
	made_close(&made);
}

/* Operators of a backward run in another thread. One begins after the backward's end. */
TEST(a_backward_reaches_into_other_threads)
{
	struct dw_encode_stream device;

	made_init(&made);
	uint32_t other = kind("other", "cpu"), op = made_op(&made, OP, "op");
	uint32_t backward = made_op(&made, DWELL_CATEGORY_PHASE, "backward");
	uint32_t thread = dw_encode_thread(&made.process, 101, 1, 0, "device 0");

	dw_encode_stream_init(&device, &made.process, 1, thread);
	begin(1000, backward);
	dw_encode_begin(&device, 1010, op);
	alloc_in(&device, 1020, other, 0x10, 1); /* gradient */
	alloc_in(&device, 1030, other, 0x20, 2); /* temporary */
	dw_encode_end(&device, 1040);
	free_in(&device, 1050, 0x20); /* after its operator, before the backward's end */
	end(1100);
	dw_encode_begin(&device, 1110, op);
	alloc_in(&device, 1120, other, 0x30, 4); /* activation */
	dw_encode_end(&device, 1130);
	alloc_in(&device, 1140, other, 0x40, 8); /* other */
	dw_encode_close(&device);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(allocated(pool, DW_MEMORY_GRADIENT), 1);
	CHECK_EQ(allocated(pool, DW_MEMORY_TEMPORARY), 2);
	CHECK_EQ(allocated(pool, DW_MEMORY_ACTIVATION), 4);
	CHECK_EQ(allocated(pool, DW_MEMORY_OTHER), 8);
	made_close(&made);
}

/* A step as train(), in which gradients stay; in the first one a library makes itself a buffer in the forward and one in the
 * backward. */
static void train_with_library(uint64_t start, uint32_t op, bool first)
{
	uint32_t other = kind("other", "cpu"), backward = made_op(&made, DWELL_CATEGORY_PHASE, "backward");
	uint32_t forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");

	begin(start + 10, forward);
	begin(start + 11, op);
	if (first)
		alloc(start + 12, other, 0x100, 4000); /* other: the library keeps it */
	alloc(start + 13, other, 0x110, 64);       /* activation */
	end(start + 14);
	end(start + 15);
	begin(start + 20, backward);
	begin(start + 21, op);
	if (first) {
		alloc(start + 22, other, 0x120, 4001); /* other: no parameter has its size */
		alloc(start + 23, other, 0x130, 100);  /* gradient */
		dw_encode_alloc_is(&made.stream, start + 24, kind("parameter", NULL), 0x10);
	}
	unalloc(start + 25, 0x110);
	end(start + 26);
	end(start + 27);
	dw_encode_step(&made.process, made.thread, start / 1000, start, start + 100, 0, DW_STEP_RECORDED);
}

TEST(what_a_library_keeps_is_no_gradient_and_no_activation)
{
	for (unsigned steps = 2; steps <= 3; steps++) {
		bool known = steps == 3;

		made_init(&made);
		uint32_t op = made_op(&made, OP, "op");

		alloc(100, kind("other", "cpu"), 0x10, 100); /* the parameter */
		for (unsigned i = 1; i <= steps; i++)
			train_with_library(1000 * i, op, i == 1);
		unalloc(9000, 0x10); /* the sizes of parameters are known afterwards too */
		REQUIRE(made_open(&made, NULL) == 0);
		const struct dw_memory *memory = memory_of();
		REQUIRE(memory && memory->pool_count == 1);
		const struct dw_memory_pool *pool = &memory->pools[0];

		CHECK_EQ(allocated(pool, DW_MEMORY_PARAMETER), 100);
		CHECK_EQ(allocated(pool, DW_MEMORY_ACTIVATION), 64 * steps + (known ? 0 : 4000));
		CHECK_EQ(allocated(pool, DW_MEMORY_GRADIENT), 100 + (known ? 0 : 4001));
		CHECK_EQ(allocated(pool, DW_MEMORY_OTHER), known ? 8001 : 0);
		check_sums(pool);
		made_close(&made);
	}
}

/* In a step that is recorded without operators, the other thread that runs the backward pass has no range. */
TEST(a_backward_reaches_into_threads_without_operators)
{
	struct dw_encode_stream device;

	made_init(&made);
	uint32_t other = kind("other", "cpu"), op = made_op(&made, OP, "op");
	uint32_t backward = made_op(&made, DWELL_CATEGORY_PHASE, "backward");
	uint32_t thread = dw_encode_thread(&made.process, 101, 1, 0, "device 0");

	dw_encode_stream_init(&device, &made.process, 1, thread);
	begin(900, op);
	end(910);
	begin(1000, backward);
	alloc_in(&device, 1020, other, 0x10, 1); /* gradient */
	alloc_in(&device, 1030, other, 0x20, 2); /* temporary */
	free_in(&device, 1050, 0x20);
	end(1100);
	alloc_in(&device, 1140, other, 0x40, 8); /* other */
	dw_encode_step(&made.process, made.thread, 0, 950, 1200, 0, DW_STEP_REDUCED);
	dw_encode_close(&device);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(allocated(pool, DW_MEMORY_GRADIENT), 1);
	CHECK_EQ(allocated(pool, DW_MEMORY_TEMPORARY), 2);
	CHECK_EQ(allocated(pool, DW_MEMORY_OTHER), 8);
	made_close(&made);
}

/* Many spans, opened and given back, over many chunks. */
TEST(thousands_of_steps_add_up)
{
	made_init(&made);
	uint32_t op = made_op(&made, OP, "op");

	for (uint64_t step = 1; step <= 5000; step++)
		train(step * 1000, op, step == 1);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(allocated(pool, DW_MEMORY_INPUT), 5000 * 2);
	CHECK_EQ(allocated(pool, DW_MEMORY_ACTIVATION), 5000 * (8 + 32 + 64));
	CHECK_EQ(allocated(pool, DW_MEMORY_GRADIENT), 5000 * 256);
	CHECK_EQ(allocated(pool, DW_MEMORY_TEMPORARY), 5000 * (1 + 16 + 128 + 1024));
	CHECK_EQ(pool->all.live_bytes, 512);
	check_sums(pool);
	made_close(&made);
}

/* Many chunks, deep recursion, many addresses: nothing is lost and nothing counts twice. */
TEST(large_numbers_add_up)
{
	made_init(&made);
	uint32_t input = kind("input", "cpu"), op = made_op(&made, OP, "again");
	uint64_t now = 1000;

	for (int depth = 0; depth < 400; depth++)
		begin(now++, op);
	for (uint64_t i = 0; i < 30000; i++)
		alloc(now++, input, 0x10000 + i * 64, i + 1);
	for (uint64_t i = 0; i < 30000; i += 2)
		unalloc(now++, 0x10000 + i * 64);
	for (int depth = 0; depth < 400; depth++)
		end(now++);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(pool->all.at_peak_bytes, 30000ull * 30001 / 2);
	CHECK_EQ(pool->all.live_bytes, 225015000); /* 2 + 4 + ... + 30000 = 15000 * 15001 */
	CHECK_EQ(pool->all.live_count, 15000);
	REQUIRE(owner(pool, "again"));
	CHECK_EQ(owner(pool, "again")->total_bytes, 30000ull * 30001 / 2);
	CHECK_EQ(owner(pool, "again")->total_count, 30000);
	CHECK_EQ(memory->unknown_frees, 0);
	made_close(&made);
}

/* outer, middle and inner are open; middle ends first. */
TEST(a_range_that_ends_in_the_middle_owns_no_more)
{
	uint32_t one = 1;

	made_init(&made);
	uint32_t input = kind("input", "cpu");
	uint32_t outer = made_op(&made, OP, "outer"), middle = made_op(&made, OP, "middle");
	uint32_t inner = made_op(&made, OP, "inner");

	begin(10, outer);
	begin(20, middle);
	begin(30, inner);
	alloc(40, input, 0x1, 1);
	dw_encode_record(&made.stream, 50, DW_END_OF, 0, &one, 1);
	alloc(60, input, 0x2, 10);
	end(70);
	alloc(80, input, 0x3, 100);
	end(90);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory && memory->pool_count == 1);
	const struct dw_memory_pool *pool = &memory->pools[0];

	CHECK_EQ(owner(pool, "inner")->use.allocated_bytes, 11);
	CHECK_EQ(owner(pool, "outer")->use.allocated_bytes, 100);
	CHECK_EQ(owner(pool, "outer")->total_bytes, 111);
	CHECK_EQ(owner(pool, "middle")->total_bytes, 1);
	CHECK_EQ(owner(pool, "middle")->use.allocated_bytes, 0);
	made_close(&made);
}

TEST(no_allocations_no_pools)
{
	made_init(&made);
	begin(10, made_op(&made, OP, "op"));
	end(20);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_memory *memory = memory_of();
	REQUIRE(memory);
	CHECK_EQ(memory->pool_count, 0);
	made_close(&made);
}

CHECK_MAIN
