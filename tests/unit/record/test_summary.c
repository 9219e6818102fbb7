/* Summarised steps: when they begin, how many an entry contains, how much space remains for
 * names. */
#include "check.h"

#include "record/summary.c"

static struct dw_head head;
static struct dw_process process; /* 150 MB of zeros, of which few pages are touched */

static void begin(uint32_t blocks)
{
	head = (struct dw_head){ .next_block = 1, .max_blocks = blocks, .reserve_blocks = blocks / 8 };
	dw_session.map = &head;
	dw_session.generation++;
	dw_process = &process;
}

TEST(steps_are_single_until_half_of_the_reserve_is_used)
{
	begin(1024);
	head.next_block = 1024 - 64 - 1;
	CHECK(!dw_step_summary_needed(&head));
	CHECK_EQ(dw_step_summary_blocks(&head), 33);
	head.next_block++;
	CHECK(dw_step_summary_needed(&head));
	CHECK_EQ(dw_step_summary_blocks(&head), 32);
}

TEST(names_have_the_last_quarter)
{
	begin(1024);
	head.next_block = 1024 - 32;
	CHECK_EQ(dw_step_summary_blocks(&head), 0);
	CHECK_EQ(summary_entry_steps(), 0);
	begin(16); /* the least budget: a reserve of two blocks */
	head.next_block = 14;
	CHECK_EQ(dw_step_summary_blocks(&head), 1);
	head.next_block = 15;
	CHECK(dw_step_summary_needed(&head));
	CHECK_EQ(dw_step_summary_blocks(&head), 0);
}

TEST(entries_collect_twice_as_many_when_half_is_used)
{
	const unsigned entries_of_block = DW_BLOCK_BYTES / sizeof(struct dw_entry_steps);
	uint64_t steps = 0, an_entry = 0, last = FIRST_STEPS;
	unsigned entries = 0;

	begin(32768); /* 2 GiB */
	head.next_block = head.max_blocks - head.reserve_blocks / 2;
	while ((an_entry = summary_entry_steps()) != 0) {
		CHECK(an_entry == last || an_entry == 2 * last);
		last = an_entry;
		steps += an_entry;
		head.next_block += ++entries % entries_of_block == 0;
	}
	CHECK_RANGE(last, 512 * FIRST_STEPS, 4096 * FIRST_STEPS);
	CHECK(steps > 500000000); /* and the last entry goes on */
}

TEST(an_entry_adds_up_its_steps)
{
	struct dw_entry_steps entry = { .count = 0 };
	struct dw_slot slot = { .summary = &entry, .summary_end = 100 };
	struct dw_entry_step step = { .entry.aux = DW_STEP_RECORDED };
	enum dw_loss cause;

	for (uint64_t i = 0; i < 3; i++) {
		step.number = 40 + i;
		step.start_ticks = 1000 * i;
		CHECK(dw_step_summary_add(&slot, &step, 1000 * i + 300 * (i + 1), i ? 50 : 0, &cause));
	}
	CHECK_EQ(entry.first_number, 40);
	CHECK_EQ(entry.count, 3);
	CHECK_EQ(entry.start_ticks, 0);
	CHECK_EQ(entry.end_ticks, 2900);
	CHECK_EQ(entry.step_ticks, 1800);
	CHECK_EQ(entry.shortest_ticks, 300);
	CHECK_EQ(entry.longest_ticks, 900);
	CHECK_EQ(entry.cpu_ns, 100);
	CHECK_EQ(entry.cpu_count, 2);
	CHECK_EQ(entry.recorded, 3);
	CHECK_EQ(entry.durations[dw_steps_bucket(300)] + entry.durations[dw_steps_bucket(600)] +
	             entry.durations[dw_steps_bucket(900)],
	         3);
}

/* Adds an update of 100 ticks of an optimizer, with 50 ticks since the one before. */
static void add_update(struct dw_slot *slot, uint64_t number, uint32_t optimizer, uint32_t more)
{
	struct dw_entry_step step = { .entry.aux =
		                              DW_STEP_RECORDED | DWELL_STEP_UPDATE | DWELL_STEP_OPTIMIZER(optimizer) | more,
		                          .number = number,
		                          .start_ticks = 1000 + 150 * number };
	enum dw_loss cause;

	CHECK(dw_step_summary_add(slot, &step, step.start_ticks + 100, 10, &cause));
}

/* A generator and a discriminator, which is what a reader of single steps decides, too. */
TEST(optimizers_that_step_in_turn_are_one_step)
{
	struct dw_entry_steps entry = { .count = 0 };
	struct dw_slot slot = { .summary = &entry, .summary_end = 100 };
	uint64_t steps = 0;

	for (uint64_t i = 0; i < 8; i++)
		add_update(&slot, i, i % 2, 0);
	CHECK_EQ(entry.count, 4);
	CHECK_EQ(entry.step_ticks, 4 * 250);
	CHECK_EQ(entry.shortest_ticks, 250);
	CHECK_EQ(entry.longest_ticks, 250);
	CHECK_EQ(entry.cpu_ns, 80);
	CHECK_EQ(entry.end_ticks, 1000 + 150 * 7 + 100);
	add_update(&slot, 8, 0, DWELL_STEP_BATCH);
	add_update(&slot, 9, 1, DWELL_STEP_BATCH); /* another batch is another iteration */
	add_update(&slot, 10, 1, 0);
	CHECK_EQ(entry.count, 7);
	CHECK_EQ(entry.shortest_ticks, 100);
	for (unsigned i = 0; i < DW_STEPS_BUCKETS; i++)
		steps += entry.durations[i];
	CHECK_EQ(steps, 7);
}

/* What may be withdrawn has an entry of its own. If there is no space for another, steps are lost. */
TEST(an_entry_has_steps_of_one_kind)
{
	struct dw_entry_steps entry = { .entry.aux = DW_STEP_TENTATIVE };
	struct dw_slot slot = { .summary = &entry, .summary_end = 100 };
	struct dw_entry_step step = { .entry.aux = DW_STEP_RECORDED | DW_STEP_TENTATIVE | DWELL_STEP_CALL };
	enum dw_loss cause = DW_LOSS_COUNT;

	begin(16);
	CHECK(dw_step_summary_add(&slot, &step, 100, 0, &cause));
	CHECK_EQ(entry.count, 1);
	step.entry.aux = DW_STEP_RECORDED;
	head.next_block = 16;
	dw_process->journal_retry_ticks = UINT64_MAX;
	CHECK(!dw_step_summary_add(&slot, &step, 200, 0, &cause));
	CHECK_EQ(entry.count, 1);
}

CHECK_MAIN
