$ print_tables all md | sed 's/^#/ #/'
 ## cells

A sentence stands above the rows; where it is longer than a line of the terminal, it goes on in the next line, at a blank.

  -\> a hint keeps its indent, and has one\_of\|several\|alternatives\|that\|are\|together\|longer\|than\|a\|narrow\|terminal\|is

| name | id | times | a step | total | part ms | memory | share | slower | rate | place |
| :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | :--- |
| small | -7 | 1 | 0.5 | 999ns | 0.0 | 512B | 0.0% | 1.00x | 0.25/s | conv.c:12 |
| large | 9223372036854775807 | 1,204,331 | 1,234,568 | 93.4s | 42.1 | 1.00TiB | 96.0% | 3.91x | 15,235/s | a/long/path/of/a/file/in/a/folder/conv.c:1200 |
| negative and zero | 0 | 0 | 0 | -1.50us | -2.5 | 0 | -10.0% | 0.00x | 0/s |  |
| no numbers |  |  |  |  |  |  |  |  |  |  |
| **all of them** |  | **1,204,332** |  | **93.4s** | **42.2** | **1.00TiB** | **100.0%** |  |  |  |

A note stands below the rows: \*2\* of them have \<no\> name.

1,234 more rows: --limit all shows them.

Recorded: 87.5% of this time.

Lost: 1 record (disk\_full: the disk was full).

Lost: 12,345 records (buffer\_full: the buffers were full).

 ## names

| na|me | <of> all | place |
| :--- | ---: | :--- |
| a\|b | 0.0% | a\|b |
| x, y | 6.7% |  |
| say "no" | 13.3% |  |
|  blank first | 20.0% |  |
| \*bold\*\_and\_\`code\` | 26.7% |  |
| \<b\> \& \[link\](x) \#1 \~ \\ | 33.3% |  |
| =cmd\|'/c' | 40.0% |  |
| esc \[31mape | 46.7% | esc \[31mape |
| two lines and tabs | 53.3% |  |
| bad��utf8 | 60.0% |  |
| 畳み込み演算 | 66.7% |  |
| naïve | 73.3% |  |
| turned back | 80.0% |  |
|  | 86.7% |  |
| void at::native::vectorized\_elementwise\_kernel\<4, at::native::CUDAFunctor\_add\<float\>, std::array\<char\*, 3\> \>(int) | 93.3% | void at::native::vectorized\_elementwise\_kernel\<4, at::native::CUDAFunctor\_add\<float\>, std::array\<char\*, 3\> \>(int) |
| **all \| of them** | **100.0%** |  |

 ## parts

|  | share |
| ---: | ---: |
| 1.23ms | 50.0% |

A note of the first part.

| range | self | share |
| :--- | ---: | ---: |
| a range with a longer name | 30.0us | 75.0% |
| &ensp;range | 29.0us | 72.5% |
| &ensp;&ensp;a range with a longer name | 28.0us | 70.0% |
| &ensp;range | 27.0us | 67.5% |
| &ensp;&ensp;a range with a longer name | 26.0us | 65.0% |
| &ensp;&ensp;&ensp;range | 25.0us | 62.5% |
| &ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;a range with a longer name | 24.0us | 60.0% |
| range | 23.0us | 57.5% |
| **all** | **212us** |  |

The cause is said in a sentence.

The last part has no rows, and a note.

 ## scoped

Only step 7, time 1.5s..2s, profile fit, action run\_training\_batch, thread main, rows named aten::\*, rows of at least 1ms.

| name | id | times |
| :--- | ---: | ---: |
| one | 1 | 1 |

1 more row: --limit all shows it.

 ## empty

Only steps 10..20, this profile.

$ print_tables cells md ms | grep total
| name | id | times | a step | total ms | part ms | memory | share | slower | rate | place |
