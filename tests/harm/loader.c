/* Libraries that are loaded and unloaded, the messages of dlerror(), and code made at run time. */
#define _GNU_SOURCE
#include "harm.h"
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/select.h>
#include <sys/socket.h>

pthread_mutex_t harm_registry = PTHREAD_MUTEX_INITIALIZER;

/* ---- dlerror() after a failure and one call ---- */

enum {
	D_OPEN,
	D_READ,
	D_WRITE,
	D_CLOSE,
	D_MUTEX,
	D_RWLOCK,
	D_COND,
	D_NANOSLEEP,
	D_USLEEP,
	D_POLL,
	D_SELECT,
	D_MALLOC,
	D_CALLOC,
	D_REALLOC,
	D_FREE,
	D_THREAD,
	D_FORK,
	D_SEM,
	D_SIGNAL,
	D_SIGACTION,
	D_TIMER,
	D_ITERATE,
	D_FOPEN,
	D_PRINTF,
	D_SEND,
	D_SIGTIMEDWAIT,
	D_EXEC,
	D_MMAP,
	D_SPAWN,
	D_COMPUTE,
	D_FSYNC,
	D_NOTHING
};

static void *error_thread(void *value)
{
	harm_compute(.01);
	return value;
}

static int error_each(struct dl_phdr_info *info UNUSED, size_t size UNUSED, void *value)
{
	++*(int *)value;
	return 0;
}

static void error_wait(long call)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
	static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec time = harm_time(.002), none = { 0, 0 };
	sem_t semaphore;
	sigset_t set;
	switch (call) {
	case D_MUTEX:
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		break;
	case D_RWLOCK:
		pthread_rwlock_rdlock(&rwlock);
		pthread_rwlock_unlock(&rwlock);
		break;
	case D_COND:
		pthread_mutex_lock(&lock);
		time = harm_after(CLOCK_REALTIME, .002);
		pthread_cond_timedwait(&condition, &lock, &time);
		pthread_mutex_unlock(&lock);
		break;
	case D_SEM:
		sem_init(&semaphore, 0, 1);
		sem_wait(&semaphore);
		break;
	case D_NANOSLEEP:
		nanosleep(&time, NULL);
		break;
	case D_USLEEP:
		usleep(1000);
		break;
	case D_POLL:
		poll(NULL, 0, 1);
		break;
	case D_SELECT:
		select(0, NULL, NULL, NULL, &(struct timeval){ 0, 1000 });
		break;
	default:
		sigemptyset(&set);
		sigaddset(&set, SIGUSR1);
		sigtimedwait(&set, NULL, &none);
	}
}

static void error_memory(long call)
{
	void *block = malloc(call == D_FREE ? 700000 : 10);
	switch (call) {
	case D_MALLOC:
		free(malloc(900000));
		break;
	case D_CALLOC:
		free(calloc(9, 100000));
		break;
	case D_REALLOC:
		block = realloc(block, 900000);
		break;
	case D_MMAP:
		munmap(mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 1 << 20);
		break;
	default:
		break;
	}
	free(block);
}

static void error_files(long call)
{
	static char byte;
	int ends[2], count = 0;
	if (pipe(ends) || syscall(SYS_write, ends[1], "x", 1) != 1)
		return;
	switch (call) {
	case D_OPEN:
		harm_say("opened %d\n", open("/dev/null", O_WRONLY) >= 0);
		break;
	case D_READ:
		harm_result("read", read(ends[0], &byte, 1));
		break;
	case D_WRITE:
		harm_result("write", write(ends[1], &byte, 1));
		break;
	case D_SEND:
		socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
		harm_result("send", send(ends[0], &byte, 1, 0));
		harm_result("recv", recv(ends[1], &byte, 1, 0));
		break;
	case D_FSYNC:
		harm_result("fsync", fsync(open("sync.tmp", O_CREAT | O_RDWR, 0600)));
		break;
	case D_FOPEN:
		fclose(fopen("/dev/null", "r"));
		break;
	case D_PRINTF:
		fprintf(stderr, "a line\n");
		break;
	case D_ITERATE:
		dl_iterate_phdr(error_each, &count);
		break;
	default:
		close(ends[0]);
	}
}

