/** Writes src/output/page/bundle.html: the page with its style and script, and a mark where a report has its data. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const read = (name) => readFileSync(join(here, "src", name), "utf8");
const bundle = (name, more) =>
  buildSync({ entryPoints: [join(here, "src", name)], bundle: true, minify: true, write: false, charset: "utf8", legalComments: "none",
    target: ["chrome111", "firefox113", "safari16.4"], ...more }).outputFiles[0].text.trim();

const style = bundle("style.css"), script = bundle("main.js", { format: "iife" });
if (/<\/(style|script)/i.test(style + script)) throw new Error("the bundle would end its own element");
const page = read("page.html").replace("/* style */", () => style).replace("/* script */", () => script);
writeFileSync(process.argv[2] || join(here, "..", "src", "output", "page", "bundle.html"), page);
