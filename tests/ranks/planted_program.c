/*
 * A rank or a program that does steps of 10 ms without a mark, and then hangs, dies or ends; for planted.py.
 *
 *     planted_program FORM STEP RANK      FORM happens in step STEP, of RANK alone
 *
 * With -DWITH_MPI it is a job of several ranks, of which each step ends with MPI_Allreduce.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static volatile unsigned long turns;

static void rest(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void *take_other_way(void *unused)
{
	pthread_mutex_lock(&second);
	rest(200);
	pthread_mutex_lock(&first);
	return unused;
}

static void deadlock(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, take_other_way, NULL);
	pthread_mutex_lock(&first);
	rest(200);
	pthread_mutex_lock(&second);
}

static void await_condition(void)
{
	pthread_mutex_lock(&first);
	for (;;)
		pthread_cond_wait(&ready, &first);
}

static void read_data(void)
{
	char byte;
	int ends[2];

	if (pipe(ends) == 0)
		while (read(ends[0], &byte, 1) != 1)
			;
}

static void fail_by(int signal)
{
	raise(signal);
}

/* What needs no other rank. */
static void plant(const char *form)
{
	if (strcmp(form, "data") == 0)
		read_data();
	else if (strcmp(form, "sleep") == 0)
		for (;;)
			rest(1000);
	else if (strcmp(form, "locks") == 0)
		deadlock();
	else if (strcmp(form, "condition") == 0)
		await_condition();
	else if (strcmp(form, "loop") == 0)
		for (;;)
			turns++;
	else if (strcmp(form, "kill") == 0)
		fail_by(SIGKILL);
	else if (strcmp(form, "abort") == 0)
		fail_by(SIGABRT);
	else if (strcmp(form, "segv") == 0)
		fail_by(SIGSEGV);
}

#ifdef WITH_MPI
static void plant_between(const char *form, int rank, int culprit, int ranks)
{
	float value[16] = { 0 };

	if (strcmp(form, "other") == 0) {
		if (rank == culprit)
			MPI_Barrier(MPI_COMM_WORLD);
		else
			MPI_Bcast(value, 16, MPI_FLOAT, (culprit + 1) % ranks, MPI_COMM_WORLD);
	} else if (strcmp(form, "receive") == 0 && rank == culprit) {
		MPI_Recv(value, 16, MPI_FLOAT, (culprit + 1) % ranks, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (strcmp(form, "send") == 0) {
		MPI_Ssend(value, 16, MPI_FLOAT, (rank + 1) % ranks, 78, MPI_COMM_WORLD);
	}
}
#endif

__attribute__((noinline)) void train_step(const char *form, bool now, int rank, int culprit, int ranks)
{
	rest(10);
	if (now && rank == culprit)
		plant(form);
#ifdef WITH_MPI
	float value[64] = { 0 }, sum[64];

	if (now)
		plant_between(form, rank, culprit, ranks);
	MPI_Allreduce(value, sum, 64, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
#else
	(void)ranks;
#endif
}

int main(int count, char **words)
{
	int step = count > 2 ? atoi(words[2]) : 0, culprit = count > 3 ? atoi(words[3]) : 0, rank = 0, ranks = 1;
	bool ends = count > 1 && strcmp(words[1], "end") == 0;

#ifdef WITH_MPI
	MPI_Init(&count, &words);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#endif
	for (int i = 0; i < (ends ? step : 1000000); i++)
		train_step(words[1], i == step, rank, culprit, ranks);
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	return 0;
}
