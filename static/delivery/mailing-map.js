// The map beside the form of a mailing: shows routes, writes drawn areas into the form, and ticks routes. The form alone
// says what is selected.
(() => {
  const form = document.querySelector("form[data-mailing]");
  const box = document.getElementById("map");
  if (!form || !box || !window.L || !window.routeMap) return;
  const L = window.L;
  const CLOSE = 11;
  const METERS_A_MILE = 1609.344;
  const help = document.getElementById("map-help");
  const far = help.textContent;
  const usual = () => (map.getZoom() < CLOSE ? far : help.dataset.near);
  const clear = form.querySelector("[data-draw=none]");
  box.closest("[data-map]").hidden = false;
  const { map, renderer, colors, routeStyle: style } = window.routeMap(box);

  const known = new Map();
  const ticks = () => new Map([...form.querySelectorAll("input[name=route]")].map((one) => [one.value, one]));
  const number = new Intl.NumberFormat("en-US");
  const words = (route) => {
    const facts = [`${number.format(route.homes)} homes, ${number.format(route.firms)} businesses`];
    if (route.income) facts.push(`income ${number.format(route.income)}`);
    if (route.age) facts.push(`age ${route.age}`);
    const text = document.createElement("span");
    text.textContent = `${route.code}: ${facts.join(" · ")}`;
    return text;
  };
  const paint = () => {
    const boxes = ticks();
    for (const [code, layer] of known) {
      const taken = boxes.get(code)?.checked ?? false;
      if (layer.taken !== taken) {
        layer.taken = taken;
        layer.setStyle(style(taken));
      }
    }
  };
  const toggle = (code) => {
    const tick = ticks().get(code);
    if (tick) {
      tick.checked = !tick.checked;
      form.dispatchEvent(new CustomEvent("ticked"));
      tick.closest("tr").classList.add("is-pointed");
      setTimeout(() => tick.closest("tr")?.classList.remove("is-pointed"), 1200);
      return;
    }
    const added = document.getElementById("added");
    added.value = `${added.value} ${code}`.trim();
    form.dispatchEvent(new CustomEvent("refresh"));
  };
  const add = (route) => {
    const layer = L.geoJSON(route.shape, {
      renderer,
      style: () => style(false),
      pointToLayer: (_, place) => L.circleMarker(place, { renderer, radius: 5 }),
    });
    layer.taken = false;
    layer.bindTooltip(() => words(route), { sticky: true });
    layer.on("click", (event) => {
      if (drawing) return;
      L.DomEvent.stopPropagation(event);
      toggle(route.code);
    });
    layer.addTo(map);
    known.set(route.code, layer);
  };

  let latestRequest = 0;
  const load = async () => {
    if (map.getZoom() < CLOSE) {
      help.textContent = far;
      return;
    }
    const view = map.getBounds().pad(0.1);
    const sides = [view.getWest(), view.getSouth(), view.getEast(), view.getNorth()];
    const request = ++latestRequest;
    const answer = await fetch(`${box.dataset.routes}?box=${sides.map((side) => side.toFixed(5)).join(",")}`);
    if (request !== latestRequest) return;
    if (!answer.ok) {
      help.textContent = await answer.text();
      return;
    }
    const { routes } = await answer.json();
    if (known.size + routes.length > 6000) {
      for (const layer of known.values()) layer.remove();
      known.clear();
    }
    for (const route of routes) if (!known.has(route.code)) add(route);
    help.textContent = routes.length ? usual() : gettext("There are no routes in view.");
    box.dataset.drawn = String(known.size);
    paint();
  };

  // What is drawn stands in the form; this shows it, and draws anew.
  const shown = L.layerGroup().addTo(map);
  const numberIn = (id) => Number.parseFloat(document.getElementById(id).value);
  const circleOfForm = () => {
    const [latitude, longitude] = document.getElementById("center").value.split(/[ ,]+/).map(Number);
    const miles = numberIn("radius");
    return Number.isFinite(longitude) && miles > 0 ? L.circle([latitude, longitude], { radius: miles * METERS_A_MILE }) : null;
  };
  const polygonOfForm = () => {
    try {
      const { coordinates } = JSON.parse(document.getElementById("polygon").value);
      return L.polygon(coordinates.map((ring) => ring.map(([x, y]) => [y, x])));
    } catch {
      return null;
    }
  };
  const drawShape = () => {
    shown.clearLayers();
    for (const layer of [circleOfForm(), polygonOfForm()]) {
      if (!layer) continue;
      layer.setStyle({ renderer, color: colors.drawn, weight: 2, dashArray: "6 4", fill: false, interactive: false });
      shown.addLayer(layer);
    }
    clear.hidden = !shown.getLayers().length;
  };

  let drawing = "";
  let points = [];
  const pencil = L.layerGroup().addTo(map);
  const stop = () => {
    drawing = "";
    points = [];
    pencil.clearLayers();
    box.classList.remove("is-drawing");
    map.doubleClickZoom.enable();
    for (const button of form.querySelectorAll("[data-draw]")) button.setAttribute("aria-pressed", "false");
    help.textContent = usual();
  };
  const start = (kind) => {
    const again = drawing === kind;
    stop();
    if (again) return;
    drawing = kind;
    box.classList.add("is-drawing");
    map.doubleClickZoom.disable();
    form.querySelector(`[data-draw=${kind}]`).setAttribute("aria-pressed", "true");
    help.textContent = kind === "polygon"
      ? gettext("Click the corners of the area; click the first one again, or press Enter, to close it. Escape gives up.")
      : gettext("Click the middle of the circle, then its edge. Escape gives up.");
  };
  const write = (values) => {
    for (const [id, text] of Object.entries(values)) document.getElementById(id).value = text;
    stop();
    drawShape();
    form.dispatchEvent(new CustomEvent("refresh"));
  };
  const place = (one) => [Number(one.lng.toFixed(5)), Number(one.lat.toFixed(5))];
  const closeArea = () => {
    if (points.length < 3) return;
    const ring = [...points, points[0]].map(place);
    write({ polygon: JSON.stringify({ type: "Polygon", coordinates: [ring] }), center: "", radius: "" });
  };
  const sketch = (end) => {
    pencil.clearLayers();
    const look = { color: colors.drawn, weight: 2, interactive: false, renderer };
    if (drawing === "circle") pencil.addLayer(L.circle(points[0], { ...look, radius: map.distance(points[0], end ?? points[0]), fillOpacity: 0.08 }));
    else pencil.addLayer(L.polyline(end ? [...points, end] : points, look));
    for (const point of points) pencil.addLayer(L.circleMarker(point, { ...look, radius: 4 }));
  };
  map.on("click", (event) => {
    if (!drawing) return;
    const first = points[0] && map.latLngToContainerPoint(points[0]);
    if (drawing === "polygon" && points.length > 2 && first.distanceTo(event.containerPoint) < 12) {
      closeArea();
      return;
    }
    points.push(event.latlng);
    if (drawing === "circle" && points.length === 2) {
      const miles = map.distance(points[0], points[1]) / METERS_A_MILE;
      const [x, y] = place(points[0]);
      write({ center: `${y}, ${x}`, radius: Math.min(100, Math.max(0.01, miles)).toFixed(2), polygon: "" });
      return;
    }
    sketch();
  });
  map.on("mousemove", (event) => drawing && points.length && sketch(event.latlng));
  map.on("dblclick", () => drawing === "polygon" && closeArea());
  document.addEventListener("keydown", (event) => {
    if (!drawing) return;
    if (event.key === "Escape") stop();
    if (event.key === "Enter" && drawing === "polygon" && points.length > 2) {
      event.preventDefault();
      closeArea();
    }
  });
  for (const button of form.querySelectorAll("[data-draw]")) {
    button.addEventListener("click", () => {
      if (button.dataset.draw === "none") write({ polygon: "", center: "", radius: "" });
      else start(button.dataset.draw);
    });
  }

  let framed = "";
  const frame = () => {
    // Where the selection is, once it is another one.
    const sides = form.querySelector("[data-totals]")?.dataset.box;
    if (!sides || sides === framed) return;
    const isFirst = !framed;
    framed = sides;
    const [west, south, east, north] = sides.split(",").map(Number);
    const bounds = L.latLngBounds([south, west], [north, east]);
    if (isFirst || !map.getBounds().contains(bounds) || map.getZoom() < CLOSE) map.fitBounds(bounds.pad(0.1), { maxZoom: 15 });
  };

  map.on("sized", () => {
    framed = "";
    frame();
  });
  form.addEventListener("routes", () => {
    drawShape();
    paint();
    frame();
  });
  form.addEventListener("input", (event) => ["center", "radius", "polygon"].includes(event.target.name) && drawShape());
  map.on("colors", () => {
    for (const layer of known.values()) layer.setStyle(style(layer.taken));
    drawShape();
  });
  map.on("moveend", load);
  load();
})();
