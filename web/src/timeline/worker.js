/**
 * The worker behind server.js: it asks `dwell view`, and makes of its answers what the page shows, so
 * that the page's own thread, which draws, only takes over what is finished.
 *
 * It is sent {number, what, parameters}, and answers {number, answer} or {number, error}.
 */
import { buffersOf, decodeSpan } from "./span.js";

self.onmessage = async ({ data: { number, what, parameters } }) => {
  try {
    const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%2C", ",")}`).join("&");
    const response = await fetch(`/api/${what}?${query}`, { credentials: "same-origin" });
    if (!response.ok) throw new Error((await response.text()).trim());
    const answer = await response.json();
    if (what !== "span") return self.postMessage({ number, answer });
    const span = decodeSpan(answer);
    self.postMessage({ number, answer: span }, buffersOf(span));
  } catch (error) {
    self.postMessage({ number, error: error.message });
  }
};
