import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { AuditEvent, type EventParts, sourceIPs } from './event.ts'
import { openLogFile } from './log-file.ts'
import { type AuditBackend, type AuditMode, AuditSink, Batches, type TruncateOptions, splitBySize } from './sink.ts'
import { webhookBackend } from './webhook.ts'
import { microTime } from '../../api/object.ts'

const parts = (change: Partial<EventParts> = {}): EventParts => ({
  level: 'RequestResponse',
  id: 'a-1',
  origin: '"requestURI":"/x","verb":"get","user":{}',
  object: undefined,
  response: { code: 200 },
  requestObject: undefined,
  responseObject: undefined,
  receivedMs: 0,
  annotations: undefined,
  ...change,
})

const event = (change: Partial<EventParts> = {}) => new AuditEvent(parts(change), 'ResponseComplete', 1234)

describe('AuditEvent', () => {
  it('is one line of JSON with times in microseconds', () => {
    expect(JSON.parse(event({ requestObject: '{"a":1}', annotations: new Map([['k', 'v']]) }).text)).toEqual({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: 'RequestResponse',
      auditID: 'a-1',
      stage: 'ResponseComplete',
      requestURI: '/x',
      verb: 'get',
      user: {},
      responseStatus: { metadata: {}, code: 200 },
      requestObject: { a: 1 },
      requestReceivedTimestamp: '1970-01-01T00:00:00.000000Z',
      stageTimestamp: '1970-01-01T00:00:01.234000Z',
      annotations: { k: 'v' },
    })
    expect(microTime(Date.UTC(2026, 0, 2, 3, 4, 5, 6))).toBe('2026-01-02T03:04:05.006000Z')
  })

  it('says that it was truncated', () => {
    const { truncatedText } = event({ requestObject: '{"a":1}', annotations: new Map([['k', 'v']]) })
    expect(JSON.parse(truncatedText)).toMatchObject({
      auditID: 'a-1',
      annotations: { k: 'v', 'audit.k8s.io/truncated': 'true' },
    })
    expect(truncatedText).not.toContain('requestObject')
  })
})

describe('sourceIPs()', () => {
  it.each([
    ['the other end', {}, '10.0.0.1', ['10.0.0.1']],
    ['an IPv4 address in the form of IPv6', {}, '::ffff:10.0.0.1', ['10.0.0.1']],
    ['proxies first', { 'x-forwarded-for': '1.1.1.1, 2.2.2.2' }, '10.0.0.1', ['1.1.1.1', '2.2.2.2', '10.0.0.1']],
    ['the last proxy once', { 'x-forwarded-for': '1.1.1.1' }, '1.1.1.1', ['1.1.1.1']],
    ['the real address', { 'x-real-ip': '3.3.3.3' }, '::1', ['3.3.3.3', '::1']],
    ['no nonsense', { 'x-forwarded-for': 'me, 1.1.1.1' }, undefined, ['1.1.1.1']],
  ])('tells %s', (_what, headers: Record<string, string>, remote, expected) => {
    expect(sourceIPs((name) => headers[name], remote)).toEqual(expected)
  })
})

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('Batches', () => {
  function scene(options: Partial<ConstructorParameters<typeof Batches>[0]> = {}) {
    const clock = new VirtualClock(0)
    const sent: string[] = []
    const dropped: string[] = []
    let release = () => {}
    const stuck = { is: false }
    const send = (texts: readonly string[]) => {
      sent.push(texts.join(''))
      return stuck.is ? new Promise<void>((resolve) => (release = resolve)) : Promise.resolve()
    }
    const all = { bufferSize: 4, maxBatchSize: 2, maxBatchWaitMs: 1000, throttle: undefined, ...options }
    return {
      clock,
      sent,
      dropped,
      stuck,
      release: () => release(),
      batches: new Batches(all, clock, send, (e) => dropped.push(e.message)),
    }
  }

  it('sends a full batch at once, and the rest when its time is up', () => {
    const { clock, sent, batches } = scene()
    for (const text of 'abc') batches.add(text)
    expect(sent).toEqual(['ab'])
    clock.advance(999)
    expect(sent).toEqual(['ab'])
    clock.advance(1)
    expect(sent).toEqual(['ab', 'c'])
  })

  it('drops what does not fit, counting what is being sent', () => {
    const { sent, dropped, stuck, batches } = scene()
    stuck.is = true
    for (const text of 'abcdef') batches.add(text)
    expect(sent).toEqual(['ab', 'cd'])
    expect(dropped).toEqual(['audit buffer queue blocked', 'audit buffer queue blocked'])
  })

  it('sends no more batches than its rate allows', () => {
    const { clock, sent, batches } = scene({ bufferSize: 100, throttle: { qps: 10, burst: 1 } })
    for (const text of 'abcdef') batches.add(text)
    expect(sent).toEqual(['ab'])
    clock.advance(100)
    expect(sent).toEqual(['ab', 'cd'])
    clock.advance(100)
    expect(sent).toEqual(['ab', 'cd', 'ef'])
  })

  it('sends all that waits when it is drained', async () => {
    const { sent, batches } = scene({ throttle: { qps: 1, burst: 1 } })
    for (const text of 'abc') batches.add(text)
    await batches.drain()
    expect(sent).toEqual(['ab', 'c'])
  })
})

