#!/usr/bin/env python3
"""tesseract as Debian has it, stripped, with pages that this script writes. Steps: --step-on the reading of a page."""
import os

from engine import Engine, run

PAGES = 12

engine = Engine("tesseract")
with open(os.path.join(engine.folder, "page.txt"), "w", encoding="ascii") as file:
    file.write("".join(f"line {at}: the quick brown fox jumps over {at * 7} lazy dogs\n" for at in range(20)))
run("text2image", "--text=page.txt", "--outputbase=page", "--font=DejaVu Sans", "--fonts_dir=/usr/share/fonts", "--resolution=150",
    folder=engine.folder)
with open(os.path.join(engine.folder, "pages.txt"), "w", encoding="ascii") as file:
    file.write("page.tif\n" * PAGES)
engine.count("libtesseract.so:tesseract::TessBaseAPI::Recognize", "tesseract", "pages.txt", "out", calls=PAGES, OMP_THREAD_LIMIT="1")
