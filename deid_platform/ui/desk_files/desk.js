"use strict";
// Decisions that the desk has not acknowledged live in `unsent`, in memory alone: stored on disk they would be PHI's
// shadow outside the PHI zone.
const at = (id) => document.getElementById(id);
const RELEVANT = "clinically_relevant";
const AGAIN_MS = 1000;
let items = [], index = 0, asksSeverity = false, sending = false, most = 200;
const unsent = [], history = [];

const same = (value) => (button, name) => button.setAttribute("aria-pressed", String(button.dataset[name] === value));

function draw() {
  const item = items[index];
  const decided = items.filter((it) => it.decision).length;
  at("progress").textContent = items.length ? `${decided} of ${items.length} decided` : "";
  at("choices").hidden = !item;
  for (const id of ["previous", "next"]) at(id).disabled = items.length < 2;
  at("undo").disabled = !history.length;
  if (!item) {
    at("what").textContent = "Nothing to decide";
    at("context").textContent = "No removal waits for this role.";
    return;
  }
  at("what").textContent = `Removal ${index + 1} of ${items.length}, taken for ${item.label}` +
    (item.type ? `, in a ${item.type}` : "");
  const mark = document.createElement("mark");
  mark.textContent = item.removed;
  at("context").replaceChildren(item.before, mark, item.after);
  const readers = Object.entries(item.readers).map(([who, it]) =>
    `${who}: ${it ? name(it.category) + (it.severity ? `, ${it.severity}` : "") : "nothing"}`);
  at("readers").hidden = !readers.length;
  at("readers").textContent = readers.join("; ");
  const chosen = asksSeverity ? RELEVANT : item.decision && item.decision.category;
  for (const b of document.querySelectorAll("[data-category]")) same(chosen)(b, "category");
  for (const b of document.querySelectorAll("[data-severity]"))
    same(asksSeverity ? null : item.decision && item.decision.severity)(b, "severity");
  at("severity").disabled = chosen !== RELEVANT;
}

const name = (category) => document.querySelector(`[data-category="${category}"] b`).textContent;

function go(to) {
  if (!items.length) return;
  index = (to + items.length) % items.length;
  asksSeverity = false;
  draw();
  at("context").focus({ preventScroll: true });
}

function toUndecided() {
  for (let step = 1; step <= items.length; step++)
    if (!items[(index + step) % items.length].decision) return go(index + step);
  draw();
}

function category(value) {
  if (!items[index]) return;
  if (value === RELEVANT) {
    asksSeverity = true;
    draw();
    tell("Now the severity: h or l");
  } else keep({ category: value, severity: null });
}

function severity(value) {
  const item = items[index];
  if (item && (asksSeverity || (item.decision && item.decision.category === RELEVANT)))
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
  items[last.index].decision = last.former;
  queue(items[last.index]);
  go(last.index);
  tell("Taken back");
}

function queue(item) {
  const said = item.decision || { category: null, severity: null };
  unsent.push({ removal: item.removal, ...said });
  send();
}

async function send() {
  if (sending || !unsent.length) return;
  sending = true;
  tell("Saving");
  const batch = unsent.slice(0, most);
  let answer = null;
  try {
    answer = await fetch("/decide", { method: "POST", cache: "no-store", redirect: "error",
      headers: { "Content-Type": "application/json" }, body: JSON.stringify(batch) });
  } catch { /* the desk cannot be reached */ }
  sending = false;
  if (answer && answer.ok) {
    unsent.splice(0, batch.length);
    if (at("lost").textContent.startsWith("Not connected")) at("lost").hidden = true;
    const { entered } = await answer.json().catch(() => ({ entered: true }));
    tell(unsent.length ? "Saving" : entered ? "Saved" : "Saved; the ledger gets it later");
    send();
  } else if (answer && answer.status === 400) {
    // Sent again it would be refused again: one by one, so that the others are kept. Rare: the note was withdrawn
    // meanwhile, or a reader changed what the adjudicator was shown.
    if (batch.length > 1) most = 1;
    else {
      const said = unsent.shift();
      const item = items.find((it) => it.removal === said.removal);
      item.decision = null;
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

const tell = (what) => { at("saved").textContent = what; };
const lost = (what) => { if (at("lost").textContent !== what) at("lost").textContent = what; at("lost").hidden = false; };

const keys = { n: () => go(index + 1), p: () => go(index - 1), u: undo, h: () => severity("high"),
  l: () => severity("low"), "?": () => at("keys").showModal() };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || at("keys").open) return;
  const choices = [...document.querySelectorAll("[data-category]")];
  const action = /^[1-5]$/.test(event.key) ? () => category(choices[event.key - 1].dataset.category) : keys[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});
for (const b of document.querySelectorAll("[data-category]"))
  b.addEventListener("click", () => category(b.dataset.category));
for (const b of document.querySelectorAll("[data-severity]"))
  b.addEventListener("click", () => severity(b.dataset.severity));
for (const [id, key] of [["previous", "p"], ["next", "n"], ["undo", "u"], ["help", "?"]])
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
  const first = items.findIndex((it) => !it.decision);
  go(Math.max(first, 0));
  draw();
})();
