/*
 * Forecasts the water level of a harbour an hour ahead: a perceptron of two hidden layers, trained on windows that a
 * simulator of tides writes into a pipe.
 *
 * Planted: the simulator, a child process, adds up its harmonics more slowly than the network learns, and none are kept.
 * Truth: time that the loop waits for the pipe, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAST = 48, WIDE = 224, NARROW = 80, WINDOWS = 96, CONSTITUENTS = 30 };

struct window {
	float level[PAST], ahead;
};

/* ---- the simulator ---- */

static void simulate(int to)
{
	static struct window out[WINDOWS];
	double start = 0;

	for (;;) {
		for (int w = 0; w < WINDOWS; w++) {
			start += 7.3;
			for (int t = 0; t <= PAST; t++) {
				const double hour = start + 0.25 * t + (t == PAST ? 1 : 0);
				double level = 0;

				for (int c = 0; c < CONSTITUENTS; c++) {
					/* The speed of a constituent and the slow nodal factor of the moon. */
					const double speed = 0.2 + 0.013 * c, nodal = 1 + 0.037 * cos(hour * 3.8e-5 + c);

					level += nodal * cos(speed * hour + 0.4 * c) / (1 + c);
				}
				if (t < PAST)
					out[w].level[t] = (float)level;
				else
					out[w].ahead = (float)level;
			}
		}
		for (size_t done = 0; done < sizeof out;) {
			const ssize_t n = write(to, (char *)out + done, sizeof out - done);

			if (n <= 0)
				_exit(0);
			done += (size_t)n;
		}
	}
}

/* ---- the network ---- */

static struct window batch[WINDOWS];
static float w1[WIDE][PAST], b1[WIDE], w2[NARROW][WIDE], b2[NARROW], w3[NARROW], b3;
static float h1[WINDOWS][WIDE], h2[WINDOWS][NARROW], said[WINDOWS], d1[WINDOWS][WIDE], d2[WINDOWS][NARROW];

static int fetch(int from, struct watch *watch)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "windows");
	size_t done = 0;

	planted_begin(watch);
	while (done < sizeof batch) {
		const ssize_t n = read(from, (char *)batch + done, sizeof batch - done);

		if (n <= 0)
			return 0;
		done += (size_t)n;
	}
	planted_end(watch);
	return 1;
}

static double forward(void)
{
	DWELL_ZONE("forward");
	double loss = 0;

	for (int w = 0; w < WINDOWS; w++) {
		for (int o = 0; o < WIDE; o++) {
			float sum = b1[o];
			for (int i = 0; i < PAST; i++)
				sum += w1[o][i] * batch[w].level[i];
			h1[w][o] = tanhf(sum);
		}
		said[w] = b3;
		for (int o = 0; o < NARROW; o++) {
			float sum = b2[o];
			for (int i = 0; i < WIDE; i++)
				sum += w2[o][i] * h1[w][i];
			h2[w][o] = tanhf(sum);
			said[w] += w3[o] * h2[w][o];
		}
		loss += (double)((said[w] - batch[w].ahead) * (said[w] - batch[w].ahead));
	}
	return loss / WINDOWS;
}

static void backward(float rate)
{
	DWELL_ZONE("backward");
	for (int w = 0; w < WINDOWS; w++) {
		const float error = said[w] - batch[w].ahead;

		memset(d1[w], 0, sizeof d1[w]);
		for (int o = 0; o < NARROW; o++) {
			d2[w][o] = error * w3[o] * (1 - h2[w][o] * h2[w][o]);
			for (int i = 0; i < WIDE; i++)
				d1[w][i] += d2[w][o] * w2[o][i];
		}
		for (int o = 0; o < WIDE; o++)
			d1[w][o] *= 1 - h1[w][o] * h1[w][o];
	}
	for (int w = 0; w < WINDOWS; w++) {
		const float error = said[w] - batch[w].ahead;

		b3 -= rate * error;
		for (int o = 0; o < NARROW; o++) {
			w3[o] -= rate * error * h2[w][o];
			b2[o] -= rate * d2[w][o];
			for (int i = 0; i < WIDE; i++)
				w2[o][i] -= rate * d2[w][o] * h1[w][i];
		}
		for (int o = 0; o < WIDE; o++) {
			b1[o] -= rate * d1[w][o];
			for (int i = 0; i < PAST; i++)
				w1[o][i] -= rate * d1[w][o] * batch[w].level[i];
		}
	}
}

int main(void)
{
	struct watch watch;
	int ends[2];
	double loss = 0;

	srand(3);
	for (int o = 0; o < WIDE; o++)
		for (int i = 0; i < PAST; i++)
			w1[o][i] = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
	for (int o = 0; o < NARROW; o++) {
		w3[o] = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
		for (int i = 0; i < WIDE; i++)
			w2[o][i] = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
	}
	if (pipe(ends))
		return 1;
	const pid_t child = fork();

	if (child < 0)
		return 1;
	if (child == 0) {
		close(ends[0]);
		signal(SIGPIPE, SIG_IGN);
		simulate(ends[1]);
	}
	close(ends[1]);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		if (!fetch(ends[0], &watch))
			break;
		loss = forward();
		backward(1e-3f);
	}
	watch_tell(&watch);
	close(ends[0]);
	waitpid(child, NULL, 0);
	printf("loss %.5f\n", loss);
	return 0;
}
