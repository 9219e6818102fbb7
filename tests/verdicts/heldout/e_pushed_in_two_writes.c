/*
 * Learns a churn model at a telephone company. After each step the client pushes its gradient to a parameter server and
 * takes the new weights from the answer.
 *
 * Planted: the client writes a header and then the numbers, on a TCP connection without TCP_NODELAY: the second write
 * waits until the server has acknowledged the first one, and the server delays that by 40 ms.
 * Truth: time of the exchange, of the loop.
 */
#include "clock.h"

#include <arpa/inet.h>
#include <dwell/probe.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEATURES = 96, UNITS = 32, BATCH = 512, REPEATS = 180, WEIGHTS = UNITS + 64 };

struct header { unsigned magic, round, count; };

static float customers[4096][FEATURES], churned[4096], inner[FEATURES][UNITS], gradient[WEIGHTS], weights[WEIGHTS];

static void read_all(int socket, void *to, size_t size)
{
	for (char *at = to; size;) {
		ssize_t got = read(socket, at, size);
		if (got <= 0)
			_exit(0);
		at += got, size -= (size_t)got;
	}
}

static void write_all(int socket, const void *from, size_t size)
{
	if (write(socket, from, size) != (ssize_t)size)
		_exit(1);
}

static void serve(int listener)
{
	float moment[WEIGHTS] = { 0 }, pushed[WEIGHTS], kept[WEIGHTS];
	struct header header;
	int client = accept(listener, NULL, NULL);
	read_all(client, kept, sizeof kept);
	for (;;) {
		read_all(client, &header, sizeof header);
		read_all(client, pushed, header.count * sizeof *pushed);
		for (int i = 0; i < WEIGHTS; i++) {
			moment[i] = 0.9f * moment[i] + pushed[i];
			kept[i] -= 0.01f * moment[i];
		}
		write_all(client, kept, sizeof kept);
	}
}

static int connect_to_server(pid_t *child)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof address;
	int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &size))
		exit(1);
	if (!(*child = fork()))
		serve(listener);
	if (connect(client, (struct sockaddr *)&address, size))
		exit(1);
	return client;
}

static float forward_and_backward(int step)
{
	float loss = 0;
	DWELL_ZONE("forward_backward");
	for (int i = 0; i < WEIGHTS; i++)
		gradient[i] = 0;
	for (int repeat = 0; repeat < REPEATS; repeat++)
		for (int b = 0; b < BATCH; b++) {
			int row = (int)((unsigned)(step * 7919 + repeat * 131 + b) % 4096u);
			float unit[UNITS] = { 0 }, score = 0, miss;
			for (int f = 0; f < FEATURES; f++)
				for (int u = 0; u < UNITS; u++)
					unit[u] += customers[row][f] * inner[f][u];
			for (int u = 0; u < UNITS; u++) {
				unit[u] = tanhf(unit[u]);
				score += unit[u] * weights[u];
			}
			miss = 1 / (1 + expf(-score)) - churned[row];
			loss += miss * miss;
			for (int u = 0; u < UNITS; u++)
				gradient[u] += miss * unit[u] / (BATCH * REPEATS);
		}
	return loss / (BATCH * REPEATS);
}

static void push_and_pull(int server, unsigned round)
{
	struct header header = { 0xfeed, round, WEIGHTS };
	DWELL_ZONE("push_pull");
	write_all(server, &header, sizeof header);
	write_all(server, gradient, sizeof gradient);
	read_all(server, weights, sizeof weights);
}

int main(void)
{
	struct watch watch;
	float loss = 0;
	pid_t child;
	int server = connect_to_server(&child);
	for (int row = 0; row < 4096; row++) {
		for (int f = 0; f < FEATURES; f++)
			customers[row][f] = sinf((float)(row * 31 + f * f));
		churned[row] = customers[row][3] + customers[row][9] > 0;
	}
	for (int i = 0; i < FEATURES * UNITS; i++)
		inner[i / UNITS][i % UNITS] = 0.2f * cosf((float)(i * 11));
	write_all(server, weights, sizeof weights);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		loss = forward_and_backward(watch.steps);
		planted_begin(&watch);
		push_and_pull(server, (unsigned)watch.steps);
		planted_end(&watch);
	}
	watch_tell(&watch);
	fprintf(stderr, "loss %.4f\n", (double)loss);
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
}
