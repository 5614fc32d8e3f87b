import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readJson } from '../../api/json/index.ts'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { yamlText } from '../http/answer/yaml-text.ts'
import { type ForeignBody, convertBody } from './foreign-body.ts'
import { ParserPool } from './parser-pool.ts'

const directory = mkdtempSync(path.join(tmpdir(), 'coxswain-parser-'))
const program = path.join(directory, 'parser.mjs')
const clock = new VirtualClock(0)
const pools: ParserPool[] = []

function openPool(file = program): ParserPool {
  const pool = new ParserPool({ clock, program: file })
  pools.push(pool)
  return pool
}

const yaml = (text: string, maxValues = 1000): ForeignBody => ({ format: 'yaml', bytes: Buffer.from(text), typeName: undefined, maxValues })
const textOf = async (converted: ReturnType<ParserPool['convert']>) => {
  const done = await converted
  return done.kind === 'json' ? Buffer.from(done.text).toString() : done
}

beforeAll(async () => {
  const { build } = await import('esbuild')
  await build({
    entryPoints: [path.join(import.meta.dirname, 'parser-thread.ts')], outfile: program, bundle: true, platform: 'node', format: 'esm', target: 'node20',
    logLevel: 'warning',
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
  })
})
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close()
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const bodies: [string, ForeignBody][] = [
  ['YAML', yaml('a: {b: 9007199254740993, c: [1.5, null, "\\ud83d"]}\n__proto__: x\n')],
  ['an anchor that is used twice', yaml('a: &x {b: c}\nd: *x\n')],
  ['repeated keys', yaml('a: 1\na: 2\n')],
  ['YAML that is none', yaml('a: [')],
  ['YAML of too many values', yaml('- a\n'.repeat(100), 10)],
  ['protobuf', { ...yaml(''), format: 'protobuf', typeName: 'ConfigMap', bytes: Buffer.from('6b3873000a0f0a0276311209436f6e6669674d617012050a030a0161', 'hex') }],
  ['protobuf that is none', { ...yaml('abc'), format: 'protobuf' }],
]

describe('ParserPool', () => {
  it.each(bodies)('answers what the conversion answers: %s', async (_, body) => {
    const expected = convertBody(body)
    const plain = expected.kind === 'json' ? { ...expected, text: new Uint8Array(expected.text) } : expected
    expect(await openPool().convert(body, 'a')).toEqual(plain)
  })

  it('writes YAML as the event loop does', async () => {
    const value = { b: 'yes', a: [1, { c: 'a\nb\n', d: null }], n: 9007199254740993n.toString(), e: {} }
    const json = Buffer.from(`${JSON.stringify(value).slice(0, -1)},"i":9007199254740993}`)
    const written = await textOf(openPool().convert({ format: 'to yaml', bytes: json }, 'a'))
    expect(written).toBe(await yamlText(readJson(json.toString())))
    expect(written).toContain('i: 9007199254740993\n')
  })

  it('starts a thread with the first body, never more than two, and ends them when they are idle', async () => {
    const pool = openPool()
    expect(pool.threads).toBe(0)
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => textOf(pool.convert(yaml(`a: ${i}`), `flow ${i % 3}`))))
    expect(all).toEqual(Array.from({ length: 20 }, (_, i) => `{"a":${i}}`))
    expect(pool.threads).toBe(2)
    clock.advance(60_000)
    await expect.poll(() => pool.threads).toBe(0)
    expect(await textOf(pool.convert(yaml('b: 1'), 'a'))).toBe('{"b":1}')
  })

  it('serves flows in turn', async () => {
    const pool = openPool()
    const order: string[] = []
    const one = (flow: string) => pool.convert(yaml('a: 1'), flow).then(() => order.push(flow))
    await Promise.all([...Array.from({ length: 10 }, () => one('many')), one('few')])
    expect(order.indexOf('few')).toBeLessThan(6)
  })

  it('fails the body whose thread ends, and goes on with another thread', async () => {
    const broken = path.join(directory, 'broken.mjs')
    writeFileSync(broken, `import { parentPort } from 'node:worker_threads'
parentPort.on('message', ({ maxValues }) => {
  if (maxValues === 1) throw new Error('out of luck')
  parentPort.postMessage({ kind: 'crowded' })
})`)
    const pool = openPool(broken)
    await expect(pool.convert(yaml('a', 1), 'a')).rejects.toThrow('the body could not be parsed: out of luck')
    expect(await pool.convert(yaml('a', 2), 'a')).toEqual({ kind: 'crowded' })
  })

  it('rejects what waits when it is closed, and what comes later', async () => {
    const pool = openPool()
    const waiting = Array.from({ length: 5 }, () => pool.convert(yaml('a: 1'), 'a').then(() => 'done', () => 'rejected'))
    await pool.close()
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['rejected']))
    await expect(pool.convert(yaml('a: 1'), 'a')).rejects.toThrow('the server is stopping')
  })
})
