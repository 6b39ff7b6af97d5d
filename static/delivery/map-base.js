// What lies below the routes on every map: land, the borders of states and counties, names, and a scale. With street tiles
// only borders and scale, because the tiles have the rest.
(() => {
  if (!window.L) return;
  const L = window.L;
  const OUTLINES = 300;
  // Over the routes.
  const NAMES = 450;
  const CREDIT = 'Names: <a href="https://www.geonames.org">GeoNames</a> (CC BY 4.0)';
  // As many of the largest places as are tried at a zoom; beyond, all of them.
  const PLACES = { 3: 12, 4: 30, 5: 80, 6: 220, 7: 700, 8: 2000, 9: 5000 };
  const STATES_UNTIL = 8;
  const COUNTIES_FROM = 8;

  const load = async (address) => {
    const answer = await fetch(address).catch(() => null);
    return answer?.ok ? answer.json() : null;
  };

  const lineOf = (steps, grid) => {
    let [x, y] = [0, 0];
    const line = [];
    for (let at = 0; at < steps.length; at += 2) {
      x += steps[at];
      y += steps[at + 1];
      line.push([y / grid, x / grid]);
    }
    return line;
  };

  const drawOutlines = async (map, box, colors) => {
    map.createPane("outlines").style.zIndex = OUTLINES;
    const renderer = L.canvas({ pane: "outlines" });
    const found = await load(box.dataset.outlines);
    if (!found) return;
    const still = { renderer, interactive: false, smoothFactor: 1.5 };
    const lines = (name, style) => L.layerGroup(found[name].map((tile) => L.polyline(tile.map((steps) => lineOf(steps, found.grid)), { ...still, ...style })));
    const land = L.layerGroup(found.land.map((steps) => L.polygon(lineOf(steps, found.grid), { ...still, stroke: false, fillColor: colors.land, fillOpacity: 1 })));
    if (!box.dataset.tiles) land.addTo(map);
    const counties = lines("counties", { weight: 1, opacity: 0.5, color: colors.line });
    const states = lines("states", { weight: 1.2, color: colors.line }).addTo(map);
    const byZoom = () => (map.getZoom() >= 6 ? counties.addTo(map) : counties.remove());
    map.on("zoomend", byZoom);
    byZoom();
    map.on("colors", () => {
      land.eachLayer((layer) => layer.setStyle({ fillColor: colors.land }));
      counties.eachLayer((layer) => layer.setStyle({ color: colors.line }));
      states.eachLayer((layer) => layer.setStyle({ color: colors.line }));
    });
  };

  // Names as one picture over the view; those that come later and would touch another are left out.
  const drawNames = async (map, box, colors) => {
    const canvas = document.createElement("canvas");
    canvas.className = "mailing-names";
    canvas.setAttribute("aria-hidden", "true");
    map.createPane("names").append(canvas);
    Object.assign(map.getPane("names").style, { zIndex: NAMES, pointerEvents: "none" });
    const found = await load(box.dataset.names);
    if (!found) return;
    map.attributionControl.addAttribution(CREDIT);
    const pen = canvas.getContext("2d");
    const family = getComputedStyle(box).fontFamily;

    const draw = () => {
      const size = map.getSize();
      const sharp = window.devicePixelRatio || 1;
      const zoom = map.getZoom();
      canvas.width = size.x * sharp;
      canvas.height = size.y * sharp;
      Object.assign(canvas.style, { width: `${size.x}px`, height: `${size.y}px` });
      L.DomUtil.setPosition(canvas, map.containerPointToLayerPoint([0, 0]));
      pen.scale(sharp, sharp);
      Object.assign(pen, { textBaseline: "middle", lineJoin: "round", lineWidth: 3, strokeStyle: colors.land });
      const taken = [];
      const view = map.getBounds().pad(0.05);
      const shown = [];
      const write = (rows, { font, color, spacing = "0px", isPlace = false, change = (name) => name }) => {
        Object.assign(pen, { font: `${font} ${family}`, fillStyle: color, letterSpacing: spacing, textAlign: isPlace ? "left" : "center" });
        for (const [name, x, y] of rows) {
          const spot = [y / found.grid, x / found.grid];
          if (!view.contains(spot)) continue;
          const at = map.latLngToContainerPoint(spot);
          const text = change(name);
          const width = pen.measureText(text).width;
          const left = isPlace ? at.x - 4 : at.x - width / 2;
          const area = [left - 3, at.y - 9, left + width + 13, at.y + 9];
          if (taken.some(([west, north, east, south]) => west < area[2] && east > area[0] && north < area[3] && south > area[1])) continue;
          taken.push(area);
          shown.push(name);
          if (isPlace) {
            pen.beginPath();
            pen.arc(at.x, at.y, 2, 0, 2 * Math.PI);
            pen.fill();
          }
          pen.strokeText(text, at.x + (isPlace ? 6 : 0), at.y);
          pen.fillText(text, at.x + (isPlace ? 6 : 0), at.y);
        }
      };
      const places = found.places.slice(0, PLACES[Math.floor(zoom)]);
      if (zoom < STATES_UNTIL) write(found.states, { font: "600 10px", color: colors.soft, spacing: "1px", change: (name) => name.toUpperCase() });
      write(places, { font: zoom < COUNTIES_FROM ? "500 11px" : "550 12px", color: colors.ink, isPlace: true });
      if (zoom >= COUNTIES_FROM) write(found.counties, { font: "600 11px", color: colors.soft, spacing: "0.5px" });
      box.dataset.named = shown.join(", ");
    };
    map.on("moveend zoomend resize colors", draw);
    map.on("zoomstart", () => pen.clearRect(0, 0, canvas.width, canvas.height));
    draw();
  };

  window.mapBase = (map, box, colors) => {
    L.control.scale({ maxWidth: 120 }).addTo(map);
    drawOutlines(map, box, colors);
    if (box.dataset.tiles) L.tileLayer(box.dataset.tiles, { attribution: box.dataset.credit, maxZoom: 19 }).addTo(map);
    else drawNames(map, box, colors);
  };
})();
