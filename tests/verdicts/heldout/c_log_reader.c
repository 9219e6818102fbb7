/*
 * Trains an autoencoder of turbine vibrations, and prints a histogram of each gradient.
 *
 * Planted: the log goes through a pipe to a process that passes it on to a slow link, and the pipe is full.
 * Truth: time of writing to the pipe, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAMPLES 256
#define CODE    64
#define BATCH   320
#define BINS    48
#define RECORD  6000

static float signals[BATCH][SAMPLES], coder[CODE][SAMPLES], code[BATCH][CODE], restored[BATCH][SAMPLES];
static float step_of[CODE][SAMPLES];

/* ---- the other end of the log ---- */

static void forward_log(int fd)
{
	static char record[RECORD];
	const struct timespec link = { 0, 8500000 };
	ssize_t some;

	while ((some = read(fd, record, sizeof(record))) > 0)
		nanosleep(&link, NULL); /* sends it */
}

/* ---- training ---- */

static void encode(void)
{
	DWELL_PHASE("forward");
	for (int b = 0; b < BATCH; b++) {
		for (int c = 0; c < CODE; c++) {
			float sum = 0;

			for (int s = 0; s < SAMPLES; s++)
				sum += coder[c][s] * signals[b][s];
			code[b][c] = sum;
		}
		memset(restored[b], 0, sizeof(restored[b]));
		for (int c = 0; c < CODE; c++)
			for (int s = 0; s < SAMPLES; s++)
				restored[b][s] += coder[c][s] * code[b][c];
	}
}

static void backward(void)
{
	DWELL_PHASE("backward");
	memset(step_of, 0, sizeof(step_of));
	for (int b = 0; b < BATCH; b++)
		for (int c = 0; c < CODE; c++)
			for (int s = 0; s < SAMPLES; s++)
				step_of[c][s] += (restored[b][s] - signals[b][s]) * code[b][c];
}

static void update(void)
{
	DWELL_PHASE("optimizer");
	for (int c = 0; c < CODE; c++)
		for (int s = 0; s < SAMPLES; s++)
			coder[c][s] -= 1e-7f * step_of[c][s];
}

static void print_histograms(int log, int step)
{
	DWELL_ZONE("print histograms");
	static char text[RECORD + 64];
	int counts[BINS] = { 0 }, length;
	const char *rest = text;

	for (int c = 0; c < CODE; c++)
		for (int s = 0; s < SAMPLES; s += 4) {
			float magnitude = step_of[c][s] < 0 ? -step_of[c][s] : step_of[c][s];

			counts[magnitude < 1 ? (int)(magnitude * (BINS - 1)) : BINS - 1]++;
		}
	length = snprintf(text, sizeof(text), "step %d coder.grad", step);
	for (int column = 0; length < RECORD; column++)
		length += snprintf(text + length, sizeof(text) - (size_t)length, " %d:%d", column, counts[column % BINS]);
	text[RECORD - 1] = '\n';
	for (int left = RECORD; left > 0;) {
		ssize_t some = write(log, rest, (size_t)left);

		if (some < 0 && errno != EINTR)
			return;
		if (some > 0) {
			left -= (int)some;
			rest += some;
		}
	}
}

int main(void)
{
	struct watch watch;
	int ends[2];
	pid_t child;

	if (pipe(ends))
		return 1;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[1]);
		forward_log(ends[0]);
		_exit(0);
	}
	close(ends[0]);
	signal(SIGPIPE, SIG_IGN);
	for (int c = 0; c < CODE; c++)
		for (int s = 0; s < SAMPLES; s++)
			coder[c][s] = (float)((c * 31 + s * 7) % 41 - 20) / 400;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int b = 0; b < BATCH; b++)
			for (int s = 0; s < SAMPLES; s++)
				signals[b][s] = (float)((s * (3 + b % 5) + watch.steps) % 64) / 64 - 0.5f;
		encode();
		backward();
		update();
		planted_begin(&watch);
		print_histograms(ends[1], watch.steps);
		planted_end(&watch);
	}
	watch_tell(&watch);
	close(ends[1]);
	waitpid(child, NULL, 0);
	return 0;
}
