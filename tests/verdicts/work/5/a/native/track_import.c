/*
 * track_import: loads the day's GPS positions of a delivery fleet, splits
 * them into trips, finds the stops and draws up a speed map of the town.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VEHICLES 96
#define FIXES_PER 1500
#define CELL_DEG 0.0005
#define GRID 512
#define LAT0 48.10
#define LON0 11.50

struct fix {
    int vehicle;
    long ts;
    double lat, lon;
    float speed;
};

struct store {
    struct fix *v;
    size_t n, cap;
};

static uint32_t seed = 20240611u;

static double uniform(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) / 16777216.0;
}

static void write_day(FILE *f)
{
    double lat[VEHICLES], lon[VEHICLES], dir[VEHICLES];
    for (int v = 0; v < VEHICLES; v++) {
        lat[v] = LAT0 + 0.02 + 0.2 * uniform();
        lon[v] = LON0 + 0.02 + 0.2 * uniform();
        dir[v] = 6.28 * uniform();
    }
    for (int t = 0; t < FIXES_PER; t++) {
        for (int v = 0; v < VEHICLES; v++) {
            int halted = ((t + v * 7) / 25) % 4 == 3;
            double speed = halted ? 0.2 * uniform() : 4 + 10 * uniform();
            dir[v] += (uniform() - 0.5) * 0.5;
            lat[v] += speed * 30 / 111200.0 * cos(dir[v]) * 0.2;
            lon[v] += speed * 30 / 74300.0 * sin(dir[v]) * 0.2;
            if (lat[v] < LAT0 || lat[v] > LAT0 + 0.25)
                dir[v] = 3.14159 - dir[v];
            if (lon[v] < LON0 || lon[v] > LON0 + 0.25)
                dir[v] = -dir[v];
            fprintf(f, "%d,%ld,%.6f,%.6f,%.2f\n", v, 1718064000L + t * 30L, lat[v], lon[v], speed);
        }
    }
}

static char *read_all(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    *len = (size_t)ftell(f);
    rewind(f);
    char *text = malloc(*len + 1);
    if (text && fread(text, 1, *len, f) != *len) {
        free(text);
        text = NULL;
    }
    if (text)
        text[*len] = '\0';
    fclose(f);
    return text;
}

static int parse_fix(const char **cursor, struct fix *out)
{
    int used = 0;
    if (sscanf(*cursor, "%d,%ld,%lf,%lf,%f\n%n", &out->vehicle, &out->ts, &out->lat, &out->lon,
               &out->speed, &used) != 5)
        return 0;
    *cursor += used;
    return 1;
}

static void load(struct store *s, const char *text)
{
    const char *p = text;
    struct fix f;
    while (*p && parse_fix(&p, &f)) {
        if (s->n == s->cap) {
            s->cap = s->cap ? s->cap * 2 : 1024;
            s->v = realloc(s->v, s->cap * sizeof *s->v);
            if (!s->v)
                abort();
        }
        s->v[s->n++] = f;
    }
}

static int by_vehicle_time(const void *a, const void *b)
{
    const struct fix *x = a, *y = b;
    if (x->vehicle != y->vehicle)
        return x->vehicle < y->vehicle ? -1 : 1;
    return (x->ts > y->ts) - (x->ts < y->ts);
}

static double metres(const struct fix *a, const struct fix *b)
{
    const double rad = M_PI / 180;
    double dlat = (b->lat - a->lat) * rad, dlon = (b->lon - a->lon) * rad;
    double h = sin(dlat / 2) * sin(dlat / 2) +
               cos(a->lat * rad) * cos(b->lat * rad) * sin(dlon / 2) * sin(dlon / 2);
    return 2 * 6371000.0 * asin(sqrt(h));
}

/* Every fix spreads its speed over the cells within 40 of it, with a Gaussian weight. */
static void speed_map(const struct store *s, float *sum, float *weight)
{
    float kernel[81][81];
    for (int y = -40; y <= 40; y++)
        for (int x = -40; x <= 40; x++)
            kernel[y + 40][x + 40] = expf(-(float)(x * x + y * y) / 400.0f);
    for (size_t i = 0; i < s->n; i++) {
        int cy = (int)((s->v[i].lat - LAT0) / CELL_DEG), cx = (int)((s->v[i].lon - LON0) / CELL_DEG);
        for (int y = -40; y <= 40; y++) {
            if (cy + y < 0 || cy + y >= GRID)
                continue;
            for (int x = -40; x <= 40; x++) {
                if (cx + x < 0 || cx + x >= GRID)
                    continue;
                size_t k = (size_t)(cy + y) * GRID + (size_t)(cx + x);
                sum[k] += kernel[y + 40][x + 40] * s->v[i].speed;
                weight[k] += kernel[y + 40][x + 40];
            }
        }
    }
}

/* Near encounters: pairs of vehicles within 150 m of each other in the same minute. */
static long encounters(const struct store *s)
{
    long found = 0;
    for (int t = 0; t < FIXES_PER; t++)
        for (int a = 0; a < VEHICLES; a++)
            for (int b = a + 1; b < VEHICLES; b++)
                if (metres(&s->v[(size_t)a * FIXES_PER + t], &s->v[(size_t)b * FIXES_PER + t]) < 150)
                    found++;
    return found;
}

int main(void)
{
    char path[] = "/tmp/fleetXXXXXX";
    int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f)
        return perror(path), 1;
    write_day(f);
    fclose(f);

    size_t len;
    struct store s = {0};
    char *text = read_all(path, &len);
    unlink(path);
    if (!text)
        return 1;
    load(&s, text);
    free(text);
    qsort(s.v, s.n, sizeof *s.v, by_vehicle_time);

    double km = 0;
    int stops = 0;
    for (size_t i = 1; i < s.n; i++) {
        if (s.v[i].vehicle != s.v[i - 1].vehicle)
            continue;
        km += metres(&s.v[i - 1], &s.v[i]) / 1000;
        stops += s.v[i].speed < 0.5f && s.v[i - 1].speed >= 0.5f;
    }
    float *sum = calloc(GRID * GRID, sizeof *sum), *weight = calloc(GRID * GRID, sizeof *weight);
    speed_map(&s, sum, weight);
    double fastest = 0;
    for (int i = 0; i < GRID * GRID; i++)
        if (weight[i] > 4 && sum[i] / weight[i] > fastest)
            fastest = sum[i] / weight[i];
    long met = encounters(&s);
    printf("%zu fixes (%zu bytes), %.1f km, %d stops, %ld encounters, fastest cell %.2f m/s\n", s.n, len,
           km, stops, met, fastest);
    free(sum);
    free(weight);
    free(s.v);
    return 0;
}
