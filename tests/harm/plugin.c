/* Libraries that harm loads: built plain, with -DLOCKS (its constructor takes the program's lock), with -DPRINTS (its
 * constructor and destructor print), with -DALLOCATES (its constructor allocates in a thread). */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern pthread_mutex_t harm_registry;

long plugin_call(long (*callback)(void));

long plugin_call(long (*callback)(void))
{
	long result = callback();
	return result + 1;
}

#ifdef LOCKS
__attribute__((constructor)) static void plugin_begin(void)
{
	pthread_mutex_lock(&harm_registry);
	pthread_mutex_unlock(&harm_registry);
}
#endif

#ifdef PRINTS
__attribute__((constructor)) static void plugin_begin(void)
{
	printf("constructor\n");
	usleep(1000);
}

__attribute__((destructor)) static void plugin_end(void)
{
	printf("destructor\n");
	usleep(1000);
}
#endif

#ifdef ALLOCATES
static void *plugin_thread(void *value)
{
	for (int i = 0; i < 100; i++)
		free(malloc(1000 + (size_t)i * 100));
	return value;
}

__attribute__((constructor)) static void plugin_begin(void)
{
	pthread_t thread;
	if (!pthread_create(&thread, NULL, plugin_thread, NULL))
		pthread_join(thread, NULL);
}
#endif
