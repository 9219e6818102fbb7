/*
 * Periods of random programs, of which it is known how often their loop ran.
 *
 * A program has operators before its loop and after it, and iterations of a head, layers and a tail. One that trains
 * has a backward layer for each layer and an optimizer; it evaluates now and then. Some log every few iterations, some
 * have another number of layers each time. Parts of a program share some operators. The names do not tell for all such
 * programs what the iteration is: if layers have nearly all of the names, or evaluations more than a few of their own,
 * the loop is not found. So the test counts how many are found, and no program may break what all periods have.
 */
#include "made.h"

#include "model/steps/periods.h"

#define MOST_OPS 64u

struct part {
	uint32_t ops[MOST_OPS];
	unsigned count;
};

static struct made made;
static uint64_t at, random_state;
static uint32_t names[MOST_OPS * 8];
static unsigned name_count;

static unsigned draw(unsigned below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(random_state >> 33) % below;
}

/* Operators, of which this percentage are those of other parts. */
static struct part draw_part(unsigned count, unsigned shared)
{
	struct part part = { .count = count };
	unsigned known = name_count;

	for (unsigned i = 0; i < count; i++) {
		char name[16];

		if (known && draw(100) < shared) {
			part.ops[i] = names[draw(known)];
			continue;
		}
		snprintf(name, sizeof name, "op%u", name_count);
		part.ops[i] = names[name_count++] = made_op(&made, DWELL_CATEGORY_OPERATOR, name);
	}
	return part;
}

static void play(const struct part *part, unsigned times)
{
	for (unsigned t = 0; t < times; t++)
		for (unsigned i = 0; i < part->count; i++) {
			dw_encode_begin(&made.stream, at, part->ops[i]);
			at += 50 + part->ops[i] * 37 % 200 + draw(20);
			dw_encode_end(&made.stream, at);
			at += draw(10);
		}
}

/* Writes a run. Returns how often its loop ran. */
static unsigned play_program(void)
{
	struct part head = draw_part(1 + draw(6), 0), layer = draw_part(2 + draw(10), 30);
	struct part tail = draw_part(1 + draw(6), 30);
	struct part backward = draw_part(2 + draw(10), 20), optimizer = draw_part(1 + draw(6), 20);
	struct part metrics = draw_part(1 + draw(4), 30), log = draw_part(1 + draw(2), 0);
	struct part before = draw_part(draw(60), 7), after = draw_part(draw(20), 20);
	unsigned count = 8 + draw(100), layers = 1 + draw(5) * draw(8), batches = 1 + draw(6);
	bool trains = draw(2), varies = !draw(4);
	unsigned evaluates = trains && !draw(3) ? 5 + draw(15) : UINT32_MAX, logs = !draw(3) ? 3 + draw(20) : UINT32_MAX;

	play(&before, 1);
	for (unsigned i = 1; i <= count; i++) {
		unsigned now = varies ? 1 + draw(2 * layers) : layers;

		play(&head, 1);
		play(&layer, now);
		play(&tail, 1);
		play(&backward, trains ? now : 0);
		play(&optimizer, trains);
		play(&log, i % logs == 0);
		for (unsigned b = 0; i % evaluates == 0 && b < batches; b++) {
			play(&head, 1);
			play(&layer, layers);
			play(&tail, 1);
			play(&metrics, 1);
		}
	}
	play(&after, 1);
	return count;
}

static void check_period(const struct dw_period *period)
{
	for (size_t i = 0; i < period->count; i++) {
		const struct dw_source_step *step = &period->steps[i];

		if (step->number != i || step->start_ticks >= step->end_ticks || step->end_ticks > at ||
		    (i && step->start_ticks != step[-1].end_ticks))
			CHECK_FAIL("iteration %zu is from %" PRIu64 " to %" PRIu64, i, step->start_ticks, step->end_ticks);
	}
	CHECK(period->count == 0 || period->count >= 5);
}

TEST(nine_of_ten_random_programs_have_the_right_number_of_iterations)
{
	const unsigned programs = 300;
	unsigned right = 0;

	for (unsigned p = 0; p < programs; p++) {
		const struct dw_period *period;
		unsigned count;

		random_state = p + 1;
		at = 1000;
		name_count = 0;
		made_init(&made);
		count = play_program();
		REQUIRE(made_open(&made, NULL) == 0);
		period = dw_model_period(made.model, &made.error);
		REQUIRE(period);
		check_period(period);
		right += period->count + 1 >= count && period->count <= count + 1;
		made_close(&made);
	}
	CHECK_RANGE(right, programs * 9 / 10, programs);
}

CHECK_MAIN
