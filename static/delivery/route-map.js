// What every map of routes has: its base, the colors of the page, and where it begins. Maps that only show routes
// (data-route-map) are made here.
(() => {
  if (!window.L) return;
  const L = window.L;
  const COUNTRY = "-125,24.5,-66.5,49.5";

  window.routeMap = (box) => {
    const color = (name) => {
      const probe = document.createElement("span");
      probe.style.color = `var(${name})`;
      box.append(probe);
      const value = getComputedStyle(probe).color;
      probe.remove();
      return value;
    };
    const colors = {};
    const readColors = () => Object.assign(colors, { line: color("--line-strong"), land: color("--sunken"), ink: color("--ink"), soft: color("--soft"), on: color("--accent"), drawn: color("--info") });
    readColors();
    const map = L.map(box, { preferCanvas: true, minZoom: 3, maxZoom: 17, zoomSnap: 0.5, worldCopyJump: true });
    map.attributionControl.setPrefix('<a href="https://leafletjs.com">Leaflet</a>');
    const renderer = L.canvas({ padding: 0.3 });
    const routeStyle = (taken) => (taken
      ? { color: colors.on, weight: 1.5, fillColor: colors.on, fillOpacity: 0.4 }
      : { color: colors.line, weight: 0.8, fillColor: colors.line, fillOpacity: 0.06 });
    const [west, south, east, north] = (box.dataset.start || COUNTRY).split(",").map(Number);
    const start = [[south, west], [north, east]];
    map.fitBounds(start);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      readColors();
      map.fire("colors");
    });
    // The console lays its pages out later, and a map that was made without a size draws nothing.
    let hasSize = map.getSize().x > 0;
    new ResizeObserver(() => {
      map.invalidateSize({ animate: false });
      if (hasSize || !map.getSize().x) return;
      hasSize = true;
      map.fitBounds(start, { animate: false });
      map.fire("sized");
    }).observe(box);
    window.mapBase(map, box, colors);
    return { map, renderer, colors, routeStyle };
  };

  const number = new Intl.NumberFormat(document.documentElement.lang);
  const show = async (box) => {
    const said = document.getElementById(box.dataset.said);
    box.closest("[data-map]").hidden = false;
    const { map, renderer, routeStyle } = window.routeMap(box);
    const answer = await fetch(box.dataset.routes).catch(() => null);
    if (!answer?.ok) {
      said.textContent = gettext("The places of the routes could not be loaded. Reload the page to try again.");
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
        words.textContent = `${one.id}: ${gettext("%s pieces").replace("%s", number.format(one.properties.Pieces))}`;
        return words;
      }, { sticky: true }),
    }).addTo(map);
    map.on("colors", () => layer.setStyle(routeStyle(true)));
    const frame = () => placed.length && map.fitBounds(layer.getBounds().pad(0.1), { maxZoom: 15, animate: false });
    frame();
    map.on("sized", frame);
    const missing = features.length - placed.length;
    if (missing) said.textContent = gettext("%1 of %2 routes have no place in the data any more.")
      .replace("%1", number.format(missing)).replace("%2", number.format(features.length));
    box.dataset.drawn = String(placed.length);
  };
  for (const box of document.querySelectorAll("[data-route-map]")) show(box);
})();
