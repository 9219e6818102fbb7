# Compressed exports; left out by name where dwell was built without zlib.
$ trace train && dwell export train.dwell --format chrome -o train.json

$ dwell export train.dwell --format chrome -o train.json.gz && gunzip < train.json.gz | sed 's/train.json.gz/train.json/' | cmp - train.json
