/** The page of `dwell view`: the timeline of a trace, which may still be written. */
import { mountTimeline } from "./index.js";
import { Server } from "./server.js";
import { ServerSource } from "./source.js";

const LIVE_MS = 1000, READING_MS = 300;

function stateText(live) {
  if (live.gone) return "The trace was removed. What was read of it is still shown.";
  if (!live.complete) return `Reading: ${Math.floor((live.read_ns / live.end_ns) * 100)}%`;
  return live.live ? "The program is running" : "";
}

async function main() {
  const box = document.getElementById("timeline"), notice = document.getElementById("notice"), server = new Server();
  const [begun, whole] = await Promise.all([server.ask("live"), server.ask("timeline")]);
  let live = begun;
  document.title = `${live.path.split("/").pop()} - dwell`;
  document.getElementById("path").textContent = live.path;
  const source = new ServerSource(whole, server), timeline = mountTimeline(box, { source, fill: true });
  const say = (text) => {
    if (notice.textContent !== text) notice.textContent = text; // what is written again is laid out again
  };
  source.failed = (error) => say(error.message);
  window.dwellTimeline = timeline;

  async function look() {
    try {
      const now = await server.ask("live");
      if (now.version !== live.version || now.read_ns !== live.read_ns || (now.complete && !live.complete)) {
        source.renew(await server.ask("timeline"));
        timeline.renew();
      }
      live = now;
      say(stateText(live));
    } catch {
      say("dwell view has ended. Start it again, and open the address that it prints.");
    }
    setTimeout(look, live.complete ? LIVE_MS : READING_MS);
  }
  await look();
}

main().catch((error) => (document.getElementById("notice").textContent = error.message));
