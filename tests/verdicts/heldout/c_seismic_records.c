/*
 * Picks the first arrival of earthquakes in records that are stored as differences of few bits.
 *
 * Planted: nothing. The loop unpacks its records itself, in the range of data loading, which takes a moment.
 * Truth: time of unpacking, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { Stations = 6, Samples = 2048, Filters = 24, Taps = 32, Frames = (Samples - Taps) / 4 };

/* Differences of one byte or two; a bit says which. */
struct record {
  uint8_t bits[Samples], bytes[4 * Samples];
  int length;
};

static struct record archive[64];
static float trace[Stations][Samples], filters[Filters][Taps], d_filters[Filters][Taps];
static float response[Filters][Frames];

static void pack(struct record *record, unsigned seed)
{
  int at = 0;

  for (int s = 0; s < Samples; s++) {
    int difference;

    seed = seed * 1664525u + 1013904223u;
    difference = (int)(seed >> 24) - 128;
    if (s % 256 > 200)
      difference *= 40;
    record->bits[s] = difference < -128 || difference > 127;
    record->bytes[at++] = (uint8_t)difference;
    if (record->bits[s])
      record->bytes[at++] = (uint8_t)((unsigned)difference >> 8);
  }
  record->length = at;
}

static void unpack(const struct record *record, float *samples)
{
  int value = 0, at = 0;

  for (int s = 0; s < Samples; s++) {
    if (record->bits[s]) {
      value += (int16_t)(record->bytes[at] | record->bytes[at + 1] << 8);
      at += 2;
    } else {
      value += (int8_t)record->bytes[at++];
    }
    samples[s] = (float)value / 32768;
  }
}

static void load(int step)
{
  DWELL_SCOPE(DWELL_CATEGORY_DATA, "unpack records");
  for (int station = 0; station < Stations; station++)
    unpack(&archive[(step * Stations + station) % 64], trace[station]);
}

static void respond(const float *samples)
{
  DWELL_PHASE("forward");
  for (int f = 0; f < Filters; f++)
    for (int frame = 0; frame < Frames; frame++) {
      float sum = 0;

      for (int tap = 0; tap < Taps; tap++)
        sum += filters[f][tap] * samples[frame * 4 + tap];
      response[f][frame] = sum > 0 ? sum : 0.1f * sum;
    }
}

static void learn(const float *samples, int arrival)
{
  DWELL_PHASE("backward");
  for (int f = 0; f < Filters; f++)
    for (int frame = 0; frame < Frames; frame++) {
      float error = response[f][frame] - (float)(frame == arrival);

      for (int tap = 0; tap < Taps; tap++)
        d_filters[f][tap] += error * samples[frame * 4 + tap];
    }
}

static void update(void)
{
  DWELL_PHASE("optimizer");
  for (int f = 0; f < Filters; f++)
    for (int tap = 0; tap < Taps; tap++)
      filters[f][tap] -= 1e-6f * d_filters[f][tap];
  memset(d_filters, 0, sizeof(d_filters));
}

int main(void)
{
  struct watch watch;

  for (int r = 0; r < 64; r++)
    pack(&archive[r], (unsigned)r * 77u);
  for (int f = 0; f < Filters; f++)
    for (int tap = 0; tap < Taps; tap++)
      filters[f][tap] = (float)(rand() % 100 - 50) / 1000;
  watch_begin(&watch);
  while (watch_seconds(&watch) < 5.5) {
    DWELL_STEP();
    planted_begin(&watch);
    load(watch.steps);
    planted_end(&watch);
    for (int station = 0; station < Stations; station++) {
      respond(trace[station]);
      learn(trace[station], (watch.steps * 5 + station) % Frames);
    }
    update();
    watch.steps++;
  }
  watch_tell(&watch);
  return 0;
}
