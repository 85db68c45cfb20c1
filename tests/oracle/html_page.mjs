// The HTML report in a browser, for html_page.py: node html_page.mjs MODULES CHROMIUM PAGE PLAN.json ...
// Each fault is a line on standard output; none is the good end.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import path from "node:path";

const [modules, executablePath, ...files] = process.argv.slice(2);
const require = createRequire(path.resolve(modules, "node_modules", "x.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

let faults = 0;
const fault = (text) => {
  faults++;
  console.log(text);
};
const same = (what, found, expected) => {
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    fault(`${what}: got ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`);
  }
};
const number = (text) => (text === "-" ? null : Number(text.replaceAll(",", "")));

async function open(browser, file, options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const url = pathToFileURL(file).href;
  page.on("console", (message) => fault(`${file}: the console says ${message.text()}`));
  page.on("pageerror", (error) => fault(`${file}: ${error.message}`));
  page.on("request", (request) => request.url().split("#")[0] === url || fault(`${file}: asks for ${request.url()}`));
  await page.goto(url);
  return page;
}

/* ---- What a person does */

async function findsTotals(page, plan) {
  for (const [key, expected] of Object.entries(plan.totals)) {
    const cell = page.locator(`#t-totals td[data-key="${key}"]`);
    if (await cell.count()) {
      same(`totals.${key}`, number(await cell.textContent()), expected);
    }
  }
  const answer = await page.locator(".answer strong").textContent();
  same("the answer", answer, plan.totals.fits ? "It fits." : "It does not fit.");
  same("the misfit's section", await page.locator("#misfit").count(), plan.misfit ? 1 : 0);
}

const columnOf = (page, head) =>
  page.evaluate((wanted) => {
    const table = document.getElementById("t-buffers");
    const at = Array.from(table.tHead.rows[0].cells).findIndex((cell) => cell.textContent === wanted);
    return Array.from(table.tBodies[0].rows, (row) => (row.hidden ? null : row.cells[at].textContent)).filter((t) => t !== null);
  }, head);

async function sorts(page) {
  const button = page.locator("#t-buffers thead th button", { hasText: "physical" });
  const before = (await columnOf(page, "physical")).map(number);
  await button.click();
  const down = (await columnOf(page, "physical")).map(number);
  same("sorted, largest first", down, before.toSorted((a, b) => b - a));
  await button.focus();
  await page.keyboard.press("Enter");
  const up = (await columnOf(page, "physical")).map(number);
  same("sorted, smallest first", up, before.toSorted((a, b) => a - b));
  same("aria-sort", await page.locator("#t-buffers th[aria-sort]").getAttribute("aria-sort"), "ascending");
}

async function filters(page, plan, listed) {
  const kinds = await columnOf(page, "kind");
  await page.selectOption("#f-kind", "activation");
  const left = await columnOf(page, "kind");
  same("filtered by kind", left.length, kinds.filter((kind) => kind === "activation").length);
  same("said how many", await page.locator("#f-count").textContent(), `${left.length} of ${listed} shown`);
  await page.fill("#f-step", String(plan.peak.step));
  const alive = (await columnOf(page, "id")).map((id) => plan.buffers[number(id)]);
  const isAlive = (buffer) => buffer.first <= plan.peak.step && plan.peak.step < buffer.last;
  same("filtered by step", alive.every((buffer) => isAlive(buffer) && buffer.kind === "activation"), true);
  await page.click("#filter button[type=reset]");
  await page.waitForFunction(() => document.querySelectorAll("#t-buffers tbody tr[hidden]").length === 0);
}

const chosen = (page) =>
  page.evaluate(() => Array.from(document.querySelectorAll(".chosen"), (element) => element.id).sort());

/* From the map to the row, on by keyboard, and back from a row to the map. */
async function selects(page) {
  const ids = await page.locator("#storages > a").evaluateAll((rects) => rects.map((rect) => rect.id.slice(1)));
  if (ids.length === 0) {
    fault("no storage is drawn alone");
    return;
  }
  const rect = page.locator(`#m${ids[0]}`);
  await rect.focus();
  same("selected on the map", await chosen(page), [`b${ids[0]}`, `m${ids[0]}`]);
  if (ids.length > 1) {
    await page.keyboard.press("ArrowRight");
    same("gone on by keyboard", await chosen(page), [`b${ids[1]}`, `m${ids[1]}`]);
    await page.keyboard.press("ArrowLeft");
  }
  await page.keyboard.press("Enter");
  await page.waitForFunction((id) => location.hash === `#b${id}`, ids[0]);
  const color = await page.locator(`#b${ids[0]} td`).first().evaluate((cell) => getComputedStyle(cell).backgroundColor);
  const other = await page.locator(`#t-buffers caption`).evaluate((cell) => getComputedStyle(cell).backgroundColor);
  same("the row stands out", color !== other, true);
  const last = ids[ids.length - 1];
  await page.keyboard.press("Escape");
  same("nothing selected", await chosen(page), []);
  await page.locator(`#b${last} td`).nth(2).click();
  same("selected in the table", await chosen(page), [`b${last}`, `m${last}`]);
  await page.locator(`#b${last} td a`).first().click();
  await page.waitForFunction((id) => document.activeElement.id === `m${id}`, last);
  await clicks(page, ids);
}

/* A rectangle that lies on top where it is clicked. */
async function clicks(page, ids) {
  await page.keyboard.press("Escape");
  const at = await page.evaluate((wanted) => {
    for (const id of wanted) {
      const link = document.getElementById(`m${id}`);
      link.scrollIntoView({ block: "center" });
      const box = link.querySelector("rect").getBoundingClientRect();
      const point = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
      if (link.contains(document.elementFromPoint(point.x, point.y))) {
        return { id, ...point };
      }
    }
    return null;
  }, ids);
  await page.mouse.click(at.x, at.y);
  await page.waitForFunction((id) => location.hash === `#b${id}`, at.id);
  same("clicked on the map", await chosen(page), [`b${at.id}`, `m${at.id}`]);
}

async function followsPeak(page, plan) {
  await page.click("#to-peak");
  await page.waitForFunction(() => document.activeElement.id === "peak");
  const peak = page.locator("#peak");
  same("the peak's words", await peak.locator("text").textContent(),
       `peak ${plan.totals.peak_live_bytes.toLocaleString("en-US")} at step ${plan.peak.step.toLocaleString("en-US")}`);
  await page.keyboard.press("Enter");
  await page.waitForFunction((step) => location.hash === `#s${step}`, plan.peak.step);
  same("the peak's step", await page.locator("tr:target td").first().textContent(), String(plan.peak.step));
}

async function isAccessible(page, what) {
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
  for (const violation of result.violations) {
    const serious = ["serious", "critical"].includes(violation.impact);
    const places = violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ");
    (serious ? fault : console.error)(`${what}: ${violation.impact}: ${violation.id}: ${violation.help}: ${places}`);
  }
}

/* The same without script: links lead from the map to rows, nothing that only a script can do is shown. */
async function readsWithoutScript(browser, file) {
  const page = await open(browser, file, { javaScriptEnabled: false });
  same("the filter is hidden", await page.locator("#filter").isVisible(), false);
  same("the table is there", await page.locator("#t-buffers tbody tr").first().isVisible(), true);
  same("the picture is there", await page.locator("#picture").isVisible(), true);
  await page.context().close();
}

async function check(browser, file, plan) {
  const page = await open(browser, file);
  const listed = await page.locator("#t-buffers tbody tr").count();
  await findsTotals(page, plan);
  await sorts(page);
  await filters(page, plan, listed);
  await selects(page);
  await followsPeak(page, plan);
  await isAccessible(page, `${file}, light`);
  await page.context().close();
  const dark = await open(browser, file, { colorScheme: "dark", viewport: { width: 400, height: 800 } });
  await isAccessible(dark, `${file}, dark and narrow`);
  const wide = await dark.evaluate(() => document.documentElement.scrollWidth);
  same("a narrow page scrolls down only", wide <= 400, true);
  await dark.context().close();
  await readsWithoutScript(browser, file);
}

/* As root Chromium has no sandbox, and a machine for tests may have little shared memory. */
const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
const browser = await chromium.launch({ executablePath, args });
for (let k = 0; k + 1 < files.length; k += 2) {
  try {
    await check(browser, files[k], JSON.parse(readFileSync(files[k + 1], "utf8")));
  } catch (error) {
    fault(`${files[k]}: ${error.stack}`);
  }
}
await browser.close();
console.log(`${files.length / 2} pages looked at, ${faults} faults`);
process.exit(faults ? 1 : 0);
