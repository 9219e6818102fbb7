/* Telemetry ingest: the main thread decodes framed vehicle telemetry from
 * the uplink in batches; workers fold the frames into per-vehicle statistics
 * and keep a journal of what they accepted.  Windows of the uplink are closed
 * one after the other. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dwell/probe.h>

#define POOL 2
#define WINDOWS 2000
#define BATCHES_PER_WINDOW 16
#define BATCH 128
#define SAMPLES 40
#define VEHICLES 512
#define QUEUE_CAP 32

typedef struct {
    uint32_t vehicle, seq;
    int16_t sample[SAMPLES];
} frame_t;

typedef struct {
    frame_t frame[BATCH];
} batch_t;

typedef struct {
    pthread_mutex_t lock;
    uint64_t frames, over_limit, sumsq;
    int64_t sum;
    int16_t min, max;
} vehicle_t;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full, drained;
    batch_t *slot[QUEUE_CAP];
    int head, count, pending, closed;
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
           PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0, 0, 0};

static vehicle_t fleet[VEHICLES];

static void queue_push(batch_t *b)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.count == QUEUE_CAP)
        pthread_cond_wait(&queue.not_full, &queue.lock);
    queue.slot[(queue.head + queue.count) % QUEUE_CAP] = b;
    queue.count++;
    queue.pending++;
    pthread_cond_signal(&queue.not_empty);
    pthread_mutex_unlock(&queue.lock);
}

static batch_t *queue_pop(void)
{
    batch_t *b = NULL;
    pthread_mutex_lock(&queue.lock);
    while (queue.count == 0 && !queue.closed)
        pthread_cond_wait(&queue.not_empty, &queue.lock);
    if (queue.count > 0) {
        b = queue.slot[queue.head];
        queue.head = (queue.head + 1) % QUEUE_CAP;
        queue.count--;
        pthread_cond_signal(&queue.not_full);
    }
    pthread_mutex_unlock(&queue.lock);
    return b;
}

static void queue_done(void)
{
    pthread_mutex_lock(&queue.lock);
    if (--queue.pending == 0)
        pthread_cond_signal(&queue.drained);
    pthread_mutex_unlock(&queue.lock);
}

static void queue_wait_drained(void)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.pending > 0)
        pthread_cond_wait(&queue.drained, &queue.lock);
    pthread_mutex_unlock(&queue.lock);
}

static void queue_close(void)
{
    pthread_mutex_lock(&queue.lock);
    queue.closed = 1;
    pthread_cond_broadcast(&queue.not_empty);
    pthread_mutex_unlock(&queue.lock);
}

static int64_t fold_frame(const frame_t *f)
{
    int64_t sum = 0;
    uint64_t sumsq = 0, over = 0;
    int16_t lo = INT16_MAX, hi = INT16_MIN;
    for (int i = 0; i < SAMPLES; i++) {
        int16_t s = f->sample[i];
        sum += s;
        sumsq += (uint64_t)((int32_t)s * s);
        over += s > 2600;
        lo = s < lo ? s : lo;
        hi = s > hi ? s : hi;
    }
    vehicle_t *v = &fleet[f->vehicle];
    pthread_mutex_lock(&v->lock);
    v->frames++;
    v->sum += sum;
    v->sumsq += sumsq;
    v->over_limit += over;
    v->min = lo < v->min ? lo : v->min;
    v->max = hi > v->max ? hi : v->max;
    pthread_mutex_unlock(&v->lock);
    return sum;
}

static void journal_frame(FILE *journal, const frame_t *f, int64_t sum)
{
    fprintf(journal, "%08x %04u %d\n", f->seq, f->vehicle, (int)(sum / SAMPLES));
    fflush(journal);
}

static void *worker(void *arg)
{
    FILE *journal = arg;
    batch_t *b;
    while ((b = queue_pop()) != NULL) {
        for (int i = 0; i < BATCH; i++)
            journal_frame(journal, &b->frame[i], fold_frame(&b->frame[i]));
        free(b);
        queue_done();
    }
    return NULL;
}

/* The uplink sends zig-zag deltas of a slow oscillation plus jitter. */
static void decode_frame(frame_t *f, uint32_t seq)
{
    uint32_t x = seq * 2654435761u + 40503u;
    f->vehicle = (x >> 7) % VEHICLES;
    f->seq = seq;
    double phase = (double)(seq % 9973) * 0.01;
    for (int i = 0; i < SAMPLES; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        double slow = 1800.0 * sin(phase + i * 0.05);
        int32_t zig = (int32_t)(x % 1801u);
        f->sample[i] = (int16_t)(slow + ((zig >> 1) ^ -(zig & 1)));
    }
}

int main(void)
{
    pthread_t pool[POOL];
    FILE *journal[POOL];
    uint64_t frames = 0, over = 0, busiest = 0;
    double worst = 0.0;
    long journalled = 0;

    for (int i = 0; i < VEHICLES; i++) {
        pthread_mutex_init(&fleet[i].lock, NULL);
        fleet[i].min = INT16_MAX;
        fleet[i].max = INT16_MIN;
    }
    for (int i = 0; i < POOL; i++) {
        journal[i] = tmpfile();
        pthread_create(&pool[i], NULL, worker, journal[i]);
    }
    uint32_t seq = 0;
    for (uint32_t w = 0; w < WINDOWS; w++) {
        DWELL_STEP();
        for (int k = 0; k < BATCHES_PER_WINDOW; k++) {
            batch_t *b = malloc(sizeof *b);
            for (int i = 0; i < BATCH; i++)
                decode_frame(&b->frame[i], seq++);
            queue_push(b);
        }
        queue_wait_drained();
    }
    queue_close();
    for (int i = 0; i < POOL; i++) {
        pthread_join(pool[i], NULL);
        fflush(journal[i]);
        journalled += ftell(journal[i]);
        fclose(journal[i]);
    }
    for (int i = 0; i < VEHICLES; i++) {
        vehicle_t *v = &fleet[i];
        if (!v->frames)
            continue;
        double n = (double)v->frames * SAMPLES, mean = v->sum / n;
        double sd = sqrt(v->sumsq / n - mean * mean);
        frames += v->frames;
        over += v->over_limit;
        worst = sd > worst ? sd : worst;
        busiest = v->frames > busiest ? v->frames : busiest;
    }
    printf("frames %lu, samples over limit %lu, largest deviation %.3f, busiest vehicle %lu frames, journal %ld bytes\n",
           (unsigned long)frames, (unsigned long)over, worst, (unsigned long)busiest, journalled);
    return 0;
}
