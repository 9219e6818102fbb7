/* Loads vehicle telemetry frames into an SQLite store, keeps hourly rollups
 * per vehicle and signal, and prints a summary of the stored day. */
#include <dwell/probe.h>
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VEHICLES 400
#define SIGNALS 6
#define FRAMES 960

typedef struct { int vehicle, signal; int64_t ts; double value; int quality; } Sample;

static uint32_t seed = 20240611u;
static uint32_t rnd(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

static void check(sqlite3 *db, int rc, const char *what)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
        fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
        exit(1);
    }
}

static void sql(sqlite3 *db, const char *text)
{
    check(db, sqlite3_exec(db, text, NULL, NULL, NULL), text);
}

static sqlite3 *store_open(const char *path)
{
    sqlite3 *db;
    remove(path);
    check(NULL, sqlite3_open(path, &db), "open");
    sql(db, "PRAGMA journal_mode=WAL");
    sql(db, "PRAGMA synchronous=NORMAL");
    sql(db, "CREATE TABLE sample(vehicle INT, signal INT, ts INT, value REAL, quality INT)");
    sql(db, "CREATE TABLE rollup(vehicle INT, signal INT, hour INT, n INT, total REAL,"
            " lo REAL, hi REAL, PRIMARY KEY(vehicle, signal, hour)) WITHOUT ROWID");
    return db;
}

static int frame_fill(Sample *out, int frame)
{
    int n = 0;
    for (int v = 0; v < VEHICLES; v++) {
        if (rnd() % 10 < 3)
            continue;
        for (int s = 0; s < SIGNALS; s++) {
            Sample *p = &out[n];
            p->vehicle = v;
            p->signal = s;
            p->ts = 1700000000 + (int64_t)frame * 120 + rnd() % 120;
            p->value = 40.0 * sin(frame * 0.01 + v) + s * 10 + (rnd() % 1000) * 0.01;
            p->quality = rnd() % 100;
            if (p->quality > 3)
                n++;
        }
    }
    return n;
}

static void sample_insert(sqlite3 *db, const Sample *p)
{
    static sqlite3_stmt *st;
    if (!st)
        check(db, sqlite3_prepare_v2(db, "INSERT INTO sample(vehicle, signal, ts, value, quality)"
                                     " VALUES(?,?,?,?,?)", -1, &st, NULL), "prepare sample");
    sqlite3_bind_int(st, 1, p->vehicle);
    sqlite3_bind_int(st, 2, p->signal);
    sqlite3_bind_int64(st, 3, p->ts);
    sqlite3_bind_double(st, 4, p->value);
    sqlite3_bind_int(st, 5, p->quality);
    check(db, sqlite3_step(st), "insert sample");
    sqlite3_reset(st);
}

static void rollup_add(sqlite3 *db, const Sample *p)
{
    static sqlite3_stmt *st;
    if (!st)
        check(db, sqlite3_prepare_v2(db, "INSERT INTO rollup VALUES(?1,?2,?3,1,?4,?4,?4)"
                                     " ON CONFLICT(vehicle, signal, hour) DO UPDATE SET"
                                     " n = n + 1, total = total + excluded.total,"
                                     " lo = min(lo, excluded.lo), hi = max(hi, excluded.hi)",
                                 -1, &st, NULL), "prepare rollup");
    sqlite3_bind_int(st, 1, p->vehicle);
    sqlite3_bind_int(st, 2, p->signal);
    sqlite3_bind_int64(st, 3, p->ts / 3600);
    sqlite3_bind_double(st, 4, p->value);
    check(db, sqlite3_step(st), "upsert rollup");
    sqlite3_reset(st);
}

static void store_frame(sqlite3 *db, const Sample *s, int n)
{
    sql(db, "BEGIN");
    for (int i = 0; i < n; i++) {
        sample_insert(db, &s[i]);
        rollup_add(db, &s[i]);
    }
    sql(db, "COMMIT");
}

static double query(sqlite3 *db, const char *text)
{
    sqlite3_stmt *st;
    double v = 0;
    check(db, sqlite3_prepare_v2(db, text, -1, &st, NULL), text);
    if (sqlite3_step(st) == SQLITE_ROW)
        v = sqlite3_column_double(st, 0);
    sqlite3_finalize(st);
    return v;
}

int main(void)
{
    const char *path = "/tmp/telemetry_store.db";
    sqlite3 *db = store_open(path);
    Sample *buf = malloc(sizeof *buf * VEHICLES * SIGNALS);

    for (int frame = 0; frame < FRAMES; frame++) {
        DWELL_STEP();
        int n = frame_fill(buf, frame % 30);
        if (n > 480)
            n = 480;
        for (int i = 0; i < n; i++)
            buf[i].ts += (int64_t)(frame / 30) * 3600;
        store_frame(db, buf, n);
    }

    printf("samples %.0f\n", query(db, "SELECT count(*) FROM sample"));
    printf("rollups %.0f\n", query(db, "SELECT count(*) FROM rollup"));
    printf("mean %.6f\n", query(db, "SELECT sum(total) / sum(n) FROM rollup"));
    printf("widest %.6f\n", query(db, "SELECT max(hi - lo) FROM rollup"));
    printf("worst quality %.0f\n", query(db, "SELECT min(quality) FROM sample"));
    sqlite3_close(db);
    free(buf);
    remove(path);
    remove("/tmp/telemetry_store.db-wal");
    remove("/tmp/telemetry_store.db-shm");
    return 0;
}
