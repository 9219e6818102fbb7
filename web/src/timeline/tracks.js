/** Which tracks are shown, in which place, with how many rows. */

export const ROW = 18;       // height of a row, with the line below it
const COUNTER_ROWS = 2;
export const HEAD = 20;      // height of a track's name
export const GROUP = 26;     // height of a process's name

export class Tracks {
  constructor(timeline) {
    this.collapsed = new Set();
    this.rows = new Map();
    this.reset(timeline);
  }

  reset(timeline) {
    this.list = timeline.tracks;
    this.kinds = new Map(this.list.map((track) => [track.id, track.kind]));
    this.place();
  }

  /** The number of rows that a track has needed so far. Returns whether that is more than before. */
  need(id, rows) {
    if (rows <= (this.rows.get(id) || 0)) return false;
    this.rows.set(id, rows);
    return true;
  }

  toggle(id) {
    if (!this.collapsed.delete(id)) this.collapsed.add(id);
    this.place();
  }

  shown(id) {
    if (this.kinds.get(id) === "counter") return this.collapsed.has(id) ? 1 : COUNTER_ROWS;
    return this.collapsed.has(id) ? 1 : Math.max(1, this.rows.get(id) || 1);
  }

  place() {
    let y = 0, group = null;
    this.places = [];
    for (const track of this.list) {
      const heads = track.group !== group;
      const place = { track, top: y, heads, rowsTop: y + (heads ? GROUP : 0) + HEAD, rows: this.shown(track.id) };
      group = track.group;
      y = place.rowsTop + place.rows * ROW + 6;
      place.bottom = y;
      this.places.push(place);
    }
    this.height = y;
    this.byId = new Map(this.places.map((place) => [place.track.id, place]));
  }

  /** The places between two heights. */
  between(top, bottom) {
    let low = 0, high = this.places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.places[middle].bottom > top) high = middle;
      else low = middle + 1;
    }
    const first = low;
    while (low < this.places.length && this.places[low].top < bottom) low++;
    return this.places.slice(first, low);
  }

  /** The track and row at a height: row -1 is the track's name. Null: there is none. */
  at(y) {
    const place = this.between(y, y + 1)[0];
    if (!place) return null;
    const row = Math.floor((y - place.rowsTop) / ROW);
    return { place, row: y < place.rowsTop ? -1 : Math.min(row, place.rows - 1) };
  }

  ids() {
    return this.list.map((track) => track.id);
  }
}
