/*
 * Learns to clear exposures of a star field from their noise: two layers of convolutions on whole frames, as products
 * with columns of patches, forward and backward.
 *
 * Planted: each layer asks the heap for its columns, tens of megabytes, and gives them back at once, so the kernel maps
 * and clears their pages anew in each step.
 * Truth: time in the kernel (page faults, the mapping and its end) of the loop's thread, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 400, PIXELS = SIDE * SIDE, INNER = 6, PATCH = 9 };

struct layer {
	int from, to;
	float weights[INNER * INNER * PATCH], gradient[INNER * INNER * PATCH];
};

static struct layer first = {.from = 1, .to = INNER}, second = {.from = INNER, .to = 1};
static float sky[PIXELS], seen[PIXELS], inner[INNER * PIXELS], back[INNER * PIXELS], clear[PIXELS], wrong[PIXELS];

/* A column of the product for each place of the patch: the shifted frame. */
static float *columns_of(const float *frames, int count)
{
	float *columns = calloc((size_t)count * PATCH * PIXELS, sizeof *columns);

	for (int f = 0; f < count; f++)
		for (int p = 0; p < PATCH; p++) {
			float *column = columns + (size_t)(f * PATCH + p) * PIXELS;
			const float *frame = frames + (size_t)f * PIXELS;

			for (int y = 1; y < SIDE - 1; y++)
				memcpy(column + y * SIDE + 1, frame + (y + p / 3 - 1) * SIDE + p % 3,
				       (SIDE - 2) * sizeof *column);
		}
	return columns;
}

static void forward(struct layer *layer, const float *frames, float *out)
{
	const int rows = layer->from * PATCH;
	float *columns = columns_of(frames, layer->from);

	memset(out, 0, (size_t)layer->to * PIXELS * sizeof *out);
	for (int o = 0; o < layer->to; o++)
		for (int r = 0; r < rows; r++) {
			const float weight = layer->weights[o * rows + r], *column = columns + (size_t)r * PIXELS;

			for (int i = 0; i < PIXELS; i++)
				out[(size_t)o * PIXELS + i] += weight * column[i];
		}
	free(columns);
}

static void backward(struct layer *layer, const float *frames, const float *slope, float *into)
{
	const int rows = layer->from * PATCH;
	float *columns = columns_of(frames, layer->from);

	for (int o = 0; o < layer->to; o++)
		for (int r = 0; r < rows; r++) {
			const float *column = columns + (size_t)r * PIXELS, *s = slope + (size_t)o * PIXELS;
			float sum[4] = {0};

			for (int i = 0; i < PIXELS; i += 4)
				for (int k = 0; k < 4; k++)
					sum[k] += s[i + k] * column[i + k];
			layer->gradient[o * rows + r] = (sum[0] + sum[1] + sum[2] + sum[3]) / PIXELS;
		}
	free(columns);
	if (!into)
		return;
	for (int f = 0; f < layer->from; f++)
		for (int y = 1; y < SIDE - 1; y++)
			for (int x = 1; x < SIDE - 1; x++) {
				float sum = 0;

				for (int p = 0; p < PATCH; p++)
					sum += layer->weights[f * PATCH + p] *
					       slope[(y - p / 3 + 1) * SIDE + x - p % 3 + 1];
				into[(size_t)f * PIXELS + y * SIDE + x] = sum;
			}
}

static void update(struct layer *layer)
{
	for (int i = 0; i < layer->from * layer->to * PATCH; i++)
		layer->weights[i] -= 0.05f * layer->gradient[i];
}

static void expose(unsigned night)
{
	for (int i = 0; i < PIXELS; i++) {
		night = night * 1664525u + 1013904223u;
		sky[i] = night % 997 == 0 ? 1.0f : 0.05f;
		seen[i] = sky[i] + (float)(night >> 16 & 255) / 1024.0f;
	}
}

int main(void)
{
	struct watch watch;
	double loss = 0;

	for (int i = 0; i < INNER * PATCH; i++) {
		first.weights[i] = 0.3f * sinf((float)(3 * i + 1));
		second.weights[i] = 0.2f * cosf((float)(5 * i + 2));
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		expose((unsigned)watch.steps);
		{
			DWELL_ZONE("forward");
			forward(&first, seen, inner);
			for (int i = 0; i < INNER * PIXELS; i++)
				inner[i] = inner[i] > 0 ? inner[i] : 0.1f * inner[i];
			forward(&second, inner, clear);
		}
		loss = 0;
		for (int i = 0; i < PIXELS; i++) {
			wrong[i] = clear[i] - sky[i];
			loss += (double)wrong[i] * (double)wrong[i];
		}
		{
			DWELL_ZONE("backward");
			backward(&second, inner, wrong, back);
			for (int i = 0; i < INNER * PIXELS; i++)
				back[i] *= inner[i] > 0 ? 1 : 0.1f;
			backward(&first, seen, back, NULL);
		}
		DWELL_ZONE("update");
		update(&first);
		update(&second);
	}
	watch_tell_share(&watch, (system_s() - watch.system_began) / watch_seconds(&watch));
	printf("loss %.5f\n", loss / PIXELS);
	return 0;
}
