$ print_tables all text
cells

A sentence stands above the rows; where it is longer than a line of the terminal, it goes on in the next line, at a blank.
  -> a hint keeps its indent, and has one_of|several|alternatives|that|are|together|longer|than|a|narrow|terminal|is

name                                id      times     a step    total  part ms   memory   share  slower      rate  place
small                               -7          1        0.5    999ns      0.0     512B    0.0%   1.00x    0.25/s  conv.c:12
large              9223372036854775807  1,204,331  1,234,568    93.4s     42.1  1.00TiB   96.0%   3.91x  15,235/s  a/long/path/of/a/file/in/a/folder/conv.c:1200
negative and zero                    0          0          0  -1.50us     -2.5        0  -10.0%   0.00x       0/s
no numbers
all of them                             1,204,332               93.4s     42.2  1.00TiB  100.0%

A note stands below the rows: *2* of them have <no> name.
1,234 more rows: --limit all shows them.
Recorded: 87.5% of this time.
Lost: 1 record (disk_full: the disk was full).
Lost: 12,345 records (buffer_full: the buffers were full).

names

na|me                                                                                                              <of> all  place
a|b                                                                                                                    0.0%  a|b
x, y                                                                                                                   6.7%
say "no"                                                                                                              13.3%
 blank first                                                                                                          20.0%
