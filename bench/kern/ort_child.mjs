/* Runs affines with ONNX Runtime on one thread, and tells how long they take.
 *
 *     node ort_child.mjs PACKAGE_FOLDER MODEL_FOLDER
 *
 * One request a line on standard input, one answer a line on standard output:
 *     version                          the version
 *     open KIND LAYOUT N C H W         a number for what was opened, after one run whose result was checked; or why not
 *     time NUMBER CALLS                nanoseconds of so many calls of it
 *     close                            "ok": nothing is open, numbers begin anew
 *
 * A call from JavaScript costs tens of microseconds. Of maps that are small beside that, the time is told of what nine
 * affines in one model take beyond one affine, an eighth of it. */
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import path from 'node:path';

const [, , packages, models] = process.argv;
const require = createRequire(path.resolve(packages, 'package.json'));
const ort = require('onnxruntime-node');
const OPTIONS = { graphOptimizationLevel: 'all', executionMode: 'sequential', intraOpNumThreads: 1, interOpNumThreads: 1,
    logSeverityLevel: 4 };
const SMALL_BYTES = 4 << 20;
const LONG = 9;
const SLOW_NS = 2e6; // of a call, which then is most of what is measured

let opened = [];

function parameters(c) {
    return [0.5 + (c * 37 % 64) / 128, (c * 11 % 32) / 16 - 1];
}

function channelOf(i, layout, c, plane) {
    return layout === 'nhwc' ? i % c : Math.floor(i / plane) % c;
}

/* As in ort_models.py. Codes are rounded by each operator, so they may be off by some. */
function isRight(kind, x, y, channel) {
    const [scale, bias] = parameters(channel);
    if (kind !== 'qlinear') {
        return Math.abs(y - (x * scale + bias)) < 1e-5;
    }
    const code = Math.round(((x + 7) * 0.04 * scale + bias) / 0.05) + 12;
    return Math.abs(y - Math.min(Math.max(code, -128), 127)) <= 3;
}

async function close() {
    for (const session of opened.flatMap((one) => one.sessions)) {
        await session.release();
    }
    opened = [];
    return 'ok';
}

async function open(kind, layout, n, c, h, w) {
    const dims = layout === 'nhwc' ? [n, h, w, c] : [n, c, h, w];
    const count = n * c * h * w;
    const isCode = kind === 'qlinear';
    const [x, y] = isCode ? [new Int8Array(count), new Int8Array(count)] : [new Float32Array(count), new Float32Array(count)];
    for (let i = 0; i < count; i++) {
        x[i] = isCode ? (i * 37 + (i >> 8)) % 256 - 128 : (i * 37 + (i >> 8)) % 256 / 64 - 2;
    }
    const tensor = (data) => new ort.Tensor(isCode ? 'int8' : 'float32', data, dims);
    const lengths = x.byteLength <= SMALL_BYTES ? [1, LONG] : [1];
    const load = (length) => ort.InferenceSession.create(path.join(models, `${kind}-${layout}-${c}-${length}.onnx`), OPTIONS);
    const one = { sessions: await Promise.all(lengths.map(load)), feeds: { x: tensor(x) }, fetches: { y: tensor(y) } };
    opened.push(one);
    await elapsed(one, one.sessions[0], 1);
    if (await elapsed(one, one.sessions[0], 1) > SLOW_NS && one.sessions.length > 1) {
        await one.sessions.pop().release();
    }
    for (let i = 0; i < count; i = i < 1e5 ? i + 1 : i + 997) {
        const channel = channelOf(i, layout, c, h * w);
        if (!isRight(kind, x[i], y[i], channel)) {
            return `${kind} ${dims}: element ${i} of channel ${channel} is ${y[i]} of ${x[i]}`;
        }
    }
    return opened.length - 1;
}

async function elapsed(one, session, calls) {
    const begin = process.hrtime.bigint();
    for (let k = 0; k < calls; k++) {
        await session.run(one.feeds, one.fetches);
    }
    return Number(process.hrtime.bigint() - begin);
}

/* The median of three: a difference of two is less steady than either. */
async function time(one, calls) {
    const [short, long] = one.sessions;
    if (long === undefined) {
        return elapsed(one, short, calls);
    }
    const took = [];
    for (let k = 0; k < 3; k++) {
        await elapsed(one, long, 1);
        const most = await elapsed(one, long, calls);
        took.push((most - await elapsed(one, short, calls)) / (LONG - 1));
    }
    return Math.max(took.sort((a, b) => a - b)[1], 0);
}

async function answerTo([verb, ...args]) {
    switch (verb) {
    case 'version':
        return require('onnxruntime-node/package.json').version;
    case 'open':
        return open(args[0], args[1], ...args.slice(2).map(Number));
    case 'time':
        return time(opened[Number(args[0])], Number(args[1]));
    case 'close':
        return close();
    default:
        return `no request: ${verb}`;
    }
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    let answer;
    try {
        answer = String(await answerTo(line.split(' ')));
    } catch (error) {
        answer = error.message.replaceAll('\n', ' ');
    }
    process.stdout.write(answer + '\n');
}
