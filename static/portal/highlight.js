// Colors code by the CSS Custom Highlight API: the text stays as it is for copying and for screen readers.
(() => {
  if (!CSS.highlights) return;
  const CODE = ".code pre code, .prose pre code, pre.answer";
  const LONGEST = 60000;
  const WORDS = "as async await catch class const def else except export false for from if import in let new null"
    + " of print return then throw true try with False None True";
  const TOKEN = new RegExp([
    /(?<remark>(?<=^|\s)(?:#|\/\/)[^\n]*)/.source,
    /(?<name>"(?:[^"\\\n]|\\.)*"(?=\s*:)|^[\w-]+(?=: ))/.source,
    /(?<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)/.source,
    /(?<number>(?<![\w.:/-])-?\d+(?:\.\d+)?(?![\w.-]))/.source,
    `(?<word>(?<![\\w.-])(?:${WORDS.replaceAll(" ", "|")})(?![\\w-]))`,
  ].join("|"), "gm");
  const kinds = ["remark", "name", "text", "number", "word"];
  const highlights = Object.fromEntries(kinds.map((kind) => [kind, new Highlight()]));
  for (const kind of kinds) CSS.highlights.set(`code-${kind}`, highlights[kind]);

  const mark = (node) => {
    if (node.data.length > LONGEST) return;
    for (const found of node.data.matchAll(TOKEN)) {
      const kind = kinds.find((name) => found.groups[name] !== undefined);
      const [startOffset, endOffset] = [found.index, found.index + found[0].length];
      highlights[kind].add(new StaticRange({ startContainer: node, startOffset, endContainer: node, endOffset }));
    }
  };

  const paint = () => {
    for (const kind of kinds) highlights[kind].clear();
    for (const block of document.querySelectorAll(CODE)) {
      const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) mark(texts.currentNode);
    }
  };

  let waiting = 0;
  const later = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(paint);
  };
  new MutationObserver(later).observe(document.querySelector("main"), { childList: true, subtree: true });
  paint();
})();
