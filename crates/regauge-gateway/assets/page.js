"use strict";
// The token is kept only in this variable: no storage, no cookie, no address.
let token = "";
let next = null;

const element = (id) => document.getElementById(id);
const said = element("said");

function say(text, bad) {
  said.textContent = text;
  said.className = bad ? "error" : "";
}

async function ask(method, path, body) {
  const headers = { Authorization: "Bearer " + token };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(path, {
    method, headers, body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer",
  });
  const text = await response.text();
  const value = text ? JSON.parse(text) : null;
  if (!response.ok) throw new Error(value && value.detail ? value.detail : "status " + response.status);
  return value;
}

function cell(row, text, name) {
  const made = row.insertCell();
  // textContent: whatever a name contains, it is never parsed as HTML.
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

function size(bytes) {
  if (bytes === null || bytes === undefined) return "shared";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) { bytes /= 1000; unit += 1; }
  return (unit ? bytes.toFixed(1) : bytes) + " " + units[unit];
}

const time = (seconds) => new Date(seconds * 1000).toISOString().replace("T", " ").slice(0, 19);

function button(label, about, act, danger) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.setAttribute("aria-label", label + " " + about);
  if (danger) made.className = "danger";
  made.addEventListener("click", () => guarded(act));
  return made;
}

async function guarded(act) {
  try { await act(); } catch (error) { say(error.message, true); }
}

function show(tenant) {
  const row = element("tenants").insertRow();
  const name = document.createElement("th");
  name.scope = "row";
  name.textContent = tenant.id;
  row.append(name);
  cell(row, tenant.state, tenant.state);
  cell(row, tenant.place);
  cell(row, tenant.codec);
  cell(row, size(tenant.file_bytes), "number");
  const values = cell(row, "", "number");
  values.append(button("Count", "the values of " + tenant.id, async () => {
    const found = await ask("GET", path(tenant.id));
    values.textContent = found.values.toLocaleString("en") + " (" + size(found.stored_bytes) + ")";
    say("Counted " + tenant.id + ".");
  }));
  cell(row, tenant.requests_last_minute.toLocaleString("en"), "number");
  cell(row, time(tenant.created));
  const actions = cell(row, "");
  const active = tenant.state === "active";
  if (tenant.state !== "dropping") {
    actions.append(button(active ? "Suspend" : "Resume", tenant.id, async () => {
      await ask("PATCH", path(tenant.id), { state: active ? "suspended" : "active" });
      await load();
      say(tenant.id + " is " + (active ? "suspended." : "active again."));
    }, active));
  }
  actions.append(button("New token", "for " + tenant.id, async () => {
    const made = await ask("POST", path(tenant.id) + "/tokens", { scopes: ["read", "write"] });
    say("Shown once, for " + tenant.id + ": " + made.token);
  }));
}

const path = (id) => "/v1/admin/tenants/" + encodeURIComponent(id);

async function page() {
  const after = next === null ? "" : "&after=" + encodeURIComponent(next);
  const found = await ask("GET", "/v1/admin/tenants?limit=100" + after);
  found.tenants.forEach(show);
  next = found.next;
  element("more").hidden = next === null;
  const shown = element("tenants").rows.length;
  element("count").textContent =
    shown + (next === null ? "" : " and more") + ", " + found.open_tenants + " open";
}

async function load() {
  element("tenants").replaceChildren();
  next = null;
  await page();
  const errors = element("errors");
  errors.replaceChildren();
  const found = await ask("GET", "/v1/admin/errors");
  for (const one of found.errors) {
    const row = errors.insertRow();
    cell(row, time(one.time));
    cell(row, one.tenant || "–");
    cell(row, one.status, "number");
    cell(row, one.kind);
    cell(row, one.method + " " + one.route);
    cell(row, one.request, "quiet");
  }
  if (!found.errors.length) cell(errors.insertRow(), "none", "quiet").colSpan = 6;
  element("main").hidden = false;
  element("leave").hidden = false;
}

element("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  token = element("token").value.trim();
  element("token").value = "";
  guarded(async () => { await load(); say("Open. The token stays in the memory of this page."); });
});
element("leave").addEventListener("click", () => {
  token = "";
  element("main").hidden = true;
  element("leave").hidden = true;
  for (const id of ["tenants", "errors"]) element(id).replaceChildren();
  say("The token is forgotten.");
  element("token").focus();
});
element("again").addEventListener("click", () => guarded(async () => { await load(); say("Reloaded."); }));
element("more").addEventListener("click", () => guarded(page));
element("create").addEventListener("submit", (event) => {
  event.preventDefault();
  const id = element("id").value.trim();
  guarded(async () => {
    await ask("POST", "/v1/admin/tenants", { id });
    element("id").value = "";
    await load();
    say("Created tenant " + id + ".");
  });
});
