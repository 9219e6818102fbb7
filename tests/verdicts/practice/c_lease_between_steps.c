/*
 * Trains a polynomial network in C on a machine that is shared; a lease is renewed before each
 * step.
 *
 * Planted: between two steps, the process asks a lease server over a socket, which answers after
 * 5 ms.
 * Truth: time from the question to the answer, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 6, POINTS = 900, TERMS = 300, OUTPUTS = 24 };

static float terms[POINTS][TERMS], weights[OUTPUTS][TERMS], errors[POINTS][OUTPUTS];

static void serve(int socket)
{
	char lease[32];

	while (read(socket, lease, sizeof(lease)) > 0) {
		usleep(5000);
		if (write(socket, "granted", 8) < 0)
			break;
	}
	_exit(0);
}

static void renew(int socket)
{
	char lease[32];

	if (write(socket, "renew", 6) < 0 || read(socket, lease, sizeof(lease)) <= 0)
		exit(1);
}

static void train(void)
{
	DWELL_STEP();
	{
		DWELL_ZONE("forward");
		for (int point = 0; point < POINTS; point++)
			for (int output = 0; output < OUTPUTS; output++) {
				float sum = -(float)(point % 3);

				for (int term = 0; term < TERMS; term++)
					sum += terms[point][term] * weights[output][term];
				errors[point][output] = sum;
			}
	}
	DWELL_ZONE("backward");
	for (int point = 0; point < POINTS; point++)
		for (int output = 0; output < OUTPUTS; output++)
			for (int term = 0; term < TERMS; term++)
				weights[output][term] -= 1e-9f * errors[point][output] * terms[point][term];
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
	for (int point = 0; point < POINTS; point++)
		for (int term = 0; term < TERMS; term++)
			terms[point][term] = (float)((point * term) % 59) / 59;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		planted_begin(&watch);
		renew(ends[0]);
		planted_end(&watch);
		train();
	}
	watch_tell(&watch);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
