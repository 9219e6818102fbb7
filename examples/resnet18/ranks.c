/*
 * ranks.c - see ranks.h. The shared memory is a file without a name: a header, a part for each
 * rank, to which only this rank writes, and the averages. Each rank sums its slice of all parts in
 * the order of ranks, so that all ranks compute the same numbers.
 *
 * A barrier defines the order: parts are read when all are complete, averages are read when all
 * slices are complete. A rank may overwrite its part after the second barrier.
 */
#define _GNU_SOURCE 1 /* memfd_create */

#include "ranks.h"

#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dwell/dwell.h>

enum { HEAD_BYTES = 4096, SCALARS_MAX = 4 };

struct shared {
	_Atomic uint32_t arrived;
	_Atomic uint32_t turn; /* the barrier's turn, a futex */
};

struct ranks {
	int count, own, file;
	pid_t father;
	pid_t *children;
	struct shared *shared;
	struct params *params;
	struct tensor *scalars[SCALARS_MAX];
	int scalar_count;
	size_t floats; /* per part */
	float *parts;  /* count x floats, then the averages */
};

/* ---- processes ----------------------------------------------------------- */

static void ranks_become(struct ranks *ranks, int own)
{
	ranks->own = own;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != ranks->father)
		_exit(1);
}

struct ranks *ranks_start(int count)
{
	struct ranks *ranks;

	ranks = calloc(1, sizeof *ranks);
	if (!ranks || !(ranks->children = calloc((size_t)count, sizeof *ranks->children)))
		die("no memory for %d ranks", count);
	ranks->count = count;
	ranks->father = getpid();
	ranks->file = memfd_create("resnet18 ranks", MFD_CLOEXEC);
	if (ranks->file < 0 || ftruncate(ranks->file, HEAD_BYTES))
		die("no memory that ranks share: %s", strerror(errno));
	ranks->shared =
		mmap(NULL, HEAD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ranks->file, 0);
	if (ranks->shared == MAP_FAILED)
		die("no memory that ranks share: %s", strerror(errno));
	for (int rank = 1; rank < count && ranks->own == 0; rank++) {
		ranks->children[rank] = fork();
		if (ranks->children[rank] < 0)
			die("no process for rank %d: %s", rank, strerror(errno));
		if (ranks->children[rank] == 0)
			ranks_become(ranks, rank);
	}
#ifndef DWELL_DISABLE
	if (ranks->own)
		dwell_rank(ranks->own, ranks->own, count);
#endif
	return ranks;
}

int ranks_own(const struct ranks *ranks)
{
	return ranks ? ranks->own : 0;
}

int ranks_count(const struct ranks *ranks)
{
	return ranks ? ranks->count : 1;
}

void ranks_finish(struct ranks *ranks)
{
	if (!ranks)
		return;
	for (int rank = 1; ranks->own == 0 && rank < ranks->count; rank++) {
		int status = 0;

		if (ranks->children[rank] && waitpid(ranks->children[rank], &status, 0) > 0 && status)
			die("rank %d failed: status 0x%x", rank, (unsigned)status);
	}
	if (ranks->parts)
		munmap(ranks->parts, (size_t)(ranks->count + 1) * ranks->floats * sizeof(float));
	munmap(ranks->shared, HEAD_BYTES);
	close(ranks->file);
	free(ranks->children);
	free(ranks);
}

/* ---- the barrier --------------------------------------------------------- */

/* Ends the program if another rank has ended. Rank 0 checks its child processes, the other ranks
 * check their parent process. */
static void ranks_check_others(struct ranks *ranks)
{
	int status;

	if (ranks->own) {
		if (getppid() != ranks->father)
			_exit(1);
		return;
	}
	for (int rank = 1; rank < ranks->count; rank++)
		if (ranks->children[rank] && waitpid(ranks->children[rank], &status, WNOHANG) > 0)
			die("rank %d ended before the others: status 0x%x", rank, (unsigned)status);
}

static void ranks_meet(struct ranks *ranks)
{
	struct shared *shared = ranks->shared;
	uint32_t turn = atomic_load(&shared->turn);
	struct timespec patience = { 0, 200000000 };

	/* Sequentially consistent: a rank that leaves sees everything that all ranks did before they
	 * arrived. */
	if (atomic_fetch_add(&shared->arrived, 1) + 1 == (uint32_t)ranks->count) {
		atomic_store(&shared->arrived, 0);
		atomic_store(&shared->turn, turn + 1);
		syscall(SYS_futex, &shared->turn, FUTEX_WAKE, ranks->count, NULL, NULL, 0);
		return;
	}
	while (atomic_load(&shared->turn) == turn)
		if (syscall(SYS_futex, &shared->turn, FUTEX_WAIT, turn, &patience, NULL, 0) &&
			errno == ETIMEDOUT)
			ranks_check_others(ranks);
}

/* ---- the operations ------------------------------------------------------ */