static void error_processes(long call)
{
	extern char **environ;
	char *arguments[] = { "true", NULL };
	timer_t timer;
	pid_t pid;
	switch (call) {
	case D_THREAD:
		harm_thread(error_thread, NULL, NULL);
		break;
	case D_FORK:
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		break;
	case D_SPAWN:
		posix_spawnp(&pid, "true", NULL, NULL, arguments, environ);
		waitpid(pid, NULL, 0);
		break;
	case D_EXEC:
		execl("/nonexistent", "x", (char *)NULL);
		break;
	case D_SIGNAL:
		signal(SIGURG, SIG_IGN);
		break;
	case D_SIGACTION:
		harm_handle(SIGUSR1, 0);
		break;
	case D_TIMER:
		timer_create(CLOCK_MONOTONIC, NULL, &timer);
		break;
	default:
		harm_compute(TICKS);
	}
}

static void error_call(long call)
{
	if (call == D_NOTHING)
		return;
	if (call <= D_CLOSE || call == D_FOPEN || call == D_PRINTF || call == D_ITERATE || call == D_SEND ||
	    call == D_FSYNC)
		error_files(call);
	else if ((call >= D_MALLOC && call <= D_FREE) || call == D_MMAP)
		error_memory(call);
	else if (call == D_THREAD || call == D_FORK || call == D_SPAWN || call == D_EXEC ||
	         (call >= D_SIGNAL && call <= D_TIMER) || call == D_COMPUTE)
		error_processes(call);
	else
		error_wait(call);
}

static void error_say(const char *what)
{
	const char *text = dlerror();
	harm_say("%s: %s\n", what, text ? text : "no message");
}

static void error_main(long call)
{
	for (int i = 0; i < 2; i++) {
		dlopen("libnonexistent.so", RTLD_NOW);
		error_call(call);
		error_say("dlopen");
		error_say("again");
	}
	dlsym(RTLD_DEFAULT, "nonexistent");
	error_call(call);
	error_say("dlsym");
	error_call(call);
	error_say("without a failure");
	dlvsym(RTLD_DEFAULT, "malloc", "NONE_1");
	error_call(call);
	const char *text = dlerror();
	harm_say("dlvsym: %s\n", text ? "a message" : "no message");
}

/* ---- libraries that come and go ---- */

static const char *const others[] = { "libz.so.1",   "libm.so.6",    "libexpat.so.1",
	                                  "libffi.so.8", "liblzma.so.5", "libbz2.so.1.0" };
static void storm_main(long value)
{
	pthread_t threads[4];
	for (long i = 0; i < value; i++)
		pthread_create(&threads[i], NULL, harm_exchange, (void *)(i + 1));
	for (double end = harm_now() + .15; harm_now() < end;)
		for (size_t i = 0; i < COUNT_OF(others); i++) {
			void *library = dlopen(others[i], RTLD_NOW);
			if (library)
				dlclose(library);
		}
	harm_stop = 1;
	for (int i = 0; i < value; i++)
		pthread_join(threads[i], NULL);
	harm_say("done\n");
}

static volatile int inside;

static int iterate_each(struct dl_phdr_info *info UNUSED, size_t size UNUSED, void *value UNUSED)
{
	if (!inside) {
		inside = 1;
		harm_compute(.12);
	}
	return 0;
}

static void *iterate_begin(void *value)
{
	dl_iterate_phdr(iterate_each, NULL);
	return value;
}

/* A thread computes in dl_iterate_phdr() while another loads a library. */
static void iterate_main(long value)
{
	pthread_t thread;
	if (!value) {
		dl_iterate_phdr(iterate_each, NULL);
		return;
	}
	pthread_create(&thread, NULL, iterate_begin, NULL);
	while (!inside)
		;
	harm_say("loaded %d\n", dlopen(others[0], RTLD_NOW) != NULL);
	pthread_join(thread, NULL);
}

static void *holder_begin(void *value)
{
	pthread_mutex_lock(&harm_registry);
	inside = 1;
	harm_compute(.12);
	pthread_mutex_unlock(&harm_registry);
	return value;
}

/* A thread computes with a lock, which a library's constructor wants. */
static void holder_main(long value UNUSED)
{
	pthread_t thread;
	pthread_create(&thread, NULL, holder_begin, NULL);
	while (!inside)
		usleep(500);
	harm_say("loaded %d\n", dlopen(harm_plugin("plugin_locks"), RTLD_NOW) != NULL);
	pthread_join(thread, NULL);
}

