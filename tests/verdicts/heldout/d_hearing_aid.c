/*
 * Noise reduction in a hearing aid, on the bench: another process plays the codec and delivers a hop each 8 ms.
 *
 * Planted: the network needs a bit more than half of that time, so the loop waits for the microphone.
 * Truth: time in the read of the next hop, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { HOP = 128, BANDS = 64, UNITS = 240, PERIOD_NS = 8000000 };

static float window[2 * HOP], band[BANDS], hidden[UNITS], gain[BANDS];
static float in_weight[3 * UNITS][BANDS], own_weight[3 * UNITS][UNITS], out_weight[BANDS][UNITS];
static float cosine[BANDS][2 * HOP], output[2 * HOP];
static struct watch watch;

/* What the reader is too late for is lost. */
static void codec(int fd)
{
	struct timespec next;
	short hop[HOP];
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (long at = 0;; at += HOP) {
		for (int i = 0; i < HOP; i++)
			hop[i] = (short)(6000 * sin((double)(at + i) * 0.05) + (double)(rand() % 2000));
		next.tv_nsec += PERIOD_NS;
		if (next.tv_nsec >= 1000000000)
			next.tv_sec++, next.tv_nsec -= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		if (write(fd, hop, sizeof(hop)) < 0 && errno != EAGAIN)
			_exit(0);
	}
}

static void capture(int fd)
{
	short hop[HOP];
	DWELL_ZONE("microphone");
	planted_begin(&watch);
	if (read(fd, hop, sizeof(hop)) != sizeof(hop)) exit(1);
	planted_end(&watch);
	for (int i = 0; i < HOP; i++)
		window[i] = window[HOP + i], window[HOP + i] = (float)hop[i] / 32768;
}

static void analyse(void)
{
	DWELL_ZONE("filter bank");
	for (int b = 0; b < BANDS; b++) {
		float sum = 0;
		for (int i = 0; i < 2 * HOP; i++)
			sum += cosine[b][i] * window[i];
		band[b] = sum;
	}
}

static float dot(const float *a, const float *b, int count)
{
	float sum = 0;
	for (int i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

/* A gated recurrent unit, run for this many microphones and their differences. */
static void estimate_gains(void)
{
	DWELL_ZONE("gain network");
	for (int channel = 0; channel < 30; channel++) {
		float before[UNITS];
		memcpy(before, hidden, sizeof(before));
		for (int u = 0; u < UNITS; u++) {
			float z = dot(in_weight[u], band, BANDS) + dot(own_weight[u], before, UNITS);
			float r = dot(in_weight[UNITS + u], band, BANDS) + dot(own_weight[UNITS + u], before, UNITS);
			float keep = 1 / (1 + expf(-z)), reset = 1 / (1 + expf(-r));
			float fresh = tanhf(dot(in_weight[2 * UNITS + u], band, BANDS) + reset * dot(own_weight[2 * UNITS + u], before, UNITS));
			hidden[u] = keep * before[u] + (1 - keep) * fresh;
		}
	}
	for (int b = 0; b < BANDS; b++)
		gain[b] = 1 / (1 + expf(-dot(out_weight[b], hidden, UNITS)));
}

static void synthesise(void)
{
	DWELL_ZONE("synthesis");
	memmove(output, output + HOP, sizeof(output) / 2), memset(output + HOP, 0, sizeof(output) / 2);
	for (int b = 0; b < BANDS; b++)
		for (int i = 0; i < 2 * HOP; i++)
			output[i] += gain[b] * band[b] * cosine[b][i] / HOP;
}

int main(void)
{
	int ends[2];
	pid_t child;
	if (pipe2(ends, O_CLOEXEC) || fcntl(ends[1], F_SETFL, O_NONBLOCK) || fcntl(ends[1], F_SETPIPE_SZ, 4096) < 0)
		return 1;
	for (int u = 0; u < 3 * UNITS; u++)
		for (int i = 0; i < UNITS; i++)
			own_weight[u][i] = in_weight[u][i % BANDS] = (float)((u * 13 + i * 7) % 201 - 100) / 3000;
	for (int b = 0; b < BANDS; b++)
		for (int i = 0; i < 2 * HOP; i++)
			cosine[b][i] = cosf((float)M_PI / BANDS * ((float)b + 0.5f) * (float)i), out_weight[b][i % UNITS] = 0.01f;
	if ((child = fork()) == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		codec(ends[1]);
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		capture(ends[0]);
		analyse();
		estimate_gains();
		synthesise();
	}
	watch_tell(&watch);
	return kill(child, SIGKILL);
}
