/** The text beside the canvas: the selected event, its flows, and the sums of the selected time. */
import { duration, moment, number } from "./format.js";

const MOST_FLOWS = 5;

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes))
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(key, value === true ? "" : value);
  made.append(...children);
  return made;
}

function row(name, value) {
  return value === "" || value === undefined ? [] : [element("dt", {}, name), element("dd", {}, String(value))];
}

export class Details {
  /** @param {{goTo: function, back: function, name: function, trackName: function}} host */
  constructor(host) {
    this.host = host;
    this.event = element("section", { class: "tl-event", "aria-label": "Selected event" });
    this.totals = element("section", { class: "tl-totals", "aria-label": "Sums of the selected time" });
    this.box = element("section", { class: "tl-details", tabindex: "0", "aria-label": "Details of the timeline" }, this.event, this.totals);
    this.showEvent(null);
    this.showTotals(null);
  }

  /** @param {string} [before] the event from which a flow led here */
  showEvent(event, more, before) {
    this.event.replaceChildren(element("h3", {}, "Selected event"));
    if (before !== undefined) this.event.append(element("p", {}, element("button", { type: "button", class: "tl-back", onclick: () => this.host.back() }, `Back to ${before}`)));
    if (!event) {
      this.event.append(element("p", {}, "Click an event, or move to one with the arrow keys."));
      return;
    }
    const list = element("dl", {});
    list.append(...row("Name", more?.name ?? event.text), ...row("Kind", more?.kind ?? event.kind), ...row("Track", event.trackName),
                ...(event.kind === "counter" ? [...row("Least", event.least < event.most ? event.least : ""), ...row("Most", event.least < event.most ? event.most : ""),
                                                ...row("Holds for", event.open ? "" : duration(event.end - event.begin))]
                  : row("Duration", duration(event.end - event.begin) + (event.open ? ", not ended" : ""))),
                ...row("Begins at", moment(event.begin)), ...row("Events", event.count > 1 ? `${number(event.count)}, merged at this zoom` : ""));
    for (const [key, value] of Object.entries(more?.args ?? {}))
      list.append(...row(key, typeof value === "string" ? value : JSON.stringify(value)));
    this.event.append(list);
    if (more?.stack) {
      const frames = element("ol", {});
      for (const frame of more.stack.split(";").slice(0, 60)) frames.append(element("li", {}, frame));
      this.event.append(element("h4", {}, "Called from"), frames);
    }
    if (more?.flows?.length) this.showFlows(event, more.flows);
  }

  /** Each flow names the event at its other end; further ones are shown on demand, so that sums stay on the screen. */
  showFlows(event, all) {
    const flows = element("ul", {}), rest = all.slice(MOST_FLOWS);
    const item = ([fromTrack, from, toTrack, to, end]) => {
      const leaves = fromTrack === event.track && from >= event.begin && from <= event.end, [track, ns] = leaves ? [toTrack, to] : [fromTrack, from];
      return element("li", {}, element("button", { type: "button", onclick: () => this.host.goTo(track, ns, end) },
        `${leaves ? "leads to" : "comes from"} ${end ? `${this.host.name(end.name)} in ` : ""}${this.host.trackName(track)}, ${duration(Math.abs(to - from))} ${leaves ? "later" : "before"}`));
    };
    flows.append(...all.slice(0, MOST_FLOWS).map(item));
    this.event.append(element("h4", {}, all.length > 1 ? `${number(all.length)} flows` : "Flow"), flows);
    if (!rest.length) return;
    const more = element("button", { type: "button", onclick: () => { flows.append(...rest.map(item)); more.remove(); } }, `Show ${number(rest.length)} more`);
    this.event.append(more);
  }

  showTotals(range, totals) {
    this.totals.replaceChildren(element("h3", {}, "Selected time"));
    if (!range) {
      this.totals.append(element("p", {}, "Drag with Shift, or drag on the ruler, to measure and add up a time."));
      return;
    }
    this.totals.append(element("p", {}, `${duration(range.end - range.begin)}, from ${moment(range.begin)}`));
    if (!totals) return;
    const body = element("tbody", {});
    for (const item of totals.names)
      body.append(element("tr", {}, element("th", { scope: "row" }, String(this.host.name(item.name))),
                          element("td", {}, number(item.count)), element("td", {}, duration(item.self_ns)), element("td", {}, duration(item.ns))));
    const head = element("tr", {}, ...["Name", "Calls", "Self", "Total"].map((text) => element("th", { scope: "col" }, text)));
    this.totals.append(element("table", {}, element("caption", {}, totals.exact ? "Time within the selection, by name, in all threads. Self is without the ranges within"
      : "About: short events count under the names of longer ones next to them"), element("thead", {}, head), body));
    if (totals.left_out) this.totals.append(element("p", {}, `${number(totals.left_out)} more names`));
  }
}
