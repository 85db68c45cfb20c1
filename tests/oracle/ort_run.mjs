/* Runs ONNX models with ONNX Runtime as they are: no optimisation, no packing beforehand, one thread, in order.
 *
 *     node ort_run.mjs PACKAGE_FOLDER        PACKAGE_FOLDER holds node_modules/onnxruntime-node
 *
 * One request a line on standard input, one answer a line on standard output. A request:
 *     {"original": path, "simplified": path or null, "wants_outputs": bool, "sets": [[inputs, other inputs...], ...]}
 * where inputs are [{"name", "type", "dims", "data": base64, or an array of strings}]. Of a set the first inputs that the
 * original takes are used; it runs on them twice, the simplified model once. The answer:
 *     {"load": message, "simplified_load": message, "sets": [{"choice": which inputs, "run": message, "repeats": bool,
 *      "fault": message, "outputs": {name: {"type", "dims", "data"}}}]}
 * where messages are null when nothing is wrong. Results are compared bit for bit; any NaN equals any other. */
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import path from 'node:path';

const ort = createRequire(path.resolve(process.argv[2], 'package.json'))('onnxruntime-node');
const OPTIONS = {
    graphOptimizationLevel: 'disabled', executionMode: 'sequential', intraOpNumThreads: 1, interOpNumThreads: 1,
    logSeverityLevel: 4,
    /* A constant that is packed beforehand may be added up in another order than the same numbers computed. */
    extra: { session: { disable_prepacking: '1' } },
};
const ARRAYS = {
    float32: Float32Array, float64: Float64Array, float16: Uint16Array, int8: Int8Array, uint8: Uint8Array,
    int16: Int16Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array, int64: BigInt64Array,
    uint64: BigUint64Array, bool: Uint8Array,
};

function bytesOf(array) {
    return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}

function tensorOf(input) {
    if (input.type === 'string') {
        return new ort.Tensor('string', input.data, input.dims);
    }
    const Kind = ARRAYS[input.type];
    if (Kind === undefined) {
        throw new Error(`elements of ${input.type} can't be given`);
    }
    const bytes = Buffer.from(input.data, 'base64');
    const copy = new Uint8Array(bytes.length); // aligned
    copy.set(bytes);
    return new ort.Tensor(input.type, new Kind(copy.buffer), input.dims);
}

function isNaNAt(tensor, bits, k) {
    return tensor.type === 'float16' ? (bits[k] & 0x7fff) > 0x7c00 : Number.isNaN(bits[k]);
}

/* The first difference of two results, or null. */
function tensorFault(name, a, b) {
    if (b === undefined) {
        return `${name}: is missing`;
    }
    if (a.type !== b.type || a.dims.join() !== b.dims.join()) {
        return `${name}: ${a.type} [${a.dims}] became ${b.type} [${b.dims}]`;
    }
    if (a.type === 'string') {
        return a.data.every((text, k) => text === b.data[k]) ? null : `${name}: strings differ`;
    }
    if (bytesOf(a.data).equals(bytesOf(b.data))) {
        return null;
    }
    const Kind = ARRAYS[a.type];
    const [x, y] = [a, b].map((t) => new Kind(t.data.buffer, t.data.byteOffset, t.data.byteLength / Kind.BYTES_PER_ELEMENT));
    const isFloat = a.type.startsWith('float');
    const differs = (k) => !Object.is(x[k], y[k]) && !(isFloat && isNaNAt(a, x, k) && isNaNAt(b, y, k));
    const places = [...x.keys()].filter(differs);
    const at = places[0];
    return at === undefined ? null : `${name}: ${places.length} of ${x.length} differ, at ${at} ${x[at]} became ${y[at]}`;
}

function resultFault(names, a, b) {
    for (const name of names) {
        const fault = tensorFault(name, a[name], b[name]);
        if (fault !== null) {
            return fault;
        }
    }
    return Object.keys(a).join() === Object.keys(b).join() ? null : 'the outputs have other names';
}

async function firstThatRuns(session, choices) {
    let failure;
    for (const [choice, inputs] of choices.entries()) {
        try {
            const feeds = Object.fromEntries(inputs.map((input) => [input.name, tensorOf(input)]));
            return { choice, feeds, result: await session.run(feeds) };
        } catch (error) {
            failure = error;
        }
    }
    throw failure;
}

function packed(result) {
    const pack = (t) => ({ type: t.type, dims: t.dims, data: t.type === 'string' ? t.data : bytesOf(t.data).toString('base64') });
    return Object.fromEntries(Object.entries(result).map(([name, tensor]) => [name, pack(tensor)]));
}

async function runSet(original, simplified, choices, wantsOutputs) {
    const answer = { choice: null, run: null, repeats: false, fault: null };
    let first;
    try {
        first = await firstThatRuns(original, choices);
        const again = await original.run(first.feeds);
        answer.choice = first.choice;
        answer.repeats = resultFault(original.outputNames, first.result, again) === null;
    } catch (error) {
        answer.run = error.message;
        return answer;
    }
    if (wantsOutputs) {
        answer.outputs = packed(first.result);
    }
    if (answer.repeats && simplified !== null) {
        try {
            answer.fault = resultFault(original.outputNames, first.result, await simplified.run(first.feeds));
        } catch (error) {
            answer.fault = error.message;
        }
    }
    return answer;
}

async function load(file) {
    try {
        return { session: await ort.InferenceSession.create(file, OPTIONS), message: null };
    } catch (error) {
        return { session: null, message: error.message };
    }
}

async function answerTo(request) {
    const original = await load(request.original);
    const answer = { load: original.message, simplified_load: null, sets: [] };
    if (original.session === null) {
        return answer;
    }
    const simplified = request.simplified === null ? { session: null, message: null } : await load(request.simplified);
    answer.simplified_load = simplified.message;
    for (const choices of request.sets) {
        answer.sets.push(await runSet(original.session, simplified.session, choices, request.wants_outputs));
    }
    return answer;
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    process.stdout.write(JSON.stringify(await answerTo(JSON.parse(line))) + '\n');
}
