/* Steps; the schedule: the same letters as torch 1.13 and 2.13. */
#include "check.h"

#include "dwell/dwell.h"
#include "dwell/probe.h"
#include "session.h"

static void check_plan(struct dwell_schedule plan, const char *letters)
{
	for (size_t step = 0; letters[step]; step++) {
		static const char actions[] = ".wRS";

		if (actions[dwell_schedule_action(&plan, step)] != letters[step])
			CHECK_FAIL("%s: step %zu", letters, step);
	}
}

#define PLAN(...) (struct dwell_schedule){ __VA_ARGS__ }

TEST(schedules_as_torch_has_them)
{
	check_plan(PLAN(.wait = 1, .warmup = 1, .active = 2), ".wRS.wRS.wRS.wRS.wRS.wRS");
	check_plan(PLAN(.wait = 1, .warmup = 1, .active = 2, .repeat = 2), ".wRS.wRS............");
	check_plan(PLAN(.skip_first = 10, .wait = 5, .warmup = 1, .active = 3, .repeat = 2),
	           "...............wRRS.....wRRS............");
	check_plan(PLAN(.active = 1), "SSSSSSSSSS");
	check_plan(PLAN(.wait = 2, .active = 1, .repeat = 3), "..S..S..S...............");
	check_plan(PLAN(.skip_first = 3, .wait = 1, .warmup = 4, .active = 1), "....wwwwS.wwwwS.wwwwS.");
	check_plan(PLAN(.wait = 1, .warmup = 1, .active = 2, .repeat = 1), ".wRS................");
	check_plan(PLAN(.wait = 5, .warmup = 1, .active = 3, .repeat = 1), ".....wRRS...............");
	check_plan(PLAN(.active = 3), "RRSRRSRRSRRSRRSRRS");
	check_plan(PLAN(.warmup = 1, .active = 1), "wSwSwSwSwSwSwSwS");
	check_plan(PLAN(.wait = 1, .warmup = 1, .active = 3), ".wRRS.wRRS.wRRS.wRRS");
	check_plan(PLAN(.skip_first = 6, .warmup = 2, .active = 4, .repeat = 1),
	           "......wwRRRS............................");
}

TEST(skip_first_wait_leaves_out_the_first_wait)
{
	check_plan(PLAN(.skip_first = 10, .skip_first_wait = 1, .wait = 20, .warmup = 1, .active = 2),
	           "..........wRS....................wRS....................wRS.");
	check_plan(PLAN(.skip_first = 3, .skip_first_wait = 1, .wait = 5, .warmup = 1, .active = 2,
	                .repeat = 2),
	           "...wRS.....wRS..............................................");
	check_plan(PLAN(.skip_first = 3, .wait = 5, .warmup = 1, .active = 2, .repeat = 2),
	           "........wRS.....wRS.........................................");
}

TEST(bad_ones_are_named)
{
	struct dwell_error error = { 0, "" };

	CHECK_EQ(dwell_schedule_check(&PLAN(.active = 1), &error), 0);
	CHECK_EQ(dwell_schedule_check(&PLAN(.wait = 1), &error), DWELL_E_ARGUMENT);
	CHECK(strstr(error.message, "active is 0"));
	CHECK_EQ(dwell_schedule_check(&PLAN(.active = 1, .repeat = (uint32_t)-1), &error), DWELL_E_ARGUMENT);
	CHECK(strstr(error.message, "repeat is -1"));
}

TEST(numbers_beyond_32_bits)
{
	struct dwell_schedule plan = PLAN(.wait = UINT32_MAX, .warmup = UINT32_MAX, .active = 2);
	uint64_t cycle = (uint64_t)UINT32_MAX * 2 + 2;

	CHECK_EQ(dwell_schedule_action(&plan, cycle - 3), DWELL_ACTION_WARMUP);
	CHECK_EQ(dwell_schedule_action(&plan, cycle - 2), DWELL_ACTION_RECORD);
	CHECK_EQ(dwell_schedule_action(&plan, cycle - 1), DWELL_ACTION_RECORD_AND_SAVE);
	CHECK_EQ(dwell_schedule_action(&plan, cycle), DWELL_ACTION_NONE);
}

/* A step may end at a past moment, if the moment is within the step. */
TEST(a_step_ends_where_its_probe_noted)
{
	const struct dw_entry_step *step;
	uint64_t before, moment;
	enum dw_loss cause;

	REQUIRE(session_begin(0));
	before = dwell_ticks();
	dwell_step_begin();
	step = dw_slot_here(&cause)->step;
	usleep(1000);
	moment = dwell_ticks();
	usleep(1000);
	dwell_step_end_at(moment);
	CHECK_EQ(step->end_ticks, moment);
	CHECK_EQ(step->cpu_ns, 0);
	dwell_step_begin();
	step = dw_slot_here(&cause)->step;
	moment = dwell_ticks();
	dwell_step_end_at(before);
	CHECK(step->end_ticks >= moment);
	dwell_step_end_at(moment); /* no step is open */
	session_end();
}

