/*
 * Scores patients of a ward for an early warning. The front of the server takes requests and queues them; one worker
 * thread asks the record store for the vital signs of each group of beds over TCP, runs the network and answers.
 *
 * Planted: the worker sends a question as two small writes, so the kernel holds the second back until the store's
 * delayed acknowledgement of the first arrives, 40 ms later.
 * Truth: time of the worker from the first write to the store's answer, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BEDS = 48, SIGNS = 64, HIDDEN = 192, LAYERS = 5, PLACES = 16 };

struct head {
	unsigned kind, count;
};

/* What waits for the worker. */
static struct queue {
	pthread_mutex_t lock;
	pthread_cond_t some, room;
	unsigned first, count;
	int closed;
	unsigned wards[PLACES];
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .some = PTHREAD_COND_INITIALIZER, .room = PTHREAD_COND_INITIALIZER};

static float entry[HIDDEN][SIGNS], deep[LAYERS][HIDDEN][HIDDEN], risk[HIDDEN];
static float scores[BEDS];
static struct watch loop;

static void all(int fd, void *data, size_t size)
{
	for (char *at = data; size;) {
		ssize_t got = read(fd, at, size);

		if (got <= 0)
			pthread_exit(NULL);
		at += got;
		size -= (size_t)got;
	}
}

/* The record store: answers with the signs of the beds it is asked for. */
static void *keep_records(void *listener)
{
	int fd = accept(*(int *)listener, NULL, NULL);
	static float signs[BEDS][SIGNS];
	unsigned beds[BEDS];

	for (;;) {
		struct head head;

		all(fd, &head, sizeof head);
		all(fd, beds, head.count * sizeof *beds);
		for (unsigned b = 0; b < head.count; b++)
			for (int s = 0; s < SIGNS; s++)
				signs[b][s] = (float)((beds[b] * 31 + (unsigned)s * 17) % 101) / 101.0f - 0.5f;
		if (write(fd, signs, head.count * sizeof *signs) < 0)
			return NULL;
	}
}

static void ask_store(int fd, const unsigned *beds, float signs[BEDS][SIGNS])
{
	struct head head = {1, BEDS};

	if (write(fd, &head, sizeof head) < 0 || write(fd, beds, BEDS * sizeof *beds) < 0)
		exit(1);
	all(fd, signs, sizeof(float[BEDS][SIGNS]));
}

static float judge(const float *signs)
{
	float a[HIDDEN], b[HIDDEN], sum = 0;

	for (int h = 0; h < HIDDEN; h++) {
		sum = 0;
		for (int s = 0; s < SIGNS; s++)
			sum += entry[h][s] * signs[s];
		a[h] = tanhf(sum);
	}
	for (int l = 0; l < LAYERS; l++) {
		for (int h = 0; h < HIDDEN; h++) {
			sum = 0;
			for (int k = 0; k < HIDDEN; k++)
				sum += deep[l][h][k] * a[k];
			b[h] = a[h] + tanhf(sum);
		}
		memcpy(a, b, sizeof a);
	}
	sum = 0;
	for (int h = 0; h < HIDDEN; h++)
		sum += risk[h] * a[h];
	return 1 / (1 + expf(-sum));
}

static void *work(void *store)
{
	static float signs[BEDS][SIGNS];
	int fd = *(int *)store;

	for (;;) {
		unsigned beds[BEDS], ward;

		DWELL_STEP();
		pthread_mutex_lock(&queue.lock);
		while (!queue.count && !queue.closed)
			pthread_cond_wait(&queue.some, &queue.lock);
		if (!queue.count) {
			pthread_mutex_unlock(&queue.lock);
			return NULL;
		}
		ward = queue.wards[queue.first];
		queue.first = (queue.first + 1) % PLACES;
		queue.count--;
		pthread_cond_signal(&queue.room);
		pthread_mutex_unlock(&queue.lock);

		for (unsigned b = 0; b < BEDS; b++)
			beds[b] = ward * BEDS + b;
		{
			DWELL_ZONE("records");
			planted_begin(&loop);
			ask_store(fd, beds, signs);
			planted_end(&loop);
		}
		DWELL_ZONE("network");
		for (int pass = 0; pass < 6; pass++) /* with some signs left out, for an interval */
			for (int b = 0; b < BEDS; b++) {
				signs[b][pass] = 0;
				scores[b] += judge(signs[b]);
			}
		loop.steps++;
	}
}

static void prepare(float *weights, size_t count, float scale)
{
	for (size_t i = 0; i < count; i++)
		weights[i] = scale * ((float)rand() / (float)RAND_MAX - 0.5f);
}

int main(void)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof here;
	int listener = socket(AF_INET, SOCK_STREAM, 0), store = socket(AF_INET, SOCK_STREAM, 0);
	pthread_t records, worker;
	float worst = 0;

	prepare(&entry[0][0], HIDDEN * SIGNS, 0.4f);
	prepare(&deep[0][0][0], LAYERS * HIDDEN * HIDDEN, 0.2f);
	prepare(risk, HIDDEN, 0.2f);
	if (bind(listener, (struct sockaddr *)&here, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&here, &size))
		return 1;
	pthread_create(&records, NULL, keep_records, &listener);
	if (connect(store, (struct sockaddr *)&here, size))
		return 1;
	watch_begin(&loop);
	pthread_create(&worker, NULL, work, &store);
	for (unsigned request = 0; watch_seconds(&loop) < 6.5; request++) {
		pthread_mutex_lock(&queue.lock);
		while (queue.count == PLACES)
			pthread_cond_wait(&queue.room, &queue.lock);
		queue.wards[(queue.first + queue.count) % PLACES] = request % 40;
		queue.count++;
		pthread_cond_signal(&queue.some);
		pthread_mutex_unlock(&queue.lock);
	}
	pthread_mutex_lock(&queue.lock);
	queue.closed = 1;
	queue.count = 0;
	pthread_cond_broadcast(&queue.some);
	pthread_mutex_unlock(&queue.lock);
	pthread_join(worker, NULL);
	watch_tell(&loop);
	for (int b = 0; b < BEDS; b++)
		worst = scores[b] > worst ? scores[b] : worst;
	printf("worst %.3f\n", (double)worst);
	close(store);
	return 0;
}
