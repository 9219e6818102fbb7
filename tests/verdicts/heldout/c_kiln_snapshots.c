/*
 * Fits the walls of a cement kiln: heat flows through rings of bricks, and their conductivity is learnt.
 *
 * Planted: each twelfth step packs the state by a search for repetitions before it saves it.
 * Truth: time of packing and saving, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { Rings = 80, Bricks = 200, Substeps = 40, Every = 12, Back = 255 };

struct state {
  float heat[Rings][Bricks], conductivity[Rings][Bricks];
};

static struct state state;
static float next[Rings][Bricks];

static void flow(void)
{
  DWELL_PHASE("forward");
  for (int substep = 0; substep < Substeps; substep++) {
    for (int r = 1; r < Rings - 1; r++)
      for (int b = 0; b < Bricks; b++) {
        int left = b ? b - 1 : Bricks - 1, right = b + 1 < Bricks ? b + 1 : 0;
        float around = state.heat[r - 1][b] + state.heat[r + 1][b] + state.heat[r][left] + state.heat[r][right];

        next[r][b] = state.heat[r][b] + state.conductivity[r][b] * (around - 4 * state.heat[r][b]);
      }
    memcpy(state.heat[1], next[1], sizeof(float) * Bricks * (Rings - 2));
  }
}

static void fit(int step)
{
  DWELL_PHASE("backward");
  for (int pass = 0; pass < Substeps / 4; pass++)
    for (int r = 1; r < Rings - 1; r++)
      for (int b = 0; b < Bricks; b++) {
        float wanted = (float)((r * 7 + step) % Rings) / Rings, error = state.heat[r][b] - wanted;

        state.conductivity[r][b] -= 1e-7f * error * (state.heat[r - 1][b] - state.heat[r + 1][b]);
      }
}

/* Pairs of distance and length; a distance of 0 precedes a byte. */
static size_t pack(const uint8_t *from, size_t size, uint8_t *to)
{
  size_t out = 0;

  for (size_t at = 0; at < size;) {
    size_t best = 0, distance = 0;

    for (size_t back = 1; back <= Back && back <= at; back++) {
      size_t length = 0;

      while (length < 255 && at + length < size && from[at + length] == from[at + length - back])
        length++;
      if (length > best)
        best = length, distance = back;
    }
    to[out++] = best > 2 ? (uint8_t)distance : 0;
    to[out++] = best > 2 ? (uint8_t)best : from[at];
    at += best > 2 ? best : 1;
  }
  return out;
}

static void save(int file)
{
  DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save kiln");
  static uint8_t packed[2 * sizeof state];
  size_t size = pack((const uint8_t *)&state, sizeof state, packed);

  if (pwrite(file, packed, size, 0) != (ssize_t)size)
    abort();
}

int main(void)
{
  char name[] = "kiln-XXXXXX";
  int file = mkstemp(name);
  struct watch watch;

  unlink(name);
  for (int r = 0; r < Rings; r++)
    for (int b = 0; b < Bricks; b++) {
      state.heat[r][b] = (float)(rand() % 1000) / 1000;
      state.conductivity[r][b] = 0.1f + (float)(rand() % 8) / 100;
    }
  watch_begin(&watch);
  for (; watch_seconds(&watch) < 6; watch.steps++) {
    DWELL_STEP();
    for (int day = 0; day < 4; day++) {
      flow();
      fit(watch.steps);
    }
    if (watch.steps % Every == Every - 1) {
      planted_begin(&watch);
      save(file);
      planted_end(&watch);
    }
  }
  watch_tell(&watch);
  return 0;
}
