/*
 * Draws map tiles from heights and learns the colours that the map's readers prefer.
 *
 * Planted: nothing. Each tile has a canvas of its own, mapped from the system and given back, but it is small.
 * Truth: time of the loop's thread in the kernel, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SIDE = 128, TILES = 6, PALETTE = 32 };

static float heights[SIDE][SIDE], palette[PALETTE][3], d_palette[PALETTE][3];

static float *new_canvas(void)
{
	void *canvas = mmap(NULL, sizeof(float) * SIDE * SIDE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (canvas == MAP_FAILED)
		abort();
	return canvas;
}

static void draw(float *canvas, int tile)
{
	DWELL_ZONE("draw tile");
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++) {
			float light = 0, height = heights[y][x];

			for (int lamp = 0; lamp < 8; lamp++)
				light += fmaxf(0, sinf((float)(lamp + tile) + height * 0.1f)) * (1 + heights[y][(x + lamp) % SIDE]);
			canvas[y * SIDE + x] = light * palette[(int)(height * PALETTE)][tile % 3];
		}
}

static void prefer(const float *canvas)
{
	DWELL_ZONE("compare with readers");
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++) {
			float error = canvas[y * SIDE + x] - 0.5f;

			for (int c = 0; c < 3; c++)
				for (int round = 0; round < 6; round++)
					d_palette[(int)(heights[y][x] * PALETTE)][c] += error / (float)(1 + c + round) * expf(-error * error);
		}
}

static void adjust(void)
{
	DWELL_ZONE("adjust palette");
	for (int p = 0; p < PALETTE; p++)
		for (int c = 0; c < 3; c++) {
			palette[p][c] -= 1e-6f * d_palette[p][c];
			d_palette[p][c] = 0;
		}
}

int main(void)
{
	double system_began;
	struct watch watch;

	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++)
			heights[y][x] = (float)(rand() % 999) / 1000;
	for (int p = 0; p < PALETTE; p++)
		palette[p][0] = palette[p][1] = palette[p][2] = (float)p / PALETTE;
	watch_begin(&watch);
	system_began = system_s();
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int tile = 0; tile < TILES; tile++) {
			float *canvas = new_canvas();

			draw(canvas, tile + watch.steps);
			prefer(canvas);
			munmap(canvas, sizeof(float) * SIDE * SIDE);
		}
		adjust();
	}
	watch_tell_share(&watch, (system_s() - system_began) / watch_seconds(&watch));
	return 0;
}
