/*
 * nmea_tracks - turn the GGA logs of a fleet's GPS receivers into tracks.
 *
 * Every receiver uploads one block of sentences per shift.  A block is decoded,
 * filtered (constant-velocity Kalman filter per axis), matched against the
 * depot geofences and summarised: distance driven, fixes rejected, fence entries.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dwell/probe.h>

#define BLOCKS 330
#define FIXES_PER_BLOCK 5400
#define FENCES 12
#define FENCE_VERTS 24
#define EARTH_M 6371008.8
#define DEG (M_PI / 180.0)

typedef struct { double t, lat, lon, alt, hdop; int quality, sats; } fix_t;
typedef struct { double x, v, p00, p01, p11; } axis_t;
typedef struct { double lat[FENCE_VERTS], lon[FENCE_VERTS]; double min_lat, max_lat, min_lon, max_lon; } fence_t;
typedef struct { long fixes, bad_sum, rejected, entries; double metres, climb; } summary_t;

static uint64_t rng_state = 0x9E3779B97F4A7C15ull;

static double uniform(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (double)(rng_state >> 11) / 9007199254740992.0;
}

static unsigned checksum(const char *s, const char *end)
{
    unsigned c = 0;
    for (; s < end; s++)
        c ^= (unsigned char)*s;
    return c;
}

/* NMEA packs degrees and minutes in one number: ddmm.mmmm */
static double to_nmea(double deg) { double d = floor(deg); return d * 100.0 + (deg - d) * 60.0; }
static double from_nmea(double v) { double d = floor(v / 100.0); return d + (v - d * 100.0) / 60.0; }

static size_t record_shift(char *buf, size_t cap, int block)
{
    double lat = 47.0 + 0.2 * uniform(), lon = 8.0 + 0.3 * uniform(), heading = 6.28 * uniform();
    size_t n = 0;
    for (int i = 0; i < FIXES_PER_BLOCK && n + 128 < cap; i++) {
        heading += 0.3 * (uniform() - 0.5);
        lat += 1.1e-4 * cos(heading);
        lon += 1.6e-4 * sin(heading);
        double jump = uniform() < 0.004 ? 0.01 : 2e-5;
        int len = snprintf(buf + n, cap - n, "$GPGGA,%010.3f,%09.4f,N,%010.4f,E,%d,%02d,%.1f,%.1f,M,47.0,M,,",
                           block * 10000.0 + i, to_nmea(lat + jump * (uniform() - 0.5)),
                           to_nmea(lon + jump * (uniform() - 0.5)), 1 + (uniform() < 0.3),
                           6 + (int)(6 * uniform()), 0.7 + uniform(), 420.0 + 30.0 * sin(i * 0.01));
        unsigned sum = checksum(buf + n + 1, buf + n + len);
        if (uniform() < 0.002)
            sum ^= 0x11;
        n += (size_t)len;
        n += (size_t)snprintf(buf + n, cap - n, "*%02X\r\n", sum);
    }
    buf[n] = '\0';
    return n;
}

static int decode_fix(const char *p, const char *eol, fix_t *f)
{
    const char *star = memchr(p, '*', (size_t)(eol - p));
    double lat, lon;
    char ns, ew, line[128];
    size_t n = (size_t)(eol - p);
    if (n >= sizeof line)
        return 0;
    memcpy(line, p, n);
    line[n] = '\0';
    if (p[0] != '$' || !star || strtoul(star + 1, NULL, 16) != checksum(p + 1, star))
        return 0;
    if (sscanf(line, "$GPGGA,%lf,%lf,%c,%lf,%c,%d,%d,%lf,%lf", &f->t, &lat, &ns, &lon, &ew,
               &f->quality, &f->sats, &f->hdop, &f->alt) != 9)
        return 0;
    f->lat = (ns == 'S' ? -1 : 1) * from_nmea(lat);
    f->lon = (ew == 'W' ? -1 : 1) * from_nmea(lon);
    return 1;
}

static long decode_block(const char *buf, size_t len, fix_t *fixes, summary_t *s)
{
    const char *p = buf, *end = buf + len;
    long n = 0;
    while (p < end) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        if (!eol)
            break;
        if (decode_fix(p, eol, &fixes[n]))
            n++;
        else
            s->bad_sum++;
        p = eol + 1;
    }
    return n;
}