static float *ranks_part_of(const struct ranks *ranks, int rank)
{
	return ranks->parts + (size_t)rank * ranks->floats;
}

/* Copies between the gradients and scalars and one contiguous block of memory. */
static void ranks_copy_all(const struct ranks *ranks, float *memory, bool out)
{
	for (int i = 0; i < ranks->params->count + ranks->scalar_count; i++) {
		int scalar = i - ranks->params->count;
		struct tensor *tensor =
			scalar < 0 ? &ranks->params->items[i].gradient : ranks->scalars[scalar];

		if (scalar < 0 && !ranks->params->items[i].trained)
			continue;
		if (out)
			memcpy(memory, tensor->data, tensor->size_bytes);
		else
			memcpy(tensor->data, memory, tensor->size_bytes);
		memory += tensor->size_bytes / sizeof(float);
	}
}

static void ranks_run_filling(const struct op *op, const struct dnn *dnn)
{
	const struct ranks *ranks = op->settings;

	(void)dnn;
	ranks_copy_all(ranks, ranks_part_of(ranks, ranks->own), true);
}

static void ranks_run_allreduce(const struct op *op, const struct dnn *dnn)
{
	struct ranks *ranks = (struct ranks *)op->settings;
	size_t first = ranks->floats * (size_t)ranks->own / (size_t)ranks->count;
	size_t end = ranks->floats * (size_t)(ranks->own + 1) / (size_t)ranks->count;
	float *restrict average = ranks_part_of(ranks, ranks->count);
	float share = 1.0f / (float)ranks->count;

	(void)dnn;
	ranks_meet(ranks);
	memcpy(average + first, ranks->parts + first, (end - first) * sizeof *average);
	for (int rank = 1; rank < ranks->count; rank++) {
		const float *restrict part = ranks_part_of(ranks, rank);

		for (size_t i = first; i < end; i++)
			average[i] += part[i];
	}
	for (size_t i = first; i < end; i++)
		average[i] *= share;
	ranks_meet(ranks);
}

/* There are few values, so every rank adds up all of them. */
void ranks_average(struct ranks *ranks, double *values, size_t count)
{
	assert(count * sizeof *values <= ranks->floats * sizeof(float));
	memcpy(ranks_part_of(ranks, ranks->own), values, count * sizeof *values);
	ranks_meet(ranks);
	memset(values, 0, count * sizeof *values);
	for (int rank = 0; rank < ranks->count; rank++) {
		const char *part = (const char *)ranks_part_of(ranks, rank);

		for (size_t i = 0; i < count; i++) {
			double value;

			memcpy(&value, part + i * sizeof value, sizeof value);
			values[i] += value;
		}
	}
	for (size_t i = 0; i < count; i++)
		values[i] /= ranks->count;
	ranks_meet(ranks);
}

static void ranks_run_copy_back(const struct op *op, const struct dnn *dnn)
{
	const struct ranks *ranks = op->settings;

	(void)dnn;
	ranks_copy_all(ranks, ranks_part_of(ranks, ranks->count), false);
}

static void ranks_map_parts(struct ranks *ranks)
{
	size_t bytes;

	for (int i = 0; i < ranks->params->count; i++)
		if (ranks->params->items[i].trained)
			ranks->floats += ranks->params->items[i].gradient.size_bytes / sizeof(float);
	for (int i = 0; i < ranks->scalar_count; i++)
		ranks->floats += ranks->scalars[i]->size_bytes / sizeof(float);
	/* All ranks compute the same size, so any of them may be the first. */
	bytes = (size_t)(ranks->count + 1) * ranks->floats * sizeof(float);
	if (ftruncate(ranks->file, (off_t)(HEAD_BYTES + bytes)))
		die("no memory that ranks share: %s", strerror(errno));
	ranks->parts = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ranks->file, HEAD_BYTES);
	if (ranks->parts == MAP_FAILED)
		die("no memory that ranks share: %s", strerror(errno));
}

/* The names are SINGA's: with verbosity 3 it shows operations whose names contain "Dist". */
void ranks_append(struct ranks *ranks, struct graph *graph, struct tensor *const *scalars,
				  int count)
{
	static const struct {
		const char *name;
		void (*run)(const struct op *op, const struct dnn *dnn);
	} operations[] = { { "Dist_c1_fusedSynch_filling", ranks_run_filling },
					   { "Dist_s_fusedSynch_allreduce", ranks_run_allreduce },
					   { "Dist_c1_fusedSynch_copyBackToTensor", ranks_run_copy_back } };

	if (!ranks)
		return;
	ranks->params = graph->params;
	ranks->scalar_count = count;
	memcpy(ranks->scalars, scalars, (size_t)count * sizeof *scalars);
	ranks_map_parts(ranks);
	graph_set_layer(graph, "");
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		struct op *op = graph_plain_op(graph, operations[i].name, operations[i].run);

		op->communicates = true;
		op->settings = ranks;
	}
}
