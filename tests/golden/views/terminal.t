# The command on terminals, and several views at once.
$ trace train && NO_COLOR=1 terminal 80 dwell report train.dwell --view threads
thread        pid   tid  records  ranges   first   last   busy  busy share  lost
train        4711  4711      812     406  5.00ms  1.02s  968ms       95.5%     0
loader       4711  4712      168      84  47.0ms  949ms  861ms       95.5%     0
all threads                  980     490                                       0

$ NO_COLOR=1 terminal 120 dwell report train.dwell --view threads
thread        pid   tid  records  ranges   first   last   busy  busy share  lost
train        4711  4711      812     406  5.00ms  1.02s  968ms       95.5%     0  ████████████████████████
loader       4711  4712      168      84  47.0ms  949ms  861ms       95.5%     0  ████████████████████████
all threads                  980     490                                       0

$ NO_COLOR=1 LC_ALL=C terminal 120 dwell report train.dwell --view phases
phase                where    total ms  per step ms  of wall  of the loop
forward              steps       320.9         8.02    31.5%        33.7%  ########################
backward             steps       320.0         8.00    31.4%        33.6%  ########################
data                 steps        80.9         2.02     7.9%         8.5%  ######
optimizer            steps        62.7         1.57     6.2%         6.6%  #####
collector            steps        40.0         1.00     3.9%         4.2%  ###
other                steps        20.0         0.50     2.0%         2.1%  ##
start-up             outside      46.0                  4.5%               ####
evaluation           outside      90.0         2.25     8.8%         9.5%  #######
checkpoint           outside      12.0         0.30     1.2%         1.3%  #
between steps        outside       4.9         0.12     0.5%         0.5%
after the last step  outside      22.1                  2.2%               ##
all                             1019.5        23.79   100.0%

$ terminal 100 dwell report train.dwell --view phases | sed 's/\x1b/ESC/g'
ESC[1mphase                where    total ms  per step ms  of wall  of the loopESC[0m
forward              steps       320.9         8.02    31.5%        33.7%  ESC[36m████████████████████████ESC[0m
backward             steps       320.0         8.00    31.4%        33.6%  ESC[36m███████████████████████▉ESC[0m
data                 steps        80.9         2.02     7.9%         8.5%  ESC[36m██████ESC[0m
optimizer            steps        62.7         1.57     6.2%         6.6%  ESC[36m████▊ESC[0m
collector            steps        40.0         1.00     3.9%         4.2%  ESC[36m███ESC[0m
other                steps        20.0         0.50     2.0%         2.1%  ESC[36m█▌ESC[0m
start-up             outside      46.0                  4.5%               ESC[36m███▌ESC[0m
evaluation           outside      90.0         2.25     8.8%         9.5%  ESC[36m██████▊ESC[0m
checkpoint           outside      12.0         0.30     1.2%         1.3%  ESC[36m▉ESC[0m
between steps        outside       4.9         0.12     0.5%         0.5%  ESC[36m▍ESC[0m
after the last step  outside      22.1                  2.2%               ESC[36m█▋ESC[0m
ESC[1mall                             1019.5        23.79   100.0%ESC[0m

$ trace names && terminal 80 dwell report names.dwell --view operators --format csv | cut -d , -f 1 | cat -A
name$
esc?[31mape$
badM-oM-?M-=M-oM-?M-=utf8$
=cmd|'/c'$
"void at::native::vectorized_elementwise_kernel<4$
naM-CM-/ve$
M-gM-^UM-3M-cM-^AM-?M-hM->M-<M-cM-^AM-?M-fM-<M-^TM-gM-.M-^W$
[31mred$
*bold*_and_`code`$
" blank first"$
"x$
a|b$

$ dwell report train.dwell --view phases --view threads
phases

phase                where    total ms  per step ms  of wall  of the loop
forward              steps       320.9         8.02    31.5%        33.7%
backward             steps       320.0         8.00    31.4%        33.6%
data                 steps        80.9         2.02     7.9%         8.5%
optimizer            steps        62.7         1.57     6.2%         6.6%
collector            steps        40.0         1.00     3.9%         4.2%
other                steps        20.0         0.50     2.0%         2.1%
start-up             outside      46.0                  4.5%
evaluation           outside      90.0         2.25     8.8%         9.5%
checkpoint           outside      12.0         0.30     1.2%         1.3%
between steps        outside       4.9         0.12     0.5%         0.5%
after the last step  outside      22.1                  2.2%
all                             1019.5        23.79   100.0%

threads

thread        pid   tid  records  ranges   first   last   busy  busy share  lost
train        4711  4711      812     406  5.00ms  1.02s  968ms       95.5%     0
loader       4711  4712      168      84  47.0ms  949ms  861ms       95.5%     0
all threads                  980     490                                       0

$ dwell report train.dwell --view phases --view threads --format json | grep '"view"'
{"view":"phases","traces":["train.dwell"],"scope":{},
{"view":"threads","traces":["train.dwell"],"scope":{},
