/*
 * A training loop in C with dwell's probes, and the causes of the other scripts where they apply.
 *
 *     in_c CAUSE SHARE
 *
 * A step without a fault takes 5 ms: four layers forward and backward, an optimizer. The planted
 * time is measured with the monotonic clock around the planted lines, and printed at the end as in
 * planted.py. The first 5 steps are not in the figures. Of `growth` and `temporaries` the share is
 * that of the planted bytes in all bytes that are alive at the peak, and of `full` that in 1 GiB, which is all
 * that its container has.
 *
 *     sleep         the step sleeps                                            idle
 *     fsync         the step writes to a file and waits for the disk           waiting-file
 *     lock          another thread holds a lock for a part of each step        waiting-lock
 *     data          the step reads its batch itself, in a range "data"         loader-in-process
 *     one           one operator takes most of the step                        one-operator
 *     metrics       a range under a name of its own computes                   named-part
 *     journal       such a range writes to a file and waits for the disk       named-part, waiting-file
 *     small         thousands of operators that do next to nothing             small-operators
 *     nameless      a part of the step has no range                            nameless
 *     between       work between the steps, in no range                        between-steps
 *     checkpoint    every fourth step is followed by a checkpoint              checkpoint
 *     evaluation    every fourth step is followed by an evaluation             evaluation
 *     communication the step exchanges gradients with a process that is slow   communication
 *     growth        each step keeps a tensor                                   memory-growth
 *     temporaries   each step allocates and frees a large block                memory-temporaries
 *     faults        each step touches memory that comes from the kernel        page-faults, allocator
 *     spikes        every twentieth step takes much longer                     slow-steps
 *     drift         each step takes a little longer than the one before        drift
 *     change        from the middle on each step takes longer                  change-point
 *     first         the first step takes half a second                         warm-up
 *     threads       sixteen threads compute a part of the step                 oversubscribed
 *     team          a range in which one thread works, and its team of two rests named-part
 *     full          tensors fill most of a container's memory                  memory-limit
 *
 * Decoys: sleep-first and work-first (before the loop), sleep-last, sleeper (another thread
 * sleeps and holds a lock that nobody wants), small-first (thousands of
 * operators before the loop), evaluate-first, save-last, zones (all ranges are zones with names of
 * their own), sawtooth (kept tensors are freed every ten steps), jitter (random lengths),
 * spike-last, reused (a large block that is allocated once), team-works (the team shares that range).
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <dwell/probe.h>

enum { STEPS = 240, WARM_UP = 5, THREADS = 16, EVERY = 4, SPIKE = 20 };
#define STEP_MS 5.0
#define MIB 1048576.0
#define CONTAINER_MIB 1024 /* see scenarios.py */
#define BASE_MIB 72 /* what is alive besides the planted bytes of `growth` and `temporaries` */

static const char *cause;
/* A step's planted milliseconds: for work, and, where other programs make steps longer, for waits. */
static double share, planted_ms, wait_ms;
static double loops_per_ms;
static volatile double sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static volatile int wanted, held, stop;
static sem_t team_begins, team_ends;
static double team_ms;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int is(const char *name)
{
	return strcmp(cause, name) == 0;
}

static void spin(double loops)
{
	double x = 1;

	for (double i = 0; i < loops; i++)
		x = x * 1.0000001 + 1e-9;
	sink = x;
}

static void work(double ms)
{
	spin(ms * loops_per_ms);
}

static void calibrate(void)
{
	double best = 1e9;

	for (int i = 0; i < 20; i++) {
		double begin = now_ms();

		spin(200000);
		if (now_ms() - begin < best)
			best = now_ms() - begin;
	}
	loops_per_ms = 200000 / best;
}

