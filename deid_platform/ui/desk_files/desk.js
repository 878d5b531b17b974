"use strict";
// Decisions that the desk has not acknowledged live in `unsent`, in memory alone: stored on disk they would be PHI's
// shadow outside the PHI zone.
const at = (id) => document.getElementById(id);
const RELEVANT = "clinically_relevant";
const AGAIN_MS = 1000;
let items = [], index = 0, asksSeverity = false, sending = false, most = 200;
// Offsets are code points, as everywhere in the platform: the text is kept as a list of them. `marking` is a mark that
// lacks its severity.
let chars = [], words = [], first = 0, last = 0, marking = null;
const unsent = [], history = [];

const same = (value) => (button, name) => button.setAttribute("aria-pressed", String(button.dataset[name] === value));

function draw() {
  const item = items[index];
  const asked = items.filter((it) => it.asks);
  at("progress").textContent = items.length ? `${asked.filter((it) => it.decision).length} of ${asked.length} decided` : "";
  at("choices").hidden = at("marking").hidden = at("legend").hidden = !item;
  for (const id of ["previous", "next"]) at(id).disabled = items.length < 2;
  at("undo").disabled = !history.length;
  if (!item) {
    at("what").textContent = "Nothing to decide";
    at("context").textContent = "No removal waits for this role.";
    return;
  }
  at("what").textContent = `Removal ${index + 1} of ${items.length}, taken for ${item.label}` +
    (item.type ? `, in a ${item.type}` : "");
  drawText(item);
  const told = (it) => [it.decision && name(it.decision.category) + (it.decision.severity ? `, ${it.decision.severity}` : ""),
    ...it.missed.map((m) => `missed ${m.label} "${chars.slice(m.start, m.end).join("")}", ${m.severity}`)];
  const readers = Object.entries(item.readers).map(([who, it]) =>
    `${who}: ${told(it).filter(Boolean).join(", ") || "nothing"}`);
  at("readers").hidden = !readers.length;
  at("readers").textContent = readers.join("; ");
  at("choices").hidden = !item.asks;
  at("released").hidden = !item.missed.length;
  at("reach").disabled = !marking;
  const chosen = asksSeverity ? RELEVANT : item.decision && item.decision.category;
  for (const b of document.querySelectorAll("[data-category]")) same(chosen)(b, "category");
  for (const b of document.querySelectorAll("[data-severity]"))
    same(asksSeverity ? null : item.decision && item.decision.severity)(b, "severity");
  at("severity").disabled = chosen !== RELEVANT;
}

function drawText(item) {
  const removed = [...item.before].length, end = removed + [...item.removed].length;
  const cursor = words.length ? [words[first][0], words[last][1]] : [0, 0];
  const missed = item.missed.map((it) => [it.start, it.end]);
  const edges = new Set([0, chars.length, removed, end, ...cursor, ...[...item.hidden, ...missed].flatMap((it) => it.slice(0, 2))]);
  const cuts = [...edges].sort((a, b) => a - b), pieces = [], own = document.createElement("mark");
  for (let n = 0; n + 1 < cuts.length; n++) {
    const hits = (it) => it[0] < cuts[n + 1] && cuts[n] < it[1];
    const inside = hits([removed, end]), marked = missed.some(hits), hidden = !inside && item.hidden.find(hits);
    const piece = document.createElement(marked || hidden ? "mark" : "span");
    piece.textContent = chars.slice(cuts[n], cuts[n + 1]).join("");
    piece.dataset.start = cuts[n];
    piece.className = marked ? "leak" : hidden ? "hidden" : "";
    if (hidden) piece.title = hidden[2];
    if (hits(cursor)) piece.classList.add("cursor");
    if (inside) own.append(piece);
    if (!inside || cuts[n] === removed) pieces.push(inside ? own : piece);
  }
  own.className = "own";
  at("context").replaceChildren(...pieces);
  const here = at("context").querySelector(".cursor");
  if (here) here.scrollIntoView({ block: "nearest" });
}

const name = (category) => document.querySelector(`[data-category="${category}"] b`).textContent;

