/*
 * meter_store - keeps hourly smart-meter readings in SQLite and produces the
 * daily settlement: energy per feeder, peak hour, and the meters whose day
 * deviates most from their own running mean.
 */
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dwell/probe.h>

#define NMETERS 170
#define NDAYS 100
#define NFEEDERS 12

typedef struct {
    double feeder[NFEEDERS];
    double hour[24];
    double meter[NMETERS];
    int rows;
} day_t;

static uint64_t rng_state = 42;
static double uniform(void)
{
    rng_state = rng_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(rng_state >> 11) / 9007199254740992.0;
}

static void check(sqlite3 *db, int rc, const char *what)
{
    if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW)
        return;
    fprintf(stderr, "meter_store: %s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static void day_name(int day, char out[40])
{
    static const int len[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int month = 0;
    while (day >= len[month])
        day -= len[month++];
    snprintf(out, 40, "2026-%02d-%02d", month + 1, day + 1);
}

static void create_store(sqlite3 *db)
{
    check(db, sqlite3_exec(db,
        "PRAGMA journal_mode=WAL;"
        "PRAGMA synchronous=NORMAL;"
        "CREATE TABLE reading(meter INTEGER NOT NULL, ts TEXT NOT NULL, wh INTEGER NOT NULL);"
        "CREATE TABLE settlement(day TEXT, feeder INTEGER, kwh REAL, PRIMARY KEY(day, feeder));",
        NULL, NULL, NULL), "create");
}

static void load_readings(sqlite3 *db)
{
    sqlite3_stmt *ins;
    char day[40], ts[60];
    check(db, sqlite3_prepare_v2(db, "INSERT INTO reading VALUES(?,?,?)", -1, &ins, NULL), "ins");
    check(db, sqlite3_exec(db, "BEGIN", NULL, NULL, NULL), "begin");
    for (int d = 0; d < NDAYS; d++) {
        day_name(d, day);
        for (int h = 0; h < 24; h++) {
            snprintf(ts, sizeof ts, "%s %02d:00:00", day, h);
            double shape = 0.4 + 0.5 * exp(-pow((h - 19) / 3.0, 2)) + 0.3 * exp(-pow((h - 8) / 2.0, 2));
            for (int m = 0; m < NMETERS; m++) {
                sqlite3_bind_int(ins, 1, m);
                sqlite3_bind_text(ins, 2, ts, -1, SQLITE_STATIC);
                sqlite3_bind_int(ins, 3, (int)(1000 * shape * (0.6 + 0.8 * uniform()) * (1 + m % 7)));
                check(db, sqlite3_step(ins), "insert");
                sqlite3_reset(ins);
            }
        }
    }
    check(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), "commit");
    sqlite3_finalize(ins);
    check(db, sqlite3_exec(db, "CREATE INDEX reading_ts ON reading(ts); ANALYZE;",
                           NULL, NULL, NULL), "index");
}

static void read_day(sqlite3 *db, sqlite3_stmt *q, const char *day, day_t *out)
{
    memset(out, 0, sizeof *out);
    sqlite3_bind_text(q, 1, day, -1, SQLITE_STATIC);
    int rc;
    while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
        int meter = sqlite3_column_int(q, 0);
        const char *ts = (const char *)sqlite3_column_text(q, 1);
        double kwh = sqlite3_column_int(q, 2) / 1000.0;
        int hour = (ts[11] - '0') * 10 + (ts[12] - '0');
        out->feeder[meter % NFEEDERS] += kwh;
        out->hour[hour] += kwh;
        out->meter[meter] += kwh;
        out->rows++;
    }
    check(db, rc, "read day");
    sqlite3_reset(q);
}

static void settle(sqlite3 *db, sqlite3_stmt *ins, const char *day, const day_t *d)
{
    check(db, sqlite3_exec(db, "BEGIN", NULL, NULL, NULL), "begin");
    for (int f = 0; f < NFEEDERS; f++) {
        sqlite3_bind_text(ins, 1, day, -1, SQLITE_STATIC);
        sqlite3_bind_int(ins, 2, f);
        sqlite3_bind_double(ins, 3, d->feeder[f]);
        check(db, sqlite3_step(ins), "settle");
        sqlite3_reset(ins);
    }
    check(db, sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), "commit");
}

int main(void)
{
    char dir[] = "/tmp/meters-XXXXXX", path[64], side[80];
    sqlite3 *db;
    sqlite3_stmt *q, *ins;
    if (!mkdtemp(dir)) {
        perror("meter_store");
        return 1;
    }
    snprintf(path, sizeof path, "%s/readings.db", dir);
    check(NULL, sqlite3_open(path, &db), "open");
    create_store(db);
    load_readings(db);

    check(db, sqlite3_prepare_v2(db,
        "SELECT meter, ts, wh FROM reading WHERE ts >= ?1 AND ts < ?1 || '~'", -1, &q, NULL), "query");
    check(db, sqlite3_prepare_v2(db, "INSERT INTO settlement VALUES(?,?,?)", -1, &ins, NULL), "ins");

    static double mean[NMETERS];
    day_t today;
    long rows = 0, alarms = 0;
    double energy = 0.0, peak = 0.0;
    for (int d = 0; d < NDAYS; d++) {
        DWELL_STEP();
        char day[40];
        day_name(d, day);
        read_day(db, q, day, &today);
        settle(db, ins, day, &today);
        for (int m = 0; m < NMETERS; m++) {
            if (d > 7 && fabs(today.meter[m] - mean[m]) > 0.18 * mean[m])
                alarms++;
            mean[m] += (today.meter[m] - mean[m]) / (d < 14 ? d + 1 : 14);
            energy += today.meter[m];
        }
        for (int h = 0; h < 24; h++)
            peak = today.hour[h] > peak ? today.hour[h] : peak;
        rows += today.rows;
    }
    sqlite3_finalize(q);
    sqlite3_finalize(ins);
    sqlite3_close(db);
    unlink(path);
    for (int i = 0; i < 2; i++) {
        snprintf(side, sizeof side, "%s%s", path, i ? "-wal" : "-shm");
        unlink(side);
    }
    rmdir(dir);
    printf("days %d rows %ld energy %.3f MWh peak hour %.2f kWh alarms %ld\n", NDAYS, rows,
           energy / 1000.0, peak, alarms);
    return rows == (long)NDAYS * 24 * NMETERS ? 0 : 1;
}
