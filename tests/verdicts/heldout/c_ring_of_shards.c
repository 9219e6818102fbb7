/*
 * Two processes train a network that upscales elevation maps; a ring of sockets sums their gradients.
 *
 * Planted: the files were dealt by name and not by size, so the second process has half as many tiles again.
 * Truth: time that the first process is in the exchange, of its loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 2, COARSE = 64, FINE = 256, PARAMS = FINE * COARSE };

static const int tiles_of_rank[RANKS] = { 240, 350 };

struct message {
	bool again; /* whether another step follows: the first process decides */
	float sums[PARAMS];
};

static float theta[FINE][COARSE], gradient[FINE][COARSE];
static struct message sent, received;

static void whole(int fd, char *data, size_t size, bool out)
{
	while (size > 0) {
		ssize_t some = out ? write(fd, data, size) : read(fd, data, size);

		if (some <= 0)
			_exit(1);
		data += some;
		size -= (size_t)some;
	}
}

static void tile(int rank, int number)
{
	float coarse[COARSE], fine[FINE];
	unsigned seed = (unsigned)(rank * 100000 + number);

	for (int i = 0; i < COARSE; i++) {
		seed = seed * 1664525u + 1013904223u;
		coarse[i] = (float)(seed >> 16) / 65536.0f;
	}
	for (int f = 0; f < FINE; f++) {
		float height = 0;

		for (int c = 0; c < COARSE; c++)
			height += theta[f][c] * coarse[c];
		fine[f] = height - coarse[f / (FINE / COARSE)];
	}
	for (int f = 0; f < FINE; f++)
		for (int c = 0; c < COARSE; c++)
			gradient[f][c] += fine[f] * coarse[c];
}

/* With two processes a ring is one exchange. The first writes first, so that never both wait for room. */
static bool all_reduce(int rank, int fd, bool again)
{
	DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "ring all-reduce");
	sent.again = again;
	memcpy(sent.sums, gradient, sizeof(gradient));
	for (int turn = 0; turn < RANKS; turn++)
		if (turn == rank)
			whole(fd, (char *)&sent, sizeof(sent), true);
		else
			whole(fd, (char *)&received, sizeof(received), false);
	return rank == 0 ? again : received.again;
}

static void train(int rank, int fd)
{
	struct watch watch;
	bool again = true;

	dwell_rank(rank, rank, RANKS);
	watch_begin(&watch);
	for (; again; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("tiles");
			memset(gradient, 0, sizeof(gradient));
			for (int number = 0; number < tiles_of_rank[rank]; number++)
				tile(rank, watch.steps * 500 + number);
		}
		planted_begin(&watch);
		again = all_reduce(rank, fd, watch_seconds(&watch) < 6);
		planted_end(&watch);
		DWELL_ZONE("descend");
		for (int at = 0; at < PARAMS; at++)
			((float *)theta)[at] -= 1e-5f * (((float *)gradient)[at] + received.sums[at]);
	}
	if (rank == 0)
		watch_tell(&watch);
}

int main(void)
{
	int pair[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		train(1, pair[1]);
		_exit(0);
	}
	train(0, pair[0]);
	waitpid(child, NULL, 0);
	return 0;
}