static void constructor_main(long value)
{
	const char *name = value ? "plugin_allocates" : "plugin_prints";
	for (int i = 0; i < 3; i++) {
		void *library = dlopen(harm_plugin(name), value == 2 ? RTLD_LAZY : RTLD_NOW);
		harm_say("loaded %d\n", library != NULL);
		fflush(stdout);
		harm_compute(.02);
		harm_say("dlclose %d\n", dlclose(library));
		harm_say("is there %d\n", dlopen(harm_plugin(name), RTLD_NOW | RTLD_NOLOAD) != NULL);
	}
}

static void space_main(long value)
{
	void *library = dlmopen(LM_ID_NEWLM, value ? harm_plugin("plugin_prints") : "libz.so.1", RTLD_NOW);
	harm_say("dlmopen %d\n", library != NULL);
	harm_compute(TICKS);
	Lmid_t id = 0;
	if (library)
		harm_result("dlinfo", dlinfo(library, RTLD_DI_LMID, &id));
	harm_say("another namespace %d\n", id > 0);
	const char *(*version)(void) = library ? (const char *(*)(void))dlsym(library, "zlibVersion") : NULL;
	harm_say("%s\n", version ? version() : "no function");
	if (library)
		harm_say("dlclose %d\n", dlclose(library));
}

/* ---- unloaded code, and code made at run time ---- */

static void *return_address;

static NOINLINE long unload_callback(void)
{
	return_address = __builtin_return_address(0);
	harm_compute(.1);
	return 1;
}

static NOINLINE void unload_fill(void)
{
	void *volatile addresses[200];
	for (int i = 0; i < 200; i++)
		addresses[i] = return_address;
	(void)addresses[5];
}

/* A loop with a frame of 1 KiB that it does not write: old return addresses are in it. */
static const unsigned char made_code[] = { 0x55, 0x48, 0x81, 0xec, 0,    4,    0,    0,    0x31,
	                                       0xed, 0x48, 0x89, 0xf8, 0x48, 0xff, 0xc8, 0x75, 0xfb,
	                                       0x48, 0x81, 0xc4, 0,    4,    0,    0,    0x5d, 0xc3 };

static void (*code_make(void))(long)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(memory, made_code, sizeof made_code);
	mprotect(memory, 4096, PROT_READ | PROT_EXEC);
	return (void (*)(long))memory;
}

static NOINLINE void code_run(void (*made)(long))
{
	unload_fill();
	made(500000000);
	__asm__ volatile("");
}

static void unload_main(long value)
{
	void *library = dlopen(harm_plugin("plugin"), RTLD_NOW);
	long (*call)(long (*)(void)) = (long (*)(long (*)(void)))dlsym(library, "plugin_call");
	harm_say("call %ld\n", call(unload_callback));
	harm_say("dlclose %d\n", dlclose(library));
	if (value)
		code_run(code_make());
	harm_compute(TICKS);
	harm_say("done\n");
}

static void *unload_thread(void *value)
{
	for (int i = 0; i < 60; i++) {
		void *library = dlopen(harm_plugin(value ? "plugin" : "plugin_allocates"), RTLD_NOW);
		long (*call)(long (*)(void)) = (long (*)(long (*)(void)))dlsym(library, "plugin_call");
		*(void **)&call = call ? (void *)call : NULL;
		harm_compute(.001);
		dlclose(library);
	}
	return value;
}

static void unload_threads(long value)
{
	pthread_t threads[4];
	for (long i = 0; i < value; i++)
		pthread_create(&threads[i], NULL, unload_thread, (void *)(i % 2));
	for (int i = 0; i < value; i++)
		pthread_join(threads[i], NULL);
	harm_say("done\n");
}

static void *code_thread(void *value)
{
	void (*made)(long) = code_make();
	for (int i = 0; i < 5; i++) {
		made(30000000);
		munmap((void *)made, 4096);
		made = code_make();
	}
	return value;
}

static void code_main(long value)
{
	pthread_t threads[4];
	for (int i = 0; i < value; i++)
		pthread_create(&threads[i], NULL, code_thread, NULL);
	code_run(code_make());
	for (int i = 0; i < value; i++)
		pthread_join(threads[i], NULL);
	harm_say("done\n");
}

/* ---- what the loader answers ---- */

static int answer_each(struct dl_phdr_info *info, size_t size UNUSED, void *value)
{
	const char *name = strrchr(info->dlpi_name, '/');
	if (!strstr(info->dlpi_name, "dwell"))
		snprintf((char *)value + strlen(value), 600, " %s", name ? name + 1 : info->dlpi_name);
	return 0;
}

