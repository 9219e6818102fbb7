/* Draws steps; see random_steps.h. */
#include "random_steps.h"

struct random_step *random_steps;
size_t random_step_count;

static size_t step_capacity;
static uint64_t open_since[THREADS]; /* 0: the thread has no open step */
static uint64_t last_border[THREADS], next_number[THREADS];
static bool may_step[THREADS];

void random_steps_start(void)
{
	random_step_count = 0;
	memset(open_since, 0, sizeof open_since);
	memset(last_border, 0, sizeof last_border);
	memset(next_number, 0, sizeof next_number);
	for (uint32_t i = 0; i < THREADS; i++)
		may_step[i] = random_below(2);
}

static void random_steps_put(uint32_t thread, uint64_t end)
{
	struct random_step step = { .thread = thread, .number = next_number[thread]++,
		.start = open_since[thread], .end = end, .open = !end, .recorded = random_below(8) };

	random_steps = random_grow(random_steps, &step_capacity, random_step_count,
	                           sizeof *random_steps);
	random_steps[random_step_count++] = step;
	dw_encode_step(&made.process, random_threads[thread], step.number, step.start, step.end, 0,
	               step.recorded ? DW_STEP_RECORDED : 0);
	open_since[thread] = 0;
}

/* A step of some thread begins or ends, now or a little earlier. */
void random_steps_draw(void)
{
	uint32_t thread = random_below(4) ? reference.thread : random_below(THREADS);
	uint64_t border = reference.now;

	if (random_below(2) && border > 200)
		border -= random_below(200);
	if (!may_step[thread] || !border || border < last_border[thread])
		return;
	last_border[thread] = border;
	if (!open_since[thread]) {
		open_since[thread] = border;
		return;
	}
	random_steps_put(thread, border);
	if (random_below(2))
		open_since[thread] = border; /* the next one begins at once */
}

/* Steps that have not ended last until the end of the process. */
int random_steps_open(void)
{
	for (uint32_t thread = 0; thread < THREADS; thread++)
		if (open_since[thread])
			random_steps_put(thread, 0);
	for (size_t i = 0; i < random_step_count; i++)
		if (random_steps[i].open)
			random_steps[i].end = reference.end;
	return made_open(&made, NULL);
}
