/*
 * Two processes train a model of wind in C and average their gradients over a socket.
 *
 * Planted: the partner has half as many rows again, so this process waits for its gradients.
 * Truth: time of the exchange, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 6, ROWS = 16000, COLUMNS = 500 };

static float rows[ROWS][COLUMNS], weights[COLUMNS], slopes[COLUMNS], others[COLUMNS];

static void gradients(int count)
{
	for (int column = 0; column < COLUMNS; column++)
		slopes[column] = 0;
	for (int row = 0; row < count; row++) {
		float sum = -(float)(row % 4);

		for (int column = 0; column < COLUMNS; column++)
			sum += rows[row][column] * weights[column];
		for (int column = 0; column < COLUMNS; column++)
			slopes[column] += sum * rows[row][column];
	}
}

static void exchange(int socket)
{
	size_t got = 0;

	if (write(socket, slopes, sizeof(slopes)) != sizeof(slopes))
		exit(1);
	while (got < sizeof(others)) {
		ssize_t more = read(socket, (char *)others + got, sizeof(others) - got);

		if (more <= 0)
			exit(0);
		got += (size_t)more;
	}
}

static void update(void)
{
	for (int column = 0; column < COLUMNS; column++)
		weights[column] -= 1e-9f * (slopes[column] + others[column]);
}

int main(void)
{
	struct watch watch;
	int ends[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 1;
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			rows[row][column] = (float)((row * 3 + column * column) % 61) / 61;
	child = fork();
	if (child == 0) {
		close(ends[0]);
		for (;;) {
			gradients(ROWS);
			exchange(ends[1]);
			update();
		}
	}
	close(ends[1]);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("backward");
			gradients(ROWS * 2 / 3);
		}
		planted_begin(&watch);
		{
			DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "average gradients");
			exchange(ends[0]);
		}
		planted_end(&watch);
		DWELL_ZONE("optimizer");
		update();
	}
	watch_tell(&watch);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
