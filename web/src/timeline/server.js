/** Asks `dwell view` through a worker: answers are read and decoded while the page draws. */

export class Server {
  constructor() {
    this.waiting = new Map();   // who waits for an answer, by number
    this.number = 0;
    this.worker = new Worker("/timeline/worker.js", { type: "module" });
    this.worker.onmessage = ({ data: { number, answer, error } }) => {
      const { resolve, reject } = this.waiting.get(number);
      this.waiting.delete(number);
      if (error === undefined) resolve(answer);
      else reject(new Error(error));
    };
    this.worker.onerror = () => {
      for (const { reject } of this.waiting.values()) reject(new Error("A part of this page did not start. Load the page again."));
      this.waiting.clear();
    };
  }

  /** @returns {Promise<object>} what the server says to /api/`what`; a span is decoded, see span.js */
  ask(what, parameters = {}) {
    return new Promise((resolve, reject) => {
      this.waiting.set(++this.number, { resolve, reject });
      this.worker.postMessage({ number: this.number, what, parameters });
    });
  }
}
