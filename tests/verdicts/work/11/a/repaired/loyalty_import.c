/* Nightly import of shop orders into the loyalty database.
 *
 * Orders name the customer by the e-mail address typed at checkout. Points are booked to
 * the customer with that address (letter case doesn't matter), new ones are added. */
#include <ctype.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CUSTOMERS 2000
#define ORDERS 200000
#define LINES_MAX 5
#define BATCH 1000

static const char *schema =
    "CREATE TABLE customer(id INTEGER PRIMARY KEY, email TEXT NOT NULL COLLATE NOCASE UNIQUE,"
    "  name TEXT NOT NULL, points INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE purchase(id INTEGER PRIMARY KEY, customer INTEGER NOT NULL REFERENCES customer,"
    "  day INTEGER NOT NULL, cents INTEGER NOT NULL);"
    "CREATE TABLE line(purchase INTEGER NOT NULL, sku TEXT NOT NULL, qty INTEGER NOT NULL,"
    "  cents INTEGER NOT NULL, PRIMARY KEY(purchase, sku)) WITHOUT ROWID;"
    "CREATE INDEX purchase_day ON purchase(day);";

typedef struct {
    sqlite3 *db;
    sqlite3_stmt *find, *add_customer, *add_purchase, *add_line, *book;
} Store;

static void check(Store *s, int rc)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
        fprintf(stderr, "sqlite: %s\n", sqlite3_errmsg(s->db));
        exit(1);
    }
}

static void run(Store *s, const char *sql)
{
    check(s, sqlite3_exec(s->db, sql, NULL, NULL, NULL));
}

static void prepare(Store *s, sqlite3_stmt **st, const char *sql)
{
    check(s, sqlite3_prepare_v2(s->db, sql, -1, st, NULL));
}

