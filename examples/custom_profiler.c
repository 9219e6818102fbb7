/*
 * A custom profiler that counts each action and notes when it first occurred. Also a module that
 * has a profiler for its own actions and works without one.
 *
 *     custom_profiler            prints its counts, then Lightning's report of the same actions
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <dwell/compat/lightning.h>

#define MOST_ACTIONS 32

/* ---- counts of actions --------------------------------------------------------------- */

struct action_count {
	const char *action;
	unsigned count;
	char first[32];
};

struct count_profiler {
	struct dwell_lightning_profiler base; /* must be first: the functions below receive its
	                                       * address */
	struct action_count counts[MOST_ACTIONS];
	unsigned used;
};

static struct action_count *count_of(struct count_profiler *profiler, const char *action)
{
	for (unsigned i = 0; i < profiler->used; i++)
		if (strcmp(profiler->counts[i].action, action) == 0)
			return &profiler->counts[i];
	return NULL;
}

static void count_start(struct dwell_lightning_profiler *actions, const char *action)
{
	struct count_profiler *profiler = (struct count_profiler *)actions;
	struct action_count *count;
	time_t now = time(NULL);

	if (count_of(profiler, action) || profiler->used == MOST_ACTIONS)
		return;
	count = &profiler->counts[profiler->used++];
	count->action = action;
	strftime(count->first, sizeof count->first, "%m/%d/%Y, %H:%M:%S", localtime(&now));
}

static void count_stop(struct dwell_lightning_profiler *actions, const char *action)
{
	struct action_count *count = count_of((struct count_profiler *)actions, action);

	if (count)
		count->count++;
}

static int count_summary(struct dwell_lightning_profiler *actions, FILE *file, struct dwell_error *error)
{
	const struct count_profiler *profiler = (const struct count_profiler *)actions;

	(void)error;
	fprintf(file, "\nProfile Summary: \n");
	for (unsigned i = 0; i < profiler->used; i++)
		if (profiler->counts[i].count > 1)
			fprintf(file, "%-20s \t %s \t %u \n", profiler->counts[i].action,
			        profiler->counts[i].first, profiler->counts[i].count);
	return 0;
}

static int count_teardown(struct dwell_lightning_profiler *actions, struct dwell_error *error)
{
	(void)error;
	((struct count_profiler *)actions)->used = 0;
	return 0;
}

static const struct dwell_lightning_methods count_methods = {
	.size = sizeof count_methods,
	.name = "action counts",
	.start = count_start,
	.stop = count_stop,
	.summary = count_summary,
	.teardown = count_teardown,
};

/* ---- a module that profiles its own actions ----------------------------------------------- */

struct my_model {
	struct dwell_lightning_profiler *profiler; /* NULL: none */
	double state;
};

static void custom_processing_step(struct my_model *model, double data)
{
	DWELL_LIGHTNING_ACTION(model->profiler, "my_custom_action");

	for (int i = 0; i < 20000; i++)
		model->state = model->state * 0.5 + data;
}

static void fit(struct dwell_lightning_profiler *profiler, struct my_model *model)
{
	DWELL_LIGHTNING_ACTION(profiler, "run_training_epoch");

	for (int batch = 0; batch < 3; batch++) {
		DWELL_LIGHTNING_ACTION(profiler, "run_training_batch");
		custom_processing_step(model, batch);
	}
}

static int run(struct dwell_lightning_profiler *profiler)
{
	struct my_model model = { profiler, 0 };
	struct dwell_error error = { 0, "" };

	if (dwell_lightning_setup(profiler, "fit", -1, NULL, &error)) {
		fprintf(stderr, "custom_profiler: %s\n", error.message);
		return 1;
	}
	fit(profiler, &model);
	/* DWELL_LIGHTNING_ACTION needs a literal: names made at run time use start and stop. */
	dwell_lightning_start(profiler, "save_checkpoint");
	if (dwell_lightning_stop(profiler, "save_checkpoint", &error) ||
	    dwell_lightning_describe(profiler, &error) || dwell_lightning_teardown(profiler, &error)) {
		fprintf(stderr, "custom_profiler: %s\n", error.message);
		return 1;
	}
	return 0;
}

int main(void)
{
	struct count_profiler counts = { .used = 0 };
	struct dwell_error error = { 0, "" };
	struct dwell_lightning_profiler *simple;
	struct my_model alone = { NULL, 0 };
	int status;

	custom_processing_step(&alone, 1);
	simple = dwell_lightning_create("simple", NULL, &error);
	if (!simple || dwell_lightning_init(&counts.base, &count_methods, NULL, NULL, &error)) {
		fprintf(stderr, "custom_profiler: %s\n", error.message);
		return 1;
	}
	status = run(&counts.base) || run(simple);
	dwell_lightning_reset(&counts.base);
	dwell_lightning_destroy(simple);
	return status;
}
