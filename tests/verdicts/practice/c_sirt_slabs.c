/*
 * Iterative reconstruction of a slice from its projections (SIRT), with OpenMP.
 *
 * Planted: each slab of rays has an image of its own, so that threads need no lock, and one thread adds all of
 * them up, pixel by pixel.
 * Truth: time of adding them up, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIDE   384
#define RAYS   384
#define ANGLES 16
#define SLABS  32
#define RUN_FOR 6.0

static float image[SIDE * SIDE], update[SIDE * SIDE];
static float measured[ANGLES][RAYS], residual[ANGLES][RAYS];
static float slab_image[SLABS][SIDE * SIDE];
static float cosine[ANGLES], sine[ANGLES];

static int pixel(int angle, int ray, int sample)
{
  float s = (float)(sample - SIDE / 2), r = (float)(ray - RAYS / 2);
  int x = (int)(r * cosine[angle] - s * sine[angle]) + SIDE / 2;
  int y = (int)(r * sine[angle] + s * cosine[angle]) + SIDE / 2;

  x = x < 0 ? 0 : x >= SIDE ? SIDE - 1 : x;
  y = y < 0 ? 0 : y >= SIDE ? SIDE - 1 : y;
  return y * SIDE + x;
}

static void project(void)
{
  DWELL_ZONE("project");
#pragma omp parallel for schedule(static)
  for (int ray = 0; ray < RAYS; ray++)
    for (int angle = 0; angle < ANGLES; angle++) {
      float sum = 0;

      for (int sample = 0; sample < SIDE; sample++)
        sum += image[pixel(angle, ray, sample)];
      residual[angle][ray] = measured[angle][ray] - sum / SIDE;
    }
}

static void backproject(void)
{
  DWELL_ZONE("backproject");
#pragma omp parallel for schedule(static)
  for (int slab = 0; slab < SLABS; slab++)
    for (int ray = slab * (RAYS / SLABS); ray < (slab + 1) * (RAYS / SLABS); ray++)
      for (int angle = 0; angle < ANGLES; angle++)
        for (int sample = 0; sample < SIDE; sample++)
          slab_image[slab][pixel(angle, ray, sample)] += residual[angle][ray];
}

static void collect_slabs(void)
{
  DWELL_ZONE("collect slabs");
  for (int at = 0; at < SIDE * SIDE; at++) {
    float sum = 0;

    for (int slab = 0; slab < SLABS; slab++) {
      sum += slab_image[slab][at];
      slab_image[slab][at] = 0;
    }
    update[at] = sum;
  }
}

static void relax(void)
{
  DWELL_ZONE("relax");
  for (int at = 0; at < SIDE * SIDE; at++) {
    float value = image[at] + 0.5f / ANGLES * update[at];

    image[at] = value > 0 ? value : 0;
  }
}

int main(void)
{
  struct watch watch;

  for (int angle = 0; angle < ANGLES; angle++) {
    cosine[angle] = cosf((float)angle * 3.14159265f / ANGLES);
    sine[angle] = sinf((float)angle * 3.14159265f / ANGLES);
    for (int ray = 0; ray < RAYS; ray++)
      measured[angle][ray] = abs(ray - RAYS / 2) < RAYS / 4 ? 1.0f - (float)abs(ray - RAYS / 2) / RAYS : 0.0f;
  }
  memset(slab_image, 0, sizeof slab_image);
  watch_begin(&watch);
  while (watch_seconds(&watch) < RUN_FOR) {
    DWELL_STEP();
    project();
    backproject();
    planted_begin(&watch);
    collect_slabs();
    planted_end(&watch);
    relax();
    watch.steps++;
  }
  watch_tell(&watch);
  return image[SIDE * SIDE / 2 + SIDE / 2] < 0;
}
