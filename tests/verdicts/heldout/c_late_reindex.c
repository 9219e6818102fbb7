/*
 * Trains the encoder of a search engine with OpenMP: each query is compared with all passages.
 *
 * Planted: 2.5 s after the start, threads begin to rebuild the index, one for each processor, and never end.
 * Truth: what steps took longer from then on than before, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define PASSAGES 6000
#define QUERIES  16
#define DIM      96
#define CENTRES  64
#define MOST     8

static float passages[PASSAGES][DIM], queries[QUERIES][DIM], gradients[QUERIES][DIM], similar[QUERIES][PASSAGES];
static float snapshot[PASSAGES][DIM], centres[MOST][CENTRES][DIM];
static atomic_bool ended;

static void *rebuild_index(void *argument)
{
  float (*own)[DIM] = argument;
  unsigned assigned = 0;

  dwell_thread_name("reindex");
  for (int round = 0; !ended; round++)
    for (int p = round % 3; p < PASSAGES && !ended; p += 3) {
      float nearest = 1e30f;

      for (int c = 0; c < CENTRES; c++) {
        float distance = 0;

        for (int i = 0; i < DIM; i++) {
          float difference = snapshot[p][i] - own[c][i];

          distance += difference * difference;
        }
        if (distance < nearest) {
          nearest = distance;
          assigned = (unsigned)c;
        }
      }
      for (int i = 0; i < DIM; i++)
        own[assigned][i] += 0.01f * (snapshot[p][i] - own[assigned][i]);
    }
  return NULL;
}

static void compare(void)
{
  DWELL_OP("compare");
#pragma omp parallel for schedule(static)
  for (int p = 0; p < PASSAGES; p++)
    for (int q = 0; q < QUERIES; q++) {
      float sum = 0;

      for (int i = 0; i < DIM; i++)
        sum += queries[q][i] * passages[p][i];
      similar[q][p] = sum;
    }
}

static void pull(int step)
{
  DWELL_OP("pull");
#pragma omp parallel for schedule(static)
  for (int q = 0; q < QUERIES; q++) {
    for (int i = 0; i < DIM; i++)
      gradients[q][i] = 0;
    for (int p = 0; p < PASSAGES; p++) {
      float push = similar[q][p] - (float)(p == (q * 97 + step) % PASSAGES);

      for (int i = 0; i < DIM; i++)
        gradients[q][i] += push * passages[p][i];
    }
    for (int i = 0; i < DIM; i++)
      queries[q][i] = 0.999f * queries[q][i] - 1e-5f * gradients[q][i];
  }
}

int main(void)
{
  struct watch watch;
  pthread_t threads[MOST];
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  int indexers = processors > MOST ? MOST : (int)processors, running = 0;
  double before = 0;
  int steps_before = 0;

  srand(5);
  for (int p = 0; p < PASSAGES; p++)
    for (int i = 0; i < DIM; i++)
      passages[p][i] = snapshot[p][i] = (float)(rand() % 2000 - 1000) / 1e4f;
  for (int q = 0; q < QUERIES; q++)
    for (int i = 0; i < DIM; i++)
      queries[q][i] = passages[q * 11][i];
  watch_begin(&watch);
  for (; watch_seconds(&watch) < 6.5; watch.steps++) {
    if (!running && watch_seconds(&watch) > 2.5) {
      before = watch_seconds(&watch);
      steps_before = watch.steps;
      for (; running < indexers; running++)
        pthread_create(&threads[running], NULL, rebuild_index, centres[running]);
    }
    DWELL_STEP();
    compare();
    pull(watch.steps);
  }
  watch_tell_share(&watch, (watch_seconds(&watch) - watch.steps * (before / steps_before)) / watch_seconds(&watch));
  ended = 1;
  for (int i = 0; i < running; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
