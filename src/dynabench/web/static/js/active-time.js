/**
 * `<active-time key="…">` around a hidden field: the seconds for which somebody worked on what the key names, that is with
 * the page in sight and a key or pointer used within the last minute. Kept for this tab, so that a reload goes on.
 */
const IDLE = 60_000; // milliseconds without a key or pointer after which nobody is at work
const TICK = 1000;

class ActiveTime extends HTMLElement {
  connectedCallback() {
    this.field = this.querySelector("input");
    this.name = `active:${this.getAttribute("key")}`;
    this.total = Number(this.stored()) || 0;
    this.used = this.last = performance.now();
    this.stop = new AbortController();
    const options = { signal: this.stop.signal, passive: true, capture: true };
    for (const name of ["keydown", "pointerdown", "pointermove", "wheel"]) document.addEventListener(name, () => { this.used = performance.now(); }, options);
    this.timer = setInterval(() => this.tick(), TICK);
    this.tick();
  }

  disconnectedCallback() {
    clearInterval(this.timer);
    this.stop.abort();
  }

  stored() {
    try { return sessionStorage.getItem(this.name); } catch { return null; }
  }

  tick() {
    const now = performance.now();
    const working = document.visibilityState === "visible" && now - this.used < IDLE;
    if (working) this.total += Math.min(now - this.last, 2 * TICK); // a machine that slept did not work
    this.last = now;
    this.field.value = String(Math.round(this.total / 1000));
    try { sessionStorage.setItem(this.name, String(this.total)); } catch { /* then a reload begins anew */ }
  }
}

customElements.define("active-time", ActiveTime);
