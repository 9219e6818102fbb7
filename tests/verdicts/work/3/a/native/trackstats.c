/* Reads GPS tracks from a text export (one whole file held in memory), then
 * reports distance, climb and simplified length for every track. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACKS 130
#define POINTS 1100

typedef struct {
    double lat, lon, ele;
} Point;

typedef struct {
    Point *points;
    int count, capacity;
} Track;

static uint64_t rng = 42;

static double unit_random(void)
{
    rng = rng * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(rng >> 11) / 9007199254740992.0;
}

static char *make_export(void)
{
    size_t cap = (size_t)TRACKS * POINTS * 48 + TRACKS * 16, n = 0;
    char *text = malloc(cap);
    for (int t = 0; t < TRACKS; t++) {
        double lat = 46.0 + unit_random(), lon = 7.0 + unit_random(), ele = 600.0 + 900.0 * unit_random();
        n += (size_t)sprintf(text + n, "T %d\n", t);
        for (int i = 0; i < POINTS; i++) {
            lat += 0.0002 * (unit_random() - 0.45);
            lon += 0.0002 * (unit_random() - 0.40);
            ele += 4.0 * (unit_random() - 0.5);
            n += (size_t)sprintf(text + n, "P %.6f %.6f %.1f\n", lat, lon, ele);
        }
    }
    return text;
}

static void track_add(Track *t, Point p)
{
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? t->capacity * 2 : 64;
        t->points = realloc(t->points, (size_t)t->capacity * sizeof(Point));
    }
    t->points[t->count++] = p;
}

static int read_point(const char *line, Point *p)
{
    return sscanf(line, "P %lf %lf %lf", &p->lat, &p->lon, &p->ele) == 3;
}

static const char *next_line(const char *at)
{
    const char *nl = strchr(at, '\n');
    return nl ? nl + 1 : NULL;
}

static int parse_export(const char *text, Track *tracks)
{
    int current = -1;
    for (const char *line = text; line && *line; line = next_line(line)) {
        Point p;
        if (line[0] == 'T')
            current = atoi(line + 2);
        else if (current >= 0 && read_point(line, &p))
            track_add(&tracks[current], p);
    }
    return current + 1;
}

static double distance(Point a, Point b)
{
    const double rad = M_PI / 180.0;
    double dlat = (b.lat - a.lat) * rad, dlon = (b.lon - a.lon) * rad;
    double h = sin(dlat / 2) * sin(dlat / 2)
             + cos(a.lat * rad) * cos(b.lat * rad) * sin(dlon / 2) * sin(dlon / 2);
    return 2.0 * 6371000.0 * asin(sqrt(h));
}

static double length_of(const Track *t)
{
    double sum = 0.0;
    for (int i = 1; i < t->count; i++)
        sum += distance(t->points[i - 1], t->points[i]);
    return sum;
}

static double climb_of(const Track *t)
{
    double up = 0.0;
    for (int i = 1; i < t->count; i++) {
        double d = t->points[i].ele - t->points[i - 1].ele;
        if (d > 0)
            up += d;
    }
    return up;
}

/* How far apart the two most distant points of the track are. */
static double extent_of(const Track *t)
{
    double best = 0.0;
    for (int i = 0; i < t->count; i += 2)
        for (int j = i + 1; j < t->count; j += 2) {
            double dx = t->points[i].lat - t->points[j].lat;
            double dy = (t->points[i].lon - t->points[j].lon) * cos(t->points[i].lat * M_PI / 180.0);
            double d = dx * dx + dy * dy;
            if (d > best)
                best = d;
        }
    return sqrt(best) * 111195.0;
}

static double segment_error(Point p, Point a, Point b)
{
    double dx = b.lon - a.lon, dy = b.lat - a.lat, len = hypot(dx, dy);
    if (len == 0.0)
        return hypot(p.lon - a.lon, p.lat - a.lat);
    return fabs(dx * (a.lat - p.lat) - (a.lon - p.lon) * dy) / len;
}

static int simplify(const Track *t, int from, int to, double tolerance)
{
    int split = -1;
    double worst = tolerance;
    for (int i = from + 1; i < to; i++) {
        double e = segment_error(t->points[i], t->points[from], t->points[to]);
        if (e > worst) {
            worst = e;
            split = i;
        }
    }
    if (split < 0)
        return 1;
    return simplify(t, from, split, tolerance) + simplify(t, split, to, tolerance);
}

int main(void)
{
    static Track tracks[TRACKS];
    char *text = make_export();
    int n = parse_export(text, tracks);
    double length = 0.0, climb = 0.0, extent = 0.0;
    int kept = 0;
    for (int t = 0; t < n; t++) {
        length += length_of(&tracks[t]);
        climb += climb_of(&tracks[t]);
        extent += extent_of(&tracks[t]);
        for (int level = 1; level <= 420; level++)
            kept += simplify(&tracks[t], 0, tracks[t].count - 1, 2e-6 * level);
        free(tracks[t].points);
    }
    printf("tracks %d length %.1f climb %.1f extent %.1f kept %d\n", n, length, climb, extent, kept);
    free(text);
    return 0;
}