static void doze(double ms)
{
	struct timespec t = { (time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000 };

	if (ms > 0)
		nanosleep(&t, NULL);
}

/* ---- the planted lines ------------------------------------------------------------ */

static void *hold_lock(void *unused)
{
	while (!stop) {
		if (!wanted) {
			doze(0.05);
			continue;
		}
		pthread_mutex_lock(&lock);
		wanted = 0;
		held = 1;
		doze(wait_ms);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void *sleep_beside(void *unused)
{
	while (!stop) {
		pthread_mutex_lock(&own);
		doze(5);
		pthread_mutex_unlock(&own);
	}
	return unused;
}

static void *compute_part(void *ms)
{
	work(*(double *)ms);
	return NULL;
}

static void compute_in_threads(double ms)
{
	pthread_t threads[THREADS];
	/* As much work as one thread does in this time for each processor. The step's thread does its
	 * part, as the first thread of OpenMP does. */
	double part = ms * (double)sysconf(_SC_NPROCESSORS_ONLN) / THREADS;
	int made = 0;

	while (made < THREADS - 1 && !pthread_create(&threads[made], NULL, compute_part, &part))
		made++;
	work(part);
	while (made > 0)
		pthread_join(threads[--made], NULL);
}

static void *work_in_team(void *unused)
{
	while (sem_wait(&team_begins) == 0 && !stop) {
		work(team_ms);
		sem_post(&team_ends);
	}
	return unused;
}

/* Each of two threads works for this time. */
static void compute_in_team(double ms)
{
	team_ms = ms;
	sem_post(&team_begins);
	work(ms);
	sem_wait(&team_ends);
}

static void store(double ms)
{
	static FILE *file;
	double end = now_ms() + ms;

	if (!file && !(file = fopen("in_c.log", "w")))
		return;
	while (now_ms() < end) {
		for (int i = 0; i < 4000; i++)
			fputs("loss 0.123\n", file);
		fflush(file);
		fsync(fileno(file));
	}
	if (ftell(file) > 1 << 26)
		rewind(file);
}

static void touch_fresh(double ms)
{
	size_t size = 8 << 20;
	double end = now_ms() + ms;

	while (now_ms() < end) {
		char *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (block == MAP_FAILED)
			return;
		for (size_t i = 0; i < size && now_ms() < end; i += 4096)
			block[i] = 1;
		munmap(block, size);
	}
}

static void small_operators(double ms)
{
	double end = now_ms() + ms;

	while (now_ms() < end) {
		for (int i = 0; i < 20; i++) {
			DWELL_OP("scale");
			spin(20);
		}
		for (int i = 0; i < 20; i++) {
			DWELL_OP("shift");
			spin(20);
		}
	}
}

/* Blocks that stay alive: each step's for `growth`, ten of them for `sawtooth`. */
static void keep(int step, double mib)
{
	static void *blocks[STEPS];
	size_t size = (size_t)(mib * MIB);

	if (is("sawtooth") && step % 10 == 0) {
		for (int i = 0; i < step; i++) {
			if (blocks[i]) {
				DWELL_FREE(blocks[i]);
				free(blocks[i]);
				blocks[i] = NULL;
			}
		}
	}
	blocks[step] = malloc(size);
	if (blocks[step])
		DWELL_ALLOC("activation", "cpu", blocks[step], size);
}

static void temporary(double mib)
{
	size_t size = (size_t)(mib * MIB);
	void *block = malloc(size);

	if (!block)
		return;
	DWELL_ALLOC("temporary", "cpu", block, size);
	work(0.1);
	DWELL_FREE(block);
	free(block);
}

static double spent_over_time(int step)
{
	if (is("spikes"))
		return step % SPIKE == SPIKE - 1 ? planted_ms * SPIKE : 0;
	if (is("drift"))
		return planted_ms * 2 * step / STEPS;
	if (is("change"))
		return step >= STEPS / 2 ? planted_ms * 2 : 0;
	if (is("jitter"))
		return 0.8 * rand() / RAND_MAX;
	if (is("first"))
		return step == 0 ? 500 : 0;
	if (is("spike-last"))
		return step == STEPS - 1 ? 20 : 0;
	return 0;
}

/* What is planted within the step, between forward and backward. */
static void plant_in_step(int step)
{
	double more = spent_over_time(step);

	if (is("sleep"))
		doze(wait_ms);
	else if (is("fsync") && share > 0)
		store(wait_ms);
	else if (is("nameless"))
		work(planted_ms);
	else if (is("small") && share > 0)
		small_operators(wait_ms);
	else if (is("faults") && share > 0)
		touch_fresh(wait_ms);
	else if (is("growth") && share > 0)
		keep(step, BASE_MIB * share / (1 - share) / STEPS);
	else if (is("sawtooth"))
		keep(step, 0.5);
	else if (is("temporaries") && share > 0)
		temporary(BASE_MIB * share / (1 - share));
	else if (is("one") && share > 0) {
		DWELL_OP("gemm");
		work(planted_ms);
	} else if (is("metrics") && share > 0) {
		DWELL_ZONE("metrics");
		work(planted_ms);
	} else if (is("journal") && share > 0) {
		DWELL_ZONE("journal");
		store(wait_ms);
	} else if (is("communication") && share > 0) {
		DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "allreduce");
		doze(wait_ms);
	} else if (is("team") && share > 0) {
		DWELL_ZONE("sort");
		work(2 * planted_ms); /* two threads would need half of it */
	} else if (is("team-works")) {
		DWELL_ZONE("sort");
		compute_in_team(2);
	} else if (is("threads") && share > 0) {
		DWELL_OP("parallel");
		compute_in_threads(planted_ms);
	} else if (is("lock") && share > 0) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	} else if (more > 0) {
		DWELL_OP("resample");
		work(more);
	}
}

static void plant_before_step(void)
{
	if (is("data")) {
		DWELL_SCOPE(DWELL_CATEGORY_DATA, "data");
		work(planted_ms);
	}
}

static void plant_between_steps(int step)
{
	if (is("between"))
		work(planted_ms);
	if (step % EVERY != EVERY - 1 || share <= 0)
		return;
	if (is("checkpoint")) {
		DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save");
		work(planted_ms * EVERY);
	} else if (is("evaluation")) {
		DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "validate");
		DWELL_OP("forward_only");
		work(planted_ms * EVERY);
	}
}

/* ---- the loop ----------------------------------------------------------------------- */

