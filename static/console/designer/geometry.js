// Millimetres on the page: bounds of boxes, and where a box that is moved or resized snaps to.

export const numeric = (value, otherwise = 0) => (typeof value === "number" && Number.isFinite(value) ? value : otherwise);
export const round = (value) => Math.round(value * 100) / 100;

export const placeOf = (box) => ({
  X: numeric(box.X),
  Y: numeric(box.Y),
  Width: numeric(box.Width, 1),
  Height: numeric(box.Height, 1),
  Rotation: numeric(box.Rotation),
});

// What a box covers, turned as it is.
export function boundsOf(box) {
  const { X, Y, Width, Height, Rotation } = placeOf(box);
  const turn = (Rotation * Math.PI) / 180;
  const across = Math.abs(Width * Math.cos(turn)) + Math.abs(Height * Math.sin(turn));
  const down = Math.abs(Width * Math.sin(turn)) + Math.abs(Height * Math.cos(turn));
  const left = X + Width / 2 - across / 2;
  const top = Y + Height / 2 - down / 2;
  return { left, top, right: left + across, bottom: top + down };
}

export function unionOf(boxes) {
  const all = boxes.map(boundsOf);
  return {
    left: Math.min(...all.map((one) => one.left)),
    top: Math.min(...all.map((one) => one.top)),
    right: Math.max(...all.map((one) => one.right)),
    bottom: Math.max(...all.map((one) => one.bottom)),
  };
}

export const touches = (one, other) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

// Lines that an edge or a middle may snap to: of the page, of its safe area and of the other boxes.
export function linesFor(page, others, safe) {
  const width = numeric(page.WidthMM);
  const height = numeric(page.HeightMM);
  const across = [0, width / 2, width, safe, width - safe];
  const down = [0, height / 2, height, safe, height - safe];
  for (const box of others) {
    const { left, top, right, bottom } = boundsOf(box);
    across.push(left, (left + right) / 2, right);
    down.push(top, (top + bottom) / 2, bottom);
  }
  return { across, down };
}

function nearest(edges, lines, reach) {
  let best = null;
  for (const edge of edges) {
    for (const line of lines) {
      const by = line - edge;
      if (Math.abs(by) <= reach && (!best || Math.abs(by) < Math.abs(best.by))) best = { by, line };
    }
  }
  return best;
}

// How far to go on so that `bounds` meets a line within `reach`, else the next whole millimetre; and the lines met.
export function snapped(bounds, lines, reach, edges = { across: ["left", "middle", "right"], down: ["top", "middle", "bottom"] }) {
  const middles = { across: (bounds.left + bounds.right) / 2, down: (bounds.top + bounds.bottom) / 2 };
  const found = { guides: [] };
  for (const axis of ["across", "down"]) {
    const at = edges[axis].map((edge) => (edge === "middle" ? middles[axis] : bounds[edge]));
    const met = at.length ? nearest(at, lines[axis], reach) : null;
    if (met) found.guides.push({ axis, line: met.line });
    found[axis] = met ? met.by : at.length ? Math.round(at[0]) - at[0] : 0;
  }
  return found;
}

// The box after its edges (n, e, s, w) went by a way on the screen, kept where its other edges are also when turned.
export function resized(begun, edge, across, down, smallest) {
  const turn = (begun.Rotation * Math.PI) / 180;
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  const x = across * cos + down * sin;
  const y = down * cos - across * sin;
  const grow = { x: edge.includes("e") ? x : edge.includes("w") ? -x : 0, y: edge.includes("s") ? y : edge.includes("n") ? -y : 0 };
  const Width = Math.max(smallest, begun.Width + grow.x);
  const Height = Math.max(smallest, begun.Height + grow.y);
  const shiftX = ((Width - begun.Width) / 2) * (edge.includes("w") ? -1 : 1);
  const shiftY = ((Height - begun.Height) / 2) * (edge.includes("n") ? -1 : 1);
  const middleX = begun.X + begun.Width / 2 + shiftX * cos - shiftY * sin;
  const middleY = begun.Y + begun.Height / 2 + shiftX * sin + shiftY * cos;
  return { X: middleX - Width / 2, Y: middleY - Height / 2, Width, Height };
}
