# \r stands for a carriage return.
$ print_tables all csv | sed 's/\r$/\\r/'
name,id,times,mean_count,total_ns,part_ns,bytes,share,factor,rate,number,where\r
small,-7,1,0.5,999,1499.6,512,0.0004,1,0.25,1e-09,conv.c:12\r
large,9223372036854775807,1204331,1234567.5,93400000000,42100000,1099511627776,0.96,3.912,15234.5,-1e+300,a/long/path/of/a/file/in/a/folder/conv.c:1200\r
negative and zero,0,0,0,-1500,-2500000,0,-0.1,0,0,0,\r
no numbers,,,,,,,,,,,\r
\r
name,"of,all",where\r
a|b,0,a|b\r
"x, y",0.0666666667,\r
"say ""no""",0.133333333,\r
" blank first",0.2,\r
*bold*_and_`code`,0.266666667,\r
<b> & [link](x) #1 ~ \,0.333333333,\r
=cmd|'/c',0.4,\r
esc[31mape,0.466666667,esc[31mape\r
"two
lines	and	tabs",0.533333333,\r
bad��utf8,0.6,\r
畳み込み演算,0.666666667,\r
naïve,0.733333333,\r
turned‮back,0.8,\r
,0.866666667,\r
"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3> >(int)",0.933333333,"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3> >(int)"\r
\r
name,self_ns,share\r
a range with a longer name,30000,0.75\r
range,29000,0.725\r
a range with a longer name,28000,0.7\r
range,27000,0.675\r
a range with a longer name,26000,0.65\r
range,25000,0.625\r
a range with a longer name,24000,0.6\r
range,23000,0.575\r
\r
cause\r
the sentence above says this row\r
\r
cause\r
\r
name,id,times\r
one,1,1\r
\r
name,id\r

$ print_tables names csv 80 | sed 's/\r$/\\r/'
name,"of,all",where\r
a|b,0,a|b\r
"x, y",0.0666666667,\r
"say ""no""",0.133333333,\r
" blank first",0.2,\r
*bold*_and_`code`,0.266666667,\r
<b> & [link](x) #1 ~ \,0.333333333,\r
=cmd|'/c',0.4,\r
esc?[31mape,0.466666667,esc?[31mape\r
"two?lines?and?tabs",0.533333333,\r
bad��utf8,0.6,\r
畳み込み演算,0.666666667,\r
naïve,0.733333333,\r
turned?back,0.8,\r
,0.866666667,\r
"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3> >(int)",0.933333333,"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3> >(int)"\r
