/*
 * `dwell watch --mpi`: where machines share no folder, the processes of a small MPI job of its own, one a machine, bring the
 * summaries together. It does not take part in the job that is watched, and does not wait with it.
 *
 *     process 0       dw_watch_mpi_begin(), dw_watch_mpi_take() again and again, dw_watch_mpi_end()
 *     each other one  dw_watch_mpi_begin(), dw_watch_mpi_send()
 *
 * No call waits for another process: what has not come is looked for again later.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DW_WATCH_MPI_MS 100u /* how often processes look for messages */

struct dw_watch_mpi_source;
struct dw_watch_mpi {
	int process, processes;
	char **folders; /* in process 0: what is watched, its own folder and a folder of copies for each other process */
	size_t folder_count;
	char place[4096]; /* of these folders */
	struct dw_watch_mpi_source *sources;
};

/* Starts MPI. Returns 0, or an exit status after a message. */
int dw_watch_mpi_begin(struct dw_watch_mpi *mpi, char *folder);
/* Stores what has come from the other processes. */
void dw_watch_mpi_take(struct dw_watch_mpi *mpi);
/* Takes until the other processes have ended, for some seconds at most. False: one has not. */
bool dw_watch_mpi_take_rest(struct dw_watch_mpi *mpi);
/* Sends summaries of the folder to process 0 when they were written, until that process or a signal ends it, or `once`. */
void dw_watch_mpi_send(const struct dw_watch_mpi *mpi, const char *folder, uint64_t every_ms, bool once, const volatile int *stopped);
/* Ends the other processes and MPI, and removes the copies. */
void dw_watch_mpi_end(struct dw_watch_mpi *mpi);