/* Numbers begin anew where only tentative steps were counted. */
TEST(tentative_steps_are_withdrawn_together)
{
	static struct dwell_site site = { "forward", NULL, NULL, 0, DWELL_CATEGORY_PHASE, 0 };
	static struct dwell_site as = { "evaluation", NULL, NULL, 0, DWELL_CATEGORY_EVALUATION, 0 };
	const struct dw_entry_step *step;
	enum dw_loss cause;

	REQUIRE(session_begin(0));
	dwell_steps_withdraw(&site, &as); /* there are none: nothing is written */
	CHECK_EQ(site.id, 0);
	for (uint64_t i = 0; i < 3; i++) {
		dwell_step_begin_tentative(0);
		step = dw_slot_here(&cause)->step;
		CHECK_EQ(step->number, i);
		CHECK(step->entry.aux & DW_STEP_TENTATIVE);
		dwell_step_end();
	}
	dwell_steps_withdraw(&site, &as);
	CHECK(site.id && as.id);
	CHECK_EQ(dwell_steps_begun(), 0);
	dwell_step_begin();
	step = dw_slot_here(&cause)->step;
	CHECK_EQ(step->number, 0);
	CHECK(!(step->entry.aux & DW_STEP_TENTATIVE));
	dwell_step_end();
	dwell_step_begin_tentative(0);
	dwell_steps_withdraw(NULL, NULL); /* there was another step: numbers go on */
	CHECK_EQ(dwell_steps_begun(), 2);
	session_end();
}

/* A probe says what a step is before it ends; only what it may say is kept. */
TEST(a_step_is_what_its_probe_says)
{
	const struct dw_entry_step *step;
	enum dw_loss cause;

	REQUIRE(session_begin(0));
	dwell_step_is(DWELL_STEP_UPDATE); /* no step is open */
	dwell_step_begin();
	step = dw_slot_here(&cause)->step;
	CHECK_EQ(step->entry.aux, DW_STEP_RECORDED);
	dwell_step_is(DWELL_STEP_UPDATE | DWELL_STEP_BATCH | DWELL_STEP_OPTIMIZER(3) | DW_STEP_CANCELLED);
	CHECK_EQ(step->entry.aux, DW_STEP_RECORDED | DWELL_STEP_UPDATE | DWELL_STEP_BATCH | DWELL_STEP_OPTIMIZER(3));
	dwell_step_end();
	session_end();
}

/* A probe leaves operators and layers out of some steps; all else is recorded in them. */
TEST(reduced_steps_have_no_operators)
{
	const uint32_t costly = 1u << DWELL_CATEGORY_OPERATOR | 1u << DWELL_CATEGORY_LAYER;
	enum dw_loss cause;

	REQUIRE(session_begin(0));
	dwell_step_begin();
	CHECK_EQ(dw_slot_here(&cause)->step->entry.aux, DW_STEP_RECORDED);
	dwell_step_end();
	dwell_steps_reduce(true);
	CHECK(!dwell_wants(costly));
	CHECK(dwell_wants(1u << DWELL_CATEGORY_PHASE) && dwell_wants(1u << DWELL_CATEGORY_ZONE));
	dwell_step_begin();
	CHECK_EQ(dw_slot_here(&cause)->step->entry.aux, DW_STEP_REDUCED);
	dwell_step_end();
	dw_step_want(1u << DWELL_CATEGORY_OPERATOR, true); /* a profile gets what it asks for */
	dwell_step_begin();
	CHECK(dwell_wants(1u << DWELL_CATEGORY_OPERATOR));
	CHECK_EQ(dw_slot_here(&cause)->step->entry.aux, DW_STEP_RECORDED);
	dwell_step_end();
	dw_step_want(1u << DWELL_CATEGORY_OPERATOR, false);
	dwell_steps_reduce(false);
	CHECK(dwell_wants(1u << DWELL_CATEGORY_OPERATOR) && dwell_wants(1u << DWELL_CATEGORY_LAYER));
	dwell_step_begin();
	CHECK_EQ(dw_slot_here(&cause)->step->entry.aux, DW_STEP_RECORDED);
	session_end();
}

/* Steps that the user chose are recorded whole. */
TEST(chosen_steps_are_not_reduced)
{
	enum dw_loss cause;

	REQUIRE(session_begin(0));
	dw_session.control->gated = 1;
	dw_session.control->steps_from = dw_session.control->steps_to = 1;
	dwell_steps_reduce(true);
	dwell_step_begin();
	CHECK_EQ(dw_slot_here(&cause)->step->entry.aux, 0);
	dwell_step_begin();
	CHECK_EQ(dw_slot_here(&cause)->step->entry.aux, DW_STEP_RECORDED);
	session_end();
}

CHECK_MAIN