function go(to) {
  if (!items.length) return;
  index = (to + items.length) % items.length;
  asksSeverity = false;
  marking = null;
  const item = items[index];
  chars = [...item.before + item.removed + item.after];
  words = [];
  for (let n = 0, start = -1; n <= chars.length; n++) {
    const blank = n === chars.length || /\s/u.test(chars[n]);
    if (blank && start >= 0) { words.push([start, n]); start = -1; } else if (!blank && start < 0) start = n;
  }
  // The cursor waits at the removal.
  const begin = [...item.before].length;
  first = last = Math.max(words.findIndex((it) => it[1] > begin), 0);
  draw();
  at("context").focus({ preventScroll: true });
}

const waits = (it) => it.asks && !it.decision;

function toUndecided() {
  for (let step = 1; step <= items.length; step++)
    if (waits(items[(index + step) % items.length])) return go(index + step);
  draw();
}

function category(value) {
  if (!items[index] || !items[index].asks) return;
  marking = null;
  if (value === RELEVANT) {
    asksSeverity = true;
    draw();
    tell("Now the severity: h or l");
  } else keep({ category: value, severity: null });
}

function severity(value) {
  const item = items[index];
  if (marking) return keepMark({ ...marking, severity: value });
  if (item && item.asks && (asksSeverity || (item.decision && item.decision.category === RELEVANT)))
    keep({ category: RELEVANT, severity: value });
}

function keep(decision) {
  const item = items[index];
  history.push({ index, former: item.decision });
  item.decision = decision;
  asksSeverity = false;
  queue(item);
  toUndecided();
}

function undo() {
  const last = history.pop();
  if (!last) return;
  if (last.mark) {
    queueMark(items[last.index], { ...last.mark, label: null, severity: null });
    last.former.forEach((it) => queueMark(items[last.index], it));
  } else {
    items[last.index].decision = last.former;
    queue(items[last.index]);
  }
  go(last.index);
  tell("Taken back");
}

function queue(item) {
  const said = item.decision || { category: null, severity: null };
  unsent.push({ path: "/decide", said: { removal: item.removal, ...said } });
  send();
}

function move(step, more) {
  if (!words.length) return;
  last = Math.min(Math.max(last + step, more ? first : 0), words.length - 1);
  if (!more) first = last;
  marking = null;
  draw();
}

function beginMark() {
  if (!items[index] || !words.length) return;
  // The signs around a word are no part of what it names.
  let [start, end] = [words[first][0], words[last][1]];
  while (start < end && !/[\p{L}\p{N}]/u.test(chars[start])) start++;
  while (end > start && !/[\p{L}\p{N}]/u.test(chars[end - 1])) end--;
  if (start === end) return;
  const hidden = (n) => items[index].hidden.some((it) => it[0] <= n && n < it[1]);
  if (chars.every((it, n) => n < start || n >= end || /\s/u.test(it) || hidden(n))) return tell("These words are hidden already");
  asksSeverity = false;
  marking = { start, end, label: at("label").value };
  draw();
  tell(`Missed ${marking.label}. Now the severity: h or l`);
}

function keepMark(mark) {
  const item = items[index];
  marking = null;
  history.push({ index, mark, former: item.missed.filter((it) => it.start < mark.end && mark.start < it.end) });
  queueMark(item, mark);
  draw();
}

function unmark() {
  const item = items[index], from = words.length ? words[first][0] : 0, to = words.length ? words[last][1] : 0;
  const found = item && item.missed.find((it) => it.start < to && from < it.end);
  if (!found) return tell("No mark here");
  queueMark(item, { ...found, label: null, severity: null });
  draw();
}

function queueMark(item, mark) {
  item.missed = item.missed.filter((it) => it.end <= mark.start || mark.end <= it.start);
  if (mark.label) item.missed.push(mark);
  unsent.push({ path: "/decide/missed", said: { removal: item.removal, ...mark } });
  send();
}

