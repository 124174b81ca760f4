// A small plot of the last values of one figure: an SVG curve, the value, and both for who cannot
// see it.

const SVG = document.createRange().createContextualFragment("<svg></svg>").firstChild.namespaceURI;
const POINTS = 90;
const WIDTH = 180;
const HEIGHT = 48;

function svgElement(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) {
    element.setAttribute(attribute, value);
  }
  return element;
}

export class Plot {
  #values = [];
  #title;
  #format;
  #output = document.createElement("output");
  #most = document.createElement("span");
  #svg = svgElement("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
    role: "img",
  });
  #area = svgElement("path", { class: "area" });
  #curve = svgElement("path", { class: "curve" });

  /** `format` makes a text of a value; `ceiling` is the least height of the plot. */
  constructor(title, format, { ceiling = 1 } = {}) {
    this.#title = title;
    this.#format = format;
    this.ceiling = ceiling;
    this.element = document.createElement("figure");
    this.element.className = "plot";
    const caption = document.createElement("figcaption");
    const name = document.createElement("span");
    name.textContent = title;
    caption.append(name, this.#most);
    const floor = svgElement("line", {
      class: "floor",
      x1: 0,
      x2: WIDTH,
      y1: HEIGHT - 1,
      y2: HEIGHT - 1,
    });
    this.#svg.append(floor, this.#area, this.#curve);
    this.element.append(caption, this.#output, this.#svg);
    this.#draw();
  }

  /** The next value; not a number: unknown, which leaves a gap. */
  add(value) {
    this.#values.push(value);
    if (this.#values.length > POINTS) this.#values.shift();
    this.#draw();
  }

  #draw() {
    const known = this.#values.filter(Number.isFinite);
    const last = this.#values.at(-1);
    const most = known.length > 0 ? Math.max(...known) : NaN;
    this.#output.textContent = Number.isFinite(last) ? this.#format(last) : "–";
    this.#most.textContent = Number.isFinite(most) ? `max ${this.#format(most)}` : "";
    this.#svg.setAttribute(
      "aria-label",
      `${this.#title}: ${this.#output.textContent}, at most ${Number.isFinite(most) ? this.#format(most) : "unknown"} lately`,
    );
    const top = Math.max(this.ceiling, Number.isFinite(most) ? most : 0);
    const x = (i) => WIDTH - (this.#values.length - 1 - i) * (WIDTH / (POINTS - 1));
    const y = (value) => HEIGHT - 2 - (value / top) * (HEIGHT - 5);
    let curve = "";
    let area = "";
    let run = [];
    const close = () => {
      if (run.length > 0) {
        const points = run.map(([px, py]) => `${px.toFixed(1)} ${py.toFixed(1)}`).join(" L");
        curve += `M${points}`;
        area += `M${run[0][0].toFixed(1)} ${HEIGHT} L${points} L${run.at(-1)[0].toFixed(1)} ${HEIGHT}Z`;
      }
      run = [];
    };
    this.#values.forEach((value, i) => {
      if (Number.isFinite(value)) run.push([x(i), y(value)]);
      else close();
    });
    close();
    this.#curve.setAttribute("d", curve);
    this.#area.setAttribute("d", area);
  }
}
