/*
 * Plans the charging of a battery with a learned model of the grid (random shooting). After each plan it sends
 * telemetry to a collector, which is another process.
 *
 * Planted: nothing. Two datagrams a step look like communication, but a datagram to a process on this machine is
 * sent in some microseconds, and nobody waits for an answer.
 * Truth: time of making and sending the telemetry, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 6, PLANS = 256, HORIZON = 12, STATE = 12, UNITS = 40, MESSAGES = 2 };

static float first[UNITS][STATE + 1], second[STATE][UNITS];

static void collector(int socket)
{
	char line[256];
	double sum = 0;

	while (recv(socket, line, sizeof(line) - 1, 0) > 0 && strncmp(line, "quit", 4))
		sum += strlen(line);
	_exit(sum < 0);
}

static void predict(float *state, float power)
{
	float hidden[UNITS];

	for (int unit = 0; unit < UNITS; unit++) {
		float sum = first[unit][STATE] * power;

		for (int at = 0; at < STATE; at++)
			sum += first[unit][at] * state[at];
		hidden[unit] = tanhf(sum);
	}
	for (int at = 0; at < STATE; at++) {
		float sum = 0;

		for (int unit = 0; unit < UNITS; unit++)
			sum += second[at][unit] * hidden[unit];
		state[at] = 0.9f * state[at] + 0.1f * sum;
	}
}

static void tell(int socket, long step, const float *state, float cost)
{
	DWELL_ZONE("send telemetry");

	for (int message = 0; message < MESSAGES; message++) {
		char line[256];
		int length = snprintf(line, sizeof(line), "{\"step\":%ld,\"bus\":%d,\"load\":%.4f,\"cost\":%.3f}", step, message,
		                      (double)state[message], (double)cost);

		if (send(socket, line, (size_t)length + 1, 0) < 0)
			exit(1);
	}
}

int main(void)
{
	float state[STATE] = { 1 }, powers[HORIZON], best_power = 0;
	unsigned seed = 8;
	struct watch watch;
	int sockets[2];
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets))
		return 1;
	child = fork();
	if (!child) {
		close(sockets[0]);
		collector(sockets[1]);
	}
	close(sockets[1]);
	for (int unit = 0; unit < UNITS; unit++) {
		for (int at = 0; at <= STATE; at++)
			first[unit][at] = sinf((float)(unit * 13 + at)) / 3;
		for (int at = 0; at < STATE; at++)
			second[at][unit] = cosf((float)(unit + at * 41)) / 6;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		float least = INFINITY;

		{
			DWELL_ZONE("plan");
			for (int plan = 0; plan < PLANS; plan++) {
				float imagined[STATE], cost = 0;

				memcpy(imagined, state, sizeof(imagined));
				for (int hour = 0; hour < HORIZON; hour++) {
					seed = seed * 1664525u + 1013904223u;
					powers[hour] = (float)(seed >> 16) / 32768 - 1;
					predict(imagined, powers[hour]);
					cost += fabsf(imagined[0] - 0.3f) + 0.1f * powers[hour] * powers[hour];
				}
				if (cost < least) {
					least = cost;
					best_power = powers[0];
				}
			}
		}
		{
			DWELL_ZONE("grid");
			for (int minute = 0; minute < 60; minute++)
				predict(state, best_power);
		}
		planted_begin(&watch);
		tell(sockets[0], watch.steps, state, least);
		planted_end(&watch);
	}
	watch_tell(&watch);
	if (send(sockets[0], "quit", 5, 0) < 0)
		return 1;
	waitpid(child, NULL, 0);
	return 0;
}
