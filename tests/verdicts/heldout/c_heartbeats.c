/*
 * Learns to steer a crane by evolution strategies. Three processes watch whether the trainer lives.
 *
 * Planted: nothing. The trainer writes a heartbeat to each watcher in each step, which takes a moment.
 * Truth: time of the heartbeats, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WATCHERS  3
#define INPUTS    8
#define HIDDEN    48
#define OFFSPRING 48
#define TICKS     240

struct policy { float first[HIDDEN][INPUTS], second[HIDDEN]; };

struct watcher {
    pid_t pid;
    int fd;
};

static struct policy mean, child, best;
static uint32_t seed = 3;

static void watch_over(int fd, int number)
{
    struct { int32_t step; float fitness; } beat;
    float highest = -INFINITY;

    while (read(fd, &beat, sizeof(beat)) == (ssize_t)sizeof(beat))
        if (beat.fitness > highest)
            highest = beat.fitness;
    _exit(number < 0 || highest > 1e9f);
}

static float noise(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(int32_t)seed / 4294967296.0f;
}

static void mutate(void)
{
    DWELL_ZONE("mutate");
    for (int h = 0; h < HIDDEN; h++) {
        for (int i = 0; i < INPUTS; i++)
            child.first[h][i] = mean.first[h][i] + 0.1f * noise();
        child.second[h] = mean.second[h] + 0.1f * noise();
    }
}

/* The crane: a trolley with a load on a rope. */
static float simulate(const struct policy *policy)
{
    DWELL_ZONE("simulate");
    float at = 0, speed = 0, angle = 0.2f, swing = 0, cost = 0;

    for (int tick = 0; tick < TICKS; tick++) {
        const float seen[INPUTS] = { at, speed, angle, swing, at * at, sinf(angle), cosf(angle), 1 };
        float force = 0;

        for (int h = 0; h < HIDDEN; h++) {
            float sum = 0;

            for (int i = 0; i < INPUTS; i++)
                sum += policy->first[h][i] * seen[i];
            force += policy->second[h] * tanhf(sum);
        }
        speed += 0.02f * (force - 0.1f * speed);
        swing += 0.02f * (-9.81f * sinf(angle) - force * cosf(angle) - 0.05f * swing);
        at += 0.02f * speed;
        angle += 0.02f * swing;
        cost += (at - 1) * (at - 1) + angle * angle;
    }
    return -cost / TICKS;
}

int main(void)
{
    struct watch watch;
    struct watcher watchers[WATCHERS];

    for (int w = 0; w < WATCHERS; w++) {
        int ends[2];

        if (pipe2(ends, O_CLOEXEC))
            return 1;
        watchers[w].pid = fork();
        if (watchers[w].pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(ends[1]);
            watch_over(ends[0], w);
        }
        close(ends[0]);
        watchers[w].fd = ends[1];
    }
    watch_begin(&watch);
    for (; watch_seconds(&watch) < 6; watch.steps++) {
        DWELL_STEP();
        float highest = -INFINITY;

        for (int o = 0; o < OFFSPRING; o++) {
            float fitness;

            mutate();
            fitness = simulate(&child);
            if (fitness > highest) {
                highest = fitness;
                best = child;
            }
        }
        mean = best;
        planted_begin(&watch);
        {
            DWELL_SCOPE(DWELL_CATEGORY_COMMUNICATION, "heartbeats");
            const struct { int32_t step; float fitness; } beat = { watch.steps, highest };

            for (int w = 0; w < WATCHERS; w++)
                if (write(watchers[w].fd, &beat, sizeof(beat)) != (ssize_t)sizeof(beat))
                    return 1;
        }
        planted_end(&watch);
    }
    watch_tell(&watch);
    for (int w = 0; w < WATCHERS; w++)
        close(watchers[w].fd);
    for (int w = 0; w < WATCHERS; w++)
        waitpid(watchers[w].pid, NULL, 0);
    return 0;
}
