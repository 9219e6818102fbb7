/*
 * Scores of loans are trained with features that another process keeps.
 *
 * Planted: between two steps the loop asks the server for the next features and waits for its
 * answer.
 * Truth: time between the question and the end of the answer, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 5, LOANS = 256, FEATURES = 96, UNITS = 200 };

static float loans[LOANS][FEATURES], weights[UNITS][FEATURES], out[LOANS][UNITS];

static void serve(int socket)
{
	struct timespec look_up = { 0, 3500000 };
	int question;

	while (read(socket, &question, sizeof(question)) == sizeof(question)) {
		nanosleep(&look_up, NULL);
		for (int at = 0; at < LOANS; at++)
			for (int feature = 0; feature < FEATURES; feature++)
				loans[at][feature] = (float)((question + at * feature) % 17) / 17;
		for (size_t sent = 0; sent < sizeof(loans);) {
			ssize_t wrote = write(socket, (char *)loans + sent, sizeof(loans) - sent);

			if (wrote <= 0)
				_exit(1);
			sent += (size_t)wrote;
		}
	}
	_exit(0);
}

static int ask(int socket, int question)
{
	if (write(socket, &question, sizeof(question)) < 0)
		return 0;
	for (size_t got = 0; got < sizeof(loans);) {
		ssize_t more = read(socket, (char *)loans + got, sizeof(loans) - got);

		if (more <= 0)
			return 0;
		got += (size_t)more;
	}
	return 1;
}

static void train(void)
{
	DWELL_STEP();
	{
		DWELL_ZONE("forward");
		for (int at = 0; at < LOANS; at++)
			for (int unit = 0; unit < UNITS; unit++) {
				float sum = 0;

				for (int feature = 0; feature < FEATURES; feature++)
					sum += loans[at][feature] * weights[unit][feature];
				out[at][unit] = sum;
			}
	}
	DWELL_ZONE("backward");
	for (int at = 0; at < LOANS; at++)
		for (int unit = 0; unit < UNITS; unit++)
			for (int feature = 0; feature < FEATURES; feature++)
				weights[unit][feature] -= 1e-6f * (out[at][unit] - 1) * loans[at][feature];
}

int main(void)
{
	struct watch watch;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 1;
	if (!fork()) {
		close(pair[0]);
		serve(pair[1]);
	}
	close(pair[1]);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		planted_begin(&watch);
		if (!ask(pair[0], watch.steps))
			return 1;
		planted_end(&watch);
		train();
	}
	watch_tell(&watch);
	close(pair[0]);
	wait(NULL);
	return 0;
}
