/*
 * A model of a rolling mill learns from the line's controllers, which are polled by datagrams.
 *
 * Planted: the gateway loses each fourth poll, and the loop notices that only after a timeout of 16 ms.
 * Truth: time of waiting for answers, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { Sensors = 128, Units = 512, Timeout_us = 16000 };

struct telegram { unsigned number; float values[Sensors]; };

static float weights[Units][Sensors], hidden[Units], head[Units];

static void gateway(int link)
{
	struct sockaddr_in from;
	struct telegram telegram;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned polls = 1;; polls++) {
		socklen_t length = sizeof from;

		if (recvfrom(link, &telegram.number, 4, 0, (struct sockaddr *)&from, &length) != 4)
			_exit(1);
		if (polls % 4 == 0)
			continue; /* the bus was busy */
		for (int s = 0; s < Sensors; s++)
			telegram.values[s] = (float)((telegram.number * 31 + (unsigned)s * 7) % 100) / 100;
		sendto(link, &telegram, sizeof telegram, 0, (struct sockaddr *)&from, length);
	}
}

/* Asks until the answer to this question arrives. */
static void poll_line(int link, unsigned number, struct telegram *telegram)
{
	DWELL_ZONE("poll line");
	do
		send(link, &number, sizeof number, 0);
	while (recv(link, telegram, sizeof *telegram, 0) != (ssize_t)sizeof *telegram || telegram->number != number);
}

static float predict(const float *values)
{
	DWELL_ZONE("predict thickness");
	float thickness = 0;

	for (int u = 0; u < Units; u++) {
		float sum = 0;

		for (int s = 0; s < Sensors; s++)
			sum += weights[u][s] * values[s];
		hidden[u] = sum > 0 ? sum : 0;
		thickness += head[u] * hidden[u];
	}
	return thickness;
}

static void correct(const float *values, float error)
{
	DWELL_ZONE("correct model");
	for (int u = 0; u < Units; u++) {
		float back = hidden[u] > 0 ? 1e-5f * error * head[u] : 0;

		for (int s = 0; s < Sensors; s++)
			weights[u][s] -= back * values[s];
		head[u] -= 1e-6f * error * hidden[u];
	}
}

int main(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval timeout = { 0, Timeout_us };
	int server = socket(AF_INET, SOCK_DGRAM, 0), link = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t length = sizeof address;
	struct telegram telegram;
	struct watch watch;
	pid_t child;

	if (bind(server, (struct sockaddr *)&address, length) ||
	    getsockname(server, (struct sockaddr *)&address, &length) ||
	    connect(link, (struct sockaddr *)&address, length))
		return 1;
	if ((child = fork()) == 0)
		gateway(server);
	setsockopt(link, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
	for (int u = 0; u < Units; u++) {
		head[u] = (float)(rand() % 100 - 50) / 1000;
		for (int s = 0; s < Sensors; s++)
			weights[u][s] = (float)(rand() % 100 - 50) / 1000;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		poll_line(link, (unsigned)watch.steps, &telegram);
		planted_end(&watch);
		for (int epoch = 0; epoch < 200; epoch++)
			correct(telegram.values, predict(telegram.values) - 1);
	}
	watch_tell(&watch);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