describe('AuditSink', () => {
  function scene(mode: AuditMode, truncate?: TruncateOptions, failure?: Error) {
    const written: string[][] = []
    const errors: string[] = []
    const backend: AuditBackend = {
      name: 'log',
      write: async (texts) => {
        if (failure) throw failure
        written.push([...texts])
      },
      close: async () => {},
    }
    const batch = { bufferSize: 10, maxBatchSize: 1, maxBatchWaitMs: 0, throttle: undefined }
    const onError = (plugin: string, lost: number, e: Error) => errors.push(`${plugin} ${lost} ${e.message}`)
    return {
      written,
      errors,
      sink: new AuditSink({ backend, mode, batch, truncate, clock: new VirtualClock(0), onError }),
    }
  }

  it.each<[AuditMode, boolean | undefined]>([
    ['batch', undefined],
    ['blocking', true],
    ['blocking-strict', false],
  ])('in mode %s answers a failing backend with %s', async (mode, answer) => {
    const { sink, errors } = scene(mode, undefined, new Error('disk full'))
    expect(await sink.take(event())).toBe(answer)
    await settle()
    expect(errors).toEqual(['log 1 disk full'])
  })

  it('makes large events smaller, and drops what is too large all the same', async () => {
    const large = event({ requestObject: `{"a":"${'x'.repeat(500)}"}` })
    const { sink, written, errors } = scene('blocking', { maxEventBytes: 400, maxBatchBytes: 1000 })
    await sink.take(large)
    expect(JSON.parse(written[0]![0]!)).toMatchObject({ annotations: { 'audit.k8s.io/truncated': 'true' } })
    await sink.take(event({ origin: `"requestURI":"${'y'.repeat(500)}"` }))
    expect(written).toHaveLength(1)
    expect(errors).toEqual(['truncate 1 event is too large even after truncating'])
  })

  it('splits batches by their size', () => {
    expect(splitBySize(['aaa', 'bb', 'cccccc', 'd'], 5)).toEqual([['aaa', 'bb'], ['cccccc'], ['d']])
  })
})

describe('a log file', () => {
  let dir: string
  beforeEach(() => (dir = mkdtempSync(path.join(tmpdir(), 'audit-log-'))))
  afterEach(() => rmSync(dir, { recursive: true }))

  const open = (change: object = {}, clock = new VirtualClock(Date.UTC(2026, 0, 1))) => {
    const options = {
      file: path.join(dir, 'logs', 'audit.log'),
      maxBytes: 20,
      maxBackups: 0,
      maxAgeMs: 0,
      clock,
      onProblem: () => {},
    }
    return openLogFile({ ...options, ...change })
  }
  const files = () => readdirSync(path.join(dir, 'logs')).sort()
  const text = (name: string) => readFileSync(path.join(dir, 'logs', name), 'utf8')

  it("has a line for each event, and is its owner's alone", async () => {
    const log = open({ maxBytes: 1000 })
    await Promise.all([log.write(['one']), log.write(['two', 'three'])])
    await log.close()
    expect(text('audit.log')).toBe('one\ntwo\nthree\n')
    expect(statSync(path.join(dir, 'logs', 'audit.log')).mode & 0o777).toBe(0o600)
  })

  it('goes on with the file that is there, and begins another when it is full', async () => {
    await open().write(['first'])
    const log = open()
    await log.write(['0123456789'])
    await log.write(['0123456789'])
    await log.close()
    expect(files()).toEqual(['audit-2026-01-01T00-00-00.000.log', 'audit.log'])
    expect(text('audit-2026-01-01T00-00-00.000.log')).toBe('first\n0123456789\n')
    expect(text('audit.log')).toBe('0123456789\n')
  })

  it('keeps as many as it is told, for as long, and leaves other files alone', async () => {
    const clock = new VirtualClock(Date.UTC(2026, 0, 1))
    const log = open({ maxBackups: 2, maxAgeMs: 86_400_000 }, clock)
    writeFileSync(path.join(dir, 'logs', 'audit-notes.log'), '')
    for (const line of ['1', '2', '3', '4']) {
      await log.write([line.repeat(19)])
      clock.advance(3_600_000)
    }
    expect(files()).toEqual([
      'audit-2026-01-01T02-00-00.000.log',
      'audit-2026-01-01T03-00-00.000.log',
      'audit-notes.log',
      'audit.log',
    ])
    clock.advance(2 * 86_400_000)
    await log.write(['5'.repeat(19)])
    expect(files()).toEqual(['audit-2026-01-03T04-00-00.000.log', 'audit-notes.log', 'audit.log'])
    await log.close()
  })

  it('refuses a place that is none', () => {
    writeFileSync(path.join(dir, 'logs'), '')
    expect(() => open()).toThrow(/EEXIST|ENOTDIR/)
  })
})

describe('a webhook', () => {
  const random = { next: () => 0, uuid: () => '' }

  async function run(answers: (number | Error)[]) {
    const clock = new VirtualClock(0)
    const times: number[] = []
    const post = async () => {
      times.push(clock.now())
      const answer = answers.shift()!
      if (answer instanceof Error) throw answer
      return answer
    }
    const outcome = webhookBackend({ post, clock, random, initialBackoffMs: 1000 })
      .write(['{}', '{}'])
      .then(
        () => 'stored',
        (e: Error) => e.message,
      )
    for (let i = 0; i < 20; i++) {
      await settle()
      clock.advance(500)
    }
    return { outcome: await outcome, times }
  }

  it.each<[string, (number | Error)[], string, number[]]>([
    ['is content with an answer', [200], 'stored', [0]],
    [
      'is asked again after an error of its own, with longer and longer waits',
      [500, new Error('reset'), 200],
      'stored',
      [0, 1000, 2500],
    ],
    [
      'is asked five times at most',
      [500, 500, 500, 500, 500],
      'the audit webhook answered with 500',
      [0, 1000, 2500, 5000, 8500],
    ],
    ['is not asked again after a refusal', [400], 'the audit webhook answered with 400', [0]],
  ])('%s', async (_what, answers, outcome, times) => {
    expect(await run(answers)).toEqual({ outcome, times })
  })
})
