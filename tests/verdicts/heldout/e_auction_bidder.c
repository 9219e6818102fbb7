/*
 * A bidder for advertisements learns online with a factorisation machine. It asks a server for the floor price in each step.
 *
 * Planted: nothing. In each step there is a request to another process and a flushed line of log, in each 50th the weights
 * are hashed and saved; all of that takes a moment.
 * Truth: time of these, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIELDS = 14, BUCKETS = 20000, FACTORS = 16, BATCH = 1500 };

static float latent[BUCKETS][FACTORS], linear[BUCKETS];

static void serve_floors(int client)
{
	unsigned auction;
	while (read(client, &auction, sizeof auction) == sizeof auction) {
		float floor = 0.1f + 0.01f * (float)(auction % 7);
		if (write(client, &floor, sizeof floor) != sizeof floor)
			break;
	}
	_exit(0);
}

static float ask_floor(int server, unsigned auction)
{
	float floor = 0;
	DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "floor price");
	if (write(server, &auction, sizeof auction) != sizeof auction || read(server, &floor, sizeof floor) != sizeof floor)
		exit(1);
	return floor;
}

static float learn(unsigned step, float floor)
{
	float loss = 0;
	DWELL_PHASE("learn");
	for (unsigned row = 0; row < BATCH; row++) {
		unsigned at[FIELDS], seed = (step * BATCH + row) * 2654435761u;
		float sum[FACTORS] = { 0 }, score = 0, miss;
		for (unsigned f = 0; f < FIELDS; f++) {
			at[f] = (f * 1409 + (seed >> (f % 8)) % 1400) % BUCKETS;
			score += linear[at[f]];
			for (int k = 0; k < FACTORS; k++) {
				float v = latent[at[f]][k];
				sum[k] += v, score -= v * v / 2;
			}
		}
		for (int k = 0; k < FACTORS; k++)
			score += sum[k] * sum[k] / 2;
		miss = 1 / (1 + expf(-score)) - (float)(at[0] % 5 == 0) - floor / 100;
		loss += miss * miss / BATCH;
		for (int f = 0; f < FIELDS; f++) {
			linear[at[f]] -= 0.02f * miss;
			for (int k = 0; k < FACTORS; k++)
				latent[at[f]][k] -= 0.02f * miss * (sum[k] - latent[at[f]][k]);
		}
	}
	return loss;
}

static void save(FILE *file)
{
	uint64_t hash = 1469598103934665603u;
	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save weights");
	for (int i = 0; i < BUCKETS; i++)
		hash = (hash ^ (uint64_t)(1e6f * linear[i])) * 1099511628211u;
	rewind(file);
	fwrite(&hash, sizeof hash, 1, file);
	fwrite(linear, sizeof linear, 1, file);
	fflush(file);
}

int main(void)
{
	struct watch watch;
	FILE *log = tmpfile(), *weights = tmpfile();
	int ends[2];
	pid_t child;
	if (!log || !weights || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 1;
	if (!(child = fork()))
		serve_floors(ends[1]);
	for (int i = 0; i < BUCKETS * FACTORS; i++)
		latent[i / FACTORS][i % FACTORS] = 0.05f * sinf((float)i);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		float floor, loss;
		DWELL_STEP();
		planted_begin(&watch);
		floor = ask_floor(ends[0], (unsigned)watch.steps);
		planted_end(&watch);
		loss = 0;
		for (int pass = 0; pass < 20; pass++)
			loss += learn((unsigned)(watch.steps * 20 + pass), floor) / 20;
		planted_begin(&watch);
		fprintf(log, "%d loss %.5f floor %.2f\n", watch.steps, (double)loss, (double)floor);
		fflush(log);
		if (watch.steps % 50 == 49)
			save(weights);
		planted_end(&watch);
	}
	watch_tell(&watch);
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
}