static void store_open(Store *s, const char *path)
{
    check(s, sqlite3_open(path, &s->db));
    run(s, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536;");
    run(s, schema);
    prepare(s, &s->find, "SELECT id, points FROM customer WHERE email = ?1 COLLATE NOCASE");
    prepare(s, &s->add_customer, "INSERT INTO customer(email, name) VALUES(?1, ?2)");
    prepare(s, &s->add_purchase, "INSERT INTO purchase(customer, day, cents) VALUES(?1, ?2, ?3)");
    prepare(s, &s->add_line, "INSERT INTO line(purchase, sku, qty, cents) VALUES(?1, ?2, ?3, ?4)"
                             " ON CONFLICT DO UPDATE SET qty = qty + excluded.qty, cents = cents + excluded.cents");
    prepare(s, &s->book, "UPDATE customer SET points = points + ?2 WHERE id = ?1");
}

static void store_close(Store *s)
{
    sqlite3_finalize(s->find);
    sqlite3_finalize(s->add_customer);
    sqlite3_finalize(s->add_purchase);
    sqlite3_finalize(s->add_line);
    sqlite3_finalize(s->book);
    sqlite3_close(s->db);
}

static sqlite3_int64 find_customer(Store *s, const char *email)
{
    sqlite3_int64 id = 0;
    sqlite3_bind_text(s->find, 1, email, -1, SQLITE_TRANSIENT);
    int rc = sqlite3_step(s->find);
    check(s, rc);
    if (rc == SQLITE_ROW)
        id = sqlite3_column_int64(s->find, 0);
    sqlite3_reset(s->find);
    return id;
}

static sqlite3_int64 new_customer(Store *s, const char *email)
{
    char name[96];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(email, "@"), email);
    name[0] = (char)toupper((unsigned char)name[0]);
    sqlite3_bind_text(s->add_customer, 1, email, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(s->add_customer, 2, name, -1, SQLITE_TRANSIENT);
    check(s, sqlite3_step(s->add_customer));
    sqlite3_reset(s->add_customer);
    return sqlite3_last_insert_rowid(s->db);
}

static unsigned seed = 77;

static unsigned draw(unsigned below)
{
    seed = seed * 1664525u + 1013904223u;
    return (unsigned)(((unsigned long long)seed * below) >> 32);
}

/* The address as someone typed it: sometimes with capitals. */
static void typed_email(char *out, size_t size, unsigned who)
{
    static const char *host[] = {"example.com", "mail.example", "post.example", "corp.example"};
    snprintf(out, size, "user%05u.%c@%s", who, 'a' + (int)(who % 26), host[who % 4]);
    unsigned style = draw(8);
    if (style == 0)
        out[0] = 'U';
    else if (style == 1)
        for (char *p = out; *p; p++)
            *p = (char)toupper((unsigned char)*p);
}

static int import_order(Store *s, int number)
{
    char email[96], sku[24];
    typed_email(email, sizeof email, draw(100) < 60 ? draw(CUSTOMERS / 5) : draw(CUSTOMERS));
    sqlite3_int64 who = find_customer(s, email);
    int added = who == 0;
    if (added)
        who = new_customer(s, email);

    int lines = 1 + (int)draw(LINES_MAX), qty[LINES_MAX], price[LINES_MAX], total = 0;
    for (int i = 0; i < lines; i++) {
        qty[i] = 1 + (int)draw(3);
        price[i] = 199 + (int)draw(8000);
        total += qty[i] * price[i];
    }
    sqlite3_bind_int64(s->add_purchase, 1, who);
    sqlite3_bind_int(s->add_purchase, 2, number * 90 / ORDERS);
    sqlite3_bind_int(s->add_purchase, 3, total);
    check(s, sqlite3_step(s->add_purchase));
    sqlite3_reset(s->add_purchase);
    sqlite3_int64 purchase = sqlite3_last_insert_rowid(s->db);
    for (int i = 0; i < lines; i++) {
        snprintf(sku, sizeof sku, "SKU-%05u", draw(4000));
        sqlite3_bind_int64(s->add_line, 1, purchase);
        sqlite3_bind_text(s->add_line, 2, sku, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int(s->add_line, 3, qty[i]);
        sqlite3_bind_int(s->add_line, 4, qty[i] * price[i]);
        check(s, sqlite3_step(s->add_line));
        sqlite3_reset(s->add_line);
    }
    sqlite3_bind_int64(s->book, 1, who);
    sqlite3_bind_int(s->book, 2, total / 100);
    check(s, sqlite3_step(s->book));
    sqlite3_reset(s->book);
    return added;
}

static void report(Store *s)
{
    sqlite3_stmt *st;
    prepare(s, &st, "SELECT count(*), sum(points), max(points) FROM customer");
    check(s, sqlite3_step(st));
    printf("customers %d, points %lld, best %d\n", sqlite3_column_int(st, 0), sqlite3_column_int64(st, 1),
           sqlite3_column_int(st, 2));
    sqlite3_finalize(st);
    prepare(s, &st, "SELECT l.sku, sum(l.cents) AS c FROM line l JOIN purchase p ON p.id = l.purchase"
                    " WHERE p.day >= 60 GROUP BY l.sku ORDER BY c DESC, l.sku LIMIT 1");
    check(s, sqlite3_step(st));
    printf("best seller of the last month %s, %lld cents\n", (const char *)sqlite3_column_text(st, 0),
           sqlite3_column_int64(st, 1));
    sqlite3_finalize(st);
}

int main(void)
{
    char dir[] = "/tmp/loyalty-XXXXXX", path[64], cmd_path[80];
    if (!mkdtemp(dir)) {
        perror("mkdtemp");
        return 1;
    }
    snprintf(path, sizeof path, "%s/shop.db", dir);
    Store s;
    store_open(&s, path);
    int added = 0;
    for (int n = 0; n < ORDERS; n += BATCH) {
        run(&s, "BEGIN");
        for (int i = n; i < n + BATCH && i < ORDERS; i++)
            added += import_order(&s, i);
        run(&s, "COMMIT");
    }
    report(&s);
    printf("orders %d, customers added %d\n", ORDERS, added);
    store_close(&s);
    unlink(path);
    for (int i = 0; i < 2; i++) {
        snprintf(cmd_path, sizeof cmd_path, "%s-%s", path, i ? "wal" : "shm");
        unlink(cmd_path);
    }
    rmdir(dir);
    return 0;
}
