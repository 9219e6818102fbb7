/*
 * A server of sentence embeddings: it embeds a batch of requests and answers each in JSON.
 *
 * Planted: the 256 numbers of each answer are printed one after the other with snprintf().
 * Truth: time of writing the answers as text, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 24, WORDS = 20, BUCKETS = 4096, IN = 192, HIDDEN = 208, OUT = 256, REPLY = 8192 };

struct request {
	unsigned id;
	unsigned words[WORDS];
};

static float table[BUCKETS][IN], w1[HIDDEN][IN], w2[OUT][HIDDEN];
static float sentence[BATCH][IN], middle[BATCH][HIDDEN], vector[BATCH][OUT];
static struct request queue[BATCH];
static struct watch watch;
static unsigned long long sent_bytes;

static unsigned next_random(void)
{
	static unsigned state = 77;

	state ^= state << 13;
	state ^= state >> 17;
	return state ^= state << 5;
}

static void fill(float *weights, int count, float scale)
{
	for (int i = 0; i < count; i++)
		weights[i] = scale * ((float)(next_random() % 2001) / 1000 - 1);
}

static void take_requests(int step)
{
	DWELL_ZONE("take requests");
	for (int i = 0; i < BATCH; i++) {
		queue[i].id = (unsigned)(step * BATCH + i);
		for (int k = 0; k < WORDS; k++)
			queue[i].words[k] = next_random() % BUCKETS;
	}
}

static void look_up(void)
{
	DWELL_ZONE("bag of words");
	for (int i = 0; i < BATCH; i++)
		for (int d = 0; d < IN; d++) {
			float sum = 0;

			for (int k = 0; k < WORDS; k++)
				sum += table[queue[i].words[k]][d];
			sentence[i][d] = sum / WORDS;
		}
}

static void dense(const float *weights, const float *in, float *out, int ins, int outs)
{
	for (int o = 0; o < outs; o++) {
		float sum = 0;

		for (int i = 0; i < ins; i++)
			sum += weights[o * ins + i] * in[i];
		out[o] = tanhf(sum);
	}
}

static void embed(void)
{
	DWELL_ZONE("encoder");
	for (int i = 0; i < BATCH; i++) {
		float length = 1e-9f;

		dense(w1[0], sentence[i], middle[i], IN, HIDDEN);
		dense(w2[0], middle[i], vector[i], HIDDEN, OUT);
		for (int o = 0; o < OUT; o++)
			length += vector[i][o] * vector[i][o];
		for (int o = 0; o < OUT; o++)
			vector[i][o] /= sqrtf(length);
	}
}

static void answer(int client)
{
	DWELL_ZONE("answer");
	planted_begin(&watch);
	for (int i = 0; i < BATCH; i++) {
		char reply[REPLY];
		int length = snprintf(reply, sizeof(reply), "{\"id\":%u,\"model\":\"bag-2\",\"embedding\":[", queue[i].id);

		for (int o = 0; o < OUT; o++)
			length += snprintf(reply + length, sizeof(reply) - (size_t)length, "%.7g%s", (double)vector[i][o], o < OUT - 1 ? "," : "]}\n");
		if (write(client, reply, (size_t)length) == length)
			sent_bytes += (unsigned)length;
	}
	planted_end(&watch);
}

int main(void)
{
	int client = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fill(table[0], BUCKETS * IN, 1);
	fill(w1[0], HIDDEN * IN, 0.3f);
	fill(w2[0], OUT * HIDDEN, 0.1f);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		take_requests(watch.steps);
		look_up();
		embed();
		answer(client);
	}
	watch_tell(&watch);
	fprintf(stderr, "%llu bytes\n", sent_bytes);
	return close(client);
}
