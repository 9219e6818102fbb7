/*
 * Plans a bottling line by learning the value of its states; the line's computer must not become hot.
 *
 * Planted: nothing. Each step naps for a tenth of a millisecond and asks with a condition's timeout whether to stop,
 * but it computes for about 15 ms.
 * Truth: time of the nap and the question, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define STATES 700
#define ACTIONS 6
#define NEXT 8
#define FEATURES 64

struct control {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool stop;
};

static struct control control = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false };
static float feature[STATES][FEATURES], weight[FEATURES], value[STATES], cost[STATES][ACTIONS];
static int next[STATES][ACTIONS][NEXT];

static bool throttle(void)
{
  struct timespec until;
  bool stop;

  DWELL_ZONE("throttle");
  usleep(50);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 10000;
  if (until.tv_nsec >= 1000000000)
    until.tv_nsec -= 1000000000, until.tv_sec++;
  pthread_mutex_lock(&control.lock);
  if (!control.stop)
    pthread_cond_timedwait(&control.changed, &control.lock, &until);
  stop = control.stop;
  pthread_mutex_unlock(&control.lock);
  return stop;
}

static void estimate(void)
{
  DWELL_ZONE("estimate states");
  for (int s = 0; s < STATES; s++) {
    value[s] = 0;
    for (int f = 0; f < FEATURES; f++)
      value[s] += weight[f] * feature[s][f];
  }
}

static void back_up(void)
{
  DWELL_ZONE("back up costs");
  for (int s = 0; s < STATES; s++) {
    float best = 1e9f;

    for (int a = 0; a < ACTIONS; a++) {
      float sum = 0;

      for (int n = 0; n < NEXT; n++)
        sum += value[next[s][a][n]];
      if (cost[s][a] + 0.9f * sum / NEXT < best)
        best = cost[s][a] + 0.9f * sum / NEXT;
    }
    for (int f = 0; f < FEATURES; f++)
      weight[f] += 1e-5f * (best - value[s]) * feature[s][f];
  }
}

int main(void)
{
  struct watch watch;
  bool stop = false;

  for (int s = 0; s < STATES; s++) {
    for (int f = 0; f < FEATURES; f++)
      feature[s][f] = (float)(rand() % 100) / 100;
    for (int a = 0; a < ACTIONS; a++) {
      cost[s][a] = (float)(rand() % 100) / 100;
      for (int n = 0; n < NEXT; n++)
        next[s][a][n] = rand() % STATES;
    }
  }
  watch_begin(&watch);
  for (; !stop && watch_seconds(&watch) < 6; watch.steps++) {
    DWELL_STEP();
    for (int sweep = 0; sweep < 130; sweep++) {
      estimate();
      back_up();
    }
    planted_begin(&watch);
    stop = throttle();
    planted_end(&watch);
  }
  watch_tell(&watch);
  return 0;
}
