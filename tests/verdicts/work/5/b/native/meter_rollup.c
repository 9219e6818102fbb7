/* Loads quarter-hour smart-meter readings into SQLite and prints the daily
 * load report of every feeder: energy, peak demand and gaps to be estimated. */
#include <math.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define METERS 96
#define FEEDERS 8
#define DAYS 70
#define PER_DAY 96
#define EPOCH0 1704067200 /* 2024-01-01 00:00 UTC */

static sqlite3 *db;

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static void sql(const char *text)
{
    if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
        die(text);
}

static sqlite3_stmt *prepare(const char *text)
{
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(db, text, -1, &st, NULL) != SQLITE_OK)
        die(text);
    return st;
}

static uint32_t lcg = 12345;
static double noise(void)
{
    lcg = lcg * 1664525u + 1013904223u;
    return (lcg >> 8) / 16777216.0;
}

static double demand_kw(int meter, int day, int slot)
{
    double h = slot / 4.0;
    double base = 0.25 + 0.05 * (meter % 7);
    double morning = 1.2 * exp(-(h - 7.5) * (h - 7.5) / 2.0);
    double evening = 2.0 * exp(-(h - 19.0) * (h - 19.0) / 4.5);
    double weekend = (day % 7) >= 5 ? 1.25 : 1.0;
    return weekend * (base + morning + evening) * (0.7 + 0.6 * noise());
}

static long load_readings(void)
{
    sqlite3_stmt *ins = prepare("INSERT INTO reading(meter_id, ts, wh, quality) VALUES (?,?,?,?)");
    long n = 0;
    sql("BEGIN");
    for (int day = 0; day < DAYS; day++)
        for (int slot = 0; slot < PER_DAY; slot++)
            for (int m = 0; m < METERS; m++) {
                double kw = demand_kw(m, day, slot);
                if (noise() < 0.004)
                    continue; /* lost on the radio link */
                sqlite3_bind_int(ins, 1, m);
                sqlite3_bind_int64(ins, 2, EPOCH0 + (int64_t)day * 86400 + slot * 900);
                sqlite3_bind_int(ins, 3, (int)(kw * 250.0));
                sqlite3_bind_int(ins, 4, noise() < 0.01 ? 1 : 0);
                if (sqlite3_step(ins) != SQLITE_DONE)
                    die("insert");
                sqlite3_reset(ins);
                n++;
            }
    sql("COMMIT");
    sqlite3_finalize(ins);
    return n;
}

struct day_load {
    double kwh, peak_kw;
    int missing, suspect;
};

static sqlite3_stmt *day_stmt;

static void meter_day(int meter, int day, struct day_load *acc, double *profile)
{
    int seen = 0;
    char date[16];
    time_t t0 = EPOCH0 + (time_t)day * 86400;
    struct tm tm;
    gmtime_r(&t0, &tm);
    strftime(date, sizeof date, "%Y-%m-%d", &tm);

    sqlite3_reset(day_stmt);
    sqlite3_bind_int(day_stmt, 1, meter);
    sqlite3_bind_text(day_stmt, 2, date, -1, SQLITE_TRANSIENT);
    while (sqlite3_step(day_stmt) == SQLITE_ROW) {
        int64_t ts = sqlite3_column_int64(day_stmt, 0);
        int wh = sqlite3_column_int(day_stmt, 1);
        int slot = (int)((ts - t0) / 900);
        profile[slot] += wh / 250.0;
        acc->kwh += wh / 1000.0;
        acc->suspect += sqlite3_column_int(day_stmt, 2);
        seen++;
    }
    acc->missing += PER_DAY - seen;
}

int main(void)
{
    char dir[] = "/tmp/metersXXXXXX", path[64];
    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/readings.db", dir);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        die("open");
    sql("PRAGMA journal_mode=WAL");
    sql("PRAGMA synchronous=NORMAL");
    sql("CREATE TABLE reading(meter_id INTEGER NOT NULL, ts INTEGER NOT NULL,"
        " wh INTEGER NOT NULL, quality INTEGER NOT NULL)");
    long n = load_readings();
    sql("CREATE INDEX reading_meter_ts ON reading(meter_id, ts)");
    sql("ANALYZE");
    printf("%ld readings of %d meters\n", n, METERS);

    day_stmt = prepare("SELECT ts, wh, quality FROM reading"
                       " WHERE meter_id = ?1 AND date(ts, 'unixepoch') = ?2 ORDER BY ts");
    for (int f = 0; f < FEEDERS; f++) {
        struct day_load total = {0};
        int worst_day = 0;
        for (int day = 0; day < DAYS; day++) {
            double profile[PER_DAY] = {0};
            struct day_load d = {0};
            for (int m = f; m < METERS; m += FEEDERS)
                meter_day(m, day, &d, profile);
            for (int s = 0; s < PER_DAY; s++)
                if (profile[s] > d.peak_kw)
                    d.peak_kw = profile[s];
            if (d.peak_kw > total.peak_kw) {
                total.peak_kw = d.peak_kw;
                worst_day = day;
            }
            total.kwh += d.kwh;
            total.missing += d.missing;
            total.suspect += d.suspect;
        }
        printf("feeder %d: %9.1f kWh, peak %6.2f kW on day %2d, %4d missing, %4d suspect\n",
               f, total.kwh, total.peak_kw, worst_day, total.missing, total.suspect);
    }
    sqlite3_finalize(day_stmt);
    sqlite3_close(db);
    unlink(path);
    rmdir(dir);
    return 0;
}
