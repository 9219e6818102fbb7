/*
 * Compares the steps of traces with the iterations that the reader decides of the same events.
 *
 * usage: steps_learned TRACE...
 *
 * Prints a line for each thread with steps whose iterations are decided, or for each thread if the environment has ALL.
 * Then the first iterations that differ from the steps. tools/measure/steps starts it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "model/steps/learned.h"

enum { MOST_SHOWN = 3 };

static double steps_ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

/* Whether an iteration is one of the steps, but for a hundredth of its length. */
static bool steps_has(const struct dw_step *steps, size_t count, const struct dw_source_step *own)
{
	uint64_t slack = (own->end_ns - own->start_ns) / 100 + 1000;

	for (size_t i = 0; i < count; i++)
		if (steps[i].start_ns <= own->start_ns + slack && own->start_ns <= steps[i].start_ns + slack &&
		    steps[i].end_ns <= own->end_ns + slack && own->end_ns <= steps[i].end_ns + slack)
			return true;
	return false;
}

static void steps_compare(const char *path, const struct dw_steps *steps, const struct dw_learned *learned,
                          size_t index)
{
	const struct dw_learned_loop *loop = &learned->loops[index];
	const struct dw_step *marked = steps->steps + steps->loops[index].first_step;
	const struct dw_source_step *own = learned->steps + loop->first;
	size_t count = steps->loops[index].count, same = 0, shown = 0;

	if (loop->why != DW_LEARNED_DECIDED && !getenv("ALL"))
		return;
	for (size_t i = 0; i < loop->count; i++)
		same += steps_has(marked, count, &own[i]);
	printf("%s thread %u: %zu steps; %s; %zu iterations, %zu of them such steps, %zu within one step each\n", path,
	       steps->threads[index], count, dw_learned_why_text(loop->why), loop->count, same, loop->same);
	for (size_t i = 0; i < loop->count && shown < MOST_SHOWN; i++)
		if (!steps_has(marked, count, &own[i])) {
			printf("    iteration %zu: %.3f to %.3f ms\n", i, steps_ms(own[i].start_ns), steps_ms(own[i].end_ns));
			for (size_t k = 0; k < count; k++)
				if (marked[k].start_ns < own[i].end_ns && marked[k].end_ns > own[i].start_ns)
					printf("        step %zu: %.3f to %.3f ms\n", k, steps_ms(marked[k].start_ns),
					       steps_ms(marked[k].end_ns));
			shown++;
		}
}

static int steps_compare_trace(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct dwell_error error = { 0, "" };
	const struct dw_learned *learned = NULL;
	const struct dw_steps *steps = NULL;
	struct dw_model *model = NULL;
	struct dw_source *source;
	int code = dw_source_open(&source, &path, 1, &error);

	if (!code && !dw_model_create(&model, source, NULL, &error)) {
		steps = dw_model_steps(model, &error);
		learned = steps ? dw_model_learned(model, &error) : NULL;
	}
	if (!learned)
		printf("%s: %s\n", name, error.message);
	for (size_t i = 0; learned && i < steps->thread_count; i++)
		steps_compare(name, steps, learned, i);
	if (model)
		dw_model_destroy(model);
	if (!code)
		dw_source_close(source);
	return learned ? 0 : 1;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed += steps_compare_trace(argv[i]);
	return failed != 0;
}