*bold*_and_`code`                                                                                                     26.7%
<b> & [link](x) #1 ~ \                                                                                                33.3%
=cmd|'/c'                                                                                                             40.0%
esc?[31mape                                                                                                           46.7%  esc?[31mape
two?lines?and?tabs                                                                                                    53.3%
bad��utf8                                                                                                             60.0%
畳み込み演算                                                                                                          66.7%
naïve                                                                                                                 73.3%
turned?back                                                                                                           80.0%
                                                                                                                      86.7%
void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3> >(int)     93.3%  void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3> >(int)
all | of them                                                                                                        100.0%

parts

          share
  1.23ms  50.0%

A note of the first part.

  range                                                                 self  share
  a range with a longer name                                          30.0us  75.0%
    range                                                             29.0us  72.5%
      a range with a longer name                                      28.0us  70.0%
    range                                                             27.0us  67.5%
      a range with a longer name                                      26.0us  65.0%
        range                                                         25.0us  62.5%
                                   a range with a longer name         24.0us  60.0%
  range                                                               23.0us  57.5%
  all                                                                  212us

The cause is said in a sentence.

The last part has no rows, and a note.

scoped

Only step 7, time 1.5s..2s, profile fit, action run_training_batch, thread main, rows named aten::*, rows of at least 1ms.

name  id  times
one    1      1

1 more row: --limit all shows it.

empty

Only steps 10..20, this profile.

# On terminals.
$ print_tables cells text 160
A sentence stands above the rows; where it is longer than a line of the terminal, it goes on in the next line, at a blank.
  -> a hint keeps its indent, and has one_of|several|alternatives|that|are|together|longer|than|a|narrow|terminal|is

name                                id      times     a step    total  part ms   memory   share  slower      rate  place
small                               -7          1        0.5    999ns      0.0     512B    0.0%   1.00x    0.25/s  conv.c:12
large              9223372036854775807  1,204,331  1,234,568    93.4s     42.1  1.00TiB   96.0%   3.91x  15,235/s  a/long/path/of/a/file/in/a/folder/conv.c:1200
negative and zero                    0          0          0  -1.50us     -2.5        0  -10.0%   0.00x       0/s
no numbers
all of them                             1,204,332               93.4s     42.2  1.00TiB  100.0%

A note stands below the rows: *2* of them have <no> name.
1,234 more rows: --limit all shows them.
Recorded: 87.5% of this time.
Lost: 1 record (disk_full: the disk was full).
Lost: 12,345 records (buffer_full: the buffers were full).

$ print_tables cells text 100
A sentence stands above the rows; where it is longer than a line of the terminal, it goes on in the
next line, at a blank.
  -> a hint keeps its indent, and has one_of|several|alternatives|that|are|together|longer|than|a|
     narrow|terminal|is

name                                id      times     a step    total  part ms   share  slower
small                               -7          1        0.5    999ns      0.0    0.0%   1.00x
large              9223372036854775807  1,204,331  1,234,568    93.4s     42.1   96.0%   3.91x
negative and zero                    0          0          0  -1.50us     -2.5  -10.0%   0.00x
no numbers
all of them                             1,204,332               93.4s     42.2  100.0%

A note stands below the rows: *2* of them have <no> name.
1,234 more rows: --limit all shows them.
Recorded: 87.5% of this time.
Lost: 1 record (disk_full: the disk was full).
Lost: 12,345 records (buffer_full: the buffers were full).

$ print_tables cells text 60
A sentence stands above the rows; where it is longer than a
line of the terminal, it goes on in the next line, at a
blank.
  -> a hint keeps its indent, and has one_of|several|
     alternatives|that|are|together|longer|than|a|narrow|
     terminal|is

name                         id      times    total  part ms   share
small                        -7          1    999ns      0.0    0.0%
large       9223372036854775807  1,204,331    93.4s     42.1   96.0%
negat…zero                    0          0  -1.50us     -2.5  -10.0%
no numbers
all o…them                       1,204,332    93.4s     42.2  100.0%

A note stands below the rows: *2* of them have <no> name.
1,234 more rows: --limit all shows them.
Recorded: 87.5% of this time.
Lost: 1 record (disk_full: the disk was full).
Lost: 12,345 records (buffer_full: the buffers were full).

$ print_tables cells text 30
A sentence stands above the
rows; where it is longer than
a line of the terminal, it
goes on in the next line, at a
blank.
  -> a hint keeps its indent,
     and has one_of|several|
     alternatives|that|are|
     together|longer|than|a|
     narrow|terminal|is

name                         id      times    total  part ms   share
small                        -7          1    999ns      0.0    0.0%
large       9223372036854775807  1,204,331    93.4s     42.1   96.0%
negat…zero                    0          0  -1.50us     -2.5  -10.0%
no numbers
all o…them                       1,204,332    93.4s     42.2  100.0%

A note stands below the rows:
*2* of them have <no> name.
1,234 more rows: --limit all
shows them.
Recorded: 87.5% of this time.
Lost: 1 record (disk_full: the
disk was full).
Lost: 12,345 records
(buffer_full: the buffers were
full).

$ print_tables names text 100
na|me                 <of> all  place
a|b                       0.0%  a|b
x, y                      6.7%
say "no"                 13.3%
 blank first             20.0%
*bold*_and_`code`        26.7%
<b> & [lin…x) #1 ~ \     33.3%
=cmd|'/c'                40.0%
esc?[31mape              46.7%  esc?[31mape
two?lines?and?tabs       53.3%
bad��utf8                60.0%
畳み込み演算             66.7%
naïve                    73.3%
turned?back              80.0%
                         86.7%
void at::n…3> >(int)     93.3%  void at::native::vectorized_elemen…oat>, std::array<char*, 3> >(int)
all | of them           100.0%

$ print_tables names text 50 ascii
na|me                                     <of> all
a|b                                           0.0%
x, y                                          6.7%
say "no"                                     13.3%
 blank first                                 20.0%
*bold*_and_`code`                            26.7%
<b> & [link](x) #1 ~ \                       33.3%
=cmd|'/c'                                    40.0%
esc?[31mape                                  46.7%
two?lines?and?tabs                           53.3%
bad��utf8                                    60.0%
畳み込み演算                                 66.7%
naïve                                        73.3%
turned?back                                  80.0%
                                             86.7%
void at::native::ve..ay<char*, 3> >(int)     93.3%
all | of them                               100.0%

$ print_tables parts text 80
          share
  1.23ms  50.0%

A note of the first part.

  range                                                              self  share
  a range with a longer name                                       30.0us  75.0%
    range                                                          29.0us  72.5%
      a range with a longer name                                   28.0us  70.0%
    range                                                          27.0us  67.5%
      a range with a longer name                                   26.0us  65.0%
        range                                                      25.0us  62.5%
                                 a range with a longer name        24.0us  60.0%
  range                                                            23.0us  57.5%
  all                                                               212us

The cause is said in a sentence.

The last part has no rows, and a note.

$ print_tables parts text 120 ascii
          share
  1.23ms  50.0%

A note of the first part.

  range                                                                 self  share
  a range with a longer name                                          30.0us  75.0%  ########################
    range                                                             29.0us  72.5%  #######################
      a range with a longer name                                      28.0us  70.0%  ######################
    range                                                             27.0us  67.5%  ######################
      a range with a longer name                                      26.0us  65.0%  #####################
        range                                                         25.0us  62.5%  ####################
                                   a range with a longer name         24.0us  60.0%  ###################
  range                                                               23.0us  57.5%  ##################
  all                                                                  212us

The cause is said in a sentence.

The last part has no rows, and a note.

$ print_tables parts text 40 ascii
          share
  1.23ms  50.0%

A note of the first part.

  range                             self
  a range with a longer name      30.0us
    range                         29.0us
      a range with a longer name  28.0us
    range                         27.0us
      a range with a longer name  26.0us
        range                     25.0us
                 a range..r name  24.0us
  range                           23.0us
  all                              212us

The cause is said in a sentence.

The last part has no rows, and a note.

$ print_tables all text 120 color | sed 's/\x1b/ESC/g'
ESC[1;4mcellsESC[0m

A sentence stands above the rows; where it is longer than a line of the terminal, it goes on in the next line, at a
blank.
  -> a hint keeps its indent, and has one_of|several|alternatives|that|are|together|longer|than|a|narrow|terminal|is

ESC[1mname                                id      times     a step    total  part ms   share  slower  placeESC[0m
small                               -7          1        0.5    999ns      0.0    0.0%   1.00x  conv.c:12
large              9223372036854775807  1,204,331  1,234,568    93.4s     42.1   96.0%   3.91x  a/long/path/…conv.c:1200
negative and zero                    0          0          0  -1.50us     -2.5  -10.0%   0.00x
no numbers
ESC[1mall of them                             1,204,332               93.4s     42.2  100.0%ESC[0m

A note stands below the rows: *2* of them have <no> name.
ESC[2m1,234 more rows: --limit all shows them.ESC[0m
ESC[2mRecorded: 87.5% of this time.ESC[0m
ESC[2mLost: 1 record (disk_full: the disk was full).ESC[0m
ESC[2mLost: 12,345 records (buffer_full: the buffers were full).ESC[0m

ESC[1;4mnamesESC[0m

ESC[1mna|me                 <of> all  placeESC[0m
a|b                       0.0%  a|b
x, y                      6.7%
say "no"                 13.3%
 blank first             20.0%
*bold*_and_`code`        26.7%
<b> & [lin…x) #1 ~ \     33.3%
=cmd|'/c'                40.0%
esc?[31mape              46.7%  esc?[31mape
two?lines?and?tabs       53.3%
bad��utf8                60.0%
畳み込み演算             66.7%
naïve                    73.3%
turned?back              80.0%
                         86.7%
void at::n…3> >(int)     93.3%  void at::native::vectorized_elementwise_kern…tor_add<float>, std::array<char*, 3> >(int)
ESC[1mall | of them           100.0%ESC[0m

ESC[1;4mpartsESC[0m

  ESC[1m        shareESC[0m
  1.23ms  50.0%

A note of the first part.

  ESC[1mrange                                                                 self  shareESC[0m
  a range with a longer name                                          30.0us  75.0%  ESC[36m████████████████████████ESC[0m
    range                                                             29.0us  72.5%  ESC[36m███████████████████████▎ESC[0m
      a range with a longer name                                      28.0us  70.0%  ESC[36m██████████████████████▍ESC[0m
    range                                                             27.0us  67.5%  ESC[36m█████████████████████▋ESC[0m
      a range with a longer name                                      26.0us  65.0%  ESC[36m████████████████████▊ESC[0m
        range                                                         25.0us  62.5%  ESC[36m████████████████████ESC[0m
                                   a range with a longer name         24.0us  60.0%  ESC[36m███████████████████▎ESC[0m
  range                                                               23.0us  57.5%  ESC[36m██████████████████▍ESC[0m
ESC[1m  all                                                                  212usESC[0m

The cause is said in a sentence.

The last part has no rows, and a note.

ESC[1;4mscopedESC[0m

Only step 7, time 1.5s..2s, profile fit, action run_training_batch, thread main, rows named aten::*, rows of at least
1ms.

ESC[1mname  id  timesESC[0m
one    1      1

ESC[2m1 more row: --limit all shows it.ESC[0m

ESC[1;4memptyESC[0m

Only steps 10..20, this profile.

# In one unit of time.
$ print_tables cells text us
A sentence stands above the rows; where it is longer than a line of the terminal, it goes on in the next line, at a blank.
  -> a hint keeps its indent, and has one_of|several|alternatives|that|are|together|longer|than|a|narrow|terminal|is

name                                id      times     a step      total us    part us   memory   share  slower      rate  place
small                               -7          1        0.5         0.999      1.500     512B    0.0%   1.00x    0.25/s  conv.c:12
large              9223372036854775807  1,204,331  1,234,568  93400000.000  42100.000  1.00TiB   96.0%   3.91x  15,235/s  a/long/path/of/a/file/in/a/folder/conv.c:1200
negative and zero                    0          0          0        -1.500  -2500.000        0  -10.0%   0.00x       0/s
no numbers
all of them                             1,204,332             93400000.999  42200.000  1.00TiB  100.0%

A note stands below the rows: *2* of them have <no> name.
1,234 more rows: --limit all shows them.
Recorded: 87.5% of this time.
Lost: 1 record (disk_full: the disk was full).
Lost: 12,345 records (buffer_full: the buffers were full).

$ print_tables cells text s
A sentence stands above the rows; where it is longer than a line of the terminal, it goes on in the next line, at a blank.
  -> a hint keeps its indent, and has one_of|several|alternatives|that|are|together|longer|than|a|narrow|terminal|is

name                                id      times     a step  total s  part s   memory   share  slower      rate  place
small                               -7          1        0.5    0.000   0.000     512B    0.0%   1.00x    0.25/s  conv.c:12
large              9223372036854775807  1,204,331  1,234,568   93.400   0.042  1.00TiB   96.0%   3.91x  15,235/s  a/long/path/of/a/file/in/a/folder/conv.c:1200
negative and zero                    0          0          0   -0.000  -0.003        0  -10.0%   0.00x       0/s
no numbers
all of them                             1,204,332              93.400   0.042  1.00TiB  100.0%

A note stands below the rows: *2* of them have <no> name.
1,234 more rows: --limit all shows them.
Recorded: 87.5% of this time.
Lost: 1 record (disk_full: the disk was full).
Lost: 12,345 records (buffer_full: the buffers were full).
