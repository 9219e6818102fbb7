/*
 * Colours and fonts of a picture; see picture.h.
 *
 * The rules of the light style come first; the dark style replaces only the colours. There are no
 * variables, so that viewers with little CSS show the light picture. Every rule begins with .dwp,
 * because a picture may be a part of a page. The contrast of text to its bar is at least 4.5 in
 * both styles (tests/probes/pictures_chromium.py measures it).
 */
#include "pictures/picture.h"

const char dw_picture_style[] = "\n.dwp{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',"
    "'Liberation Mono',monospace;color-scheme:light dark;background:#fcfcfb}\n"
    ".dwp .paper{fill:#fcfcfb}\n"
    ".dwp text{fill:#1d2126;pointer-events:none;white-space:pre}\n"
    ".dwp .name{font:600 17px system-ui,sans-serif}\n"
    ".dwp .sub,.dwp .note,.dwp .legend text{fill:#59616b}\n"
    ".dwp .found{text-anchor:end;font-weight:600}\n"
    ".dwp .tools{display:none}\n"
    ".dwp.on .tools{display:inline}\n"
    ".dwp.on .frames g,.dwp .button{cursor:pointer;outline:none}\n"
    ".dwp .button rect{fill:#eceef0;stroke:#8a929b}\n"
    ".dwp .button text{text-anchor:middle}\n"
    ".dwp .button:hover rect{fill:#dde1e5}\n"
    ".dwp .button:focus-visible rect{stroke:#0b5fcc;stroke-width:2.5}\n"
    ".dwp input{font:inherit;width:100%;height:24px;box-sizing:border-box;padding:0 6px}\n"
    ".dwp .t1 rect{fill-opacity:.84}.dwp .t2 rect{fill-opacity:.7}\n"
    ".dwp .frames g:hover rect{fill-opacity:1;stroke:#1d2126}\n"
    ".dwp .over rect{fill-opacity:.4}\n"
    ".dwp .ring{fill:none;stroke:#0b5fcc;stroke-width:2.5;pointer-events:none;display:none}\n"
    ".dwp .frames:focus-within .ring{display:inline}\n"
    ".dwp.seek .frames g rect{fill-opacity:.35}\n"
    ".dwp.seek .frames .hit rect{fill:#e377c8;fill-opacity:1}\n"
    ".dwp .c0{fill:#d4dddc}.dwp .c1{fill:#cec1ba}.dwp .c2{fill:#a5cff6}.dwp .c3{fill:#9ec69a}\n"
    ".dwp .c4{fill:#f1bd86}.dwp .c5{fill:#f7e07f}.dwp .c6{fill:#97dcce}.dwp .c7{fill:#d7b9f1}\n"
    ".dwp .c8{fill:#ffb1ba}.dwp .c9{fill:#c4d78a}.dwp .c10{fill:#a3b6ce}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".dwp{background:#15181c}.dwp .paper{fill:#15181c}\n"
    ".dwp text{fill:#f0f1f3}\n"
    ".dwp .sub,.dwp .note,.dwp .legend text{fill:#a4acb6}\n"
    ".dwp .button rect{fill:#2a2f36;stroke:#6d7681}.dwp .button:hover rect{fill:#383f48}\n"
    ".dwp .ring,.dwp .button:focus-visible rect{stroke:#7db4ff}\n"
    ".dwp .frames g:hover rect{stroke:#f0f1f3}\n"
    ".dwp.seek .frames .hit rect{fill:#a8328c}\n"
    ".dwp .c0{fill:#464745}.dwp .c1{fill:#665850}.dwp .c2{fill:#305b95}.dwp .c3{fill:#246032}\n"
    ".dwp .c4{fill:#8e5021}.dwp .c5{fill:#695100}.dwp .c6{fill:#15666b}.dwp .c7{fill:#5c4788}\n"
    ".dwp .c8{fill:#803f4b}.dwp .c9{fill:#596b1c}.dwp .c10{fill:#344770}\n"
    "}\n";
