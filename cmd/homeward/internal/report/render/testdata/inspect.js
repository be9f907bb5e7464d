// Looks at the page from inside a browser, and leaves what it saw as JSON.
(() => {
  const seen = { width: innerWidth, scrollWidth: document.scrollingElement.scrollWidth, title: document.title,
    background: getComputedStyle(document.body).backgroundColor, resources: performance.getEntriesByType("resource").length,
    pictures: [], outside: [], spilled: [], contrast: 99, faint: "" };
  const luminance = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const colour = text => (text.match(/[\d.]+/g) || []).map(Number);
  const opaque = c => c.length >= 3 && (c.length === 3 || c[3] === 1);
  const judge = (front, back, what) => {
    const [a, b] = [luminance(front), luminance(back)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < seen.contrast) { seen.contrast = ratio; seen.faint = what; }
  };
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = colour(getComputedStyle(e).backgroundColor);
      if (opaque(c)) return c;
    }
    return [255, 255, 255];
  };
  for (const e of document.querySelectorAll("body *")) {
    if (e.closest("script") || !e.getClientRects().length) continue;
    const box = e.getBoundingClientRect();
    if (box.right > innerWidth + 0.5 || box.left < -0.5) seen.outside.push(e.tagName + " " + e.textContent.slice(0, 40));
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    if (own && !e.closest("svg")) judge(colour(getComputedStyle(e).color), ground(e), e.textContent.slice(0, 40));
  }
  for (const svg of document.querySelectorAll("svg")) {
    if (!svg.getClientRects().length) continue;
    seen.pictures.push(svg.getAttribute("class"));
    let tag = null, box = null;
    for (const e of svg.querySelectorAll("rect, text")) {
      if (e.tagName === "rect") {
        if (e.classList.contains("tag")) tag = e; else box = e;
        if (e.classList.contains("host")) svg.host = e;
        continue;
      }
      const around = e.classList.contains("tagtext") ? tag : e.classList.contains("title") ? svg.host : box;
      const inner = e.getBBox(), outer = around ? around.getBBox() : svg.viewBox.baseVal;
      if (inner.x < outer.x || inner.x + inner.width > outer.x + outer.width + 1) seen.spilled.push(e.textContent);
      judge(colour(getComputedStyle(e).fill), around ? colour(getComputedStyle(around).fill) : ground(svg), e.textContent);
    }
  }
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(seen))));
  (frameElement ? parent.document : document).body.append(out);
})();
