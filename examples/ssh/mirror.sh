#!/bin/sh
# Where the machines of a job share no folder: copies summaries from them, and requests of dwell capture to them.
#
#     dwell run --summary-every 30s -o /tmp/job/job.dwell -- ...       on each host
#     mirror.sh /tmp/job HERE HOST...                                  on one machine, until it is stopped
#     dwell watch HERE/*      dwell capture HERE/*      dwell ranks HERE/*/*.sum
#
# HERE gets a folder for each host. VIA is how rsync starts itself on a host: ssh, or the launcher of a job that runs,
# as VIA='srun --overlap --unbuffered --jobid 17 --nodelist'. EVERY is how often summaries are copied, in seconds.
# A file's time is when it came here, so that clocks may differ. A host that cannot be reached is tried again; dwell watch
# reports its ranks as lost meanwhile. Requests are looked for once a second.
[ $# -ge 3 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
job=$1 here=$2
shift 2
via=${VIA:-ssh -o BatchMode=yes -o ConnectTimeout=10 -o ControlMaster=auto -o ControlPersist=60 -o ControlPath=~/.ssh/dwell-%C}

# copy FROM TO OPTION...: files of one folder, without their times.
copy() {
	from=$1 to=$2
	shift 2
	rsync --rsh "$via" --dirs --checksum --timeout 20 "$@" --exclude '*' "$from/" "$to/"
}

mirror() {
	asked= passed=$EVERY
	while :; do
		ask=$(find "$here/$1" -name '*.ask')
		if [ -n "$ask$asked" ]; then
			copy "$here/$1" "$1:$job" --include '*.ask' --delete
			# An answer comes after the file that it names: in the order of the names.
			copy "$1:$job" "$here/$1" --include '*.????????T??????-*.dwell' --include '*.stacks' --include '*.answer' --remove-source-files
		fi
		asked=$ask
		if [ "$passed" -ge "$EVERY" ]; then
			copy "$1:$job" "$here/$1" --include '*.sum'
			passed=0
		fi
		sleep 1
		passed=$((passed + 1))
	done
}

EVERY=${EVERY:-5} all=
for host; do
	mkdir -p "$here/$host"
	mirror "$host" &
	all="$all $!"
done
trap 'kill $all' INT TERM
wait
