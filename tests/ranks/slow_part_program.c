/*
 * A rank whose steps of 10 ms have parts of a fixed size, one of which may be longer in one rank; for tools/measure/slow_parts.
 *
 *     slow_part_program STEPS ROUND [PART RANK PERCENT]
 *
 * PART is data, which sleeps, or forward, backward or optimizer, which compute. It takes PERCENT of a step longer in RANK.
 * ROUND is how many collectives a step has: 1, or 2, which are alike. With -DMARKED the steps and the parts are recorded.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef MARKED
#include <dwell/probe.h>
#else
#define DWELL_STEP() (void)0
#define DWELL_SCOPE(category, name) (void)0
#define DWELL_ZONE(name) (void)0
#endif

#define STEP_MS 10.0

static float weights[4096], sums[64];
static double turns_of_ms;
static const char *part = "";
static double more_ms;

static double now_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void turn(long turns)
{
	for (long i = 0; i < turns; i++)
		for (int k = 0; k < 4096; k++)
			weights[k] = weights[k] * 0.99f + 0.01f;
}

/* How many turns take a millisecond of the processor. */
static void calibrate(void)
{
	double from = now_ms(CLOCK_THREAD_CPUTIME_ID);

	turn(2000);
	turns_of_ms = 2000 / (now_ms(CLOCK_THREAD_CPUTIME_ID) - from);
}

static double more_in(const char *name)
{
	return strcmp(part, name) ? 0 : more_ms;
}

static __attribute__((noinline)) void load(double ms)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "load");
	nanosleep(&(struct timespec){ 0, (long)(ms * 1e6) }, NULL);
}

static __attribute__((noinline)) void forward(double ms)
{
	DWELL_ZONE("forward");
	turn((long)(ms * turns_of_ms));
}

static __attribute__((noinline)) void backward(double ms)
{
	DWELL_ZONE("backward");
	turn((long)(ms * turns_of_ms));
}

static __attribute__((noinline)) void optimizer(double ms)
{
	DWELL_ZONE("optimizer");
	turn((long)(ms * turns_of_ms));
}

static __attribute__((noinline)) void train_step(int rounds)
{
	DWELL_STEP();
	load(7 + more_in("data"));
	forward(0.8 + more_in("forward"));
	if (rounds > 1)
		MPI_Allreduce(MPI_IN_PLACE, sums, 64, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	backward(1.2 + more_in("backward"));
	MPI_Allreduce(MPI_IN_PLACE, sums, 64, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
	optimizer(0.4 + more_in("optimizer"));
}

int main(int count, char **values)
{
	int rank, steps = count > 2 ? atoi(values[1]) : 0, rounds = count > 2 ? atoi(values[2]) : 1;

	MPI_Init(&count, &values);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	calibrate();
	MPI_Bcast(&turns_of_ms, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	if (count > 5 && rank == atoi(values[4])) {
		part = values[3];
		more_ms = STEP_MS * atof(values[5]) / 100;
	}
	for (int i = 0; i < steps; i++)
		train_step(rounds);
	MPI_Finalize();
	return 0;
}