async function send() {
  if (sending || !unsent.length) return;
  sending = true;
  tell("Saving");
  const path = unsent[0].path, other = unsent.findIndex((it) => it.path !== path);
  const batch = unsent.slice(0, other < 0 ? most : Math.min(most, other));
  let answer = null;
  try {
    answer = await fetch(path, { method: "POST", cache: "no-store", redirect: "error",
      headers: { "Content-Type": "application/json" }, body: JSON.stringify(batch.map((it) => it.said)) });
  } catch { /* the desk cannot be reached */ }
  sending = false;
  if (answer && answer.ok) {
    unsent.splice(0, batch.length);
    if (at("lost").textContent.startsWith("Not connected")) at("lost").hidden = true;
    const { entered, missed } = await answer.json().catch(() => ({ entered: true }));
    if (missed && !unsent.length) showMarks(missed);
    tell(unsent.length ? "Saving" : entered ? "Saved" : "Saved; the ledger gets it later");
    send();
  } else if (answer && answer.status === 400) {
    // Sent again it would be refused again: one by one, so that the others are kept. Rare: the note was withdrawn
    // meanwhile, or a reader changed what the adjudicator was shown.
    if (batch.length > 1) most = 1;
    else {
      const { said } = unsent.shift();
      const item = items.find((it) => it.removal === said.removal);
      if (path === "/decide") item.decision = null;
      else item.missed = item.missed.filter((it) => it.start !== said.start);
      draw();
      lost("The desk refused a decision, which is not kept: what it is about may have been withdrawn or changed. " +
        "Load this page again.");
    }
    send();
  } else {
    tell("");
    lost(`Not connected. ${unsent.length} not saved yet: this page holds them and goes on trying. Do not close it. ` +
      (answer && [401, 403].includes(answer.status) ? "The desk was started again: open its new link in this browser."
        : "If the desk was stopped, start it again on the same port and open its new link in this browser."));
    setTimeout(send, AGAIN_MS);
  }
}

function showMarks(missed) {
  for (const it of items) it.missed = missed[it.removal] || [];
  draw();
}

const tell = (what) => { at("saved").textContent = what; };
const lost = (what) => { if (at("lost").textContent !== what) at("lost").textContent = what; at("lost").hidden = false; };

const keys = { n: () => go(index + 1), p: () => go(index - 1), u: undo, h: () => severity("high"),
  l: () => severity("low"), m: beginMark, d: unmark, t: () => at("label").focus(), "?": () => at("keys").showModal() };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || at("keys").open) return;
  if (event.target.tagName === "SELECT") {
    if (event.key === "Escape" || event.key === "Enter") at("context").focus();
    return;
  }
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step) { event.preventDefault(); return move(step, event.shiftKey); }
  if (event.repeat) return;
  const choices = [...document.querySelectorAll("[data-category]")];
  const action = /^[1-5]$/.test(event.key) ? () => category(choices[event.key - 1].dataset.category) : keys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});
for (const b of document.querySelectorAll("[data-category]"))
  b.addEventListener("click", () => category(b.dataset.category));
for (const b of document.querySelectorAll("[data-severity], [data-reach]"))
  b.addEventListener("click", () => severity(b.dataset.severity || b.dataset.reach));
at("context").addEventListener("mouseup", () => {
  const chosen = window.getSelection(), piece = (node) => node && node.parentElement && node.parentElement.dataset.start;
  if (piece(chosen.anchorNode) === undefined || piece(chosen.focusNode) === undefined) return;
  const place = (node, offset) => +piece(node) + [...node.data.slice(0, offset)].length;
  const ends = [place(chosen.anchorNode, chosen.anchorOffset), place(chosen.focusNode, chosen.focusOffset)];
  const from = words.findIndex((it) => it[1] >= Math.min(...ends));
  const to = words.findLastIndex((it) => it[0] <= Math.max(...ends));
  if (from < 0 || to < 0) return;
  [first, last, marking] = [Math.min(from, to), Math.max(from, to), null];
  draw();
});
for (const [id, key] of [["previous", "p"], ["next", "n"], ["undo", "u"], ["help", "?"], ["mark", "m"], ["unmark", "d"]])
  at(id).addEventListener("click", () => keys[key]());
window.addEventListener("beforeunload", (event) => { if (unsent.length) event.preventDefault(); });

(async () => {
  try {
    const answer = await fetch("/items", { cache: "no-store" });
    if (!answer.ok) throw new Error();
    items = await answer.json();
  } catch {
    return lost("The desk does not answer. Open the link that it printed at its start.");
  }
  go(Math.max(items.findIndex(waits), 0));
  draw();
})();
