/*
 * Names heart beats in windows of an electrocardiogram, twelve leads each, by convolutions over time. The windows come from a
 * ward's monitor, another process behind a socket, which gets back how much each lead shall be amplified.
 *
 * Planted: a request is written as a head and then as a body, Nagle's algorithm keeps the body back until the monitor's late acknowledgement.
 * Truth: time of the request and its answer, of the loop.
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
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LEADS = 12, SAMPLES = 512, BEDS = 30, TAPS = 9, FIRST = 24, SECOND = 32, KINDS = 5 };

struct head {
	uint32_t number, leads;
};

static float windows[BEDS][LEADS][SAMPLES];
static float kernel1[FIRST][LEADS][TAPS], kernel2[SECOND][FIRST][TAPS], vote[KINDS][SECOND];
static float padded1[LEADS][SAMPLES + TAPS], padded2[FIRST][SAMPLES + TAPS], out[SECOND][SAMPLES];

static int read_all(int fd, void *to, size_t size)
{
	char *p = to;

	while (size) {
		const ssize_t got = read(fd, p, size);

		if (got <= 0)
			return -1;
		p += got;
		size -= (size_t)got;
	}
	return 0;
}

static int write_all(int fd, const void *from, size_t size)
{
	const char *p = from;

	while (size) {
		const ssize_t put = write(fd, p, size);

		if (put <= 0)
			return -1;
		p += put;
		size -= (size_t)put;
	}
	return 0;
}

/* The ward's side: answers until the other side closes. */
static void monitor(int listener)
{
	const int fd = accept(listener, NULL, NULL);
	struct head head;
	float gains[LEADS];

	for (int b = 0; b < BEDS; b++)
		for (int l = 0; l < LEADS; l++)
			for (int s = 0; s < SAMPLES; s++)
				windows[b][l][s] = sinf((float)(s * (b + 2)) * 0.02f) + (s % (70 + b) < 6 ? 1.0f : 0.1f) * (float)(l + 1) / LEADS;
	while (!read_all(fd, &head, sizeof head) && !read_all(fd, gains, sizeof gains)) {
		for (int b = 0; b < BEDS; b++)
			windows[b][head.number % LEADS][0] = gains[head.number % LEADS];
		if (write_all(fd, windows, sizeof windows))
			break;
	}
	_exit(0);
}

static int request(int fd, uint32_t number, const float *gains)
{
	const struct head head = {number, LEADS};

	return write_all(fd, &head, sizeof head) || write_all(fd, gains, LEADS * sizeof *gains) ||
	       read_all(fd, windows, sizeof windows);
}

static void convolve(const float *kernel, int inputs, int outputs, const float padded[][SAMPLES + TAPS], float result[][SAMPLES])
{
	for (int o = 0; o < outputs; o++) {
		memset(result[o], 0, sizeof result[o]);
		for (int i = 0; i < inputs; i++)
			for (int t = 0; t < TAPS; t++) {
				const float k = kernel[(o * inputs + i) * TAPS + t];

				for (int s = 0; s < SAMPLES; s++)
					result[o][s] += k * padded[i][s + t];
			}
		for (int s = 0; s < SAMPLES; s++)
			result[o][s] = result[o][s] > 0 ? result[o][s] : 0.1f * result[o][s];
	}
}

static int name_beat(int bed)
{
	static float between[FIRST][SAMPLES];
	float best = -INFINITY;
	int kind = 0;

	{
		DWELL_OP("convolution 1");
		for (int l = 0; l < LEADS; l++)
			memcpy(&padded1[l][TAPS / 2], windows[bed][l], sizeof windows[bed][l]);
		convolve(&kernel1[0][0][0], LEADS, FIRST, (const float (*)[SAMPLES + TAPS])padded1, between);
	}
	{
		DWELL_OP("convolution 2");
		for (int c = 0; c < FIRST; c++)
			memcpy(&padded2[c][TAPS / 2], between[c], sizeof between[c]);
		convolve(&kernel2[0][0][0], FIRST, SECOND, (const float (*)[SAMPLES + TAPS])padded2, out);
	}
	DWELL_OP("vote");
	for (int k = 0; k < KINDS; k++) {
		float sum = 0;

		for (int c = 0; c < SECOND; c++)
			for (int s = 0; s < SAMPLES; s += 8)
				sum += vote[k][c] * out[c][s];
		if (sum > best) {
			best = sum;
			kind = k;
		}
	}
	return kind;
}

int main(void)
{
	static struct watch watch;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof address;
	const int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	float gains[LEADS];
	long counts[KINDS] = {0};

	signal(SIGPIPE, SIG_IGN);
	if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &length))
		return 1;
	const pid_t ward = fork();

	if (ward == 0) {
		close(fd);
		monitor(listener);
	}
	close(listener);
	if (connect(fd, (struct sockaddr *)&address, sizeof address))
		return 1;
	srand(12);
	for (size_t i = 0; i < sizeof kernel1 / sizeof(float); i++)
		(&kernel1[0][0][0])[i] = 0.2f * (float)rand() / (float)RAND_MAX - 0.1f;
	for (size_t i = 0; i < sizeof kernel2 / sizeof(float); i++)
		(&kernel2[0][0][0])[i] = 0.2f * (float)rand() / (float)RAND_MAX - 0.1f;
	for (size_t i = 0; i < sizeof vote / sizeof(float); i++)
		(&vote[0][0])[i] = 0.2f * (float)rand() / (float)RAND_MAX - 0.1f;
	for (int l = 0; l < LEADS; l++)
		gains[l] = 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		if (request(fd, (uint32_t)watch.steps, gains))
			return 1;
		planted_end(&watch);
		for (int bed = 0; bed < BEDS; bed++)
			counts[name_beat(bed)]++;
		for (int l = 0; l < LEADS; l++)
			gains[l] = 0.9f * gains[l] + 0.1f / (1 + fabsf(windows[0][l][9]));
	}
	watch_tell(&watch);
	close(fd);
	waitpid(ward, NULL, 0);
	printf("beats %ld %ld %ld %ld %ld\n", counts[0], counts[1], counts[2], counts[3], counts[4]);
	return 0;
}
