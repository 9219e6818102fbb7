$ trace layers && dwell report layers.dwell --layout torchprof
Module    | Self CPU total | CPU total | Self CPU Mem | CPU Mem | Number of Calls
----------|----------------|-----------|--------------|---------|----------------
Net       |                |           |              |         |                
├── stem  | 6.000ms        | 6.000ms   | 1.25 Kb      | 1.25 Kb | 2              
├── block |                |           |              |         |                
│├── 0    | 4.000ms        | 4.000ms   | 0 b          | 0 b     | 2              
│└── 1    | 0.000us        | 0.000us   | 0 b          | 0 b     | 2              
└── head  | 2.000ms        | 2.000ms   | 0 b          | 0 b     | 2              

$ dwell report layers.dwell --layout torchprof --events
Module           | Self CPU total | CPU total | Self CPU Mem | CPU Mem | Number of Calls
-----------------|----------------|-----------|--------------|---------|----------------
Net              |                |           |              |         |                
├── stem         |                |           |              |         |                
│├── convolution | 4.000ms        | 6.000ms   | 1.25 Kb      | 1.25 Kb | 2              
│└── pad         | 2.000ms        | 2.000ms   | 0 b          | 0 b     | 2              
├── block        |                |           |              |         |                
│├── 0           |                |           |              |         |                
││└── relu       | 4.000ms        | 4.000ms   | 0 b          | 0 b     | 2              
│└── 1           |                |           |              |         |                
└── head         |                |           |              |         |                
 └── linear      | 2.000ms        | 2.000ms   | 0 b          | 0 b     | 2              

$ dwell report layers.dwell --layout torchprof --paths Net.block,Net.head
Module    | Self CPU total | CPU total | Self CPU Mem | CPU Mem | Number of Calls
----------|----------------|-----------|--------------|---------|----------------
Net       |                |           |              |         |                
├── stem  |                |           |              |         |                
├── block | 4.000ms        | 4.000ms   | 0 b          | 0 b     | 0              
│├── 0    |                |           |              |         |                
│└── 1    |                |           |              |         |                
└── head  | 2.000ms        | 2.000ms   | 0 b          | 0 b     | 2              

$ dwell report layers.dwell --layout torchprof --paths Net.block --events
Module    | Self CPU total | CPU total | Self CPU Mem | CPU Mem | Number of Calls
----------|----------------|-----------|--------------|---------|----------------
Net       |                |           |              |         |                
├── stem  |                |           |              |         |                
├── block |                |           |              |         |                
│├── relu | 4.000ms        | 4.000ms   | 0 b          | 0 b     | 2              
│├── 0    |                |           |              |         |                
│└── 1    |                |           |              |         |                
└── head  |                |           |              |         |                

$ dwell report layers.dwell --layout torchprof --paths Nte.stem
2> dwell: no layer 'Nte.stem' in layers.dwell; did you mean 'Net.stem'?
[2]

$ trace backward && dwell report backward.dwell --layout torchprof
Module      | Self CPU total | CPU total | Self CUDA total | CUDA total | Self CPU Mem | CPU Mem | Number of Calls
------------|----------------|-----------|-----------------|------------|--------------|---------|----------------
Net         |                |           |                 |            |              |         |                
├── stem    | 2.000ms        | 2.000ms   | 5.000ms         | 5.000ms    | 0 b          | 0 b     | 1              
├── block   |                |           |                 |            |              |         |                
│├── a      | 4.000ms        | 4.000ms   | 0.000us         | 0.000us    | 1000 b       | 1000 b  | 1              
│├── shared | 6.000ms        | 6.000ms   | 0.000us         | 0.000us    | 0 b          | 0 b     | 2              
│└── drop   | 0.000us        | 0.000us   | 0.000us         | 0.000us    | 0 b          | 0 b     | 0              
├── deep    |                |           |                 |            |              |         |                
│└── x      |                |           |                 |            |              |         |                
│ └── y     |                |           |                 |            |              |         |                
│  └── z    | 3.000ms        | 3.000ms   | 0.000us         | 0.000us    | 0 b          | 0 b     | 1              
├── head    | 1.000ms        | 1.000ms   | 2.000ms         | 2.000ms    | 0 b          | 0 b     | 1              
└── last    | 0.000us        | 0.000us   | 0.000us         | 0.000us    | 0 b          | 0 b     | 0              

$ dwell report backward.dwell --layout torchprof --events
Module       | Self CPU total | CPU total | Self CUDA total | CUDA total | Self CPU Mem | CPU Mem | Number of Calls
-------------|----------------|-----------|-----------------|------------|--------------|---------|----------------
Net          |                |           |                 |            |              |         |                
├── stem     |                |           |                 |            |              |         |                
│└── conv    | 2.000ms        | 2.000ms   | 0.000us         | 0.000us    | 0 b          | 0 b     | 1              
├── block    |                |           |                 |            |              |         |                
│├── a       |                |           |                 |            |              |         |                
││├── linear | 3.000ms        | 3.000ms   | 0.000us         | 0.000us    | 1000 b       | 1000 b  | 2              
││└── add    | 1.000ms        | 1.000ms   | 0.000us         | 0.000us    | 0 b          | 0 b     | 1              
│├── shared  |                |           |                 |            |              |         |                
││└── relu   | 6.000ms        | 6.000ms   | 0.000us         | 0.000us    | 0 b          | 0 b     | 2              
│└── drop    |                |           |                 |            |              |         |                
├── deep     |                |           |                 |            |              |         |                
│└── x       |                |           |                 |            |              |         |                
│ └── y      |                |           |                 |            |              |         |                
│  └── z     |                |           |                 |            |              |         |                
│   └── mul  | 3.000ms        | 3.000ms   | 0.000us         | 0.000us    | 0 b          | 0 b     | 1              
├── head     |                |           |                 |            |              |         |                
│└── linear  | 1.000ms        | 1.000ms   | 0.000us         | 0.000us    | 0 b          | 0 b     | 1              
└── last     |                |           |                 |            |              |         |                

$ trace device_train && dwell report device_train.dwell --layout torchprof
Module  | Self CPU total | CPU total | Self CUDA total | CUDA total | Number of Calls
--------|----------------|-----------|-----------------|------------|----------------
Net     |                |           |                 |            |                
├── fc  | 39.000us       | 39.000us  | 300.000us       | 300.000us  | 3              
└── act | 33.000us       | 33.000us  | 120.000us       | 120.000us  | 3              

$ dwell report device_train.dwell --layout torchprof --events
Module            | Self CPU total | CPU total | Self CUDA total | CUDA total | Number of Calls
------------------|----------------|-----------|-----------------|------------|----------------
Net               |                |           |                 |            |                
├── fc            |                |           |                 |            |                
│├── aten::linear | 6.000us        | 39.000us  | 0.000us         | 300.000us  | 3              
│└── aten::addmm  | 33.000us       | 33.000us  | 300.000us       | 300.000us  | 3              
└── act           |                |           |                 |            |                
 └── aten::relu   | 33.000us       | 33.000us  | 120.000us       | 120.000us  | 3              
