/*
 * Trains a next-item model of shopping sessions. A thread unpacks the next shard while the loop learns.
 *
 * Planted: unpacking takes longer than learning, and there is one thread for it.
 * Truth: time that the loop waits for the next shard, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { ITEMS = 4096, DIM = 64, CLICKS = 1200000, LEARNT = 2000, PACKED = 1150000, READY = 2, NEGATIVES = 3 };

struct shard { int count; unsigned short item[CLICKS]; };

static unsigned char packed[PACKED], plain[2 * CLICKS + 64];
static int packed_bytes;
static struct shard shards[READY];
static int filled, taken;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static float in[ITEMS][DIM], out[ITEMS][DIM];

/* A byte below 128 is so many literals, a larger one a length, and a distance follows it. */
static void pack(void)
{
	srand(8);
	for (int made = 0; made < 2 * CLICKS && packed_bytes < PACKED - 80;) {
		int literals = 24 + rand() % 40, length = 30 + rand() % 60;
		packed[packed_bytes++] = (unsigned char)literals;
		for (int i = 0; i < literals; i++)
			packed[packed_bytes++] = (unsigned char)(i % 2 ? rand() % 32 : 128 + rand() % 128);
		if ((made += literals) > 300) {
			packed[packed_bytes++] = (unsigned char)(128 + length), made += length;
			packed[packed_bytes++] = (unsigned char)(2 * (1 + rand() % 100));
		}
	}
}

static void unpack(struct shard *shard)
{
	int size = 0, at = 0;
	DWELL_ZONE("unpack shard");
	while (at < packed_bytes && size < 2 * CLICKS - 256) {
		int code = packed[at++];
		if (code < 128)
			while (code--)
				plain[size++] = packed[at++];
		else
			for (int distance = packed[at++]; code-- > 128; size++)
				plain[size] = plain[size - distance];
	}
	shard->count = 0;
	for (int i = 0; i < size && shard->count < CLICKS;) {
		unsigned number = 0, shift = 0;
		do
			number |= (plain[i] & 127u) << shift, shift += 7;
		while (plain[i++] & 128 && shift < 28 && i < size);
		shard->item[shard->count++] = (unsigned short)(number % ITEMS);
	}
}

static void *read_ahead(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&mutex);
		while (filled - taken == READY)
			pthread_cond_wait(&changed, &mutex);
		pthread_mutex_unlock(&mutex);
		unpack(&shards[filled % READY]);
		pthread_mutex_lock(&mutex);
		filled++;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void next_shard(struct watch *watch)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "next shard");
	planted_begin(watch);
	for (pthread_mutex_lock(&mutex); filled == taken;)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
	planted_end(watch);
}

static void learn(const struct shard *shard, int step)
{
	DWELL_PHASE("learn");
	for (int i = 0; i < LEARNT; i++) {
		int at = (int)(((unsigned)(step * LEARNT + i) * 2654435761u >> 4) % (unsigned)(shard->count - 1));
		float *now = in[shard->item[at]];
		for (int k = 0; k <= NEGATIVES; k++) {
			float *then = out[k ? (i * 31 + k * 977) % ITEMS : shard->item[at + 1]], score = 0, rate;
			for (int d = 0; d < DIM; d++)
				score += now[d] * then[d];
			rate = 0.05f * ((float)(k == 0) - 1 / (1 + expf(-score)));
			for (int d = 0; d < DIM; d++) {
				float before = now[d];
				now[d] += rate * then[d], then[d] += rate * before;
			}
		}
	}
}

int main(void)
{
	struct watch watch;
	pthread_t thread;
	pack();
	for (int i = 0; i < ITEMS * DIM; i++)
		in[i / DIM][i % DIM] = sinf((float)i) / 8, out[i / DIM][i % DIM] = cosf((float)i) / 8;
	pthread_create(&thread, NULL, read_ahead, NULL);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		next_shard(&watch);
		learn(&shards[taken % READY], watch.steps);
		pthread_mutex_lock(&mutex);
		taken++;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&mutex);
	}
	watch_tell(&watch);
}
