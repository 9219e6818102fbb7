#!/bin/sh
# Says whether a commit made a program slower than its base. For jobs of continuous integration, in the checkout of the commit.
#
# usage: speed.sh [BASE]
#
# BASE is a commit. Without it, runs of the checked-out commit are recorded and kept, as the base of later commits.
# With it, these kept runs stand for the base if that is enough to say that the commit is not slower. Otherwise, and
# without kept runs, both are recorded in turn, and these runs decide.
#
#   SPEED_COMMAND   what to run, as words: python train.py --steps 100
#   SPEED_PREPARE   a shell command that makes what the program needs and git does not have, within each of both checkouts
#   SPEED_RUNS      runs a side (5; at least 4)
#   SPEED_LIMIT     by how much slower is a failure (5%)
#   SPEED_RECORD    options of dwell run (--counters)
#   SPEED_COMPARE   options of dwell diff, as --steps 10..
#   SPEED_KEPT      no: kept runs do not stand for the base; machines of one model can differ
#   SPEED_FOLDER    where results are (.speed): comment.md, traces/, and kept/, which a cache should keep
#
# Exit status: that of dwell diff --fail-on. 0: not slower by the limit; 3: slower; 4: not comparable. Or that of what failed.
set -eu

base=${1:-}
command=${SPEED_COMMAND:?is not set: what is to be run, as "python train.py --steps 100"}
prepare=${SPEED_PREPARE:-:}
runs=${SPEED_RUNS:-5}
limit=${SPEED_LIMIT:-5%}
record=${SPEED_RECORD:---counters}
compare=${SPEED_COMPARE:-}
if [ "$runs" -lt 4 ]; then
	echo "speed.sh: SPEED_RUNS is $runs; fewer than 4 runs a side decide too little" >&2
	exit 2
fi
mkdir -p "${SPEED_FOLDER:=.speed}/kept"
folder=$(cd "$SPEED_FOLDER" && pwd)
here=$PWD
there=$folder/base/$(git rev-parse --show-prefix)
head=$(git rev-parse HEAD)
# Runs of another version of dwell, or of another command, are none of this comparison.
kind=$({ dwell --version && echo "$command / $prepare / $record / $runs"; } | cksum | cut -d' ' -f1)
kept=$folder/kept/${base:-$head}-$kind
after=$folder/traces/head
rm -rf "$folder/traces" "$folder/base" "$folder/comment.md" "$folder/new"
mkdir -p "$after"

prepare() { # CHECKOUT
	(cd "$1" && sh -ec "$prepare")
}

record() { # CHECKOUT FOLDER NUMBER
	(cd "$1" && dwell run $record -o "$2/$3.dwell" -- $command)
}

# Gives the recorded runs of a commit to later comparisons, with those of the newest few.
keep() { # FOLDER
	rm -rf "$kept"
	mv "$1" "$kept"
	touch "$folder/new"
	ls -t "$folder/kept" | tail -n +6 | while read -r old; do
		rm -rf "$folder/kept/$old"
	done
}

