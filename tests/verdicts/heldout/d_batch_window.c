/*
 * A server of embeddings. It waits until eight questions are there, or four milliseconds have passed since the
 * first of them, and embeds them together.
 *
 * Planted: there are three clients only, so no batch is ever full and each waits for its four milliseconds.
 * Truth: time that the loop collects a batch, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 6, CLIENTS = 3, MOST = 8, WINDOW_NS = 4000000, TOKENS = 72, WIDTH = 128, LAYERS = 2, PIECES = 4096 };

struct question {
	int tokens[TOKENS];
	float answer[WIDTH];
	bool answered;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t asked, answered;
	struct question *waiting[MOST];
	int count;
	bool ended;
} server = { .lock = PTHREAD_MUTEX_INITIALIZER, .answered = PTHREAD_COND_INITIALIZER };

static float pieces[PIECES][WIDTH], weights[LAYERS][WIDTH][WIDTH];

static void *client(void *argument)
{
	unsigned seed = (unsigned)(size_t)argument;
	struct question question;

	for (;;) {
		for (int at = 0; at < TOKENS; at++) {
			seed = seed * 1664525u + 1013904223u;
			question.tokens[at] = (int)(seed >> 8) % PIECES;
		}
		question.answered = false;
		pthread_mutex_lock(&server.lock);
		if (!server.ended) {
			server.waiting[server.count++] = &question;
			pthread_cond_signal(&server.asked);
		}
		while (!question.answered && !server.ended)
			pthread_cond_wait(&server.answered, &server.lock);
		if (server.ended)
			break;
		pthread_mutex_unlock(&server.lock);
		usleep(200); /* the user's network */
	}
	pthread_mutex_unlock(&server.lock);
	return NULL;
}

static int collect(struct question **batch)
{
	DWELL_ZONE("collect");
	struct timespec until;
	int count;

	pthread_mutex_lock(&server.lock);
	while (!server.count)
		pthread_cond_wait(&server.asked, &server.lock);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WINDOW_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (server.count < MOST && pthread_cond_timedwait(&server.asked, &server.lock, &until) != ETIMEDOUT);
	count = server.count;
	memcpy(batch, server.waiting, sizeof(*batch) * (size_t)count);
	server.count = 0;
	pthread_mutex_unlock(&server.lock);
	return count;
}

static void embed(struct question *question)
{
	DWELL_ZONE("embed");
	static float now[TOKENS][WIDTH], next[TOKENS][WIDTH];

	for (int token = 0; token < TOKENS; token++)
		memcpy(now[token], pieces[question->tokens[token]], sizeof(now[token]));
	for (int layer = 0; layer < LAYERS; layer++) {
		for (int token = 0; token < TOKENS; token++)
			for (int unit = 0; unit < WIDTH; unit++) {
				float sum = 0;

				for (int at = 0; at < WIDTH; at++)
					sum += weights[layer][unit][at] * now[token][at];
				next[token][unit] = tanhf(sum);
			}
		memcpy(now, next, sizeof(now));
	}
	memset(question->answer, 0, sizeof(question->answer));
	for (int token = 0; token < TOKENS; token++)
		for (int unit = 0; unit < WIDTH; unit++)
			question->answer[unit] += now[token][unit] / TOKENS;
}

int main(void)
{
	pthread_t clients[CLIENTS];
	pthread_condattr_t monotonic;
	struct watch watch;

	for (int piece = 0; piece < PIECES; piece++)
		for (int at = 0; at < WIDTH; at++)
			pieces[piece][at] = (float)((piece * 37 + at * 11) % 101) / 101;
	for (int at = 0; at < LAYERS * WIDTH * WIDTH; at++)
		(&weights[0][0][0])[at] = (float)(at * 7 % 19 - 9) / 200;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&server.asked, &monotonic);
	for (size_t at = 0; at < CLIENTS; at++)
		pthread_create(&clients[at], NULL, client, (void *)(at + 1));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		struct question *batch[MOST];

		planted_begin(&watch);
		int count = collect(batch);
		planted_end(&watch);
		for (int at = 0; at < count; at++)
			embed(batch[at]);
		DWELL_ZONE("reply");
		pthread_mutex_lock(&server.lock);
		for (int at = 0; at < count; at++)
			batch[at]->answered = true;
		pthread_cond_broadcast(&server.answered);
		pthread_mutex_unlock(&server.lock);
	}
	watch_tell(&watch);
	pthread_mutex_lock(&server.lock);
	server.ended = true;
	pthread_cond_broadcast(&server.answered);
	pthread_mutex_unlock(&server.lock);
	for (int at = 0; at < CLIENTS; at++)
		pthread_join(clients[at], NULL);
	return 0;
}
