$ print_tables all html
<div class=dwell><style>.dwell{font:13px/1.45 system-ui,sans-serif;max-width:100%;overflow-x:auto}.dwell p{margin:.3em 0}.dwell table{font:inherit;border-collapse:collapse;margin:.5em 0}.dwell th,.dwell td{padding:.15em .7em;text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums;background-color:transparent}.dwell th{border-bottom:1px solid #8888;font-weight:600}.dwell table th.t,.dwell table td.t{text-align:left;white-space:pre}.dwell tfoot td{border-top:1px solid #8888;font-weight:600}.dwell .b{background-image:linear-gradient(#f0883e66,#f0883e66);background-repeat:no-repeat}</style>
<h4>cells</h4>
<p>A sentence stands above the rows; where it is longer than a line of the terminal, it goes on in the next line, at a blank.</p>
<p>  -&gt; a hint keeps its indent, and has one_of|several|alternatives|that|are|together|longer|than|a|narrow|terminal|is</p>
<table><thead><tr><th class=t>name</th><th>id</th><th>times</th><th>a step</th><th>total</th><th>part ms</th><th>memory</th><th>share</th><th>slower</th><th>rate</th><th class=t>place</th></tr></thead>
<tbody><tr><td class=t>small</td><td title="-7">-7</td><td title="1">1</td><td title="0.5">0.5</td><td title="999">999ns</td><td title="1499.6">0.0</td><td title="512">512B</td><td class=b style="background-size:0% 100%" title="0.0004">0.0%</td><td title="1">1.00x</td><td title="0.25">0.25/s</td><td class=t>conv.c:12</td></tr>
<tr><td class=t>large</td><td title="9.22337204e+18">9223372036854775807</td><td title="1204331">1,204,331</td><td title="1234567.5">1,234,568</td><td title="9.34e+10">93.4s</td><td title="42100000">42.1</td><td title="1.09951163e+12">1.00TiB</td><td class=b style="background-size:100% 100%" title="0.96">96.0%</td><td title="3.912">3.91x</td><td title="15234.5">15,235/s</td><td class=t>a/long/path/of/a/file/in/a/folder/conv.c:1200</td></tr>
<tr><td class=t>negative and zero</td><td title="0">0</td><td title="0">0</td><td title="0">0</td><td title="-1500">-1.50us</td><td title="-2500000">-2.5</td><td title="0">0</td><td title="-0.1">-10.0%</td><td title="0">0.00x</td><td title="0">0/s</td><td class=t></td></tr>
<tr><td class=t>no numbers</td><td></td><td></td><td></td><td></td><td></td><td></td><td></td><td></td><td></td><td class=t></td></tr>
</tbody>
<tfoot><tr><td class=t>all of them</td><td></td><td title="1204332">1,204,332</td><td></td><td title="9.3400001e+10">93.4s</td><td title="42200000">42.2</td><td title="1.09951163e+12">1.00TiB</td><td title="1">100.0%</td><td></td><td></td><td class=t></td></tr>
</tfoot></table>
<p>A note stands below the rows: *2* of them have &lt;no&gt; name.</p>
<p>1,234 more rows: --limit all shows them.</p>
<p>Recorded: 87.5% of this time.</p>
<p>Lost: 1 record (disk_full: the disk was full).</p>
<p>Lost: 12,345 records (buffer_full: the buffers were full).</p>
<h4>names</h4>
<table><thead><tr><th class=t>na|me</th><th>&lt;of&gt; all</th><th class=t>place</th></tr></thead>
<tbody><tr><td class=t>a|b</td><td title="0">0.0%</td><td class=t>a|b</td></tr>
<tr><td class=t>x, y</td><td class=b style="background-size:7% 100%" title="0.0666666667">6.7%</td><td class=t></td></tr>
<tr><td class=t>say &quot;no&quot;</td><td class=b style="background-size:14% 100%" title="0.133333333">13.3%</td><td class=t></td></tr>
<tr><td class=t> blank first</td><td class=b style="background-size:21% 100%" title="0.2">20.0%</td><td class=t></td></tr>
<tr><td class=t>*bold*_and_`code`</td><td class=b style="background-size:29% 100%" title="0.266666667">26.7%</td><td class=t></td></tr>
<tr><td class=t>&lt;b&gt; &amp; [link](x) #1 ~ \</td><td class=b style="background-size:36% 100%" title="0.333333333">33.3%</td><td class=t></td></tr>
<tr><td class=t>=cmd|'/c'</td><td class=b style="background-size:43% 100%" title="0.4">40.0%</td><td class=t></td></tr>
<tr><td class=t>esc [31mape</td><td class=b style="background-size:50% 100%" title="0.466666667">46.7%</td><td class=t>esc [31mape</td></tr>
<tr><td class=t>two lines and tabs</td><td class=b style="background-size:57% 100%" title="0.533333333">53.3%</td><td class=t></td></tr>
<tr><td class=t>bad��utf8</td><td class=b style="background-size:64% 100%" title="0.6">60.0%</td><td class=t></td></tr>
<tr><td class=t>畳み込み演算</td><td class=b style="background-size:71% 100%" title="0.666666667">66.7%</td><td class=t></td></tr>
<tr><td class=t>naïve</td><td class=b style="background-size:79% 100%" title="0.733333333">73.3%</td><td class=t></td></tr>
<tr><td class=t>turned back</td><td class=b style="background-size:86% 100%" title="0.8">80.0%</td><td class=t></td></tr>
<tr><td class=t></td><td class=b style="background-size:93% 100%" title="0.866666667">86.7%</td><td class=t></td></tr>
<tr><td class=t>void at::native::vectorized_elementwise_kernel&lt;4, at::native::CUDAFunctor_add&lt;float&gt;, std::array&lt;char*, 3&gt; &gt;(int)</td><td class=b style="background-size:100% 100%" title="0.933333333">93.3%</td><td class=t>void at::native::vectorized_elementwise_kernel&lt;4, at::native::CUDAFunctor_add&lt;float&gt;, std::array&lt;char*, 3&gt; &gt;(int)</td></tr>
</tbody>
<tfoot><tr><td class=t>all | of them</td><td title="1">100.0%</td><td class=t></td></tr>
</tfoot></table>
<h4>parts</h4>
<table><thead><tr><th></th><th>share</th></tr></thead>
<tbody><tr><td title="1234567">1.23ms</td><td title="0.5">50.0%</td></tr>
</tbody></table>
<p>A note of the first part.</p>
<table><thead><tr><th class=t>range</th><th>self</th><th>share</th></tr></thead>
<tbody><tr><td class=t>a range with a longer name</td><td class=b style="background-size:100% 100%" title="30000">30.0us</td><td class=b style="background-size:100% 100%" title="0.75">75.0%</td></tr>
<tr><td class=t>&ensp;&ensp;range</td><td class=b style="background-size:97% 100%" title="29000">29.0us</td><td class=b style="background-size:97% 100%" title="0.725">72.5%</td></tr>
<tr><td class=t>&ensp;&ensp;&ensp;&ensp;a range with a longer name</td><td class=b style="background-size:93% 100%" title="28000">28.0us</td><td class=b style="background-size:93% 100%" title="0.7">70.0%</td></tr>
<tr><td class=t>&ensp;&ensp;range</td><td class=b style="background-size:90% 100%" title="27000">27.0us</td><td class=b style="background-size:90% 100%" title="0.675">67.5%</td></tr>
<tr><td class=t>&ensp;&ensp;&ensp;&ensp;a range with a longer name</td><td class=b style="background-size:87% 100%" title="26000">26.0us</td><td class=b style="background-size:87% 100%" title="0.65">65.0%</td></tr>
<tr><td class=t>&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;range</td><td class=b style="background-size:83% 100%" title="25000">25.0us</td><td class=b style="background-size:83% 100%" title="0.625">62.5%</td></tr>
<tr><td class=t>&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;&ensp;a range with a longer name</td><td class=b style="background-size:80% 100%" title="24000">24.0us</td><td class=b style="background-size:80% 100%" title="0.6">60.0%</td></tr>
<tr><td class=t>range</td><td class=b style="background-size:77% 100%" title="23000">23.0us</td><td class=b style="background-size:77% 100%" title="0.575">57.5%</td></tr>
</tbody>
<tfoot><tr><td class=t>all</td><td title="212000">212us</td><td></td></tr>
</tfoot></table>
<p>The cause is said in a sentence.</p>
<p>The last part has no rows, and a note.</p>
<h4>scoped</h4>
<p>Only step 7, time 1.5s..2s, profile fit, action run_training_batch, thread main, rows named aten::*, rows of at least 1ms.</p>
<table><thead><tr><th class=t>name</th><th>id</th><th>times</th></tr></thead>
<tbody><tr><td class=t>one</td><td title="1">1</td><td title="1">1</td></tr>
</tbody></table>
<p>1 more row: --limit all shows it.</p>
<h4>empty</h4>
<p>Only steps 10..20, this profile.</p>
</div>

$ print_tables cells html ms | grep total
<table><thead><tr><th class=t>name</th><th>id</th><th>times</th><th>a step</th><th>total ms</th><th>part ms</th><th>memory</th><th>share</th><th>slower</th><th>rate</th><th class=t>place</th></tr></thead>
