/*
 * Fits a line to points: a trainer, an evaluator that one of its handlers runs, filters, a custom
 * event, and an early end. dwell ./engine_loop
 */
#include <dwell/compat/ignite.h>
#include <math.h>

struct points {
	double x[256];
	int at;
};

struct job {
	double a, b;            /* y = a x + b; the solution is y = 3 x - 1 */
	double loss;
	int right, updates;
	int updated;            /* the event WEIGHTS_UPDATED */
	struct dwell_ignite_data test;
	struct dwell_ignite_engine *evaluator;
};

static int restart(void *user)
{
	((struct points *)user)->at = 0;
	return 0;
}

static int next(void *user, void **batch)
{
	struct points *points = user;

	if (points->at == 256)
		return 0;
	*batch = &points->x[points->at++];
	return 1;
}

static double miss(struct dwell_ignite_engine *engine, const struct job *job, double x)
{
	double error = job->a * x + job->b - (3 * x - 1);

	dwell_ignite_engine_state(engine)->output = error * error;
	return error;
}

static int train(struct dwell_ignite_engine *trainer, void *batch, void *user)
{
	struct job *job = user;
	double x = *(double *)batch, error = miss(trainer, job, x);

	job->a -= 0.02 * error * x;
	job->b -= 0.02 * error;
	return dwell_ignite_engine_fire(trainer, job->updated, NULL);
}

static int evaluate(struct dwell_ignite_engine *evaluator, void *batch, void *user)
{
	struct job *job = user;

	job->right += fabs(miss(evaluator, job, *(double *)batch)) < 0.05;
	job->loss += dwell_ignite_engine_state(evaluator)->output / 256;
	return 0;
}

static int validate(struct dwell_ignite_engine *trainer, void *user)
{
	struct job *job = user;
	int result;

	job->loss = job->right = 0;
	result = dwell_ignite_engine_run(job->evaluator, &job->test, NULL, NULL);
	if (result)
		return result; /* the caller prints its message */
	dwell_ignite_engine_set_metric(trainer, "loss", job->loss, NULL);
	dwell_ignite_engine_set_metric(trainer, "accuracy", job->right / 256.0, NULL);
	return job->right == 256 ? dwell_ignite_engine_terminate(trainer, false, NULL) : 0;
}

static int log_metrics(struct dwell_ignite_engine *trainer, void *user)
{
	(void)user;
	printf("epoch %d: loss %.5f accuracy %.2f\n", (int)dwell_ignite_engine_state(trainer)->epoch,
	       dwell_ignite_engine_metric(trainer, "loss"), dwell_ignite_engine_metric(trainer, "accuracy"));
	return 0;
}

static int count_update(struct dwell_ignite_engine *trainer, void *user)
{
	(void)trainer;
	return !++((struct job *)user)->updates;
}

int main(void)
{
	static struct points train_points, test_points;
	struct dwell_ignite_data data = { "points", 256, next, restart, &train_points };
	struct job job = { .test = { "points", 256, next, restart, &test_points } };
	struct dwell_ignite_limits limits = DWELL_IGNITE_LIMITS_INIT;
	struct dwell_ignite_engine *trainer;
	struct dwell_error error;

	for (int i = 0; i < 256; i++)
		train_points.x[i] = sin(i), test_points.x[i] = cos(i);
	limits.max_epochs = 20;
	if (dwell_ignite_engine_create(&trainer, "trainer", train, &job, &error) ||
	    dwell_ignite_engine_create(&job.evaluator, "evaluator", evaluate, &job, &error) ||
	    dwell_ignite_engine_register_event(trainer, "WEIGHTS_UPDATED", NULL, &job.updated, &error) ||
	    dwell_ignite_engine_on(trainer, "WEIGHTS_UPDATED", count_update, &job, &error) ||
	    dwell_ignite_engine_on(trainer, "EPOCH_COMPLETED", validate, &job, &error) ||
	    dwell_ignite_engine_on(trainer, "EPOCH_COMPLETED(every=2) | TERMINATE", log_metrics, NULL, &error) ||
	    dwell_ignite_engine_run(trainer, &data, &limits, &error)) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	printf("%d updates\n", job.updates);
	dwell_ignite_engine_print_state(trainer, stdout);
	dwell_ignite_engine_destroy(job.evaluator);
	dwell_ignite_engine_destroy(trainer);
	return 0;
}
