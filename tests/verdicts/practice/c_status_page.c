/*
 * Learns the tastes of listeners in C, and shows its progress on a page.
 *
 * Decoy of waiting: a thread waits for visitors at a socket all the time, and nobody comes; the trainer takes
 * the lock that both share, which is free. Truth: time of taking it, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SECONDS = 3, ROWS = 7500, COLUMNS = 512 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int newest;
static _Atomic int ended;
static float rows[ROWS][COLUMNS], weights[COLUMNS], slopes[COLUMNS], errors[ROWS];

static void *serve(void *descriptor)
{
	struct pollfd visitor = {.fd = *(int *)descriptor, .events = POLLIN};

	while (!atomic_load(&ended)) {
		int fd = poll(&visitor, 1, 200) == 1 ? accept(visitor.fd, NULL, NULL) : -1;

		if (fd < 0)
			continue;
		pthread_mutex_lock(&lock);
		dprintf(fd, "step %d\n", newest);
		pthread_mutex_unlock(&lock);
		close(fd);
	}
	return NULL;
}

static void predict(void)
{
	DWELL_OP("predict");
	for (int row = 0; row < ROWS; row++) {
		float sum = 0;

		for (int column = 0; column < COLUMNS; column++)
			sum += rows[row][column] * weights[column];
		errors[row] = sum - (float)(row % 5);
	}
}

static void differentiate(void)
{
	DWELL_OP("differentiate");
	for (int column = 0; column < COLUMNS; column++)
		slopes[column] = 0;
	for (int pass = 0; pass < 10; pass++)
		for (int row = 0; row < ROWS; row++)
			for (int column = 0; column < COLUMNS; column++)
				slopes[column] += rows[row][column] * errors[row];
}

static void descend(void)
{
	DWELL_OP("sgd");
	for (int column = 0; column < COLUMNS; column++)
		weights[column] -= 1e-6f * slopes[column];
}

int main(void)
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, SOCK_STREAM, 0), steps = 0;
	double began, loop_s, taking_s = 0;
	pthread_t server;

	if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof(here)) || listen(fd, 4))
		return 1;
	if (pthread_create(&server, NULL, serve, &fd))
		return 1;
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			rows[row][column] = (float)((row * 17 + column * 29) % 83) / 83;
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		double before;

		DWELL_STEP();
		{
			DWELL_ZONE("forward");
			predict();
		}
		{
			DWELL_ZONE("backward");
			differentiate();
		}
		{
			DWELL_ZONE("optimizer");
			descend();
		}
		before = now_s();
		pthread_mutex_lock(&lock);
		newest = steps;
		pthread_mutex_unlock(&lock);
		taking_s += now_s() - before;
	}
	loop_s = now_s() - began;
	atomic_store(&ended, 1);
	pthread_join(server, NULL);
	close(fd);
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n", taking_s / loop_s,
	       loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
