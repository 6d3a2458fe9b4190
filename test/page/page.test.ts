/**
 * The page of a report in a real browser with the network off, where there is one: it asks for nothing, its policy is not broken, names stay
 * text, tables work, and Perfetto is handed the trace.
 */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { escaped, jsonInScript } from '../../src/page/html.js';
import { PAGE_START } from '../../src/page/page.js';
import type { PageData } from '../../src/page/page_data.js';
import { runHere, type TextResult } from '../support/program/command_line.js';
import { record } from '../support/jobs/loopback.js';
import { collectivesOf, kinetoText } from '../support/made_up/kineto.js';
import { madeUpRank, SMALL_RUN } from '../support/made_up/made_up_run.js';
import { folderOfFile } from '../support/program/temporary_folder.js';
import { viewTrace } from '../support/traces/trace_view.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const CHROMIUM = '/usr/bin/chromium';
const folder = folderOfFile();
const PHONE = { width: 360, height: 740 };

const run = (...args: string[]): Promise<TextResult> => runHere(folder, ...args);
const sample = (name: string): string => path.join(root, 'samples', name);

it.each([
  ['straggler', 'SLOW: rank 2 late on world, since 15:28:24 UTC, cost 138.6 ms Records: rank 2 2:44.'],
  [
    'hang',
    'HUNG: AllReduce seq 2 on world, rank 3 fell silent, 3 to 0 ch 1 step 3, since 19:02:00 UTC, cost 3.0 s Records: rank 0 2:44, rank 2 2:44, rank 3 2:44.',
  ],
])('the evidence for %s is its findings in words, with their records', async (name, row) => {
  await run('report', sample(name), '-fqo', `${name}.html`, '--no-trace');
  const page = readFileSync(path.join(folder, `${name}.html`), 'utf8');
  const [, evidence = ''] = /<summary>Evidence<\/summary>(.*?)<\/details>/s.exec(page) ?? [];
  expect(evidence.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')).toContain(row);
});

describe('text in HTML', () => {
  it('never becomes markup', () => {
    expect(escaped(`<b a="x" c='y'>&amp;`)).toBe('&#60;b a=&#34;x&#34; c=&#39;y&#39;&#62;&#38;amp;');
  });

  it('JSON in a script ends no script, and is the same when it is read', () => {
    const value = { name: '</script><!-- <script> ]]> & \u2028' };
    expect(jsonInScript(value)).not.toMatch(/[<>&\u2028]/);
    expect(JSON.parse(jsonInScript(value))).toEqual(value);
  });
});

describe('the file', () => {
  it('is one of ours, and replaced as such with --force only', async () => {
    expect(await run('report', sample('hang'), '-o', 'one.html', '-q')).toMatchObject({ code: 0, err: '' });
    const page = readFileSync(path.join(folder, 'one.html'), 'utf8');
    expect(page.startsWith(PAGE_START)).toBe(true);
    const again = await run('report', sample('hang'), '-o', 'one.html');
    expect([again.code, again.err]).toEqual([4, expect.stringContaining('already exists; use --force')]);
    expect(await run('report', sample('hang'), '-fqo', 'one.html')).toMatchObject({ code: 0 });
    writeFileSync(path.join(folder, 'mine.html'), '<!doctype html>\n<p>mine');
    const mine = await run('report', sample('hang'), '-fo', 'mine.html');
    expect([mine.code, mine.err]).toEqual([4, expect.stringContaining('is not replaced')]);
    const file = path.join(sample('hang'), 'rank00000.bin');
    expect(await run('merge', sample('hang'), '-fo', 'one.html.pftrace', '--report', file)).toMatchObject({
      code: 4,
    });
  });

  it('has no name of another kind of file', async () => {
    const { code, err } = await run('report', sample('hang'), '-o', 'run.pdf');
    expect([code, err]).toEqual([2, expect.stringContaining('choose a name that ends in .html')]);
  });

  it('depends on the files alone', async () => {
    await run('report', sample('hang'), '-qo', 'a.html');
    await run('report', sample('hang'), '-qo', 'b/../c.html');
    const [a, c] = ['a.html', 'c.html'].map((name) => readFileSync(path.join(folder, name), 'utf8'));
    expect(a!.replaceAll('a.pftrace.gz', 'c.pftrace.gz')).toBe(c);
  });

  it('merge --report: the same page beside the trace, which it carries packed', async () => {
    const { code } = await run('merge', sample('hang'), '-qo', 'run.pftrace', '--report', 'run.html');
    expect(code).toBe(0);
    const page = readFileSync(path.join(folder, 'run.html'), 'utf8');
    const [, base64 = ''] = /id="trace">([^<]*)</.exec(page) ?? [];
    const trace = readFileSync(path.join(folder, 'run.pftrace'));
    expect(gunzipSync(Buffer.from(base64, 'base64')).equals(trace)).toBe(true);
  });

  it('--no-trace, and a budget that is too small: no trace, and the page says why', async () => {
    await run('report', sample('hang'), '-qo', 'without.html', '--no-trace');
    await run('report', sample('hang'), '-qo', 'small.html', '--trace-budget', '0.001');
    const [without, small] = ['without.html', 'small.html'].map((name) =>
      readFileSync(path.join(folder, name), 'utf8'),
    );
    for (const page of [without!, small!]) expect(page).not.toContain('id="trace"');
    expect(without).toContain('made without its trace');
    expect(small).toMatch(/The trace has 0\.\d MB, more than the 0\.0 MB that a report carries/);
  });

  it('says its verdict without a script, too', async () => {
    await run('report', sample('hang'), '-fqo', 'hang.html', '--hung-after', '1');
    const text = readFileSync(path.join(folder, 'hang.html'), 'utf8').replace(
      /<script[\s\S]*?<\/script>/g,
      '',
    );
    expect(text).toContain('<b>HUNG</b> AllReduce seq 2 on world (4 ranks): rank 3 fell silent.');
    expect(text).toContain('<dt>look at</dt><dd>rank 0 ch 1 recv from 3, step 3 of 6 in recv wait</dd>');
    expect(text).toContain('<dt>no file</dt><dd>rank 1 of 4: what it did is not known</dd>');
  });

  it('of 64 ranks has at most 1.5 MB without its trace', async () => {
    const { folder: input, code } = await record(
      path.join(folder, 'many'),
      '--ranks 64 --channels 4 --iterations 2 --groups tp=8 --groups-strided dp=8 --ops allreduce@tp:64K,allgather@dp:64K',
      { NCCL_TRACE_RING_MB: '0.5' },
    );
    expect(code).toBe(0);
    expect(await run('report', input, '-qo', 'many.html', '--no-trace')).toMatchObject({ code: 0 });
    const { length } = readFileSync(path.join(folder, 'many.html'));
    expect(length).toBeLessThan(1.5e6);
    expect(length).toBeGreaterThan(1e5);
  });
});

describe.skipIf(!existsSync(CHROMIUM))('in Chromium, the network off (skipped where there is none)', () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  /** What the file asked for that is open, and what it complained of. */
  const requests: string[] = [];
  const complaints: string[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
    context = await browser.newContext({
      offline: true,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    // What hangs is ended with the test.
    context.setDefaultTimeout(0);
    page = await context.newPage();
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('dialog', (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    // Several tests look at this one.
    await run('report', sample('straggler'), '-fqo', 'straggler.html');
  });
  afterAll(async () => {
    await browser.close();
  });

  /** Opens a file in the page; returns its address. */
  async function open(name: string, size = { width: 1280, height: 720 }): Promise<string> {
    const url = `file://${path.join(folder, name)}`;
    await page.setViewportSize(size);
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    requests.length = complaints.length = 0;
    await page.goto(url);
    await page.waitForSelector('html[data-ready=yes]');
    return url;
  }

  /** What the picture around the moment shows: deaths, missing files and calls that never returned. */
  const MOMENTS: Readonly<Record<string, RegExp>> = {
    hang: /rank 3: no sign of life since 19:02:00\.\d{3}; rank 1: no file$/,
    'dead-node': /rank 2: no sign of life since [\d:.]+; rank 3: no sign of life since [\d:.]+$/,
    'startup-hang': /rank 0: in ncclAllReduce since [\d:.]+; rank 1: in ncclAllReduce since [\d:.]+$/,
  };

  it.each(['straggler', 'slow-link', 'hang', 'dead-node', 'hosts', 'startup-hang', 'copy-engine', 'abi-v1'])(
    '%s: one request, for the file itself, no complaint, and each picture',
    async (name) => {
      await run('report', sample(name), '-fqo', `${name}.html`, '--hung-after', '1');
      const url = await open(`${name}.html`);
      expect(complaints).toEqual([]);
      expect(requests).toEqual([url]);
      expect(await page.locator('h1').textContent()).toMatch(/^[A-Z ]+\b/);
      const causes = await page.locator('#why-it-is-slow').count();
      expect(causes).toBe(name === 'slow-link' ? 1 : 0);
      expect(await page.locator('section').count()).toBe(8 + causes);
      expect(await page.locator('section canvas, section table, section p').count()).toBeGreaterThan(8);
      // An empty one has 5 kB.
      const pictures = await page.evaluate<number[]>(
        '[...document.querySelectorAll("section canvas")].map((one) => one.toDataURL().length)',
      );
      expect(Math.min(Infinity, ...pictures)).toBeGreaterThan(8000);
      if (name in MOMENTS)
        expect(await page.locator('#around-the-moment canvas').getAttribute('aria-label')).toMatch(
          MOMENTS[name]!,
        );
      if (name === 'hang') {
        // Who waits begins with the living.
        const rows = page.locator('#who-waits-for-whom tbody tr');
        expect(await rows.first().locator('td').first().textContent()).toBe('rank 0');
        expect(await rows.last().locator('td').first().textContent()).toBe('rank 3');
      }
    },
  );

  describe('the picture of a training step', () => {
    const RUN = sample('wrapped');

    beforeAll(async () => {
      await run('merge', RUN, '-fqo', 'torch.pftrace');
      const view = viewTrace(readFileSync(path.join(folder, 'torch.pftrace')), { emptySlices: 'fine' });
      for (const rank of [0, 1])
        writeFileSync(
          path.join(folder, `torch${rank}.json`),
          kinetoText(collectivesOf(view, rank), { rank, worldSize: 2, steps: 3 }),
        );
      const beside = [0, 1].map((rank) => path.join(folder, `torch${rank}.json`));
      await run('report', RUN, '-fqo', 'torch.html', '--no-trace', '--with', ...beside);
    });

    it('is drawn without a request or a complaint, in light and dark, and on a phone', async () => {
      const url = await open('torch.html', PHONE);
      expect([complaints, requests]).toEqual([[], [url]]);
      const figure = page.locator('#training-steps figure');
      expect(await figure.locator('figcaption').textContent()).toMatch(/\d+ % exposed\. NCCL ran/);
      expect(await figure.locator('svg.lane').count()).toBeGreaterThanOrEqual(6);
      expect((await figure.locator('.band').first().boundingBox())!.width).toBeGreaterThan(1);
      const colours = new Set<string>();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        colours.add(
          await page.evaluate<string>('getComputedStyle(document.querySelector(".slice.nccl rect")).fill'),
        );
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
      }
      expect(colours.size).toBe(2);
      expect([...colours]).not.toContain('rgb(0, 0, 0)');
    });

    it('says what is under the pointer, and what the arrow keys choose', async () => {
      await open('torch.html');
      const figure = page.locator('#training-steps figure');
      const says = figure.locator('.says');
      const text = async (): Promise<string> => (await says.textContent())!;
      expect(await text()).toContain('arrow keys');
      await figure.locator('.slice.nccl').first().hover();
      expect(await text()).toMatch(/^NCCL kernels: .*AllReduce f32, [\d.]+ .?s from /);
      const lane = figure.locator('svg.lane[aria-label^="NCCL operations"]');
      await page.mouse.move(0, 0);
      await lane.focus();
      expect(await text()).toMatch(/^NCCL operations: \d+ slices$/);
      await lane.press('ArrowRight');
      const first = await text();
      expect(first).toMatch(/^NCCL operations: AllReduce seq \d+ on world, /);
      await lane.press('ArrowRight');
      expect(await text()).not.toBe(first);
      await lane.press('Home');
      expect(await text()).toBe(first);
      expect(await figure.locator('.chosen').count()).toBe(1);
    });

    it('of another rank is chosen from the list', async () => {
      await open('torch.html');
      const section = page.locator('#training-steps');
      const names = await section.locator('option').allTextContents();
      expect(names.map((name) => name.slice(0, 6)).sort()).toEqual(['rank 0', 'rank 1']);
      expect(await section.locator('figcaption').textContent()).toContain(names[0]!);
      await section.locator('select').selectOption({ index: 1 });
      expect(await section.locator('figcaption').textContent()).toContain(names[1]!);
    });
  });

  it('a table that is wider than the text takes the room beside it', async () => {
    await open('straggler.html', { width: 1900, height: 900 });
    // How wide its words are depends on the fonts of the machine, so its width is given.
    const [seen, whole, beside] = await page.evaluate<[number, number, number]>(`(() => {
      const one = document.querySelector('#where-the-time-went .wide');
      const text = one.parentElement.clientWidth;
      one.firstElementChild.style.width = text + 200 + 'px';
      return [one.clientWidth, one.scrollWidth, text];
    })()`);
    expect(whole).toBe(beside + 200);
    expect(seen).toBe(whole);
  });

  it('its policy forbids a script, a style and a request that were put into it', async () => {
    const text = readFileSync(path.join(folder, 'straggler.html'), 'utf8');
    const more = '<script>document.title="changed"</script><img src="http://127.0.0.1:9/x.png">';
    writeFileSync(path.join(folder, 'changed.html'), text.replace('</body>', `${more}</body>`));
    await open('changed.html');
    expect(await page.title()).not.toBe('changed');
    expect(complaints.filter((one) => one.includes('Content Security Policy')).length).toBeGreaterThanOrEqual(
      2,
    );
  });

  it('tables sort, filter and copy as CSV, by the keyboard', async () => {
    await open('straggler.html');
    const table = page.locator('#where-the-time-went .table');
    const first = (): Promise<string | null> =>
      table.locator('tbody tr').first().locator('td').first().textContent();
    // The rank that the verdict names comes first.
    expect(await first()).toBe('2');
    await table.getByRole('button', { name: 'Rank', exact: true }).press('Enter');
    expect(await first()).toBe('0');
    await table.getByRole('button', { name: 'Others waited for it' }).press('Enter');
    expect(await first()).toBe('2');
    expect(await table.locator('th[aria-sort=descending]').textContent()).toBe('Others waited for it');
    await table.getByRole('searchbox').fill('late');
    expect(await table.locator('tbody tr').count()).toBe(1);
    await table.getByRole('button', { name: 'Copy CSV' }).press('Enter');
    // Not by a function: the page's own policy forbids to evaluate one while waiting.
    await page.getByText('Copied').first().waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied.split('\n')[0]).toMatch(/^Rank,Host,Local rank,Verdict,Others waited for it/);
    expect(copied.split('\n')[1]).toMatch(/^2,vm,2,LATE,1\d{8},/);
  });

  it('light and dark differ, nothing is wider than a phone, and paper has no buttons', async () => {
    await open('straggler.html', PHONE);
    const colours = new Set<string>();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      colours.add(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor'));
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    }
    expect(colours.size).toBe(2);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('button', { name: 'Open in Perfetto' }).isVisible()).toBe(false);
  });

  it('names from files are text: tags, quotes, control and bidi characters', async () => {
    const input = path.join(folder, 'nasty');
    mkdirSync(input);
    const name = `"><img src=x onerror=alert(1)></script>\u202eevil\u0007'`;
    for (let rank = 0; rank < SMALL_RUN.ranks; rank++)
      madeUpRank(rank, SMALL_RUN, { hostName: name, program: name }).write(
        path.join(input, `rank${rank}.bin`),
      );
    await run('report', input, '-qo', 'nasty.html', '--hung-after', '1');
    await open('nasty.html');
    expect(complaints).toEqual([]);
    expect(requests).toHaveLength(1);
    expect(await page.locator('img').count()).toBe(0);
    const host = await page
      .locator('#where-the-time-went tbody tr')
      .first()
      .locator('td')
      .nth(1)
      .textContent();
    expect(host).toBe(name.replace('\u202e', '?').replace('\u0007', '?'));
    expect(await page.locator('body').innerText()).not.toMatch(/\u202e/);
  });

  describe('Perfetto', () => {
    let server: Server;
    let origin: string;
    /** Stands for the UI: deaf at first, then it answers PING, and keeps what it is given. */
    const UI = `<!doctype html><script>
      let pings = 0;
      onmessage = ({ data, source, origin }) => {
        if (data === 'PING') { if (++pings > 2) source.postMessage('PONG', '*'); return; }
        window.given = { from: origin, ...data.perfetto, bytes: [...new Uint8Array(data.perfetto.buffer)] };
      };
    </script>`;

    beforeAll(async () => {
      server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(UI));
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await context.setOffline(false);
    });
    afterAll(() => {
      server.close();
    });

    interface Given {
      readonly from: string;
      readonly title: string;
      readonly fileName: string;
      readonly localOnly: boolean;
      readonly bytes: readonly number[];
    }
    const given = async (ui: Page): Promise<Given> =>
      (await (await ui.waitForFunction('window.given')).jsonValue()) as Given;

    it('is handed the trace when it answers, pinned and zoomed; a row opens it there', async () => {
      await run('report', sample('hang'), '-qo', 'ui.html', '--hung-after', '1', '--origin', origin);
      await open('ui.html');
      const press = async (name: string): Promise<Page> => {
        const opened = context.waitForEvent('page');
        await page.getByRole('button', { name, exact: true }).first().click();
        const tab = await opened;
        // A new tab is there before it has its address.
        await tab.waitForURL(/#!/, { waitUntil: 'commit' });
        return tab;
      };
      const ui = await press('Open in Perfetto');
      const { from, bytes, title, fileName, localOnly } = await given(ui);
      expect({ from, fileName, localOnly }).toEqual({
        from: 'null',
        fileName: 'ui.pftrace.gz',
        localOnly: true,
      });
      expect(title).toContain('HUNG: AllReduce seq 2 on world');
      const view = viewTrace(gunzipSync(Buffer.from(bytes)), { emptySlices: 'fine' });
      expect(view.problems).toEqual([]);
      expect(decodeURIComponent(ui.url())).toContain('dev.perfetto.PinTracksByRegex');
      expect(ui.url()).toContain(`${origin}/#!/?`);

      const row = await press('Open');
      const seen = new URLSearchParams(row.url().split('#!/?')[1]);
      const waitingSince = (await page
        .locator('#who-waits-for-whom tbody tr')
        .first()
        .locator('td')
        .nth(6)
        .textContent())!;
      const start = BigInt(seen.get('visStart')!);
      const end = BigInt(seen.get('visEnd')!);
      const began = view.start;
      expect(start < end && start >= began && end < began + 60_000_000_000n).toBe(true);
      expect(waitingSince).toMatch(/^\d\d:\d\d:\d\d\.\d{3}$/);
      const time = new Date(`2026-11-21T${waitingSince}Z`).getTime();
      expect(Number(start / 1_000_000n)).toBeLessThanOrEqual(time);
      expect(Number(end / 1_000_000n)).toBeGreaterThanOrEqual(time);
      expect(seen.has('dur')).toBe(false);
    });

    it('the button of a cause opens the trace where it shows', async () => {
      await run('report', sample('slow-link'), '-qo', 'cause.html', '--origin', origin);
      const html = readFileSync(path.join(folder, 'cause.html'), 'utf8');
      const { report } = JSON.parse(/>(\{"report":.*?)<\/script>/s.exec(html)![1]!) as PageData;
      const { causes, run: facts } = report;
      expect(causes[0]!.says).toMatch(/^The link from rank 1 to rank 2 is slow/);
      await open('cause.html');
      const item = page.locator('#why-it-is-slow li').first();
      expect(await item.textContent()).toContain(causes[0]!.says);
      const opened = context.waitForEvent('page');
      await item.getByRole('button', { name: 'Open', exact: true }).click();
      const tab = await opened;
      await tab.waitForURL(/#!/, { waitUntil: 'commit' });
      const seen = new URLSearchParams(tab.url().split('#!/?')[1]);
      const shown = ['visStart', 'visEnd'].map((name) =>
        Number(BigInt(seen.get(name)!) - BigInt(facts.traceStart)),
      );
      expect(shown).toEqual(causes[0]!.about.view);
      expect(decodeURIComponent(tab.url())).toContain('dev.perfetto.PinTracksByRegex');
    });

    it('the trace is saved as a file', async () => {
      await open('straggler.html');
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Save trace' }).click();
      const saved = await download;
      expect(saved.suggestedFilename()).toBe('straggler.pftrace.gz');
      const bytes = gunzipSync(readFileSync(await saved.path()));
      expect(viewTrace(bytes, { emptySlices: 'fine' }).problems).toEqual([]);
    });
  });
});
