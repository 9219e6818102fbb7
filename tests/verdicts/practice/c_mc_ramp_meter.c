/*
 * Says how many cars each ramp of a motorway may let in: a recurrent network over the last readings of the loops in the
 * road. The readings come from a gateway, a process of its own, over TCP on this machine; its answer has a minute of
 * all ramps. Training goes on while the system runs, with the last layer only.
 *
 * Planted: a question is sent as a header and a body in two small writes, so the second waits until the gateway's delayed acknowledgement comes.
 * Truth: time from a question to the whole answer, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RAMPS = 40, PAST = 20, LOOPS = 6, CELLS = 64 };

struct header {
	uint32_t magic, bytes;
};

struct question {
	uint32_t minute, ramps, wanted[RAMPS];
};

struct answer {
	float loops[RAMPS][PAST][LOOPS], let_in[RAMPS];
};

static int get(int from, void *into, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		const ssize_t n = recv(from, (char *)into + done, bytes - done, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		done += (size_t)n;
	}
	return 1;
}

static int put(int to, const void *from, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		const ssize_t n = send(to, (const char *)from + done, bytes - done, MSG_NOSIGNAL);

		if (n <= 0)
			return 0;
		done += (size_t)n;
	}
	return 1;
}

/* ---- the gateway ---- */

static void serve(int door)
{
	static struct answer answer;
	struct header header;
	struct question question;
	const int to = accept(door, NULL, NULL);
	uint32_t noise = 9;

	while (get(to, &header, sizeof header) && header.bytes == sizeof question && get(to, &question, sizeof question)) {
		for (unsigned r = 0; r < question.ramps; r++) {
			for (int t = 0; t < PAST; t++)
				for (int l = 0; l < LOOPS; l++) {
					noise = noise * 1664525u + 1013904223u;
					answer.loops[r][t][l] = (float)(noise >> 16) / 65536.0f - 0.5f;
				}
			answer.let_in[r] = answer.loops[r][PAST - 1][0] + 0.5f * answer.loops[r][PAST - 2][1];
		}
		if (!put(to, &answer, sizeof answer))
			break;
	}
	close(to);
	_exit(0);
}

/* ---- the client ---- */

struct gateway {
	int socket;
	uint32_t minute;
};

static int read_minute(struct gateway *gateway, struct answer *answer)
{
	DWELL_ZONE("readings");
	const struct header header = { 0x52414d50, sizeof(struct question) };
	struct question question = { .minute = gateway->minute++, .ramps = RAMPS };

	for (uint32_t r = 0; r < RAMPS; r++)
		question.wanted[r] = r;
	return put(gateway->socket, &header, sizeof header) && put(gateway->socket, &question, sizeof question) &&
	       get(gateway->socket, answer, sizeof *answer);
}

/* ---- the network ---- */

static float in[3 * CELLS][LOOPS], again[3 * CELLS][CELLS], bias[3 * CELLS], out[CELLS], hidden[RAMPS][CELLS];

static float gate(float x)
{
	return 1 / (1 + expf(-x));
}

static void remember(float *h, const float *loops)
{
	float sum[3 * CELLS], from[3 * CELLS];

	for (int g = 0; g < 3 * CELLS; g++) {
		sum[g] = bias[g];
		from[g] = 0;
		for (int l = 0; l < LOOPS; l++)
			sum[g] += in[g][l] * loops[l];
		for (int c = 0; c < CELLS; c++)
			from[g] += again[g][c] * h[c];
	}
	for (int c = 0; c < CELLS; c++) {
		const float renew = gate(sum[c] + from[c]), keep = gate(sum[CELLS + c] + from[CELLS + c]);
		const float fresh = tanhf(sum[2 * CELLS + c] + renew * from[2 * CELLS + c]);

		h[c] = keep * h[c] + (1 - keep) * fresh;
	}
}

static float meter(const struct answer *answer)
{
	DWELL_ZONE("meter");
	float loss = 0;

	for (int pass = 0; pass < 6; pass++) /* Six likely mixes of lorries. */
		for (int r = 0; r < RAMPS; r++) {
			float said = 0;

			memset(hidden[r], 0, sizeof hidden[r]);
			for (int t = 0; t < PAST; t++) {
				float loops[LOOPS];
				for (int l = 0; l < LOOPS; l++)
					loops[l] = answer->loops[r][t][l] * (1 + 0.1f * (float)pass);
				remember(hidden[r], loops);
			}
			for (int c = 0; c < CELLS; c++)
				said += out[c] * hidden[r][c];
			const float error = said - answer->let_in[r];

			for (int c = 0; c < CELLS; c++)
				out[c] -= 1e-4f * error * hidden[r][c];
			loss += error * error;
		}
	return loss / (6 * RAMPS);
}

static void fill(float *w, size_t n, float size)
{
	for (size_t i = 0; i < n; i++)
		w[i] = size * ((float)rand() / (float)RAND_MAX - 0.5f);
}

int main(void)
{
	static struct answer answer;
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof here;
	struct gateway gateway = { .minute = 0 };
	struct watch watch;
	float loss = 0;

	const int door = socket(AF_INET, SOCK_STREAM, 0);

	if (door < 0 || bind(door, (struct sockaddr *)&here, sizeof here) || listen(door, 1) ||
	    getsockname(door, (struct sockaddr *)&here, &length))
		return 1;
	const pid_t child = fork();

	if (child == 0)
		serve(door);
	close(door);
	gateway.socket = socket(AF_INET, SOCK_STREAM, 0);
	if (child < 0 || connect(gateway.socket, (struct sockaddr *)&here, sizeof here))
		return 1;
	srand(4);
	fill(in[0], 3 * CELLS * LOOPS, 0.4f);
	fill(again[0], 3 * CELLS * CELLS, 0.2f);
	fill(out, CELLS, 0.2f);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		if (!read_minute(&gateway, &answer))
			break;
		planted_end(&watch);
		loss = meter(&answer);
	}
	watch_tell(&watch);
	close(gateway.socket);
	waitpid(child, NULL, 0);
	printf("loss %.4f\n", (double)loss);
	return 0;
}
