/*
 * Predicts the runs that a batting side will still make, with a factorisation machine over pairs of players and a dense head.
 * A thread, the scorer, plays innings ball by ball to make its batches.
 *
 * Planted: the scorer begins a batch only when it is asked for one, and the learner asks when it has nothing left to do, so one of the two always waits.
 * Truth: time that the learner waits for the scorer, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define PLAYERS 300
#define ON_FIELD 14
#define RANK 24
#define HEAD 64
#define INNINGS 2400
#define BALLS 90

struct innings {
	int player[ON_FIELD];
	float still;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t asked, played;
	bool wanted, ready, over;
	struct innings innings[INNINGS];
	uint32_t dice;
} desk = { .lock = PTHREAD_MUTEX_INITIALIZER, .asked = PTHREAD_COND_INITIALIZER, .played = PTHREAD_COND_INITIALIZER, .dice = 2463534242u };

static float factor[PLAYERS][RANK], in[RANK][HEAD], out[HEAD];

static uint32_t roll(uint32_t *dice)
{
	*dice ^= *dice << 13;
	*dice ^= *dice >> 17;
	*dice ^= *dice << 5;
	return *dice;
}

/* Ball by ball: a hand's strength against the bowler's. */
static void play(struct innings *one, uint32_t *dice)
{
	float total = 0, strength[ON_FIELD];

	for (int p = 0; p < ON_FIELD; p++) {
		one->player[p] = (int)(roll(dice) % PLAYERS);
		strength[p] = (float)(one->player[p] % 17) / 17.0f;
	}
	for (int ball = 0; ball < BALLS; ball++) {
		const int bat = (int)(roll(dice) % 8), bowl = 8 + (int)(roll(dice) % 6);
		const float luck = (float)(roll(dice) & 1023) / 1024.0f;

		total += luck * (0.5f + strength[bat] - 0.4f * strength[bowl]);
	}
	one->still = total / BALLS;
}

static void *scorer(void *unused)
{
	pthread_mutex_lock(&desk.lock);
	for (;;) {
		while (!desk.wanted && !desk.over)
			pthread_cond_wait(&desk.asked, &desk.lock);
		if (desk.over)
			break;
		desk.wanted = false;
		pthread_mutex_unlock(&desk.lock);
		for (int i = 0; i < INNINGS; i++)
			play(&desk.innings[i], &desk.dice);
		pthread_mutex_lock(&desk.lock);
		desk.ready = true;
		pthread_cond_signal(&desk.played);
	}
	pthread_mutex_unlock(&desk.lock);
	return unused;
}

static void fetch(struct watch *watch, struct innings *batch)
{
	planted_begin(watch);
	pthread_mutex_lock(&desk.lock);
	desk.wanted = true;
	pthread_cond_signal(&desk.asked);
	while (!desk.ready)
		pthread_cond_wait(&desk.played, &desk.lock);
	desk.ready = false;
	pthread_mutex_unlock(&desk.lock);
	planted_end(watch);
	for (int i = 0; i < INNINGS; i++)
		batch[i] = desk.innings[i];
}

static float learn(const struct innings *one)
{
	float sum[RANK] = {0}, pair[RANK], hidden[HEAD], slope[HEAD], back[RANK] = {0}, said = 0;

	for (int p = 0; p < ON_FIELD; p++)
		for (int r = 0; r < RANK; r++)
			sum[r] += factor[one->player[p]][r];
	for (int r = 0; r < RANK; r++) {
		float squares = 0;

		for (int p = 0; p < ON_FIELD; p++)
			squares += factor[one->player[p]][r] * factor[one->player[p]][r];
		pair[r] = 0.5f * (sum[r] * sum[r] - squares);
	}
	for (int h = 0; h < HEAD; h++) {
		float x = 0;

		for (int r = 0; r < RANK; r++)
			x += pair[r] * in[r][h];
		hidden[h] = x / (1.0f + (x < 0 ? -x : x));
		slope[h] = 1.0f - (hidden[h] < 0 ? -hidden[h] : hidden[h]);
		said += hidden[h] * out[h];
	}
	const float wrong = said - one->still;

	for (int h = 0; h < HEAD; h++) {
		const float g = wrong * out[h] * slope[h] * slope[h];

		out[h] -= 1e-4f * wrong * hidden[h];
		for (int r = 0; r < RANK; r++) {
			back[r] += g * in[r][h];
			in[r][h] -= 1e-4f * g * pair[r];
		}
	}
	for (int p = 0; p < ON_FIELD; p++)
		for (int r = 0; r < RANK; r++) {
			float *f = &factor[one->player[p]][r];

			*f -= 1e-4f * back[r] * (sum[r] - *f);
		}
	return wrong * wrong;
}

int main(void)
{
	static struct innings batch[INNINGS];
	struct watch watch;
	pthread_t thread;
	float loss = 0;

	srandom(4);
	for (int p = 0; p < PLAYERS; p++)
		for (int r = 0; r < RANK; r++)
			factor[p][r] = 0.2f * (float)(random() % 2001 - 1000) / 1000.0f;
	for (int h = 0; h < HEAD; h++) {
		out[h] = 0.1f * (float)(random() % 2001 - 1000) / 1000.0f;
		for (int r = 0; r < RANK; r++)
			in[r][h] = 0.2f * (float)(random() % 2001 - 1000) / 1000.0f;
	}
	pthread_create(&thread, NULL, scorer, NULL);
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		fetch(&watch, batch);
		DWELL_ZONE("learn");
		loss = 0;
		for (int i = 0; i < INNINGS; i++)
			loss += learn(&batch[i]);
		watch.steps++;
	}
	watch_tell(&watch);
	pthread_mutex_lock(&desk.lock);
	desk.over = true;
	pthread_cond_signal(&desk.asked);
	pthread_mutex_unlock(&desk.lock);
	pthread_join(thread, NULL);
	printf("loss %.5f\n", (double)loss / INNINGS);
	return 0;
}
