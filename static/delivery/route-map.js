// What every map of routes has: the outlines of states and counties, street tiles where the service has some, and the
// colours of the page. Maps that only show routes (data-route-map) are made here.
(() => {
  if (!window.L) return;
  const L = window.L;
  const COUNTRY = [[24.5, -125], [49.5, -66.5]];

  const drawOutlines = async (map, box, colours) => {
    map.createPane("outlines").style.zIndex = 300;
    const renderer = L.canvas({ pane: "outlines" });
    const answer = await fetch(box.dataset.outlines);
    if (!answer.ok) return;
    const found = await answer.json();
    const lines = (tile) => tile.map((steps) => {
      let [x, y] = [0, 0];
      const line = [];
      for (let at = 0; at < steps.length; at += 2) {
        x += steps[at];
        y += steps[at + 1];
        line.push([y / found.grid, x / found.grid]);
      }
      return line;
    });
    const layers = (name, style) => L.layerGroup(found[name].map((tile) => L.polyline(lines(tile), { renderer, interactive: false, smoothFactor: 1.5, ...style })));
    const counties = layers("counties", { weight: 0.8, color: colours.faint });
    const states = layers("states", { weight: 1.2, color: colours.line }).addTo(map);
    const byZoom = () => (map.getZoom() >= 6 ? counties.addTo(map) : counties.remove());
    map.on("zoomend", byZoom);
    byZoom();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      counties.eachLayer((layer) => layer.setStyle({ color: colours.faint }));
      states.eachLayer((layer) => layer.setStyle({ color: colours.line }));
    });
  };

  window.routeMap = (box) => {
    const colour = (name) => {
      const probe = document.createElement("span");
      probe.style.color = `var(${name})`;
      box.append(probe);
      const value = getComputedStyle(probe).color;
      probe.remove();
      return value;
    };
    const colours = {};
    const readColours = () => Object.assign(colours, { line: colour("--line-strong"), faint: colour("--line"), on: colour("--accent"), drawn: colour("--info") });
    readColours();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColours);
    const map = L.map(box, { preferCanvas: true, minZoom: 3, maxZoom: 17, zoomSnap: 0.5, worldCopyJump: true });
    map.attributionControl.setPrefix('<a href="https://leafletjs.com">Leaflet</a>');
    if (box.dataset.tiles) L.tileLayer(box.dataset.tiles, { attribution: box.dataset.credit, maxZoom: 19 }).addTo(map);
    const renderer = L.canvas({ padding: 0.3 });
    const routeStyle = (taken) => (taken
      ? { color: colours.on, weight: 1.5, fillColor: colours.on, fillOpacity: 0.4 }
      : { color: colours.line, weight: 0.8, fillColor: colours.line, fillOpacity: 0.06 });
    map.fitBounds(COUNTRY);
    // The console lays its pages out later, and a map that was made without a size draws nothing.
    let hasSize = map.getSize().x > 0;
    new ResizeObserver(() => {
      map.invalidateSize({ animate: false });
      if (hasSize || !map.getSize().x) return;
      hasSize = true;
      map.fitBounds(COUNTRY, { animate: false });
      map.fire("sized");
    }).observe(box);
    drawOutlines(map, box, colours);
    return { map, renderer, colours, readColours, routeStyle };
  };

  const number = new Intl.NumberFormat("en-US");
  const show = async (box) => {
    const said = document.getElementById(box.dataset.said);
    box.closest("[data-map]").hidden = false;
    const { map, renderer, routeStyle } = window.routeMap(box);
    const answer = await fetch(box.dataset.routes).catch(() => null);
    if (!answer?.ok) {
      said.textContent = "The places of the routes could not be loaded. Reload the page to try again.";
      return;
    }
    const { features } = await answer.json();
    const placed = features.filter((one) => one.geometry);
    const layer = L.geoJSON(placed, {
      renderer,
      style: () => routeStyle(true),
      pointToLayer: (_, place) => L.circleMarker(place, { renderer, radius: 5 }),
      onEachFeature: (one, drawn) => drawn.bindTooltip(() => {
        const words = document.createElement("span");
        words.textContent = `${one.id}: ${number.format(one.properties.Pieces)} pieces`;
        return words;
      }, { sticky: true }),
    }).addTo(map);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => layer.setStyle(routeStyle(true)));
    const frame = () => placed.length && map.fitBounds(layer.getBounds().pad(0.1), { maxZoom: 15, animate: false });
    frame();
    map.on("sized", frame);
    const missing = features.length - placed.length;
    if (missing) said.textContent = `${number.format(missing)} of ${number.format(features.length)} routes have no place in the data any more.`;
    box.dataset.drawn = String(placed.length);
  };
  for (const box of document.querySelectorAll("[data-route-map]")) show(box);
})();
