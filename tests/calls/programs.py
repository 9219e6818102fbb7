"""Programs that others wrote, as Debian has them, and what they do here. In a command {name} is a file of inputs()."""
import math
import os
import random
import struct
import zlib

# name, Debian's package, the command, libraries in which functions are chosen, too; "only": not in the program
PROGRAMS = [
    ("bwa", "bwa", "bwa index -p out {dna}", ""),
    ("bzip2", "bzip2", "bzip2 -k -c {words}", "libbz2"),
    ("cadical", "cadical", "cadical -q {cnf}", ""),
    ("clasp", "clasp", "clasp -q {cnf}", ""),
    ("convert", "imagemagick", "convert-im6.q16 -limit thread 1 {ppm} -blur 0x3 -rotate 7 ppm:-", "libMagickCore"),
    ("cwebp", "webp", "cwebp -quiet {png} -o -", "libwebp"),
    ("dot", "graphviz", "dot -Tsvg {dot}", "libgvc libcgraph libgvplugin_dot"),
    ("fasttext", "fasttext", "fasttext supervised -input {labels} -output out -thread 1 -epoch 1 -dim 10 -bucket 1000", "libfasttext"),
    ("ffmpeg", "ffmpeg", "ffmpeg -v quiet -threads 1 -i {wav} -c:a aac -f adts -", "libavcodec libavformat libswresample"),
    ("flac", "flac", "flac -s -c {wav}", "libFLAC"),
    ("glpsol", "glpk-utils", "glpsol --math {mod}", "libglpk"),
    ("gnugo", "gnugo", "gnugo --mode gtp --seed 1 --level 1 --gtp-input {gtp}", ""),
    ("gnuplot", "gnuplot-nox", "gnuplot -e 'set~terminal~svg;~set~samples~500;~plot~sin(x),~x**2'", ""),
    ("gzip", "gzip", "gzip -c {words}", ""),
    ("hmmbuild", "hmmer", "hmmbuild --cpu 0 -o out.txt out.hmm {aligned}", ""),
    ("jq", "jq", "jq '[.[]|.a*2]|add' {json}", "libjq"),
    ("lame", "lame", "lame --quiet {wav} -", "libmp3lame"),
    ("linear", "liblinear-tools", "liblinear-train -q {svm} out.model", "liblinear"),
    ("lua", "lua5.4", "lua5.4 {lua}", "liblua"),
    ("luajit", "luajit", "luajit -joff {lua}", ""),
    ("lz4", "lz4", "lz4 -q -c {words}", "liblz4"),
    ("mawk", "mawk", "mawk '{n[$1]++}END{for(k~in~n)s+=n[k];print~s}' {words}", ""),
    ("minisat", "minisat", "minisat -verb=0 {cnf}", ""),
    ("oggenc", "vorbis-tools", "oggenc -Q -s 1 -o - {wav}", "libvorbis libogg"),
    ("openssl", "openssl", "openssl enc -aes-256-cbc -pbkdf2 -S 0102030405060708 -pass pass:x -in {words}", "libcrypto"),
    ("optipng", "optipng", "optipng -quiet -o1 -clobber -out out.png {png}", "libpng"),
    ("opusenc", "opus-tools", "opusenc --quiet --serial 1 {wav} -", "libopus"),
    ("perl", "perl", "perl -e 'my~%n;~$n{$_%97}+=$_~for~1..3000;~print~join(q(,),sort~values~%n)'", ""),
    ("php", "php-cli", "php -d opcache.enable=0 -r '$s=0;for($i=0;$i<2000;$i++)$s+=strlen(md5($i));echo~$s;'", ""),
    ("pigz", "pigz", "pigz -p 1 -c {words}", "libz"),
    # Dwell's probe of Python calls functions of the interpreter, too.
    ("python", "python3-minimal", "/usr/bin/python3.11 -I -S -c 'import~zlib;[zlib.compress(b\"abc\"*i)~for~i~in~range(99)]'", "only libz"),
    ("ruby", "ruby", "ruby -e 'h={};2000.times{|i|h[i%97]=i.to_s};puts~h.size'", "libruby"),
    ("sqlite3", "sqlite3", "sqlite3 :memory: '.read {sql}'", "libsqlite3"),
    ("stockfish", "stockfish", "stockfish bench 16 1 4", ""),
    ("svm-train", "libsvm-tools", "svm-train -q {svm} out.model", "libsvm"),
    ("tesseract", "tesseract-ocr", "env OMP_THREAD_LIMIT=1 tesseract {ppm} -", "libtesseract"),
    ("x264", "x264", "x264 --quiet --threads 1 --input-res 64x64 --demuxer raw -o out.264 {yuv}", "libx264"),
    ("xgboost", "xgboost", "env OMP_NUM_THREADS=1 xgboost {xgboost} data={svm} model_out=out.model", "libxgboost"),
    ("xz", "xz-utils", "xz -k -c -0 {words}", "liblzma"),
    ("z3", "z3", "z3 {smt2}", ""),
    ("zopfli", "zopfli", "zopfli --i1 -c {dot}", ""),
    ("zstd", "zstd", "zstd -q --single-thread -c {words}", "libzstd"),
    ("hpcc", "hpcc", "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OPENBLAS_NUM_THREADS=1 "
                     "mpirun --oversubscribe -n 2 hpcc", ""),
]