# Compares the runs of a folder with those of the commit: sets status and decided, and writes NAME.md.
look() { # BEFORE NAME [OPTION...]
	before=$1 name=$folder/traces/$2 status=0 decided=yes
	shift 2
	dwell diff $compare "$@" --fail-on "$limit" -f json -o "$name.json" "$before"/*.dwell -- "$after"/*.dwell || status=$?
	case $status in
	0 | 3 | 4) ;;
	*) return 1 ;;
	esac
	dwell diff $compare "$@" -f md -o "$name.md" "$before"/*.dwell -- "$after"/*.dwell
	# The first row of the document is the verdict.
	case $(grep -m1 '^  \["' "$name.json") in
	'  ["not proven",'* | '  ["not comparable",'*',"contention",'*) decided=no ;;
	esac
}

# The mean of the steps' instructions in each run of a folder, where the processor's counters can be read.
instructions() { # FOLDER
	for trace in "$1"/*.dwell; do
		dwell report --view facts -f csv "$trace" | awk -F, '$1 == "cpu.instructions" && $5 != "" { print $5 }'
	done
}

# What decides where no time does: prints status and sentence, or nothing.
count() { # BEFORE
	{ instructions "$1" | sed 's/^/before /' && instructions "$after" | sed 's/^/after /'; } | awk -v limit="${limit%\%}" -v runs="$runs" '
		!n[$1]++ || $2 < low[$1] { low[$1] = $2 }
		$2 > high[$1] { high[$1] = $2 }
		{ sum[$1] += $2 }
		END {
			if (n["before"] != runs || n["after"] != runs || !sum["before"])
				exit
			change = 100 * (sum["after"] / sum["before"] - 1)
			more = change >= limit
			if (more && low["after"] <= high["before"])
				exit
			printf "%d Times cannot tell; the instructions of a step do: %+.2f%%, %.4g before, %.4g after (%d runs each%s).\n", more ? 3 : 0, change,
				sum["before"] / runs, sum["after"] / runs, runs, more ? ", each after has more than all before" : ""
		}'
}

# Lets decide the time per step, if it cannot the fast steps, and then the instructions.
judge() { # BEFORE
	said='' shown=mean
	look "$1" mean || exit $status
	[ $decided = no ] || return 0
	first=$status
	if look "$1" fast --by fast && [ $decided = yes ]; then
		shown=fast
		return
	fi
	counted=$(count "$1")
	if [ -n "$counted" ]; then
		decided=yes status=${counted%% *} said=${counted#* }
	else
		decided=no status=$first
	fi
}

report() { # WHERE-THE-BASE-IS-FROM
	{
		printf '### Speed of %.10s against %.10s\n\n' "$head" "$base"
		case $status-$decided in
		3-*) printf '**Slower by %s or more.**' "$limit" ;;
		4-*) printf '**Not comparable.**' ;;
		*-no) printf '**Not proven: more runs, or a quieter machine, will show it.**' ;;
		*) printf '**Not slower by %s or more.**' "$limit" ;;
		esac
		printf '%s %s\n\n' "${said:+ $said}" "$1"
		tail -n +3 "$folder/traces/$shown.md" # without its heading
	} >"$folder/comment.md"
	dwell report --summary -f md -o "$folder/traces/head.md" "$after/1.dwell"
	# Comments have at most 65,536 characters.
	if [ $(cat "$folder/comment.md" "$folder/traces/head.md" | wc -c) -lt 65536 ]; then
		cat "$folder/traces/head.md" >>"$folder/comment.md"
	fi
	sed '/^|/,$d' "$folder/comment.md"
	exit $status
}

if [ -z "$base" ]; then
	[ ! -e "$kept" ] || exit 0
	prepare "$here"
	for i in $(seq "$runs"); do
		record "$here" "$after" "$i"
	done
	keep "$after"
	exit 0
fi

prepare "$here"
if [ -e "$kept" ] && [ "${SPEED_KEPT:-yes}" != no ]; then
	for i in $(seq "$runs"); do
		record "$here" "$after" "$i"
	done
	judge "$kept"
	[ $status-$decided != 0-yes ] || report "The base's runs were kept by an earlier job."
fi

# Times of another hour, or of another machine of the kind, do not show that something is slower.
git cat-file -e "$base^{commit}" 2>/dev/null || git fetch -q --depth 1 origin "$base"
trap 'git worktree remove --force "$folder/base"' EXIT
git worktree add -q --force --detach "$folder/base" "$base"
prepare "$there"
mkdir "$folder/traces/base"
for i in $(seq "$runs"); do
	record "$there" "$folder/traces/base" "$i"
	record "$here" "$after" "$i"
done
keep "$folder/traces/base"
judge "$kept"
report "Both were recorded in turn."
