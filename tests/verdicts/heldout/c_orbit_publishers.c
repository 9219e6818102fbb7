/*
 * Fits the drag of two thousand satellites and publishes their elements to ground stations.
 *
 * Planted: each of three publishers keeps the catalogue's lock for reading while it sends over its slow link,
 * and the loop must wait for all of them to write.
 * Truth: time of waiting for the lock for writing, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SATELLITES 2000
#define ELEMENTS 6
#define PUBLISHERS 3

struct catalogue {
  pthread_rwlock_t lock;
  double elements[SATELLITES][ELEMENTS];
  int epoch;
};

static struct catalogue catalogue = { .lock = PTHREAD_RWLOCK_INITIALIZER };
static double fitted[SATELLITES][ELEMENTS], drag[SATELLITES];
static volatile int ended;

static void pause_us(long us)
{
  struct timespec time = { 0, us * 1000 };

  nanosleep(&time, NULL);
}

static void *publish(void *argument)
{
  long station = (long)argument;
  double packet[64][ELEMENTS];

  while (!ended) {
    pthread_rwlock_rdlock(&catalogue.lock);
    memcpy(packet, catalogue.elements[(station * 64) % (SATELLITES - 64)], sizeof packet);
    pause_us(2200 + 300 * station); /* the modem takes the packet */
    pthread_rwlock_unlock(&catalogue.lock);
    pause_us(4100 + 700 * station);
  }
  return NULL;
}

static double propagate(const double *element, double drag_term)
{
  double anomaly = element[5], rest = 0;

  for (int orbit = 0; orbit < 12; orbit++) {
    anomaly += element[0] - drag_term * orbit;
    rest += sin(anomaly) * element[1] + cos(2 * anomaly) * element[2];
  }
  return rest;
}

static void fit(int step)
{
  for (int s = 0; s < SATELLITES; s++) {
    double seen = sin(step * 0.1 + s), value, slope;

    value = propagate(fitted[s], drag[s]);
    slope = (propagate(fitted[s], drag[s] + 1e-4) - value) * 1e4;
    drag[s] -= 1e-5 * (value - seen) * slope;
    fitted[s][5] += fitted[s][0];
  }
}

static void store(struct watch *watch)
{
  planted_begin(watch);
  pthread_rwlock_wrlock(&catalogue.lock);
  planted_end(watch);
  memcpy(catalogue.elements, fitted, sizeof fitted);
  catalogue.epoch++;
  pthread_rwlock_unlock(&catalogue.lock);
}

int main(void)
{
  pthread_t threads[PUBLISHERS];
  struct watch watch;

  for (int s = 0; s < SATELLITES; s++)
    for (int e = 0; e < ELEMENTS; e++)
      fitted[s][e] = (double)rand() / RAND_MAX;
  for (long p = 0; p < PUBLISHERS; p++)
    pthread_create(&threads[p], NULL, publish, (void *)p);
  watch_begin(&watch);
  while (watch_seconds(&watch) < 6.0) {
    DWELL_STEP();
    {
      DWELL_ZONE("fit drag");
      for (int sweep = 0; sweep < 4; sweep++)
        fit(watch.steps * 4 + sweep);
    }
    {
      DWELL_ZONE("store elements");
      store(&watch);
    }
    watch.steps++;
  }
  watch_tell(&watch);
  ended = 1;
  for (int p = 0; p < PUBLISHERS; p++)
    pthread_join(threads[p], NULL);
  return 0;
}