def _words(draw, count):
    some = ["".join(draw.choice("aeioulnrst") for _ in range(draw.randint(2, 9))) for _ in range(400)]
    return "".join(draw.choice(some) + draw.choice("      \n") for _ in range(count)).encode()


def _wave(seconds):
    sound = struct.pack(f"<{8000 * seconds}h", *(int(9000 * math.sin(i * i / 9e5)) for i in range(8000 * seconds)))
    return b"RIFF" + struct.pack("<I", 36 + len(sound)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16) + b"data" + \
        struct.pack("<I", len(sound)) + sound


def _png(width, height, pixels):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + pixels[3 * width * i:3 * width * (i + 1)] for i in range(height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + \
        chunk(b"IEND", b"")


def _cnf(draw, variables, clauses):
    lines = (" ".join(str(draw.choice((-1, 1)) * variable) for variable in draw.sample(range(1, variables + 1), 3)) + " 0" for _ in range(clauses))
    return f"p cnf {variables} {clauses}\n" + "\n".join(lines) + "\n"


def _svm(draw, rows):
    return "".join(f"{draw.randint(0, 1)} " + " ".join(f"{i}:{draw.random():.3f}" for i in range(1, 9)) + "\n" for _ in range(rows))


def inputs(folder):
    """Writes the files that the commands name, the same ones each time. Returns their paths by name."""
    draw = random.Random(7)
    width = height = 96
    pixels = bytes((x * y + 40 * c + (x // 8 + y // 8) % 2 * 90) % 256 for y in range(height) for x in range(width) for c in range(3))
    files = {
        "aligned": "# STOCKHOLM 1.0\n" + "".join(f"s{i} " + "".join(draw.choice("ACDEFGHIKL") for _ in range(60)) + "\n" for i in range(8)) + "//\n",
        "cnf": _cnf(draw, 90, 370),
        "dna": ">one\n" + "".join(draw.choice("ACGT") for _ in range(20000)) + "\n",
        "dot": "digraph g {" + "".join(f"a{draw.randint(0, 40)} -> a{draw.randint(0, 40)};" for _ in range(60)) + "}",
        "gtp": "boardsize 7\n" + "genmove black\ngenmove white\n" * 3 + "quit\n",
        # One system of 100 equations on a grid of 1 x 2.
        "hpccinf.txt": "\n".join("HPL HPL HPL.out 8 1 100 1 20 0 1 1 2 16.0 1 2 1 4 1 2 1 1 1 1 1 0 2 64 0 0 1 8 - 0 100 0 20".split()) + "\n",
        "json": "[" + ",".join(f'{{"a":{i},"b":"{i * 7}"}}' for i in range(2000)) + "]",
        "labels": "".join(f"__label__{i % 3} " + " ".join(f"w{draw.randint(0, 50) * (1 + i % 3)}" for _ in range(9)) + "\n" for i in range(500)),
        "lua": "local n, s = {}, 0 for i = 1, 3000 do n[i % 97] = tostring(i) s = s + #n[i % 97] end print(s)",
        "mod": "var x{1..20} >= 0; maximize z: sum{i in 1..20} i * x[i]; s.t. c{j in 1..15}: sum{i in 1..20} ((i * j) mod 7 + 1) * x[i] <= 100 + j; end;",
        "png": _png(width, height, pixels),
        "ppm": b"P6 %d %d 255\n" % (width, height) + pixels,
        "smt2": "".join(f"(declare-const x{i} Int)" for i in range(12)) + "".join(f"(assert (> (+ x{i} (* 2 x{i + 1})) {i * 3}))" for i in range(11)) + "(check-sat)",
        "sql": "create table t(a integer primary key, b text); with recursive n(i) as (select 1 union all select i+1 from n where i<2000) "
               "insert into t select i, i*7%100 from n; create index k on t(b); select b, count(*) from t group by b order by 2, 1;",
        "svm": _svm(draw, 300),
        "words": _words(draw, 60000),
        "wav": _wave(3),
        "xgboost": "booster=gbtree\nobjective=binary:logistic\nnum_round=5\nmax_depth=3\nverbosity=0\n",
        "yuv": bytes((i * 7 + i // 64) % 256 for i in range(64 * 64 * 3 // 2 * 8)),
    }
    paths = {}
    for name, content in files.items():
        paths[name] = os.path.join(folder, name)
        with open(paths[name], "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    return paths
