/*
 * Frames of films are unpacked by a child process, as with a command line tool at the other end of
 * a pipe.
 *
 * Planted: the child unpacks more slowly than the loop learns, and the pipe holds less than one
 * batch.
 * Truth: time of waiting for frames, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 5, FRAMES = 64, PIXELS = 4096, FILTERS = 18 };

static uint8_t frames[FRAMES][PIXELS];
static float weights[FILTERS][PIXELS];

static void unpack(int pipe)
{
	uint32_t state = 1;

	for (;;) {
		for (int frame = 0; frame < FRAMES; frame++)
			for (int pixel = 0; pixel < PIXELS; pixel++) {
				for (int bit = 0; bit < 8; bit++)
					state = state & 1 ? state >> 1 ^ 0xedb88320u : state >> 1;
				frames[frame][pixel] = (uint8_t)(state + (uint32_t)pixel);
			}
		for (size_t sent = 0; sent < sizeof(frames);) {
			ssize_t wrote = write(pipe, (char *)frames + sent, sizeof(frames) - sent);

			if (wrote <= 0)
				_exit(0);
			sent += (size_t)wrote;
		}
	}
}

static int next_batch(int pipe)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "next frames");
	for (size_t got = 0; got < sizeof(frames);) {
		ssize_t more = read(pipe, (char *)frames + got, sizeof(frames) - got);

		if (more <= 0)
			return 0;
		got += (size_t)more;
	}
	return 1;
}

static void learn(void)
{
	DWELL_OP("filters");
	for (int frame = 0; frame < FRAMES; frame++)
		for (int filter = 0; filter < FILTERS; filter++) {
			float sum = 0;

			for (int pixel = 0; pixel < PIXELS; pixel++)
				sum += weights[filter][pixel] * (float)frames[frame][pixel];
			for (int pixel = 0; pixel < PIXELS; pixel++)
				weights[filter][pixel] -= 1e-9f * (sum - 1) * (float)frames[frame][pixel];
		}
}

int main(void)
{
	struct watch watch;
	int ends[2];

	if (pipe(ends))
		return 1;
	if (!fork()) {
		close(ends[0]);
		unpack(ends[1]);
	}
	close(ends[1]);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		if (!next_batch(ends[0]))
			return 1;
		planted_end(&watch);
		learn();
	}
	watch_tell(&watch);
	close(ends[0]);
	wait(NULL);
	return 0;
}
