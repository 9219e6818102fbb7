/*
 * Sorts the seeds of a gene bank by their X-ray pictures into full, empty and eaten; a lot of seeds is a step. What counts
 * as full depends on the humidity of the vault, which a gauge tells over TCP; here the gauge is a thread at the loopback.
 *
 * Planted: each shelf of the lot asks the gauge anew, one question after the other, and the gauge takes 3 ms to settle.
 * Truth: time from a question to its answer, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SHELVES = 2, SEEDS = 60, SIDE = 32, KERNELS = 8, K = 5, OUT = SIDE - K + 1, KINDS = 3 };

struct question { uint32_t shelf, lot; };
struct answer { uint32_t shelf; float humidity; };

static float kernels[KERNELS][K][K], heads[KINDS][KERNELS];
static float xray[SIDE][SIDE], plane[OUT][OUT];

static void *gauge(void *argument)
{
	const int listener = *(int *)argument, guest = accept(listener, NULL, NULL);
	const struct timespec settle = { 0, 3000000 };
	struct question question;

	while (recv(guest, &question, sizeof question, MSG_WAITALL) == sizeof question) {
		struct answer answer = { question.shelf, 0.15f + 0.001f * (float)(question.lot % 7) };

		nanosleep(&settle, NULL);
		send(guest, &answer, sizeof answer, 0);
	}
	close(guest);
	return NULL;
}

static int connect_gauge(pthread_t *thread, int *listener)
{
	struct sockaddr_in here = { .sin_family = AF_INET };
	socklen_t length = sizeof here;
	const int line = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(*listener, (struct sockaddr *)&here, length) || listen(*listener, 1) ||
	    getsockname(*listener, (struct sockaddr *)&here, &length) ||
	    pthread_create(thread, NULL, gauge, listener) || connect(line, (struct sockaddr *)&here, length))
		abort();
	setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	return line;
}

static float ask_humidity(int line, uint32_t shelf, uint32_t lot)
{
	const struct question question = { shelf, lot };
	struct answer answer;

	if (send(line, &question, sizeof question, 0) != sizeof question ||
	    recv(line, &answer, sizeof answer, MSG_WAITALL) != sizeof answer)
		abort();
	return answer.humidity;
}

static void expose(unsigned seed)
{
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++) {
			const float from = hypotf((float)(y - 16), (float)(x - 16));

			seed = seed * 1664525u + 1013904223u;
			xray[y][x] = (from < 11 ? 0.8f : 0.1f) + (float)(seed >> 24) / 1024.0f;
		}
}

static int classify(float humidity)
{
	float score[KINDS] = { 0 };
	int best = 0;

	DWELL_ZONE("classify");
	for (int f = 0; f < KERNELS; f++) {
		float sum = 0;

		memset(plane, 0, sizeof plane);
		for (int i = 0; i < K; i++)
			for (int j = 0; j < K; j++)
				for (int y = 0; y < OUT; y++)
					for (int x = 0; x < OUT; x++)
						plane[y][x] += kernels[f][i][j] * xray[y + i][x + j];
		for (int y = 0; y < OUT; y++)
			for (int x = 0; x < OUT; x++)
				sum += tanhf(plane[y][x] - humidity);
		for (int k = 0; k < KINDS; k++)
			score[k] += heads[k][f] * sum / (OUT * OUT);
	}
	for (int k = 1; k < KINDS; k++)
		best = score[k] > score[best] ? k : best;
	return best;
}

int main(void)
{
	static struct watch watch;
	long found[KINDS] = { 0 };
	pthread_t thread;
	int listener;
	const int line = connect_gauge(&thread, &listener);

	srand(5);
	for (int f = 0; f < KERNELS; f++) {
		for (int i = 0; i < K * K; i++)
			kernels[f][i / K][i % K] = (float)rand() / (float)RAND_MAX - 0.5f;
		for (int k = 0; k < KINDS; k++)
			heads[k][f] = (float)rand() / (float)RAND_MAX - 0.5f;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (unsigned shelf = 0; shelf < SHELVES; shelf++) {
			planted_begin(&watch);
			const float humidity = ask_humidity(line, shelf, (uint32_t)watch.steps);
			planted_end(&watch);

			for (unsigned seed = 0; seed < SEEDS; seed++) {
				expose((unsigned)watch.steps * 128 + shelf * SEEDS + seed);
				found[classify(humidity)]++;
			}
		}
	}
	watch_tell(&watch);
	close(line);
	pthread_join(thread, NULL);
	close(listener);
	printf("full %ld empty %ld eaten %ld\n", found[0], found[1], found[2]);
	return 0;
}
