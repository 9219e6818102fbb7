/*
 * Learns which beams a mast should use: a network maps what the handsets report to the phases of 64 aerials, and a simulator of the
 * radio field, another process that is asked over TCP, says what gain the phases have.
 *
 * Planted: a question goes in two small writes without TCP_NODELAY, so the second waits for the acknowledgment that the other side delays.
 * Truth: time from the first write to the answer, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AERIALS = 64, REPORTS = 96, HIDDEN = 256, HANDSETS = 220, SPOTS = 16 };

struct question {
	uint32_t kind, floats;
};

static float into[HIDDEN][REPORTS], out_of[AERIALS][HIDDEN];
static float reports[HANDSETS][REPORTS], hidden[HANDSETS][HIDDEN], phases[AERIALS], change[AERIALS];

static void all_of(int fd, void *to, size_t bytes)
{
	for (char *at = to; bytes;) {
		const ssize_t got = recv(fd, at, bytes, 0);

		if (got <= 0)
			exit(0);
		at += got;
		bytes -= (size_t)got;
	}
}

static void put(int fd, const void *from, size_t bytes)
{
	if (send(fd, from, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
		exit(1);
}

/* The simulator: gain at some spots for the phases. */
static void simulate(int fd)
{
	for (;;) {
		struct question question;
		float at[AERIALS], gain[SPOTS];

		all_of(fd, &question, sizeof question);
		all_of(fd, at, question.floats * sizeof *at);
		for (int s = 0; s < SPOTS; s++) {
			float re = 0, im = 0;

			for (int a = 0; a < AERIALS; a++) {
				re += cosf(at[a] + 0.3f * (float)(a * (s + 1)));
				im += sinf(at[a] + 0.3f * (float)(a * (s + 1)));
			}
			gain[s] = (re * re + im * im) / (AERIALS * AERIALS);
		}
		put(fd, gain, sizeof gain);
	}
}

static int start_simulator(pid_t *child)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof here;
	const int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listener, (struct sockaddr *)&here, sizeof here) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&here, &size))
		exit(1);
	*child = fork();
	if (!*child) {
		close(fd);
		simulate(accept(listener, NULL, NULL));
		_exit(0);
	}
	close(listener);
	if (connect(fd, (struct sockaddr *)&here, sizeof here))
		exit(1);
	return fd;
}

static float ask_gain(int fd)
{
	const struct question question = { 1, AERIALS };
	float gain[SPOTS], sum = 0;

	put(fd, &question, sizeof question);
	put(fd, phases, sizeof phases);
	all_of(fd, gain, sizeof gain);
	for (int s = 0; s < SPOTS; s++)
		sum += gain[s];
	return sum / SPOTS;
}

static void choose_phases(void)
{
	DWELL_ZONE("phases");
	for (int h = 0; h < HANDSETS; h++)
		for (int w = 0; w < HIDDEN; w++) {
			float sum = 0;

			for (int r = 0; r < REPORTS; r++)
				sum += into[w][r] * reports[h][r];
			hidden[h][w] = sum / (1 + fabsf(sum));
		}
	for (int a = 0; a < AERIALS; a++) {
		float sum = 0;

		for (int h = 0; h < HANDSETS; h++)
			for (int w = 0; w < HIDDEN; w++)
				sum += out_of[a][w] * hidden[h][w];
		phases[a] = sum / HANDSETS + change[a];
	}
}

static void learn(float advantage)
{
	DWELL_ZONE("learn");
	for (int h = 0; h < HANDSETS; h++)
		for (int a = 0; a < AERIALS; a++)
			for (int w = 0; w < HIDDEN; w++)
				out_of[a][w] += 1e-6f * advantage * change[a] * hidden[h][w];
}

int main(void)
{
	struct watch watch;
	float usual = 0;
	pid_t child;
	const int fd = start_simulator(&child);

	srand(71);
	for (int w = 0; w < HIDDEN; w++) {
		for (int r = 0; r < REPORTS; r++)
			into[w][r] = 0.3f * ((float)rand() / (float)RAND_MAX - 0.5f);
		for (int a = 0; a < AERIALS; a++)
			out_of[a][w] = 0.3f * ((float)rand() / (float)RAND_MAX - 0.5f);
	}
	for (int h = 0; h < HANDSETS; h++)
		for (int r = 0; r < REPORTS; r++)
			reports[h][r] = (float)rand() / (float)RAND_MAX;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		for (int a = 0; a < AERIALS; a++)
			change[a] = 0.2f * ((float)rand() / (float)RAND_MAX - 0.5f);
		for (int carrier = 0; carrier < 16; carrier++) /* each has the same reports */
			choose_phases();
		planted_begin(&watch);
		const float gain = ask_gain(fd);
		planted_end(&watch);
		learn(gain - usual);
		usual += 0.1f * (gain - usual);
	}
	watch_tell(&watch);
	printf("gain %.4f\n", (double)usual);
	close(fd);
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	return 0;
}