static void operators(const char *const names[], double ms, int zones)
{
	/* Four operators of one name are a tenth to a fifth of the step. */
	for (int i = 0; i < 4; i++) {
		for (int layer = 0; layer < 4; layer++) {
			if (zones) {
				DWELL_SCOPE_ID(DWELL_CATEGORY_ZONE, dwell_intern(DWELL_CATEGORY_ZONE, names[i], NULL));
				work(ms / 16);
			} else {
				DWELL_OP_NAMED(names[i], NULL, 0);
				work(ms / 16);
			}
		}
	}
}

static void train_step(int step, double *planted)
{
	static const char *const forward[] = { "convolution", "normalize", "activate", "pool" };
	static const char *const backward[] = { "convolution_backward", "normalize_backward", "activate_backward",
		                                    "pool_backward" };
	static const char *const own_forward[] = { "tokenize", "embed", "attend", "mix" };
	static const char *const own_backward[] = { "mix_gradient", "attend_gradient", "embed_gradient", "clip" };
	int zones = is("zones");
	double begin;
	DWELL_STEP();

	begin = now_ms();
	plant_before_step();
	*planted += now_ms() - begin;
	if (zones) {
		operators(own_forward, 1.6, 1);
		operators(own_backward, 3.2, 1);
	} else {
		DWELL_ZONE("forward");
		operators(forward, 1.6, 0);
	}
	if (is("lock") && share > 0) { /* the other thread has the lock before this one asks for it */
		held = 0;
		wanted = 1;
		while (!held)
			doze(0.02);
	}
	begin = now_ms();
	plant_in_step(step);
	*planted += (now_ms() - begin) * (is("team") ? 0.5 : 1);
	if (!zones) {
		DWELL_ZONE("backward");
		if (is("team") || is("team-works"))
			compute_in_team(3.2);
		else
			operators(backward, 3.2, 0);
	}
	{
		DWELL_ZONE("optimizer");
		DWELL_OP("sgd");
		work(0.2);
	}
}

static void before_loop(void)
{
	size_t size = (size_t)((is("full") ? share * CONTAINER_MIB : BASE_MIB) * MIB);
	void *base = malloc(size);

	if (base) {
		DWELL_ALLOC("parameter", "cpu", base, size);
		if (is("reused") || is("full"))
			memset(base, 1, size);
	}
	if (is("sleep-first"))
		doze(1000);
	if (is("work-first"))
		work(1000);
	if (is("small-first"))
		small_operators(500);
	if (is("evaluate-first")) {
		DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "validate");
		work(1000);
	}
}

static void after_loop(void)
{
	if (is("sleep-last"))
		doze(1000);
	if (is("save-last")) {
		DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save");
		work(1000);
	}
}

static int compare(const void *a, const void *b)
{
	double difference = *(const double *)a - *(const double *)b;

	return difference > 0 ? 1 : difference < 0 ? -1 : 0;
}

static void say(const double *begins, const double *planted)
{
	double periods[STEPS], loop = 0, sum = 0, part;
	int count = STEPS - WARM_UP;

	for (int i = 0; i < count; i++) {
		periods[i] = begins[WARM_UP + i + 1] - begins[WARM_UP + i];
		loop += periods[i];
		sum += planted[WARM_UP + i];
	}
	qsort(periods, (size_t)count, sizeof periods[0], compare);
	part = is("growth") || is("temporaries") || is("full") ? share : sum / loop;
	printf("TRUTH {\"cause\": \"%s\", \"steps\": %d, \"share\": %.4f, \"planted_ms\": %.4f, \"mean_ms\": %.4f, "
	       "\"step_ms\": %.4f}\n", cause, STEPS, part, sum / count, loop / count, periods[count / 2]);
}

int main(int argc, char **argv)
{
	static double begins[STEPS + 1], planted[STEPS];
	double rest_ms = STEP_MS;
	void *(*beside)(void *);
	pthread_t thread;

	if (argc != 3) {
		fprintf(stderr, "usage: in_c CAUSE SHARE\n");
		return 2;
	}
	cause = argv[1];
	share = atof(argv[2]);
	planted_ms = wait_ms = STEP_MS * share / (1 - share);
	calibrate();
	beside = is("lock") ? hold_lock : is("sleeper") ? sleep_beside :
	         is("team") || is("team-works") ? work_in_team : NULL;
	sem_init(&team_begins, 0, 0);
	sem_init(&team_ends, 0, 0);
	if (beside && pthread_create(&thread, NULL, beside, NULL))
		return 1;
	before_loop();
	for (int i = 0; i < STEPS; i++) {
		double begin;

		begins[i] = now_ms();
		train_step(i, &planted[i]);
		begin = now_ms();
		plant_between_steps(i);
		planted[i] += now_ms() - begin;
		rest_ms += (now_ms() - begins[i] - planted[i] - rest_ms) / 8;
		wait_ms = rest_ms * share / (1 - share);
	}
	begins[STEPS] = now_ms();
	after_loop();
	stop = 1;
	sem_post(&team_begins);
	if (beside)
		pthread_join(thread, NULL);
	say(begins, planted);
	return 0;
}
