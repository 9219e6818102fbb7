/** What the page of a report and that of a comparison share: panels that are made when they come near, and the list of them. */
import { h } from "./dom.js";

/** The content is made when the panel comes near, is linked to, or is printed. */
function panel([id, title, look, make], made, pending) {
  const section = h("section", { class: "panel", id, "aria-labelledby": `${id}-title`, tabindex: "-1" },
    h("h2", { id: `${id}-title` }, title), h("p", { class: "look" }, look));
  section.classList.add("waiting");
  pending.set(section, () => {
    pending.delete(section);
    section.classList.remove("waiting");
    section.append(...[make(...made)].flat(3).filter(Boolean));
  });
  return section;
}

function navigation(panels) {
  const list = h("ul", {}, [["summary", "Summary"], ...panels].map(([id, title]) => h("li", {}, h("a", { href: `#${id}` }, title))));
  return h("nav", { "aria-label": "Panels" }, h("details", { open: matchMedia("(min-width: 64em)").matches }, h("summary", {}, "Panels"), list));
}

function watchPlace(nav) {
  const links = new Map([...nav.querySelectorAll("a")].map((link) => [link.hash.slice(1), link]));
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-12% 0px -80% 0px" });
  links.forEach((_, id) => { const section = document.getElementById(id); if (section) seen.observe(section); });
}

/**
 * Marks that change the direction of text are shown as text: an element around a name does not stop all of them. The JSON has
 * them as escapes; after another backslash it is a text that looks like one.
 */
const visible = (json) => json.replace(/(\\+)u(?:202[a-e]|206[6-9])/gi, (all, slashes) => (slashes.length % 2 ? `\\${all}` : all));

/** The data of the page. */
export const readData = () => JSON.parse(visible(document.getElementById("data").textContent));

export const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);

/**
 * Shows a page. `made` is what the panels get; a panel is an id, a title, what to look for, and a function that returns its content.
 * @returns {(id: string) => HTMLElement} the section of a panel, with its content
 */
export function showPage({ title, header, first, panels, made }) {
  const pending = new Map(), sections = panels.map((item) => panel(item, made, pending)), nav = navigation(panels);
  document.title = title;
  document.getElementById("page").replaceChildren(header, nav, h("main", { id: "main", tabindex: "-1" }, first, sections,
    h("footer", {}, "Made by dwell. This file holds all of its data and asks for nothing from a network.")));
  const near = new IntersectionObserver((entries) => entries.forEach((entry) => {
    if (!entry.isIntersecting) return;
    near.unobserve(entry.target);
    pending.get(entry.target)?.();
  }), { rootMargin: "600px" });
  sections.forEach((section) => near.observe(section));
  const all = () => [...pending.values()].forEach((make) => make());
  const linked = () => { const target = document.getElementById(location.hash.slice(1)); if (pending.has(target)) { all(); target.scrollIntoView(); } };
  addEventListener("beforeprint", all);
  addEventListener("hashchange", linked);
  addEventListener("keydown", (event) => { if ((event.ctrlKey || event.metaKey) && event.key === "f") all(); });
  watchPlace(nav);
  linked();
  performance.mark("dwell-ready");
  return (id) => {
    const section = document.getElementById(id);
    pending.get(section)?.();
    return section;
  };
}