static void answers_main(long value UNUSED)
{
	char names[4000] = "";
	Dl_info info;
	harm_compute(TICKS);
	dl_iterate_phdr(answer_each, names);
	harm_say("libraries:%s\n", names);
	harm_say("dladdr %d\n", dladdr((void *)answers_main, &info) != 0);
	harm_say("main program's handle %d\n", dlopen(NULL, RTLD_NOW) != NULL);
	harm_say("registry is found %d\n", dlsym(RTLD_DEFAULT, "harm_registry") == (void *)&harm_registry);
	const char *names_of[] = {
		"read", "malloc", "pthread_mutex_lock", "usleep", "fork", "signal", "sigaction", "getpid"
	};
	for (size_t i = 0; i < COUNT_OF(names_of); i++)
		harm_say("%s is found %d %d\n", names_of[i], dlsym(RTLD_DEFAULT, names_of[i]) != NULL,
		         dlsym(RTLD_NEXT, names_of[i]) != NULL);
	void *found = dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.2.5");
	harm_say("an old version is found %d\n", found != NULL);
}

#define MESSAGE(name, call) \
	{ \
		"dlerror", name, error_main, call \
	}

const struct harm_program harm_loader[] = {
	MESSAGE("at once", D_NOTHING),
	MESSAGE("open", D_OPEN),
	MESSAGE("read", D_READ),
	MESSAGE("write", D_WRITE),
	MESSAGE("close", D_CLOSE),
	MESSAGE("pthread_mutex_lock", D_MUTEX),
	MESSAGE("pthread_rwlock_rdlock", D_RWLOCK),
	MESSAGE("pthread_cond_timedwait", D_COND),
	MESSAGE("nanosleep", D_NANOSLEEP),
	MESSAGE("usleep", D_USLEEP),
	MESSAGE("poll", D_POLL),
	MESSAGE("select", D_SELECT),
	MESSAGE("sem_wait", D_SEM),
	MESSAGE("sigtimedwait", D_SIGTIMEDWAIT),
	MESSAGE("malloc", D_MALLOC),
	MESSAGE("calloc", D_CALLOC),
	MESSAGE("realloc", D_REALLOC),
	MESSAGE("free", D_FREE),
	MESSAGE("mmap", D_MMAP),
	MESSAGE("pthread_create", D_THREAD),
	MESSAGE("fork", D_FORK),
	MESSAGE("posix_spawn", D_SPAWN),
	MESSAGE("execl", D_EXEC),
	MESSAGE("signal", D_SIGNAL),
	MESSAGE("sigaction", D_SIGACTION),
	MESSAGE("timer_create", D_TIMER),
	MESSAGE("dl_iterate_phdr", D_ITERATE),
	MESSAGE("fopen", D_FOPEN),
	MESSAGE("fprintf", D_PRINTF),
	MESSAGE("send and recv", D_SEND),
	MESSAGE("fsync", D_FSYNC),
	MESSAGE("computation", D_COMPUTE),
	{ "libraries", "storm, no thread", storm_main, 0 },
	{ "libraries", "storm, 1 thread allocates", storm_main, 1 },
	{ "libraries", "storm, 4 threads allocate", storm_main, 4 },
	{ "libraries", "dl_iterate_phdr computes", iterate_main, 0 },
	{ "libraries", "dl_iterate_phdr computes, dlopen", iterate_main, 1 },
	{ "libraries", "constructor waits for a lock", holder_main, 0 },
	{ "libraries", "constructor prints", constructor_main, 0 },
	{ "libraries", "constructor makes a thread", constructor_main, 1 },
	{ "libraries", "constructor makes a thread, RTLD_LAZY", constructor_main, 2 },
	{ "libraries", "dlmopen of zlib", space_main, 0 },
	{ "libraries", "dlmopen of a plugin", space_main, 1 },
	{ "libraries", "what the loader answers", answers_main, 0 },
	{ "unloaded code", "computation after it", unload_main, 0 },
	{ "unloaded code", "code made at run time after it", unload_main, 1 },
	{ "unloaded code", "2 threads load and unload", unload_threads, 2 },
	{ "unloaded code", "4 threads load and unload", unload_threads, 4 },
	{ "code made at run time", "1 thread", code_main, 0 },
	{ "code made at run time", "4 threads", code_main, 3 },
	{ NULL, NULL, NULL, 0 },
};
