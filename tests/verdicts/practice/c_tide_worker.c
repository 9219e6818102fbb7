/*
 * A worker that trains a model of tides; a server in another process owns the parameters.
 *
 * Planted: in each step the worker sends its gradient and waits until the server has applied it.
 * Truth: time from sending the gradient until the new parameters are there, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 6, COUNT = 1 << 18, STATIONS = 512 };

static float parameters[COUNT], gradient[COUNT], mean[COUNT], square[COUNT], tides[STATIONS];

static void send_all(int socket, const void *data, size_t size)
{
	for (const char *at = data; size;) {
		ssize_t sent = write(socket, at, size);

		if (sent <= 0)
			_exit(1);
		at += sent;
		size -= (size_t)sent;
	}
}

static void receive_all(int socket, void *data, size_t size)
{
	for (char *at = data; size;) {
		ssize_t got = read(socket, at, size);

		if (got <= 0)
			_exit(0);
		at += got;
		size -= (size_t)got;
	}
}

static void serve(int socket)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		receive_all(socket, gradient, sizeof(gradient));
		for (int at = 0; at < COUNT; at++) {
			mean[at] = 0.9f * mean[at] + 0.1f * gradient[at];
			square[at] = 0.99f * square[at] + 0.01f * gradient[at] * gradient[at];
			parameters[at] -= 1e-3f * mean[at] / (sqrtf(square[at]) + 1e-6f) + 1e-7f * tanhf(parameters[at]);
		}
		send_all(socket, parameters, sizeof(parameters));
	}
}

int main(void)
{
	struct watch watch;
	int ends[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 1;
	child = fork();
	if (child == 0) {
		close(ends[0]);
		serve(ends[1]);
	}
	close(ends[1]);
	for (int at = 0; at < STATIONS; at++)
		tides[at] = (float)(at % 24) / 24;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("forward and backward");
			for (int day = 0; day < 24; day++)
				for (int row = 0; row < COUNT / STATIONS; row++) {
					float sum = 0;

					for (int at = 0; at < STATIONS; at++)
						sum += parameters[row * STATIONS + at] * tides[at];
					sum -= (float)((row + day) % 7);
					for (int at = 0; at < STATIONS; at++)
						gradient[row * STATIONS + at] = 0.9f * gradient[row * STATIONS + at] + sum * tides[at];
				}
		}
		planted_begin(&watch);
		{
			DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "push and pull");
			send_all(ends[0], gradient, sizeof(gradient));
			receive_all(ends[0], parameters, sizeof(parameters));
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