/* returns 0 when the measurement lies outside the gate */
static int axis_update(axis_t *a, double z, double dt, double r)
{
    const double q = 3e-10;
    double x = a->x + a->v * dt;
    double p00 = a->p00 + dt * (2 * a->p01 + dt * a->p11) + q, p01 = a->p01 + dt * a->p11, p11 = a->p11 + q;
    double s = p00 + r, y = z - x;
    int ok = y * y < 25.0 * s;
    double k0 = ok ? p00 / s : 0, k1 = ok ? p01 / s : 0;
    a->x = x + k0 * y;
    a->v += k1 * y;
    a->p11 = p11 - k1 * p01;
    a->p01 = (1 - k0) * p01;
    a->p00 = (1 - k0) * p00;
    return ok;
}

static int inside(const fence_t *f, double lat, double lon)
{
    int in = 0;
    if (lat < f->min_lat || lat > f->max_lat || lon < f->min_lon || lon > f->max_lon)
        return 0;
    for (int i = 0, j = FENCE_VERTS - 1; i < FENCE_VERTS; j = i++)
        if ((f->lat[i] > lat) != (f->lat[j] > lat) &&
            lon < (f->lon[j] - f->lon[i]) * (lat - f->lat[i]) / (f->lat[j] - f->lat[i]) + f->lon[i])
            in = !in;
    return in;
}

static double haversine(double la, double lo, double lb, double lp)
{
    double s1 = sin((lb - la) * DEG / 2), s2 = sin((lp - lo) * DEG / 2);
    return 2 * EARTH_M * asin(sqrt(s1 * s1 + cos(la * DEG) * cos(lb * DEG) * s2 * s2));
}

static void follow(const fix_t *fx, long n, const fence_t *fences, summary_t *s)
{
    axis_t la = { fx[0].lat, 0, 1e-8, 0, 1e-8 }, lo = { fx[0].lon, 0, 1e-8, 0, 1e-8 };
    int was[FENCES] = { 0 };
    for (long i = 1; i < n; i++) {
        double plat = la.x, plon = lo.x, dt = fx[i].t - fx[i - 1].t, r = 1e-10 * fx[i].hdop * fx[i].hdop;
        int ok = axis_update(&la, fx[i].lat, dt, r) & axis_update(&lo, fx[i].lon, dt, r);
        s->rejected += !ok;
        s->metres += haversine(plat, plon, la.x, lo.x);
        s->climb += fmax(0, fx[i].alt - fx[i - 1].alt);
        for (int k = 0; k < FENCES; k++) {
            int now = inside(&fences[k], la.x, lo.x);
            s->entries += now && !was[k];
            was[k] = now;
        }
    }
    s->fixes += n;
}

int main(void)
{
    size_t cap = (size_t)FIXES_PER_BLOCK * 128;
    char *buf = malloc(cap);
    fix_t *fixes = malloc(sizeof *fixes * FIXES_PER_BLOCK);
    fence_t fences[FENCES];
    summary_t total = { 0 };
    for (int k = 0; k < FENCES; k++) {
        fence_t *f = &fences[k];
        double clat = 47.0 + 0.2 * uniform(), clon = 8.0 + 0.3 * uniform();
        f->min_lat = f->min_lon = 1e9;
        f->max_lat = f->max_lon = -1e9;
        for (int i = 0; i < FENCE_VERTS; i++) {
            double a = 2 * M_PI * i / FENCE_VERTS, r = 0.01 + 0.01 * uniform();
            f->lat[i] = clat + r * cos(a);
            f->lon[i] = clon + r * sin(a);
            f->min_lat = fmin(f->min_lat, f->lat[i]);
            f->max_lat = fmax(f->max_lat, f->lat[i]);
            f->min_lon = fmin(f->min_lon, f->lon[i]);
            f->max_lon = fmax(f->max_lon, f->lon[i]);
        }
    }
    for (int b = 0; b < BLOCKS; b++) {
        DWELL_STEP();
        size_t len = record_shift(buf, cap, b);
        long n = decode_block(buf, len, fixes, &total);
        follow(fixes, n, fences, &total);
    }
    printf("fixes %ld  bad checksums %ld  rejected %ld  fence entries %ld\n",
           total.fixes, total.bad_sum, total.rejected, total.entries);
    printf("distance %.1f km  climb %.1f m\n", total.metres / 1000, total.climb);
    free(buf);
    free(fixes);
    return 0;
}
