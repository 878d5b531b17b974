"use strict";
// Offsets are code points, as everywhere in the platform: the text is kept as a list of them.
const at = (id) => document.getElementById(id);
let items = [], index = 0, note = null, chars = [], words = [], added = [], removed = [], places = [], first = 0, last = 0, tries = 0;

const tell = (what) => { at("saved").textContent = what; };
const lost = (what) => { at("lost").textContent = what; at("lost").hidden = !what; };
const hits = (span, start, end) => span.start < end && start < span.end;
const same = (one, other) => one.start === other.start && one.end === other.end;

async function ask(path, body, meant = () => true) {
  try {
    const answer = await fetch(path, body === undefined ? { cache: "no-store" } : { method: "POST", cache: "no-store",
      redirect: "error", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    if ([401, 403].includes(answer.status)) throw new Error();
    const said = await answer.json();
    // What nobody waits for any more takes no refusal away.
    if (answer.ok) { if (meant()) lost(""); return said; }
    lost(answer.status === 400 ? `Refused: ${said.ref || said.error}` + (said.error === "second-person"
      ? ": another person has to decide the same" : "") : `Not kept (${said.error}). Try again.`);
  } catch {
    lost("Not connected: nothing was kept. This page holds your spans: start the desk again on the same port, open its " +
      "new link in this browser, and decide here again.");
  }
  return null;
}

function drawHead() {
  const item = items[index];
  at("progress").textContent = `${items.filter((it) => it.decided).length} of ${items.length} decided`;
  at("choices").hidden = at("legend").hidden = !item;
  for (const id of ["previous", "next"]) at(id).disabled = items.length < 2;
  if (!item) {
    at("what").textContent = "Nothing waits";
    at("context").textContent = "No note is in quarantine.";
    return;
  }
  at("what").textContent = `Note ${index + 1} of ${items.length}, ${item.delivery}: ${item.reason}` +
    (note && note.held_for !== item.reason ? ` (${note.held_for})` : "") + (note && note.type ? `, ${note.type}` : "") +
    (item.decided ? `; in force: ${item.decided}` : "") +
    (note && note.names.length ? `. The patient is called ${[...new Set(note.names)].join(" or ")}` : "");
  at("proposed").hidden = !item.proposed;
  at("proposed").textContent = item.proposed
    ? `${item.proposed.who} proposes "${item.proposed.action}": ${item.proposed.reason}. Another person may decide the same.` : "";
}

function draw() {
  drawHead();
  if (!note) return;
  const edges = new Set([0, chars.length]);
  const cursor = words.length ? { start: words[first][0], end: words[last][1] } : { start: 0, end: 0 };
  for (const it of [...note.spans, ...added, ...places, cursor]) { edges.add(it.start); edges.add(it.end); }
  const cuts = [...edges].sort((a, b) => a - b);
  const pieces = [];
  for (let n = 0; n + 1 < cuts.length; n++) {
    const [start, end] = [cuts[n], cuts[n + 1]];
    const found = note.spans.find((it) => hits(it, start, end));
    const mine = added.find((it) => hits(it, start, end));
    const gone = found && !mine && removed.some((it) => same(it, found));
    const leak = places.some((it) => hits(it, start, end));
    const piece = document.createElement(found || mine || leak ? "mark" : "span");
    piece.textContent = chars.slice(start, end).join("");
    piece.dataset.start = start;
    piece.className = mine ? "added" : gone ? "removed" : leak && !found ? "leak" : "";
    if (found || mine) piece.title = (mine || found).label;
    if (start >= cursor.start && end <= cursor.end) piece.classList.add("cursor");
    pieces.push(piece);
  }
  at("context").replaceChildren(...pieces);
  const here = at("context").querySelector(".cursor");
  if (here) here.scrollIntoView({ block: "nearest" });
}

async function go(to) {
  if (!items.length) { note = null; return draw(); }
  const key = items[(to + items.length) % items.length].key;
  const found = await ask(`/note?key=${encodeURIComponent(key)}`);
  // Head and note change together: until then, whoever decides does so about the note that is shown.
  [index, note] = [Math.max(items.findIndex((it) => it.key === key), 0), found];
  places = [];
  at("outcome").textContent = "";
  at("preview").hidden = true;
  at("reason").value = "";
  if (!note) { at("context").textContent = ""; return drawHead(); }
  chars = [...note.text];
  words = [];
  for (let n = 0, start = -1; n <= chars.length; n++) {
    const blank = n === chars.length || /\s/u.test(chars[n]);
    if (blank && start >= 0) { words.push([start, n]); start = -1; } else if (!blank && start < 0) start = n;
  }
  [added, removed, first, last] = [note.added, note.removed, 0, 0];
  draw();
  at("context").focus({ preventScroll: true });
  await tryOut();
}

function move(step, more) {
  if (!words.length) return;
  last = Math.min(Math.max(last + step, more ? first : 0), words.length - 1);
  if (!more) first = last;
  draw();
}

function selection() {
  const chosen = window.getSelection();
  if (!chosen.isCollapsed && at("context").contains(chosen.anchorNode) && at("context").contains(chosen.focusNode)) {
    const place = (node, offset) => +node.parentElement.dataset.start + [...node.data.slice(0, offset)].length;
    const ends = [place(chosen.anchorNode, chosen.anchorOffset), place(chosen.focusNode, chosen.focusOffset)];
    chosen.removeAllRanges();
    return { start: Math.min(...ends), end: Math.max(...ends) };
  }
  // The signs around a word are no part of what it names.
  let [start, end] = [words[first][0], words[last][1]];
  while (start < end && !/[\p{L}\p{N}]/u.test(chars[start])) start++;
  while (end > start && !/[\p{L}\p{N}]/u.test(chars[end - 1])) end--;
  return { start, end };
}

function add() {
  if (!note || !words.length) return;
  const span = { ...selection(), label: at("label").value };
  if (span.start >= span.end) return;
  added = [...added.filter((it) => !hits(it, span.start, span.end)), span].sort((a, b) => a.start - b.start);
  changed();
  // It shows how far the words and numbers reach that were selected.
  tryOut();
}

function remove(from = words[first][0], to = words[last][1]) {
  const mine = added.find((it) => hits(it, from, to));
  const found = note.spans.find((it) => hits(it, from, to));
  if (mine) added = added.filter((it) => it !== mine);
  else if (found) removed = removed.some((it) => same(it, found))
    ? removed.filter((it) => !same(it, found)) : [...removed, found].sort((a, b) => a.start - b.start);
  else return;
  changed();
}

function changed() {
  places = [];
  at("outcome").textContent = "Changed: try it with t";
  at("preview").hidden = true;
  draw();
}

const said = (action) => ({ key: note.key, action, added, removed, reason: at("reason").value, seen: note.seen });

async function tryOut() {
  const asked = (tries += 1), key = note.key, tried = JSON.stringify([added, removed]);
  at("outcome").textContent = "Trying";
  const found = await ask("/decide/try", said("mend"), () => asked === tries);
  if (asked !== tries || (note && note.key === key && tried !== JSON.stringify([added, removed]))) return;
  if (!found || !note || note.key !== key) { at("outcome").textContent = ""; return; }
  added = found.added;
  places = found.places.map(([start, end]) => ({ start, end }));
  at("outcome").textContent = note.failed ? `The detector failed on it (${found.reason}): the next refresh tries again. ` +
    "Nobody can mend it or let it pass; it can be kept out" : found.reason ? `It would stay in quarantine: ${found.reason}` :
    "It would pass redaction and leak check, as:";
  at("preview").hidden = !!found.reason;
  at("preview").textContent = found.text || "";
  draw();
}

async function decide(action) {
  if (!note) return;
  const body = said(action);
  if (action !== "mend") body.added = body.removed = [];
  const done = await ask("/decide", body);
  if (!done) return;
  const key = note.key;
  items = (await ask("/items")) || items;
  const here = Math.max(items.findIndex((it) => it.key === key), 0);
  const left = items.findIndex((it, n) => n > here && !it.decided && !it.proposed);
  await go(left < 0 ? here + 1 : left);
  // Once the next note is shown: whoever reads it decides about that one.
  tell(done.counts ? "Saved: it counts at the next refresh" : "Saved: it waits for a second person");
}

const keys = { a: add, d: () => note && remove(), t: () => note && tryOut(), r: () => at("reason").focus(),
  l: () => at("label").focus(),
  n: () => go(index + 1), p: () => go(index - 1), "?": () => at("keys").showModal(),
  m: () => decide("mend"), y: () => decide("pass"), k: () => decide("keep-out"), f: () => decide("as-found") };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || at("keys").open) return;
  if (["INPUT", "SELECT"].includes(event.target.tagName)) {
    if (event.key === "Escape" || event.key === "Enter") at("context").focus();
    return;
  }
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const action = step ? () => move(step, event.shiftKey) : event.repeat ? null : keys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});
for (const b of document.querySelectorAll("[data-action]")) b.addEventListener("click", () => decide(b.dataset.action));
for (const [id, key] of [["previous", "p"], ["next", "n"], ["help", "?"], ["add", "a"], ["remove", "d"], ["try", "t"]])
  at(id).addEventListener("click", () => keys[key]());
// The button must not take the selection away before it is read.
at("add").addEventListener("mousedown", (event) => event.preventDefault());
at("context").addEventListener("click", (event) => {
  const start = event.target.dataset && +event.target.dataset.start;
  if (!note || Number.isNaN(start) || start === undefined || !window.getSelection().isCollapsed) return;
  const word = words.findIndex((it) => it[1] > start);
  if (word >= 0) first = last = word;
  if (event.target.tagName === "MARK" && !event.target.classList.contains("leak")) remove(start, start + 1);
  else draw();
});
window.addEventListener("beforeunload", (event) => {
  const spans = JSON.stringify([added, removed]);
  if (note && spans !== JSON.stringify([note.added, note.removed])) event.preventDefault();
});

(async () => {
  items = (await ask("/items")) || [];
  await go(Math.max(items.findIndex((it) => !it.decided), 0));
  draw();
})();
