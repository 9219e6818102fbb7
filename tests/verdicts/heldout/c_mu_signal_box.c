/*
 * Learns to set the points of a railway station: a recurrent network proposes a setting, the interlocking, a server of its own
 * on this machine, says how many conflicts it has, and the weights follow that.
 *
 * Planted: each question goes out as a header and a body in two writes, so it lies in the kernel until the delayed acknowledgement comes.
 * Truth: time of asking the interlocking and waiting for its answer, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TRACKS = 512, ROUNDS = 190, POINTS = 96 };

struct header {
	uint32_t kind, length;
};

static void must(int good, const char *what)
{
	if (!good) {
		perror(what);
		exit(1);
	}
}

static int read_all(int at, void *to, size_t length)
{
	for (char *next = to; length;) {
		const ssize_t got = read(at, next, length);
		if (got <= 0)
			return 0;
		next += got;
		length -= (size_t)got;
	}
	return 1;
}

/* The interlocking: two neighbouring points that are both reversed are a conflict. */
static void *interlocking(void *argument)
{
	const int listener = *(int *)argument, line = accept(listener, NULL, NULL);
	struct header header;
	uint8_t setting[POINTS];

	must(line >= 0, "accept");
	while (read_all(line, &header, sizeof header) && read_all(line, setting, header.length)) {
		uint32_t conflicts = 0;
		for (uint32_t p = 1; p < header.length; p++)
			conflicts += setting[p] && setting[p - 1];
		if (write(line, &conflicts, sizeof conflicts) != sizeof conflicts)
			break;
	}
	close(line);
	return NULL;
}

static uint32_t ask(int line, const uint8_t *setting)
{
	const struct header header = {.kind = 3, .length = POINTS};
	uint32_t conflicts;

	must(write(line, &header, sizeof header) == sizeof header, "write");
	must(write(line, setting, POINTS) == POINTS, "write");
	must(read_all(line, &conflicts, sizeof conflicts), "read");
	return conflicts;
}

static float weight[TRACKS][TRACKS], state[TRACKS], next_state[TRACKS], trace[TRACKS];

static void settle(const float *trains)
{
	memset(state, 0, sizeof state);
	for (int r = 0; r < ROUNDS; r++) {
		for (int t = 0; t < TRACKS; t++) {
			float sum[4] = {trains[t]};
			for (int i = 0; i < TRACKS; i += 4)
				for (int k = 0; k < 4; k++)
					sum[k] += weight[t][i + k] * state[i + k];
			next_state[t] = tanhf(sum[0] + sum[1] + sum[2] + sum[3]);
		}
		memcpy(state, next_state, sizeof state);
	}
}

static void learn(float reward)
{
	for (int t = 0; t < TRACKS; t++) {
		trace[t] = 0.9f * trace[t] + 0.1f * state[t];
		for (int i = 0; i < TRACKS; i++)
			weight[t][i] = 0.9999f * weight[t][i] + 1e-6f * reward * trace[t] * state[i];
	}
}

int main(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof address;
	struct watch watch;
	pthread_t server;
	float trains[TRACKS];
	uint32_t conflicts = 0;
	int listener = socket(AF_INET, SOCK_STREAM, 0), line = socket(AF_INET, SOCK_STREAM, 0);

	must(listener >= 0 && line >= 0, "socket");
	must(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1) == 0, "listen");
	must(getsockname(listener, (struct sockaddr *)&address, &length) == 0, "getsockname");
	pthread_create(&server, NULL, interlocking, &listener);
	must(connect(line, (struct sockaddr *)&address, sizeof address) == 0, "connect");
	for (int t = 0; t < TRACKS; t++)
		for (int i = 0; i < TRACKS; i++)
			weight[t][i] = 0.06f * sinf((float)(t * 97 + i * 57));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		uint8_t setting[POINTS];

		for (int t = 0; t < TRACKS; t++)
			trains[t] = 0.5f * sinf((float)(t * (int)(watch.steps % 50 + 3)));
		{
			DWELL_ZONE("settle");
			settle(trains);
		}
		for (int p = 0; p < POINTS; p++)
			setting[p] = state[p * 5] > 0;
		{
			DWELL_ZONE("interlocking");
			planted_begin(&watch);
			conflicts = ask(line, setting);
			planted_end(&watch);
		}
		DWELL_ZONE("learn");
		learn(10.0f - (float)conflicts);
	}
	watch_tell(&watch);
	close(line);
	pthread_join(server, NULL);
	close(listener);
	printf("%u conflicts\n", conflicts);
	return 0;
}
